/**
 * Whether the names that a plan deletes are asked for. A source of usage has counts of queries by name and type in a window of time. Each count belongs to
 * the record set that gave the answer: of a name with a CNAME the CNAME, of a name below a delegation or DNAME these, of a name that only a wildcard covers
 * the wildcard (RFC 1034 section 4.3.2, RFC 4592). Only the name that was asked for counts, not the targets of its aliases.
 */
import { compareText } from '../dns/compare-text.ts'
import { type DomainName, isAtOrBelow, parentOf, sortKey } from '../dns/domain-name.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Allowance, ExistingZone } from '../dns/zone.ts'
import { agreeing, counted, formatCount, listed } from '../report/english.ts'
import type { Change, DeletionUsage, Refusal, RrsetUsage, ZonePlan } from './plan.ts'

/** The queries for one name and type. */
export interface QueriedRrset {
  readonly name: DomainName
  /** A type, or ANY. */
  readonly type: string
  readonly count: number
  /** In milliseconds since 1970; null if nobody asked: the row only says that the source has the zone. */
  readonly lastAsked: number | null
}

/** What the sources of usage say. Times in milliseconds since 1970. */
export interface Usage {
  /** The sources, for messages. */
  readonly source: string
  /** Only queries in it are counted; null if no source could be read. */
  readonly window: { readonly from: number; readonly to: number } | null
  /** The queries for names at or below each zone. */
  readonly queried: ReadonlyMap<DomainName, readonly QueriedRrset[]>
  /** The zones that every source has. */
  readonly covered: ReadonlySet<DomainName>
  /** Why a name without a count may still be in use; null if the counts are complete. */
  readonly problem: string | null
}

/** Which deletions are refused. */
export interface UsageRules {
  /** Seconds: a name that was asked for within them is in use. */
  readonly inUse: number
  readonly allow: ReadonlySet<Allowance>
}

/** The plan with the usage of the record sets that it deletes, and with refusals. A plan that deletes none stays as it is. */
export function withUsage(plan: ZonePlan, existing: ExistingZone | null, usage: Usage, rules: UsageRules): ZonePlan {
  const deleted = existing === null ? [] : deletedRrsets(plan.changes, existing.records)
  if (existing === null || deleted.length === 0) return plan
  const isWholeZone = plan.changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')
  const isAllowed = (name: DomainName): boolean =>
    rules.allow.has('in-use') || rules.allow.has(`in-use:${name}`) || (isWholeZone && rules.allow.has(`in-use:${plan.zone}`))
  const { source, window } = usage
  const counts = countsOfZone(usage, existing)
  const problem = problemOf(usage, plan.zone, rules.inUse)
  const inUseSince = (window?.to ?? 0) - rules.inUse * 1000
  const deletions = deleted.map(({ name, type }): RrsetUsage => {
    const { count, lastAsked } = counts.get(rrsetKey({ name, type })) ?? { count: 0, lastAsked: null }
    const isInUse = lastAsked !== null && lastAsked >= inUseSince
    const state = isInUse ? 'in-use' : problem !== null ? 'unknown' : lastAsked === null ? 'not-asked' : 'asked'
    const allowed = (state === 'in-use' || state === 'unknown') && isAllowed(name)
    return { name, type, state, count, lastAsked: lastAsked === null ? null : timeText(lastAsked), allowed }
  })
  const report: DeletionUsage = {
    source,
    inUse: rules.inUse,
    from: window && timeText(window.from),
    to: window && timeText(window.to),
    ...(problem !== null && deletions.some(({ state }) => state === 'unknown') && { problem }),
    deletions,
  }
  return { ...plan, usage: report, refusals: [...plan.refusals, ...inUseRefusals(report)] }
}

/** The record sets of which a plan leaves no record, in canonical order. Records that the plan does not manage count as well. */
export function deletedRrsets(changes: readonly Change[], existing: readonly ResourceRecord[]): Pick<ResourceRecord, 'name' | 'type'>[] {
  const left = new Map<string, number>()
  const add = (record: ResourceRecord | null, by: number): void => {
    if (record !== null) left.set(rrsetKey(record), (left.get(rrsetKey(record)) ?? 0) + by)
  }
  for (const record of existing) add(record, 1)
  const removed = new Map<string, ResourceRecord>()
  for (const change of changes) {
    if (change.subject === 'domain') {
      if (change.action === 'delete') for (const record of existing) removed.set(rrsetKey(record), record)
      if (change.action === 'delete') left.clear()
      continue
    }
    add(change.existing, -1)
    add(change.desired, 1)
    if (change.existing !== null) removed.set(rrsetKey(change.existing), change.existing)
  }
  return [...removed]
    .filter(([key]) => (left.get(key) ?? 0) <= 0)
    .map(([, { name, type }]) => ({ name, type, key: sortKey(name) }))
    .sort((a, b) => compareText(a.key, b.key) || compareText(a.type, b.type))
    .map(({ name, type }) => ({ name, type }))
}

/** Why the counts do not show that a name of the zone is unused; null if they do. */
function problemOf({ source, window, covered, problem }: Usage, zone: DomainName, inUse: number): string | null {
  if (problem !== null || window === null) return problem ?? 'no source was read'
  if (!covered.has(zone)) return `${source} has no count for any name of ${zone}`
  const isShort = window.to - window.from < inUse * 1000
  return isShort
    ? `${source} counts only from ${timeText(window.from)} to ${timeText(window.to)}, which is less than the configured time`
    : null
}

interface Count {
  count: number
  lastAsked: number
}

/** The counts of the zone's record sets, by `rrsetKey`. Takes linear time. */
function countsOfZone({ queried }: Usage, { name: zone, records, unplanned = [] }: ExistingZone): Map<string, Count> {
  const index = indexNames(zone, [...records, ...unplanned])
  const counts = new Map<string, Count>()
  for (const { name, type, count, lastAsked } of queried.get(zone) ?? []) {
    if (lastAsked === null) continue
    for (const key of answeringRrsets(name, type, zone, index)) {
      const known = counts.get(key)
      if (known === undefined) counts.set(key, { count, lastAsked })
      else {
        known.count += count
        known.lastAsked = Math.max(known.lastAsked, lastAsked)
      }
    }
  }
  return counts
}

/** The types of every name of a zone, empty non-terminals included. */
type NameIndex = ReadonlyMap<DomainName, ReadonlySet<string>>

function indexNames(zone: DomainName, records: readonly Pick<ResourceRecord, 'name' | 'type'>[]): NameIndex {
  const index = new Map<DomainName, Set<string>>([[zone, new Set()]])
  for (const { name, type } of records) {
    if (!isAtOrBelow(name, zone)) continue
    const types = index.get(name) ?? new Set()
    index.set(name, types.add(type))
    for (let at = name; at !== zone && !index.has(parentOf(at)); at = parentOf(at)) index.set(parentOf(at), new Set())
  }
  return index
}

/** The record sets that answer a query: none, one, or for ANY all of the name. Glue also counts if it was asked for itself. */
function answeringRrsets(name: DomainName, type: string, zone: DomainName, index: NameIndex): string[] {
  const own = index.get(name)
  const found = own === undefined ? [] : answersAt(own, type).map((one) => rrsetKey({ name, type: one }))
  const cover = coverOf(name, zone, index)
  // DS belongs to the parent's side of a delegation (RFC 4035 section 3.1.4.1).
  if (cover !== null && !(cover.name === name && (cover.type === 'DNAME' || type === 'DS')))
    return [...new Set([...found, rrsetKey(cover)])]
  if (own !== undefined) return found
  let encloser = parentOf(name)
  while (!index.has(encloser)) encloser = parentOf(encloser)
  const wildcard = `*.${encloser}` as DomainName
  return answersAt(index.get(wildcard) ?? new Set(), type).map((one) => rrsetKey({ name: wildcard, type: one }))
}

/** Provider-specific aliases are answered as addresses. */
const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

function answersAt(types: ReadonlySet<string>, type: string): string[] {
  if (types.has(type)) return [type]
  // A CNAME that was counted may have become other records since.
  if (type === 'ANY' || (type === 'CNAME' && !types.has('CNAME'))) return [...types]
  if (types.has('CNAME')) return ['CNAME']
  return types.has('ALIAS') && ADDRESSES.has(type) ? ['ALIAS'] : []
}

/** The topmost delegation or DNAME at or above the name. */
function coverOf(name: DomainName, zone: DomainName, index: NameIndex): Pick<ResourceRecord, 'name' | 'type'> | null {
  let cover: Pick<ResourceRecord, 'name' | 'type'> | null = null
  for (let at = name; ; at = parentOf(at)) {
    const types = index.get(at)
    if (at !== zone && types?.has('NS')) cover = { name: at, type: 'NS' }
    else if (types?.has('DNAME')) cover = { name: at, type: 'DNAME' }
    if (at === zone) return cover
  }
}

/** Maximum number of record sets in one message. */
const MAX_LISTED = 5

function inUseRefusals({ source, problem, deletions }: DeletionUsage): Refusal[] {
  const refuse = (state: RrsetUsage['state'], message: (sets: readonly RrsetUsage[]) => string): Refusal[] => {
    const concerned = deletions.filter((one) => one.state === state)
    const refused = concerned.filter(({ allowed }) => !allowed)
    const shown = refused.length > 0 ? refused : concerned
    const hint = refused.length === 0 ? '' : '; --allow in-use:NAME allows one name'
    return shown.length === 0 ? [] : [{ name: 'in-use', message: message(shown) + hint, allowed: refused.length === 0 }]
  }
  const counts = (sets: readonly RrsetUsage[]): string => counted(sets.length, 'record set')
  return [
    ...refuse('in-use', (sets) => {
      const names = sets.map(
        ({ name, type, count, lastAsked }) =>
          `${name} ${type} (${formatCount(count)} ${agreeing(count, 'time', 'times')}, last at ${lastAsked})`,
      )
      return `${counts(sets)} to delete ${agreeing(sets.length, 'is', 'are')} still asked for, as ${source} says: ${listed(names, MAX_LISTED)}`
    }),
    ...refuse('unknown', (sets) => {
      const names = sets.map(({ name, type }) => `${name} ${type}`)
      return `whether ${counts(sets)} to delete ${agreeing(sets.length, 'is', 'are')} still asked for is unknown, since ${problem}: ${listed(names, MAX_LISTED)}`
    }),
  ]
}

/** A time without fractions of a second. */
const timeText = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
