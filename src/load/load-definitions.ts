/**
 * Loads the zones of a config: finds the files, reads them, drops fragments that other files include, combines each zone with the config, and
 * reports zones that are defined twice. Collects every problem of every file.
 */
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import { compareDiagnostics, type Diagnostic, hasErrors, isError } from '../base/diagnostic.ts'
import { compareText } from '../base/text.ts'
import { expiryWarnings } from '../checks/rules/expiry.ts'
import { secretsInZone } from '../checks/secrets-in-zone.ts'
import type { Config } from '../config/config.ts'
import { configureZone, type LoadedZone, limitedRule, ruleFor } from '../config/configured-zone.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { FullDate } from '../dns/ownership.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../files/file-path.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { isProgramName } from './definition-name.ts'
import { type FoundDefinition, findDefinitions } from './find-definitions.ts'
import { createIncludeReader } from './include-reader.ts'
import { type CapabilityLookUp, lintLoaded } from './lint-loaded.ts'
import { readProgram } from './program-loader.ts'
import { addPtrRecords } from './ptr-records.ts'
import { createRecordTotal, type LoadedDefinition, readDefinition } from './read-definition.ts'
import { unmatchedDefinitions, unmatchedWarning } from './unmatched-definitions.ts'
import { isWanted, type WantedZones, wantedZones, wantsReverse } from './wanted-zones.ts'

/** Maximum number of records that all programs of a config make. */
const MAX_PROGRAM_RECORDS = 1_000_000

/** Maximum number of files open at the same time. */
const OPEN_FILES = 32

export interface LoadOptions {
  /** Only these zones, as the user wrote their names, globs, or the paths of their files. */
  readonly zones?: readonly string[] | undefined
  /** Only these files and folders, absolute, instead of what the rules match. */
  readonly paths?: readonly string[] | undefined
  /** Texts that replace files, by absolute path, as if they were already written; also new definitions that a rule matches. */
  readonly texts?: ReadonlyMap<string, string> | undefined
  /** Files to leave out, by absolute path. */
  readonly without?: ReadonlySet<string> | undefined
  /** Receives the texts of the wanted definitions as they were read, by absolute path. */
  readonly textsRead?: Map<string, string> | undefined
  /** False to leave out the PTR records of addresses with `auto_ptr`, so that every record is one that a file of its zone has. */
  readonly autoPtr?: false | undefined
  /** The day in UTC, to report what has expired; absent to report nothing. */
  readonly today?: FullDate | undefined
  /** False to leave out the lints. */
  readonly lints?: false | undefined
  /** What targets can store, to report TTLs that they round. */
  readonly capabilities?: CapabilityLookUp | undefined
}

export interface LoadedDefinitions {
  /** In the order of their definitions' files. */
  readonly zones: readonly LoadedZone[]
  /** All diagnostics in order, including those of the zones. */
  readonly diagnostics: readonly Diagnostic[]
  /** The definitions and included files that were read, as messages show them, sorted. */
  readonly files: readonly string[]
  readonly described: DescribedZones
  /** Whether a definition with errors may add PTR records to a reverse zone, which then lacks them. */
  readonly lacksPtrs: boolean
  /** Skipped definitions, as messages show them, sorted: they or their rule say `enabled: false`, or no rule matches their zone. */
  readonly skipped: readonly string[]
}

/** What the definitions of a run describe, also those that are disabled or have errors. */
export interface DescribedZones {
  readonly names: ReadonlySet<DomainName>
  /** The definitions that are disabled or whose zone is unknown, as messages show them. */
  readonly files: ReadonlySet<string>
  /** Whether the zone of a definition is unknown, so that any zone may be described. */
  readonly isUncertain: boolean
  /** Whether a rule matches nothing or a folder cannot be read, so that definitions may be missing. */
  readonly isIncomplete: boolean
}

export async function loadDefinitions(config: Config, options: LoadOptions = {}): Promise<LoadedDefinitions> {
  const all = await findDefinitions(config, options.paths ?? null, [...(options.texts?.keys() ?? [])])
  const found = { ...all, definitions: all.definitions.filter(({ path }) => !options.without?.has(path)) }
  const wanted = wantedZones(options.zones, config, found.definitions)
  const sources = {
    include: createIncludeReader(config, 'yaml', options.texts),
    includeZoneFile: createIncludeReader(config, 'zone-file', options.texts),
    policy: sourcePolicy(config),
    total: createRecordTotal(),
  }
  const limit = pLimit(OPEN_FILES)
  const definitions = found.definitions
    .filter((definition) => !isDisabled(definition))
    .map((definition) => withNewFiles(definition, options.texts))
  const isProgram = ({ kind }: FoundDefinition): boolean => kind === 'program'
  const written = definitions.filter((definition) => !isProgram(definition))
  const readEach = (some: readonly FoundDefinition[], names: WantedZones | null): Promise<(LoadedDefinition | null)[]> =>
    Promise.all(
      some.map((definition) =>
        limit(() => readDefinition(definition, config, sources, { wanted: names, texts: options.texts, textsRead: options.textsRead })),
      ),
    )
  // A program names its zones only when it has run.
  const made = createRecordTotal('made by programs', MAX_PROGRAM_RECORDS)
  const programs = (
    await Promise.all(definitions.filter(isProgram).map((definition) => readProgram(definition, config, options.texts, made)))
  ).flat()
  const read = await readEach(written, wanted?.mayBeFragments ? null : wanted)
  const needsOthers = options.autoPtr !== false && wanted !== null && areLinked([...read, ...programs], wanted)
  const otherDefinitions = new Set(needsOthers ? written.filter((_, index) => read[index] === null) : [])
  const everyOne = [...read, ...(await readEach([...otherDefinitions], null)), ...programs].filter(
    (one): one is LoadedDefinition => one !== null,
  )
  const included = new Set(everyOne.flatMap((one) => one.includedFiles))
  const parsed = withoutFragments(everyOne, included, config)

  const skipped = new Set(found.definitions.filter(isDisabled).map(({ file }) => file))
  const diagnostics: Diagnostic[] = [...(found.definitions.length === 0 ? nothingFound(found.diagnostics, config) : found.diagnostics)]
  diagnostics.push(...(wanted?.diagnostics ?? []))
  const zones: LoadedZone[] = []
  /** The zones that are not wanted, but that may add PTR records to a wanted zone or hold those of one. */
  const linked: LoadedZone[] = []
  const known = { found: found.definitions, isNamed: options.paths !== undefined, included, wanted }
  const unmatched = hasErrors(found.diagnostics) ? [] : await unmatchedDefinitions(config, known)
  const isReverseWanted = needsOthers && wantsReverse(everyOne, wanted)
  for (const one of parsed) {
    const isOther = otherDefinitions.has(one.definition) || !isWanted(one, wanted)
    const isSkipped = !isOther && (!one.enabled || joinWithConfig(one, config, zones, diagnostics))
    // Other zones of the program may be loaded.
    if (isSkipped && !isProgram(one.definition)) skipped.add(one.definition.file)
    if (isOther && needsOthers && one.enabled) diagnostics.push(...joinLinked(one, config, linked, isReverseWanted))
    if (isWanted(one, wanted) && hasNoRule(one)) unmatched.push(one.definition.file)
  }
  diagnostics.push(...unmatchedWarning(unmatched))
  const files = [...new Set(parsed.flatMap((one) => one.files))].sort()
  const unlinked = refuseDuplicates(zones)
  const joined = options.autoPtr === false ? unlinked : withPtrs(unlinked, linked, options.paths === undefined)
  const unexpired = withExpiryWarnings(joined, options.today)
  const isComplete = wanted === null && options.paths === undefined && !hasErrors(diagnostics)
  const distinct = options.lints === false ? unexpired : lintLoaded(unexpired, { isComplete, capabilities: options.capabilities })
  const loaded = new Set(distinct.map(({ zone }) => zone.name))
  const selected = parsed.filter((one) => one.zone !== null && isWanted(one, wanted))
  diagnostics.push(...(wanted?.unused(selected, parsed, loaded) ?? []))
  // There may be more than a call takes arguments.
  for (const zone of distinct) for (const one of zone.diagnostics) diagnostics.push(one)
  return {
    zones: distinct,
    diagnostics: removeRepeatedDiagnostics(diagnostics.sort(compareDiagnostics)),
    files,
    described: describedBy(parsed, found.definitions.filter(isDisabled), found.diagnostics),
    lacksPtrs: parsed.some((one) => one.mayUseAutoPtr && hasErrors(one.diagnostics)),
    skipped: [...skipped].sort(),
  }
}

function withExpiryWarnings(zones: readonly LoadedZone[], today: FullDate | undefined): readonly LoadedZone[] {
  if (today === undefined) return zones
  return zones.map((loaded) => ({ ...loaded, diagnostics: [...loaded.diagnostics, ...expiryWarnings(loaded.zone, today)] }))
}

function describedBy(
  read: readonly LoadedDefinition[],
  disabled: readonly FoundDefinition[],
  problems: readonly Diagnostic[],
): DescribedZones {
  const ruled = read.filter((one) => !hasNoRule(one))
  const nameless = [...ruled.flatMap(({ zone, definition }) => (zone === null ? definition : [])), ...disabled]
  return {
    names: new Set([...ruled.flatMap(({ zone }) => zone?.name ?? []), ...nameless.flatMap(({ zoneName }) => zoneName ?? [])]),
    files: new Set([...nameless, ...ruled.flatMap(({ enabled, definition }) => (enabled ? [] : definition))].map(({ file }) => file)),
    isUncertain: ruled.some(({ zone }) => zone === null) || disabled.some(({ zoneName }) => zoneName === null) || hasErrors(problems),
    isIncomplete: problems.length > 0,
  }
}

/** A folder of split files, including the files of `texts` that do not exist yet. */
function withNewFiles(definition: FoundDefinition, texts: LoadOptions['texts']): FoundDefinition {
  if (definition.kind !== 'split' || !texts) return definition
  const added = [...texts.keys()].filter((path) => dirname(path) === definition.path && !definition.parts.includes(path))
  return added.length === 0 ? definition : { ...definition, parts: [...definition.parts, ...added] }
}

/** Whether the definition is disabled whatever its zone is. */
const isDisabled = ({ rules: [first] }: FoundDefinition): boolean => first !== undefined && !first.enabled && first.zones === null

/** The definitions without files that others include, which are not zones even if a glob matches them. */
function withoutFragments(parsed: readonly LoadedDefinition[], included: ReadonlySet<string>, config: Config): LoadedDefinition[] {
  if (included.size === 0) return [...parsed]
  const cwd = resolveLinks(config.cwd)
  return parsed.filter((one) => !included.has(displayPath(resolveLinks(fromDisplayPath(one.definition.file, config.cwd)), cwd)))
}

/** Whether PTR records connect the wanted zones with others: one of them is a reverse zone, or uses `auto_ptr`. */
const areLinked = (read: readonly (LoadedDefinition | null)[], wanted: WantedZones): boolean =>
  wantsReverse(read, wanted) ||
  read.some(
    (one) =>
      one?.zone?.autoPtr || one?.zone?.records.some(({ autoPtr }) => autoPtr) || one?.definition.rules.some(({ autoPtr }) => autoPtr),
  )

/** The zones with their PTR records. All zones take part in the order of their files, so a selection of zones makes no difference. */
function withPtrs(zones: readonly LoadedZone[], linked: readonly LoadedZone[], isComplete: boolean): LoadedZone[] {
  const all = [...zones, ...linked]
  const order = [...all.keys()].sort((a, b) => compareText(all[a]?.zone.at.file ?? '', all[b]?.zone.at.file ?? '') || a - b)
  const added = addPtrRecords(
    order.flatMap((index) => all[index] ?? []),
    isComplete,
  )
  const result: LoadedZone[] = []
  for (const [place, index] of order.entries()) result[index] = added[place] as LoadedZone
  return result.slice(0, zones.length)
}

/**
 * Adds a zone that is not wanted to those that PTR records may connect with wanted ones. Returns its errors if a reverse zone is wanted: it would lack
 * PTR records.
 */
function joinLinked(one: LoadedDefinition, config: Config, linked: LoadedZone[], isReverseWanted: boolean): Diagnostic[] {
  const found: Diagnostic[] = []
  const zones: LoadedZone[] = []
  joinWithConfig(one, config, zones, found)
  linked.push(...zones)
  if (!isReverseWanted || !(one.mayUseAutoPtr || one.zone === null)) return []
  return [...found, ...zones.flatMap(({ diagnostics }) => diagnostics)].filter(isError)
}

/** Adds the zone or its diagnostics. Returns true if the config skips the definition instead. */
function joinWithConfig(
  { definition, zone, files, diagnostics: found }: LoadedDefinition,
  config: Config,
  zones: LoadedZone[],
  diagnostics: Diagnostic[],
): boolean {
  if (zone === null) {
    diagnostics.push(...found)
    return false
  }
  const named = definition.rules.find((rule) => rule.zoneName !== null && rule.zoneName !== zone.name)
  if (named) {
    const message = `the file defines ${zone.name}, but the config names its zone ${named.zoneName}`
    diagnostics.push(...found, { severity: 'error', code: 'zone-name', message, at: zone.at })
    return false
  }
  const rule = ruleFor(zone, definition.rules)
  if (!rule?.enabled) return true
  const limited = limitedRule(rule, config, definition.path, zone)
  zones.push(configureZone(zone, limited, config, files, [...found, ...secretsInZone(zone, config.secrets)]))
  return false
}

/** Whether the globs of rules match the file of a zone, but `zone` of none matches its name. */
function hasNoRule({ enabled, zone, definition: { rules } }: LoadedDefinition): boolean {
  if (!enabled || zone === null) return false
  return ruleFor(zone, rules) === null && rules.every(({ zoneName }) => zoneName === null)
}

/** Reports zones with two definitions for the same target. */
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
    hint: isProgramName(zone.at.file)
      ? 'import the records of one into the other, or give the zones different targets'
      : 'give the definitions different targets, or merge them into one',
    related: [{ message: 'the other definition', at: earlier.zone.at }],
  }
}

/** One error if nothing matches at all, instead of a warning per rule, unless another error explains it. */
function nothingFound(found: readonly Diagnostic[], config: Config): readonly Diagnostic[] {
  if (hasErrors(found)) return found
  const globs = config.zoneRules.flatMap((rule) => rule.files).join(', ')
  const message = `there are no definitions: no file matches ${globs} and is named ZONE.yaml, ZONE.zone or ZONE.db`
  return [{ severity: 'error', code: 'no-definitions', message }]
}

/** Removes repeated diagnostics of files that several zones include. The list must be sorted. */
function removeRepeatedDiagnostics(sorted: readonly Diagnostic[]): Diagnostic[] {
  return sorted.filter((one, i) => {
    const before = sorted[i - 1]
    return !before || one.at === undefined || compareDiagnostics(before, one) !== 0
  })
}

/** The result of checking all definitions. */
export interface Validation {
  readonly diagnostics: readonly Diagnostic[]
  readonly zones: LoadedDefinitions['zones']
  /** The number of files read, including included ones. */
  readonly files: number
  readonly records: number
}

/** Reads and checks definitions without network access. */
export async function validateDefinitions(config: Config, options: LoadOptions = {}): Promise<Validation> {
  const { zones, diagnostics, files } = await loadDefinitions(config, options)
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  return { diagnostics, zones, files: files.length, records }
}
