/**
 * The zones that differ between a revision and the working tree: their files differ, or what the config adds to them. A zone is compared with all that
 * it gets from rules, defaults, limits, targets and the PTR records of other zones, so a change of the config selects only the zones that it concerns.
 */
import { createHash } from 'node:crypto'
import { basename, join, resolve } from 'node:path'
import { hasErrors } from '../base/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { type LoadedZone, ruleFor } from '../config/configured-zone.ts'
import { readConfig } from '../config/read-config.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { sourceProviders } from '../dns/zone-source.ts'
import { displayPath, fromDisplayPath, relativePath, withSlashes } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import type { Revision } from '../git/revision.ts'
import { type FoundDefinition, findDefinitions } from './find-definitions.ts'
import { type LoadedDefinitions, type LoadOptions, loadDefinitions } from './load-definitions.ts'

/** A zone that a revision had at a target and that no definition describes there. */
export interface FormerZone {
  readonly name: DomainName
  /** The provider's name in the config. */
  readonly target: string
  /** Its definition, as messages show it. */
  readonly file: string
  /** Absolute. */
  readonly path: string
}

export interface ChangedZones {
  readonly zones: ReadonlySet<LoadedZone>
  readonly former: readonly FormerZone[]
  /** Whether the revision has no usable config, so that every zone is selected. */
  readonly isEverything: boolean
}

/**
 * Loads the definitions of a config and compares their zones with those of a revision. A definition that is the same in both is read only if a zone that is read
 * refers to its zone, or has its name, unless it may have another effect.
 */
export async function loadChanged(
  config: Config,
  revision: Revision,
  options: LoadOptions,
): Promise<{ readonly loaded: LoadedDefinitions; readonly changed: ChangedZones }> {
  const found = await findDefinitions(config)
  const byPath = new Map(found.definitions.map((one) => [one.path, one]))
  const own = config.file === null ? [] : [fromDisplayPath(config.file, config.cwd)]
  const unread = new Map<FoundDefinition, DomainName>()
  const touched = new Set(
    await revision.changed([...own, ...byPath.keys()], (path, octets) => {
      const definition = byPath.get(path)
      const name = definition === undefined ? null : plainName(definition, octets.toString('latin1'))
      if (definition !== undefined && name !== null) unread.set(definition, name)
    }),
  )
  if (own.length === 0 || own.some((path) => touched.has(path))) unread.clear()
  let before = await loadRevision(config, revision, unread)
  const known = { unread, others: new Set(before.zones.map(({ zone }) => zone.name)) }
  let loaded = await loadDefinitions(config, { ...options, found, ...(before.isPartial && known) })
  if (before.isPartial && !loaded.areIndependent) {
    unread.clear()
    before = await loadRevision(config, revision)
    loaded = await loadDefinitions(config, { ...options, found })
  }
  if (before.config === null) return { loaded, changed: { zones: new Set(loaded.zones), former: [], isEverything: true } }
  const pathsOf = ({ files }: LoadedZone): string[] => files.map((file) => fromDisplayPath(file, config.cwd))
  const others = new Set(loaded.zones.flatMap(pathsOf))
  for (const path of byPath.keys()) others.delete(path)
  for (const path of await revision.changed([...others])) touched.add(path)
  const same = new Set(before.isPartial ? [...unread.keys()].map(({ file }) => file) : [])
  const effects = new Set(before.zones.map((zone) => `${zone.zone.name} ${effectOf(zone, before.config as Config)}`))
  const isKnown = (zone: LoadedZone): boolean => same.has(zone.zone.at.file) || effects.has(`${zone.zone.name} ${effectOf(zone, config)}`)
  const zones = new Set(loaded.zones.filter((zone) => pathsOf(zone).some((path) => touched.has(path)) || !isKnown(zone)))
  return { loaded, changed: { zones, former: formerZones(config, loaded, before), isEverything: false } }
}

/** What may give a definition an effect on others, or them on it; and escapes, with which these words may be written. The `include:` of SPF records has no space. */
const NOT_PLAIN = /\bauto_ptr\b|\binclude\b(?!:\S)|\\[xuU]/

/** The zone of a definition that has no effect on other zones, if its text, in Latin-1, shows both; null if it must be parsed. */
function plainName({ kind, zoneName, rules }: FoundDefinition, text: string): DomainName | null {
  if (kind !== 'yaml' || rules.some(({ autoPtr }) => autoPtr) || NOT_PLAIN.test(text)) return null
  const words = text.match(/\bdomain\b/g)?.length ?? 0
  const written = words === 1 ? /^domain: +["']?([\w.-]*[a-z][\w.-]*)["']?[ \t\r]*(?:#.*)?$/m.exec(text)?.[1] : undefined
  const parsed = written === undefined ? null : parseAbsoluteName(written)
  const name = parsed?.ok ? parsed.value : words === 0 ? zoneName : null
  const isNamed = rules.every((rule) => rule.zoneName === null || rule.zoneName === name)
  return name !== null && isNamed && ruleFor({ name }, rules) !== null ? name : null
}

/** A digest of everything that a plan of the zone depends on besides the live zone. Positions and suppressed findings do not matter. */
function effectOf({ zone, targets, policy, allow, thresholds, nameservers, owner }: LoadedZone, config: Config): string {
  const providers = [...new Set([...targets, ...sourceProviders(zone)])].sort().map((name) => {
    const provider = config.providers.get(name)
    return [name, provider?.type, provider?.settings]
  })
  const isNoEffect = (key: string): boolean => key === 'at' || key === 'settingPositions' || key === 'ignore'
  const text = JSON.stringify([zone, targets, policy, [...allow].sort(), thresholds, nameservers, owner, providers], (key, value) =>
    isNoEffect(key) ? undefined : value,
  )
  return createHash('sha256').update(text).digest('base64')
}

/** The zones and targets of a revision that no definition describes. A definition that is disabled, or has errors, describes its zone. */
function formerZones(config: Config, { zones, described }: LoadedDefinitions, before: LoadedRevision): FormerZone[] {
  const present = new Set(zones.flatMap(({ zone, targets }) => targets.map((target) => `${zone.name} ${target}`)))
  const active = new Set(zones.map(({ zone }) => zone.name))
  return before.zones.flatMap(({ zone, targets }) => {
    const path = resolve(config.folder, zone.at.file)
    const file = displayPath(path, config.cwd)
    const isPaused = !active.has(zone.name) && (described.names.has(zone.name) || described.files.has(file))
    if (zone.absent || isPaused) return []
    return targets.filter((target) => !present.has(`${zone.name} ${target}`)).map((target) => ({ name: zone.name, target, file, path }))
  })
}

// Loads the config and the definitions of a revision as those of the working tree are loaded. Contacts no server.

/** What a revision had. Its files are named relative to the folder of the config. */
export interface LoadedRevision extends Pick<LoadedDefinitions, 'zones' | 'diagnostics' | 'files'> {
  /** Null if the revision has no config, or one with errors. */
  readonly config: Config | null
  /** Whether the definitions of `unchanged` were left out. */
  readonly isPartial: boolean
}

/**
 * Loads the definitions that the config of a revision selected. `config` is that of the working tree; the revision is of its folder. The definitions of
 * `unchanged`, whose files are those of the revision, are left out if nothing else can give them another effect there.
 */
export async function loadRevision(
  config: Config,
  { copy }: Revision,
  unchanged: ReadonlyMap<FoundDefinition, DomainName> = new Map(),
): Promise<LoadedRevision> {
  const nothing: LoadedRevision = { config: null, zones: [], diagnostics: [], files: [], isPartial: false }
  if (config.file === null) return nothing
  const file = basename(fromDisplayPath(config.file, config.cwd))
  const folder = await copy((path) => path === file)
  const text = await readText(join(folder, file), file, null)
  if (!text.ok) return nothing
  const read = readConfig(text.text, { file, folder, cwd: folder, secrets: config.secrets })
  if (read.config === null || hasErrors(read.diagnostics)) return { ...nothing, diagnostics: read.diagnostics }
  const own = { ...read.config, variables: config.variables }
  if (unchanged.size > 0 && hasSameEffect(config, own)) {
    const left = new Set([...unchanged.keys()].map(({ path }) => withSlashes(relativePath(config.folder, path))))
    await copy((path) => !left.has(path))
    const part = await loadDefinitions(own, { lints: false, without: new Set([...left].map((path) => join(folder, path))) })
    if (part.areIndependent) return { config: own, ...part, isPartial: true }
  }
  await copy()
  return { config: own, ...(await loadDefinitions(own, { lints: false })), isPartial: false }
}

/** Whether a config, whose text is that of the revision, adds the same to a zone: no base branch limits it, and its providers are not replaced. */
const hasSameEffect = ({ base, providers }: Config, own: Config): boolean =>
  (base === null || base.limitedKeys.length === 0) && settingsOf(providers) === settingsOf(own.providers)

const settingsOf = (providers: Config['providers']): string =>
  JSON.stringify([...providers.values()].map(({ name, type, settings }) => [name, type, settings]))
