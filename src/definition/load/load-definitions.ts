/**
 * From a config to the zones it wants: find the files, read them, take out fragments that other files include, join each zone
 * with the config, look for zones that are defined twice. Every fault of every file is collected.
 */
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import { compareDiagnostics, type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { didYouMean } from '../../dns/nearest-word.ts'
import type { Config } from '../config/config.ts'
import { secretsInZone } from '../config/secret-guard.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../files/file-path.ts'
import { configureZone, type LoadedZone, ruleFor } from './configured-zone.ts'
import { type FoundDefinition, findDefinitions } from './find-definitions.ts'
import { includeReader } from './include-reader.ts'
import { type LoadedDefinition, readDefinition } from './read-definition.ts'
import { sourcePolicy } from './source-policy.ts'

/** Files that are open at once. */
const OPEN_FILES = 32

export interface LoadOptions {
  /** Only these zones, as the user writes their names. */
  readonly zones?: readonly string[] | undefined
  /** Only these files and folders, absolute, instead of what the rules match. */
  readonly paths?: readonly string[] | undefined
  /** Texts that stand for files, by absolute path, as if they had been written already; in a folder of split files also new ones. */
  readonly texts?: ReadonlyMap<string, string> | undefined
  /** Takes the texts of the definitions that are asked for as they were read, by absolute path. */
  readonly textsRead?: Map<string, string> | undefined
}

export interface LoadedDefinitions {
  /** In the order of their definitions' files. */
  readonly zones: readonly LoadedZone[]
  /** All that was found, in order; those of zones too. */
  readonly diagnostics: readonly Diagnostic[]
  /** Definitions and included files that were read, as messages name them, sorted. */
  readonly files: readonly string[]
  /** Definitions that are left alone, as messages name them, sorted: they or the config's rule say `enabled: false`, or no rule takes their zone. */
  readonly skipped: readonly string[]
}

export async function loadDefinitions(config: Config, options: LoadOptions = {}): Promise<LoadedDefinitions> {
  const wanted = wantedZones(options.zones)
  const found = await findDefinitions(config, options.paths ?? null)
  const sources = { include: includeReader(config, options.texts), policy: sourcePolicy(config) }
  const limit = pLimit(OPEN_FILES)
  const definitions = found.definitions
    .filter((definition) => !isDisabled(definition))
    .map((definition) => withNewParts(definition, options.texts))
  const read = await Promise.all(
    definitions.map((definition) =>
      limit(() =>
        readDefinition(definition, config, sources, { wanted: wanted.names, texts: options.texts, textsRead: options.textsRead }),
      ),
    ),
  )
  const parsed = withoutFragments(
    read.filter((one): one is LoadedDefinition => one !== null),
    config,
  )

  const leftAlone = new Set(found.definitions.filter(isDisabled).map(({ file }) => file))
  const diagnostics: Diagnostic[] = [...(found.definitions.length === 0 ? nothingFound(found.diagnostics, config) : found.diagnostics)]
  diagnostics.push(...wanted.diagnostics)
  const zones: LoadedZone[] = []
  for (const one of parsed) {
    if (!one.enabled || joinWithConfig(one, config, wanted.names, zones, diagnostics)) leftAlone.add(one.definition.file)
  }
  const files = [...new Set(parsed.flatMap((one) => one.files))].sort()
  const distinct = refuseDuplicates(zones)
  diagnostics.push(...missingZones(wanted.names, distinct, parsed, found.definitions))
  for (const zone of distinct) diagnostics.push(...zone.diagnostics)
  return {
    zones: distinct,
    diagnostics: removeRepeatedDiagnostics(diagnostics.sort(compareDiagnostics)),
    files,
    skipped: [...leftAlone].sort(),
  }
}

/** A folder of split files with those that are yet to be written into it. */
function withNewParts(definition: FoundDefinition, texts: LoadOptions['texts']): FoundDefinition {
  if (definition.kind !== 'split' || !texts) return definition
  const made = [...texts.keys()].filter((path) => dirname(path) === definition.path && !definition.parts.includes(path))
  return made.length === 0 ? definition : { ...definition, parts: [...definition.parts, ...made] }
}

/** Disabled whatever the zone turns out to be called. */
const isDisabled = ({ rules: [first] }: FoundDefinition): boolean => first !== undefined && !first.enabled && first.zones === null

interface WantedZones {
  /** Null for all zones. */
  readonly names: ReadonlySet<DomainName> | null
  readonly diagnostics: readonly Diagnostic[]
}

function wantedZones(zones: readonly string[] | undefined): WantedZones {
  if (zones === undefined || zones.length === 0) return { names: null, diagnostics: [] }
  const names = new Set<DomainName>()
  const diagnostics: Diagnostic[] = []
  for (const text of zones) {
    const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (name.ok) names.add(name.value)
    else diagnostics.push({ severity: 'error', code: 'zone-name', message: name.message })
  }
  return { names, diagnostics }
}

/** A file that another includes is no zone of its own, whatever matches it. */
function withoutFragments(parsed: readonly LoadedDefinition[], config: Config): LoadedDefinition[] {
  const included = new Set(parsed.flatMap((one) => one.includedFiles))
  if (included.size === 0) return [...parsed]
  const cwd = resolveLinks(config.cwd)
  return parsed.filter((one) => !included.has(displayPath(resolveLinks(fromDisplayPath(one.definition.file, config.cwd)), cwd)))
}

/** Adds the zone, or what is wrong with it. Whether the config leaves it alone instead. */
function joinWithConfig(
  { definition, zone, files, diagnostics: found }: LoadedDefinition,
  config: Config,
  wanted: ReadonlySet<DomainName> | null,
  zones: LoadedZone[],
  diagnostics: Diagnostic[],
): boolean {
  if (zone === null) {
    diagnostics.push(...found)
    return false
  }
  if (wanted !== null && !wanted.has(zone.name)) return false
  const named = definition.rules.find((rule) => rule.zoneName !== null && rule.zoneName !== zone.name)
  if (named) {
    const message = `the definition is of ${zone.name}, but the config says it is of ${named.zoneName}`
    diagnostics.push(...found, { severity: 'error', code: 'zone-name', message, at: zone.at })
    return false
  }
  const rule = ruleFor(zone, definition.rules)
  if (!rule?.enabled) return true
  zones.push(configureZone(zone, rule, config, files, [...found, ...secretsInZone(zone, config.secrets)]))
  return false
}

/** Two definitions of one zone are fine only where no target would get both. */
function refuseDuplicates(zones: readonly LoadedZone[]): LoadedZone[] {
  const first = new Map<string, LoadedZone>()
  const twice = new Map<LoadedZone, Diagnostic | null>()
  for (const loaded of zones) {
    const keys = (loaded.targets.length === 0 ? [''] : loaded.targets).map((target) => `${loaded.zone.name} ${target}`)
    const earlier = keys.map((key) => first.get(key)).find((one) => one !== undefined)
    for (const key of keys) if (!first.has(key)) first.set(key, loaded)
    if (!earlier) continue
    if (!twice.has(earlier)) twice.set(earlier, null)
    twice.set(loaded, duplicate(loaded, earlier))
  }
  return zones.map((loaded) => {
    const problem = twice.get(loaded)
    if (problem === undefined) return loaded
    return { ...loaded, diagnostics: problem === null ? loaded.diagnostics : [...loaded.diagnostics, problem], valid: false }
  })
}

function duplicate({ zone, targets }: LoadedZone, earlier: LoadedZone): Diagnostic {
  const shared = targets.filter((target) => earlier.targets.includes(target))
  return {
    severity: 'error',
    code: 'zone-duplicate',
    message: `${zone.name} is defined twice${shared.length > 0 ? ` for ${shared.join(', ')}` : ''}`,
    at: zone.at,
    hint: 'give the two definitions different targets, or make one of the two',
    related: [{ message: 'the other definition', at: earlier.zone.at }],
  }
}

function missingZones(
  wanted: ReadonlySet<DomainName> | null,
  zones: readonly LoadedZone[],
  read: readonly LoadedDefinition[],
  found: readonly FoundDefinition[],
): Diagnostic[] {
  if (wanted === null) return []
  const there = new Set(zones.map((loaded) => loaded.zone.name))
  const invalid = new Set(read.filter((one) => one.zone === null).map((one) => one.definition.zoneName))
  const disabled = new Set(read.map((one) => one.zone?.name))
  const known = new Set([...found.map((one) => one.zoneName), ...disabled].filter((name) => name !== undefined && name !== null))
  return [...wanted]
    .filter((name) => !there.has(name) && !invalid.has(name))
    .map((name) => ({
      severity: 'error',
      code: 'zone-unknown',
      message: disabled.has(name) ? `the definition of ${name} is disabled` : `there is no definition of ${name}`,
      hint: disabled.has(name) ? undefined : otherZone(name, found, known),
    }))
}

/** What a zone that there is not could have been meant for. */
function otherZone(name: DomainName, found: readonly FoundDefinition[], known: ReadonlySet<DomainName>): string | undefined {
  const ofFile = found.find((one) => `${one.file}.`.toLowerCase() === name)?.zoneName
  if (ofFile) return `that is a file; its zone is ${ofFile}`
  if (name.includes('*')) return 'a zone is named in full; without names all zones are taken'
  return didYouMean(name, known) ?? (known.size > 0 && known.size <= 5 ? `there are ${[...known].sort().join(', ')}` : undefined)
}

/** That nothing matches at all is one error instead of a warning for every rule, unless there is a better reason. */
function nothingFound(found: readonly Diagnostic[], config: Config): readonly Diagnostic[] {
  if (hasErrors(found)) return found
  const globs = config.rules.flatMap((rule) => rule.files).join(', ')
  return [{ severity: 'error', code: 'no-definitions', message: `there are no definitions: nothing matches ${globs}` }]
}

/** A fault of a file that several zones include is one fault. The list must be sorted. */
function removeRepeatedDiagnostics(sorted: readonly Diagnostic[]): Diagnostic[] {
  return sorted.filter((one, i) => {
    const before = sorted[i - 1]
    return !before || one.at === undefined || compareDiagnostics(before, one) !== 0
  })
}

/** What looking at all definitions gave. */
export interface Validation {
  readonly diagnostics: readonly Diagnostic[]
  readonly zones: LoadedDefinitions['zones']
  /** Files that were read, included ones too. */
  readonly files: number
  readonly records: number
}

/** Reads and checks definitions without any network. */
export async function validateDefinitions(config: Config, options: LoadOptions = {}): Promise<Validation> {
  const { zones, diagnostics, files } = await loadDefinitions(config, options)
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  return { diagnostics, zones, files: files.length, records }
}
