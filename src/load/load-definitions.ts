/**
 * Loads the zones of a config: finds the files, reads them, drops fragments that other files include, combines each zone with the config, and
 * reports zones that are defined twice. Collects every problem of every file.
 */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import pLimit from 'p-limit'
import { compareDiagnostics, type Diagnostic, hasErrors, isError } from '../base/diagnostic.ts'
import { append } from '../base/group-by.ts'
import { compareText } from '../base/text.ts'
import { secretsInZone } from '../checks/secrets-in-zone.ts'
import type { Config } from '../config/config.ts'
import { configureZone, type LoadedZone, limitedRule, ruleFor } from '../config/configured-zone.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { FullDate } from '../dns/ownership.ts'
import { createZonePacker, type ZonePacker } from '../dns/packed-zone.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../files/file-path.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { isProgramName } from './definition-name.ts'
import { type FoundDefinition, type FoundDefinitions, findDefinitions } from './find-definitions.ts'
import { createIncludeReader, type IncludeReader } from './include-reader.ts'
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

/** The number of definitions from which on `isForChecks` packs the records of zones. It takes time, and few zones take little memory. */
const MANY = 100

export interface LoadOptions {
  /** Only these zones, as the user wrote their names, globs, or the paths of their files. */
  readonly zones?: readonly string[] | undefined
  /** Only these files and folders, absolute, instead of what the rules match. */
  readonly paths?: readonly string[] | undefined
  /** Texts that replace files, by absolute path, as if they were already written; also new definitions that a rule matches. */
  readonly texts?: ReadonlyMap<string, string> | undefined
  /** Files to leave out, by absolute path. */
  readonly without?: ReadonlySet<string> | undefined
  /** All definitions, if they have been found. */
  readonly found?: FoundDefinitions | undefined
  /** Definitions that are read only if a zone that is read refers to their zone, which is named, or has its name; or if `others` has it. */
  readonly unread?: ReadonlyMap<FoundDefinition, DomainName> | undefined
  readonly others?: ReadonlySet<DomainName> | undefined
  /** Receives the texts of the wanted definitions as they were read, by absolute path. */
  readonly textsRead?: Map<string, string> | undefined
  /** False to leave out the PTR records of addresses with `auto_ptr`, so that every record is one that a file of its zone has. */
  readonly autoPtr?: false | undefined
  /** The day in UTC, to report what has expired; absent to report nothing. */
  readonly today?: FullDate | undefined
  /** Whether the records are only looked at for one zone after the other, so that they may be packed; a plan reads those of many zones at once. */
  readonly isForChecks?: true | undefined
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
  /** Whether each zone depends on its own file and the config alone: no definition includes a file, or may use `auto_ptr`. */
  readonly areIndependent: boolean
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
  const all = options.found ?? (await findDefinitions(config, options.paths ?? null, [...(options.texts?.keys() ?? [])]))
  const found = { ...all, definitions: all.definitions.filter(({ path }) => !options.without?.has(path)) }
  const wanted = wantedZones(options.zones, config, found.definitions)
  let hasIncludes = false
  const noting =
    (read: IncludeReader): IncludeReader =>
    (...named) => {
      hasIncludes = true
      return read(...named)
    }
  const sources = {
    include: noting(createIncludeReader(config, 'yaml', options.texts)),
    includeZoneFile: noting(createIncludeReader(config, 'zone-file', options.texts)),
    policy: sourcePolicy(config),
    total: createRecordTotal(),
  }
  const limit = pLimit(OPEN_FILES)
  const definitions = found.definitions
    .filter((definition) => !isDisabled(definition))
    .map((definition) => withNewFiles(definition, options.texts))
  const isProgram = ({ kind }: FoundDefinition): boolean => kind === 'program'
  const written = definitions.filter((definition) => !isProgram(definition) && !options.unread?.has(definition))
  const unread = new Map<DomainName, FoundDefinition[]>()
  for (const [definition, name] of options.unread ?? []) append(unread, name, definition)
  const pack: ZonePacker = options.isForChecks && definitions.length >= MANY ? createZonePacker() : (zone) => zone
  const readEach = (some: readonly FoundDefinition[], names: WantedZones | null): Promise<(ConfiguredDefinition | null)[]> =>
    Promise.all(
      some.map((definition) =>
        limit(async () => {
          const read = { wanted: names, texts: options.texts, textsRead: options.textsRead }
          const one = await readDefinition(definition, config, sources, read)
          return one === null ? null : joinWithConfig(one, config, pack)
        }),
      ),
    )
  // A program names its zones only when it has run.
  const made = createRecordTotal('made by programs', MAX_PROGRAM_RECORDS)
  const programs = (
    await Promise.all(definitions.filter(isProgram).map((definition) => readProgram(definition, config, options.texts, made)))
  )
    .flat()
    .map((one) => joinWithConfig(one, config, pack))
  const read = await readEach(written, wanted?.mayBeFragments ? null : wanted)
  const needsOthers = options.autoPtr !== false && wanted !== null && areLinked([...read, ...programs], wanted)
  const otherDefinitions = new Set(needsOthers ? written.filter((_, index) => read[index] === null) : [])
  const readUnread = async (names: Iterable<DomainName>): Promise<(ConfiguredDefinition | null)[]> => {
    const some = [...new Set(names)].flatMap((name) => unread.get(name) ?? [])
    for (const name of names) unread.delete(name)
    return readEach(some, null)
  }
  const first = [...read, ...(await readEach([...otherDefinitions], null)), ...programs]
  const second = await readUnread([...(options.others ?? []), ...first.flatMap((one) => one?.zone?.name ?? [])])
  const everyOne = [...first, ...second].filter((one): one is ConfiguredDefinition => one !== null)
  const isLast = (one: ConfiguredDefinition): number => Number(isProgram(one.definition))
  if (second.length > 0) everyOne.sort((a, b) => isLast(a) - isLast(b) || compareText(a.definition.file, b.definition.file))
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
    // Other zones of the program may be loaded.
    if (!isOther && one.isSkipped && !isProgram(one.definition)) skipped.add(one.definition.file)
    if (!isOther) for (const problem of one.problems) diagnostics.push(problem)
    if (!isOther && one.loaded !== null) zones.push(one.loaded)
    if (isOther && needsOthers && one.loaded !== null) linked.push(one.loaded)
    if (isOther && isReverseWanted) diagnostics.push(...errorsOfLinked(one))
    if (isWanted(one, wanted) && hasNoRule(one)) unmatched.push(one.definition.file)
  }
  diagnostics.push(...unmatchedWarning(unmatched))
  const files = [...new Set(parsed.flatMap((one) => one.files))].sort()
  const unlinked = refuseDuplicates(zones)
  const joined = options.autoPtr === false ? unlinked : withPtrs(unlinked, linked, options.paths === undefined)
  const isComplete = wanted === null && options.paths === undefined && !hasErrors(diagnostics)
  const { today, capabilities } = options
  const others: LoadedZone[] = []
  let distinct: readonly LoadedZone[] = joined
  for (let asked: DomainName[] | null = null; options.lints !== false && asked?.length !== 0; ) {
    const found: DomainName[] = []
    const ask = (name: DomainName): void => void (unread.has(name) && found.push(name))
    distinct = lintLoaded(joined, { isComplete, today, capabilities, ...(options.unread && { others, ask }) })
    others.push(...(await readUnread(found)).flatMap((one) => one?.loaded ?? []))
    asked = found
  }
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
    areIndependent: !hasIncludes && !everyOne.some(({ mayUseAutoPtr }) => mayUseAutoPtr),
    skipped: [...skipped].sort(),
  }
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
function withoutFragments<D extends LoadedDefinition>(parsed: readonly D[], included: ReadonlySet<string>, config: Config): D[] {
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

/** The errors of a definition that is not wanted, if it may add PTR records: a wanted reverse zone would lack them. */
function errorsOfLinked({ mayUseAutoPtr, zone, problems, loaded }: ConfiguredDefinition): Diagnostic[] {
  return mayUseAutoPtr || zone === null ? [...problems, ...(loaded?.diagnostics ?? [])].filter(isError) : []
}

/** A definition combined with the config. */
interface ConfiguredDefinition extends LoadedDefinition {
  /** Null if it has no zone, or is skipped. */
  readonly loaded: LoadedZone | null
  /** Its diagnostics if it has no zone. */
  readonly problems: readonly Diagnostic[]
  /** Whether it is disabled, or the config skips it. */
  readonly isSkipped: boolean
}

function joinWithConfig(one: LoadedDefinition, config: Config, pack: ZonePacker): ConfiguredDefinition {
  const { definition, zone, enabled, files, diagnostics: found } = one
  const nothing = { ...one, loaded: null, problems: [], isSkipped: false }
  if (!enabled) return { ...nothing, isSkipped: true }
  if (zone === null) return { ...nothing, problems: found }
  const named = definition.rules.find((rule) => rule.zoneName !== null && rule.zoneName !== zone.name)
  if (named) {
    const message = `the file defines ${zone.name}, but the config names its zone ${named.zoneName}`
    return { ...nothing, problems: [...found, { severity: 'error', code: 'zone-name', message, at: zone.at }] }
  }
  const rule = ruleFor(zone, definition.rules)
  if (!rule?.enabled) return { ...nothing, isSkipped: true }
  const limited = limitedRule(rule, config, definition.path, zone)
  const loaded = configureZone(zone, limited, config, files, [...found, ...secretsInZone(zone, config.secrets)])
  const packed = pack(loaded.zone)
  return { ...nothing, zone: packed, loaded: { ...loaded, zone: packed } }
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
  const globs = config.zoneRules.flatMap((rule) => rule.files.map((glob) => JSON.stringify(glob))).join(' or ')
  const message = `there are no definitions: no file like example.com.yaml, .zone or .db matches ${globs}`
  const program = existsSync(resolve(config.cwd, 'dnsconfig.js')) ? 'dnsconfig.js' : 'what the folder has'
  const hint =
    config.file === null
      ? `"zonewright init" takes over ${program}, and writes a config`
      : `correct ${config.zoneRules[0]?.at ? 'the pattern' : '"files" in the config'}, or add a zone with "zonewright zone add"`
  return [{ severity: 'error', code: 'no-definitions', message, at: config.zoneRules[0]?.filesAt ?? undefined, hint }]
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
  const { zones, diagnostics, files } = await loadDefinitions(config, { ...options, isForChecks: true })
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  return { diagnostics, zones, files: files.length, records }
}
