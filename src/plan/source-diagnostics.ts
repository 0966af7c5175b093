/** What plans say of sources that could not be used, and of values that their source no longer has. */
import type { Diagnostic } from '../dns/diagnostic.ts'
import { groupBy } from '../dns/group-by.ts'
import type { ExistingRecord } from '../dns/record.ts'
import { rrsetKey } from '../dns/record.ts'
import { agreeing, counted, durationText, listed } from '../report/english.ts'
import type { QuarantinedRrset } from './plan.ts'
import type { HeldReading, SourcedSet, SourceReading } from './sourced-sets.ts'

/** Maximum record sets, and values of one, in a message. */
const MAX_LISTED = 20
const MAX_VALUES = 5

/** A warning for each source that could not be used, with the record sets that are left as they are. */
export function heldDiagnostics(
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
export interface MissingRrset {
  readonly rrset: QuarantinedRrset
  /** The first of its sources. */
  readonly reading: SourceReading
}

/** Record sets that name the same source share a warning; each pattern has its own. */
const entryOf = ({ source, scope, at }: SourceReading): readonly unknown[] => (scope.kind === 'pattern' ? [source, at] : [source])

/** A warning for the values of each source that are kept, and a notice for those that the plan removes. */
export function quarantineDiagnostics(kept: readonly MissingRrset[], removed: readonly MissingRrset[], isAllowed: boolean): Diagnostic[] {
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
