/**
 * Fills a zone with the record sets of its sources, so that no failure of a source deletes.
 *
 * A record set of a source that could not be read, or that is older than it was, is left as it is at the target. A source that was read and lacks a record set
 * that the target has, or some of its values without as many others, may be incomplete: what it lacks is kept until enough reads and enough time have passed
 * (`source-state.ts`). What the target has is compared, and not what the source had earlier, so the decision needs no memory of values, and a lost
 * state only begins the count again.
 */
import type { Diagnostic } from '../base/diagnostic.ts'
import { agreeing, counted, durationText, listed } from '../base/english.ts'
import { groupBy } from '../base/group-by.ts'
import { compareText } from '../base/text.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, rrsetKey } from '../dns/record.ts'
import type { DesiredZone, RrsetTargets } from '../dns/zone.ts'
import type { QuarantineRule } from '../dns/zone-source.ts'
import type { QuarantinedRrset } from './plan.ts'
import {
  type AbsentValue,
  countAbsence,
  isOlder,
  isOver,
  MAX_ABSENT,
  MAX_SOURCES,
  type SourceFacts,
  type SourceState,
  valueKey,
} from './source-state.ts'
import {
  excludesAnother,
  type GoodReading,
  type HeldReading,
  managedRecords,
  type SourcedSet,
  type SourcedZone,
  type SourceReading,
  sourcedSets,
  typesByName,
} from './sourced-sets.ts'

export interface FillInput extends SourcedZone {
  readonly state: SourceState
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether the sources are taken as they are, `--allow quarantined`. */
  readonly isAllowed: boolean
}

export interface FilledZone {
  readonly desired: DesiredZone
  /** The live records that no plan of `desired` changes, because their sources could not be used or no longer have them. */
  readonly untouched: readonly ExistingRecord[]
  readonly quarantine: readonly QuarantinedRrset[]
  readonly diagnostics: readonly Diagnostic[]
  /** The state after this read. */
  readonly state: SourceState
}

export function fillZone(input: FillInput): FilledZone {
  const { desired, now } = input
  const facts = judgeSources(input)
  const held = new Map(facts.held.map((one) => [one.reading, one]))
  const sets = sourcedSets(input, held)
  const live = groupRrsets(managedRecords(input))
  const records = desired.records.filter((record) => !sets.has(rrsetKey(record)))
  const leftAlone: RrsetTargets[] = []
  const untouched: ExistingRecord[] = []
  const absent = new Map<string, AbsentValue>()
  const quarantine: MissingRrset[] = []
  const removed: MissingRrset[] = []
  holdBeside(sets, live)
  const diagnostics: Diagnostic[] = heldDiagnostics(facts.held, [...sets.values()], live, now)
  const leaveAlone = ({ name, type }: SourcedSet, current: readonly ExistingRecord[]): void => {
    leftAlone.push({ name, type, ignored: true, included: [], excluded: [] })
    untouched.push(...current)
  }
  const types = typesByName([...records, ...[...sets.values()].flatMap(({ held, wanted }) => (held === null ? wanted : []))])

  for (const [key, set] of [...sets].sort(([a], [b]) => compareText(a, b))) {
    const current = live.get(key) ?? []
    if (set.held !== null) {
      // The counts go on when the source can be read again.
      for (const record of current) keepEntry(keyIn(set, record), input.state.absent, absent)
      leaveAlone(set, current)
      continue
    }
    const isReplaced = set.wanted.length === 0 && excludesAnother(set, types)
    const missing = isReplaced ? [] : missingValues(set, current)
    const judged = missing.map((record) => ({ record, ...judgeValue(record, set, input, absent) }))
    const [kept, gone] = [judged.filter(({ over }) => !over), judged.filter(({ over }) => over)]
    if (kept.length > 0) quarantine.push(missingRrset(set, kept))
    if (gone.length > 0) removed.push(missingRrset(set, gone))
    if (set.wanted.length === 0 && current.length === 0) diagnostics.push(...emptinessOf(set))
    // Untouched, not planned again: a target may hold it in a form that no definition has.
    if (kept.length > 0 && kept.length === current.length && set.wanted.length === 0) leaveAlone(set, current)
    else records.push(...set.wanted, ...kept.map(({ record }) => asDefined(record, set)))
  }
  diagnostics.push(...quarantineDiagnostics(quarantine, removed, input.isAllowed))
  return {
    desired: {
      ...desired,
      sourced: undefined,
      sources: undefined,
      records,
      rrsetTargets: leftAlone.length === 0 ? desired.rrsetTargets : [...desired.rrsetTargets, ...leftAlone],
    },
    untouched,
    quarantine: quarantine.map(({ rrset }) => rrset),
    diagnostics,
    state: { sources: facts.sources, absent },
  }
}

/** Judges the version of every reading. */
function judgeSources({ readings, state, now, isAllowed }: FillInput): {
  readonly held: readonly HeldReading[]
  readonly sources: ReadonlyMap<string, SourceFacts>
} {
  const held: HeldReading[] = []
  const sources = new Map<string, SourceFacts>()
  for (const reading of readings) {
    const { place, result } = reading
    const known = state.sources.get(place) ?? { version: null, unreadSince: null }
    const problem = result.state === 'failed' ? result.problem : isAllowed ? null : staleness(result, known)
    if (problem === null) {
      // A source without a version has nothing to remember.
      if (result.state === 'read' && result.version !== null && !sources.has(place))
        sources.set(place, { version: result.version, unreadSince: null })
      continue
    }
    const since = known.unreadSince ?? now
    sources.set(place, { version: known.version, unreadSince: since })
    held.push({ reading, problem, since })
  }
  // The definitions of another branch may name other sources: their versions stay known.
  const read = new Set(readings.map(({ place }) => place))
  for (const [place, { version }] of state.sources)
    if (!read.has(place) && version !== null && sources.size < MAX_SOURCES) sources.set(place, { version, unreadSince: null })
  return { held, sources }
}

function staleness({ version }: GoodReading, { version: known }: SourceFacts): Diagnostic | null {
  if (version === null || known === null || !isOlder(version, known)) return null
  const message =
    version.serial !== null && known.serial !== null
      ? `its serial ${version.serial} is older than ${known.serial}, which was read earlier`
      : `it is older than at an earlier read`
  const hint = 'it is taken as it is with --allow quarantined, for example after its server was set up again'
  return { severity: 'warning', code: 'source-stale', message, hint }
}

/** Holds what cannot be beside a live RRset whose source could not be used: it would replace it. */
function holdBeside(sets: ReadonlyMap<string, SourcedSet>, live: ReadonlyMap<string, readonly ExistingRecord[]>): void {
  const kept = [...sets].flatMap(([key, set]) => (set.held !== null && live.has(key) ? [set] : []))
  const types = typesByName(kept)
  for (const set of sets.values())
    if (set.held === null && excludesAnother(set, types)) set.held = kept.find(({ name }) => name === set.name)?.held ?? null
}

/** The live values that the sources lack, if there are fewer than are live. As many other values are a change, not a loss. */
function missingValues({ wanted }: SourcedSet, live: readonly ExistingRecord[]): readonly ExistingRecord[] {
  const values = new Set(wanted.map(({ data }) => data))
  const liveValues = new Map(live.map((record) => [record.data, record]))
  if (values.size >= liveValues.size) return []
  return [...liveValues.values()].filter(({ data }) => !values.has(data)).sort((a, b) => compareText(a.data, b.data))
}

/** Counts a read without the value, notes it, and says whether the value may go. */
function judgeValue(
  record: ExistingRecord,
  set: SourcedSet,
  { state, now, isAllowed }: FillInput,
  absent: Map<string, AbsentValue>,
): { readonly over: boolean; readonly value: AbsentValue; readonly rule: QuarantineRule } {
  const rule = strictest(set.readings)
  const key = keyIn(set, record)
  const value = countAbsence(state.absent.get(key), now, rule)
  if (absent.size < MAX_ABSENT) absent.set(key, value)
  return { over: isAllowed || isOver(value, now, rule), value, rule }
}

const keyIn = ({ readings }: SourcedSet, record: ExistingRecord): string =>
  valueKey(
    record,
    readings.map(({ place, selection }) => `${place} ${selection}`),
  )

function keepEntry(key: string, known: SourceState['absent'], absent: Map<string, AbsentValue>): void {
  const value = known.get(key)
  if (value !== undefined && absent.size < MAX_ABSENT) absent.set(key, value)
}

const strictest = (readings: readonly SourceReading[]): QuarantineRule => ({
  reads: Math.max(...readings.map(({ rule }) => rule.reads)),
  seconds: Math.max(...readings.map(({ rule }) => rule.seconds)),
})

interface JudgedValue {
  readonly record: ExistingRecord
  readonly value: AbsentValue
  readonly rule: QuarantineRule
}

function missingRrset({ name, type, wanted, readings }: SourcedSet, values: readonly JudgedValue[]): MissingRrset {
  const rule = strictest(readings)
  const since = Math.min(...values.map(({ value }) => value.since))
  const last = Math.max(...values.map(({ value }) => value.since))
  const rrset: QuarantinedRrset = {
    name,
    type,
    data: values.map(({ record }) => record.data),
    isWhole: wanted.length === 0,
    source: [...new Set(readings.map(({ source }) => source))].join(' and '),
    since: new Date(since).toISOString(),
    reads: Math.min(...values.map(({ value }) => value.reads)),
    rule,
    until: new Date(last + rule.seconds * 1000).toISOString(),
  }
  return { rrset, reading: readings[0] as SourceReading }
}

/** A live value as a record of the zone, with the TTL of the values that the source still has. */
const asDefined = ({ name, type, ttl, data }: ExistingRecord, { wanted, readings }: SourcedSet): DefinedRecord => ({
  name,
  type,
  ttl: wanted[0] === undefined ? ttl : wanted[0].ttl,
  data,
  at: (readings[0] as SourceReading).at,
})

/** Why a record of the definition has no value, if nothing is live that could be kept. */
const emptinessOf = ({ readings }: SourcedSet): Diagnostic[] =>
  readings.flatMap(({ result, scope }) => (scope.kind === 'rrset' && result.state === 'read' && result.emptiness ? [result.emptiness] : []))

// What plans say of sources that could not be used, and of values that their source no longer has.

/** Maximum record sets, and values of one, in a message. */
const MAX_LISTED = 20
const MAX_VALUES = 5

/** A warning for each source that could not be used, with the record sets that are left as they are. */
function heldDiagnostics(
  held: readonly HeldReading[],
  sets: readonly SourcedSet[],
  live: ReadonlyMap<string, readonly ExistingRecord[]>,
  now: number,
): Diagnostic[] {
  const sources = groupedBy(held, ({ reading, problem, since }) => [entryOf(reading), problem.code, problem.message, since])
  return sources.map((group) => {
    const [{ reading, problem, since }] = group
    const readings = new Set(group.map((one) => one.reading))
    const names = sets.flatMap((set) => (set.held !== null && readings.has(set.held.reading) ? [rrsetKey(set)] : [])).sort()
    const [kept, missing] = [names.filter((name) => live.has(name)), names.filter((name) => !live.has(name))]
    const what = [
      ...(kept.length === 0 ? [] : [`${listed(kept, MAX_LISTED)} ${agreeing(kept.length, 'stays as it is', 'stay as they are')}`]),
      ...(missing.length === 0 ? [] : [`${listed(missing, MAX_LISTED)} ${agreeing(missing.length, 'is', 'are')} not created`]),
      ...(names.length === 0 ? ['no record set of it is created or removed'] : []),
    ]
    const seconds = Math.floor((now - since) / 1000)
    const duration = seconds < 1 ? '' : ` for ${durationText(seconds)}, since ${new Date(since).toISOString()}`
    const state = problem.code === 'source-stale' ? 'is out of date' : 'cannot be read'
    const message = `${reading.source} ${state}${duration}: ${problem.message}; ${what.join('; ')}`
    return { ...problem, severity: 'warning', message, at: reading.at }
  })
}

/** Values that a source no longer has. */
interface MissingRrset {
  readonly rrset: QuarantinedRrset
  /** The first of its sources. */
  readonly reading: SourceReading
}

/** Record sets that name the same source share a warning; each pattern has its own. */
const entryOf = ({ source, scope, at }: SourceReading): readonly unknown[] => (scope.kind === 'pattern' ? [source, at] : [source])

/** A warning for the values of each source that are kept, and a notice for those that the plan removes. */
function quarantineDiagnostics(kept: readonly MissingRrset[], removed: readonly MissingRrset[], isAllowed: boolean): Diagnostic[] {
  const warnings = groups(kept).map((sets): Diagnostic => {
    const [{ rrset, reading }] = sets
    const { reads, rule, until } = rrset
    const it = agreeing(sets.length, 'it', 'them')
    const end =
      reads < rule.reads
        ? `the plan with read ${rule.reads} removes ${it}, not before ${until}`
        : `the first plan after ${until} removes ${it}`
    return {
      severity: 'warning',
      code: 'quarantined',
      message: `${missingText(sets)} (${counted(reads, 'read')} of ${rule.reads}); ${end}`,
      at: reading.at,
      hint: `if that is intended, --allow quarantined removes ${it} at once`,
    }
  })
  const notices = groups(removed).map((sets): Diagnostic => {
    const [{ rrset, reading }] = sets
    const why = isAllowed ? 'by --allow quarantined' : `after ${counted(rrset.reads, 'read')}`
    return { severity: 'notice', code: 'quarantined', message: `${missingText(sets)}; no longer kept, ${why}`, at: reading.at }
  })
  return [...warnings, ...notices]
}

type Some<Item> = [Item, ...Item[]]

/** The RRsets of the same entry with the same time and count. */
const groups = (sets: readonly MissingRrset[]): Some<MissingRrset>[] =>
  groupedBy(sets, ({ reading, rrset: { source, since, until, reads, rule } }) => [entryOf(reading), source, since, until, reads, rule])

const groupedBy = <Item>(items: readonly Item[], keyOf: (item: Item) => readonly unknown[]): Some<Item>[] =>
  [...groupBy(items, (item) => JSON.stringify(keyOf(item))).values()] as Some<Item>[]

const missingText = (sets: Some<MissingRrset>): string => {
  const { source, since } = sets[0].rrset
  return `${namesOf(sets)}: no longer in ${source}, since ${since}`
}

const namesOf = (sets: readonly MissingRrset[]): string =>
  listed(
    sets.map(({ rrset: { name, type, data, isWhole } }) =>
      isWhole ? `${name} ${type}` : `${listed(data, MAX_VALUES)} of ${name} ${type}`,
    ),
    MAX_LISTED,
  )
