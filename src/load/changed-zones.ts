/**
 * The zones that differ between a revision and the working tree: their files differ, or what the config adds to them. A zone is compared with all that
 * it gets from rules, defaults, limits, targets and the PTR records of other zones, so a change of the config selects only the zones that it concerns.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import pLimit from 'p-limit'
import { hasErrors } from '../base/diagnostic.ts'
import type { Config } from '../config/config.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { readConfig } from '../config/read-config.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { sourceProviders } from '../dns/zone-source.ts'
import { displayPath, fromDisplayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import type { Revision } from '../git/revision.ts'
import { isProgramName } from './definition-name.ts'
import { type LoadedDefinitions, loadDefinitions } from './load-definitions.ts'

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

/** Maximum number of files open at the same time. */
const OPEN_FILES = 32

/** Compares all zones of a config, as they were loaded, with those of a revision. */
export async function changedZones(config: Config, loaded: LoadedDefinitions, revision: Revision): Promise<ChangedZones> {
  const hasChanged = changedFiles(config, revision)
  const touched = new Set<LoadedZone>()
  await Promise.all(
    loaded.zones.map(async (zone) => {
      if ((await Promise.all(zone.files.map(hasChanged))).includes(true)) touched.add(zone)
    }),
  )
  const isComparable = loaded.areIndependent && config.file !== null && !(await hasChanged(config.file))
  const sure = isComparable ? loaded.zones.filter((zone) => !touched.has(zone) && !isProgramName(zone.zone.at.file)) : []
  const before = await loadRevision(config, revision, sure)
  if (before.config === null) return { zones: new Set(loaded.zones), former: [], isEverything: true }
  const known = new Set(before.zones.map((zone) => `${zone.zone.name} ${effectOf(zone, before.config as Config)}`))
  const same = new Set(before.isPartial ? sure : [])
  const isKnown = (zone: LoadedZone): boolean => same.has(zone) || known.has(`${zone.zone.name} ${effectOf(zone, config)}`)
  const zones = new Set(loaded.zones.filter((zone) => touched.has(zone) || !isKnown(zone)))
  return { zones, former: formerZones(config, loaded, before), isEverything: false }
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

/** A function that says whether a file, named as messages show it, differs from that of the revision. Line ends do not matter. */
export function changedFiles(config: Config, { folder }: Revision): (file: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  const limit = pLimit(OPEN_FILES)
  const read = (path: string): Promise<string | null> =>
    readFile(path, 'latin1').then(
      (text) => text.replaceAll('\r\n', '\n'),
      () => null,
    )
  return (file) => {
    const path = fromDisplayPath(file, config.cwd)
    const compared =
      known.get(path) ??
      limit(async () => {
        const [now, then] = await Promise.all([read(path), read(resolve(folder, relative(config.folder, path)))])
        return now === null || now !== then
      })
    known.set(path, compared)
    return compared
  }
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
 * Loads the definitions that the config of a revision selected. `config` is that of the working tree; the copy of the revision is of its folder. The definitions
 * of `unchanged`, whose files are those of the revision, are left out if nothing else can give them another effect there.
 */
export async function loadRevision(config: Config, { folder }: Revision, unchanged: readonly LoadedZone[] = []): Promise<LoadedRevision> {
  const nothing: LoadedRevision = { config: null, zones: [], diagnostics: [], files: [], isPartial: false }
  if (config.file === null) return nothing
  const file = basename(fromDisplayPath(config.file, config.cwd))
  const text = await readText(join(folder, file), file, null)
  if (!text.ok) return nothing
  const read = readConfig(text.text, { file, folder, cwd: folder, secrets: config.secrets })
  if (read.config === null || hasErrors(read.diagnostics)) return { ...nothing, diagnostics: read.diagnostics }
  const own = { ...read.config, variables: config.variables }
  if (unchanged.length > 0 && hasSameEffect(config, own)) {
    const pathOf = ({ zone }: LoadedZone): string => join(folder, relative(config.folder, fromDisplayPath(zone.at.file, config.cwd)))
    const part = await loadDefinitions(own, { lints: false, without: new Set(unchanged.map(pathOf)) })
    if (part.areIndependent) return { config: own, ...part, isPartial: true }
  }
  return { config: own, ...(await loadDefinitions(own, { lints: false })), isPartial: false }
}

/** Whether a config, whose text is that of the revision, adds the same to a zone: no base branch limits it, and its providers are not replaced. */
const hasSameEffect = ({ base, providers }: Config, own: Config): boolean =>
  (base === null || base.limitedKeys.length === 0) && settingsOf(providers) === settingsOf(own.providers)

const settingsOf = (providers: Config['providers']): string =>
  JSON.stringify([...providers.values()].map(({ name, type, settings }) => [name, type, settings]))
