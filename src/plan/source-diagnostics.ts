/** What plans say of sources that could not be used, and of values that their source no longer has. */
import type { Diagnostic, SourcePosition } from '../dns/diagnostic.ts'
import type { ExistingRecord } from '../dns/record.ts'
import { rrsetKey } from '../dns/record.ts'
import { agreeing, counted, durationText, listed } from '../report/english.ts'
import type { QuarantinedRrset } from './plan.ts'
import type { HeldReading, SourcedSet } from './sourced-sets.ts'

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
  return held.map(({ reading, problem, since }) => {
    const { source, scope, at } = reading
    const own = sets.filter((set) => set.held?.reading === reading)
    const names = own.flatMap((set) => (live.has(rrsetKey(set)) ? [rrsetKey(set)] : [])).sort()
    const missing =
      scope.kind === 'rrset' && names.length === 0 ? `${rrsetKey(scope)} is not created` : 'no record set of it is created or removed'
    const what =
      names.length === 0
        ? missing
        : `${listed(names, MAX_LISTED)} ${agreeing(names.length, 'stays', 'stay')} as ${agreeing(names.length, 'it is', 'they are')}`
    const seconds = Math.floor((now - since) / 1000)
    const duration = seconds < 1 ? '' : ` for ${durationText(seconds)}, since ${new Date(since).toISOString()}`
    const state = problem.code === 'source-stale' ? 'is out of date' : 'cannot be read'
    const message = `${source} ${state}${duration}: ${problem.message}; ${what}`
    return { ...problem, severity: 'warning', message, at }
  })
}

/** Values that a source no longer has, with the position of the source. */
export interface MissingRrset {
  readonly rrset: QuarantinedRrset
  readonly at: SourcePosition
}

/** A warning for the values of each source that are kept, and a notice for those that the plan removes. */
export function quarantineDiagnostics(kept: readonly MissingRrset[], removed: readonly MissingRrset[], isAllowed: boolean): Diagnostic[] {
  const warnings = groups(kept).map((sets): Diagnostic => {
    const [{ rrset, at }] = sets
    const { source, since, reads, rule, until } = rrset
    const left = Math.max(0, rule.reads - reads)
    const more = left === 0 ? 'the first plan' : `the plan after ${counted(left, 'more read')}`
    const message = `${source} no longer has ${namesOf(sets)}, since ${since} (${counted(reads, 'read')} of ${rule.reads}): kept until ${until} at least; then ${more} removes ${agreeing(sets.length, 'it', 'them')}`
    return {
      severity: 'warning',
      code: 'quarantined',
      message,
      at,
      hint: 'if that is intended, --allow quarantined removes it at once',
    }
  })
  const notices = groups(removed).map((sets): Diagnostic => {
    const [{ rrset, at }] = sets
    const { source, since, reads } = rrset
    const why = isAllowed ? 'by --allow quarantined' : `after ${counted(reads, 'read')}`
    return {
      severity: 'notice',
      code: 'quarantined',
      message: `${source} no longer has ${namesOf(sets)}, since ${since}: removed ${why}`,
      at,
    }
  })
  return [...warnings, ...notices]
}

/** The RRsets of the same entry with the same time and count. */
function groups(sets: readonly MissingRrset[]): [MissingRrset, ...MissingRrset[]][] {
  const found = new Map<string, [MissingRrset, ...MissingRrset[]]>()
  for (const set of sets) {
    const { source, since, until, reads, rule } = set.rrset
    const key = JSON.stringify([set.at, source, since, until, reads, rule])
    const group = found.get(key)
    if (group === undefined) found.set(key, [set])
    else group.push(set)
  }
  return [...found.values()]
}

const namesOf = (sets: readonly MissingRrset[]): string =>
  listed(
    sets.map(({ rrset: { name, type, data, isWhole } }) =>
      isWhole ? `${name} ${type}` : `${listed(data, MAX_VALUES)} of ${name} ${type}`,
    ),
    MAX_LISTED,
  )
