/**
 * Whether the names that a plan deletes are queried. A source of usage has counts of queries by name and type in a window of time. Each count belongs to
 * the record sets that gave the answer: of a name with a CNAME the CNAME and its target in the zone, of a name below a delegation its NS records and the
 * addresses of these name servers in the zone, below a DNAME the DNAME, of a name that only a wildcard covers the wildcard (RFC 1034 section 4.3.2, RFC 4592).
 */
import { agreeing, counted, durationText, formatCount, listed } from '../base/english.ts'
import { compareText } from '../base/text.ts'
import { type DomainName, isAtOrBelow, parentOf, sortKey } from '../dns/domain-name.ts'
import { targetName } from '../dns/rdata/canonical.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Allowance, ExistingZone } from '../dns/zone.ts'
import { createAnswers } from './answers.ts'
import { type Change, type DeletionUsage, finalRecords, type NameAndType, type Refusal, type RrsetUsage, type ZonePlan } from './plan.ts'

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
  /** The zones of which a source does not have the counts of all names. */
  readonly incomplete: ReadonlySet<DomainName>
  /** Why a name without a count may still be in use; null if the counts are complete. */
  readonly problem: string | null
}

/** Which deletions are refused. */
export interface UsageRules {
  /** Seconds: a name that was queried within them is in use. */
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
  const isReplaced = isWholeZone ? () => false : replacementTest(existing, plan.changes)
  const deletions = deleted.map(({ name, type }): RrsetUsage => {
    const { count, lastAsked } = counts.get(rrsetKey({ name, type })) ?? { count: 0, lastAsked: null }
    const isInUse = lastAsked !== null && lastAsked >= inUseSince
    const open = isInUse ? 'in-use' : problem !== null ? 'unknown' : lastAsked === null ? 'not-asked' : 'asked'
    const state = (open === 'in-use' || open === 'unknown') && isReplaced({ name, type }) ? 'replaced' : open
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

/**
 * A test whether the zone answers for a deleted record set all the same: by other records of the name, such as an alias in place of an address, or by a
 * wildcard with the same data. Any other wildcard, and a delegation, could hide that the name was deleted by accident.
 */
function replacementTest(existing: ExistingZone, changes: readonly Change[]): (rrset: NameAndType) => boolean {
  const before = groupRrsets(existing.records)
  const after = groupRrsets(finalRecords(existing.records, changes))
  const answers = createAnswers(existing, [...after.values()].flat())
  const dataOf = (records: readonly ResourceRecord[] = []): string => JSON.stringify(records.map(({ data }) => data).sort())
  return (rrset) => {
    if (answers.hasAtName(rrset)) return true
    const wildcard = answers.wildcardFor(rrset.name)
    const synthesized = wildcard === null ? undefined : after.get(rrsetKey({ name: wildcard, type: rrset.type }))
    return synthesized !== undefined && dataOf(synthesized) === dataOf(before.get(rrsetKey(rrset)))
  }
}

/** Why the counts do not show that a name of the zone is unused; null if they do. */
function problemOf({ source, window, covered, incomplete, problem }: Usage, zone: DomainName, inUse: number): string | null {
  if (problem !== null || window === null) return problem ?? 'no source was read'
  if (incomplete.has(zone)) return `${source} does not have the counts of all names of ${zone}`
  if (!covered.has(zone)) return `${source} has no count for any name of ${zone} (a row "${zone},SOA,0," says that there were no queries)`
  const { from, to } = window
  if (to - from >= inUse * 1000) return null
  return `${source} counts only from ${timeText(from)} to ${timeText(to)}, which is less than in_use, ${durationText(inUse)} (wait until ${timeText(from + inUse * 1000)}, or set a shorter in_use)`
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

/** The types of every name of a zone with the targets of aliases and NS records, empty non-terminals included. */
type NameIndex = ReadonlyMap<DomainName, ReadonlyMap<string, readonly DomainName[]>>

/** Types whose records lead to others of the zone that the same client needs. */
const LEADING: ReadonlySet<string> = new Set(['CNAME', 'ALIAS', 'NS'])

function indexNames(zone: DomainName, records: readonly Pick<ResourceRecord, 'name' | 'type' | 'data'>[]): NameIndex {
  const index = new Map<DomainName, Map<string, DomainName[]>>([[zone, new Map()]])
  for (const { name, type, data } of records) {
    if (!isAtOrBelow(name, zone)) continue
    const types = index.get(name) ?? new Map<string, DomainName[]>()
    const targets = types.get(type) ?? []
    const target = LEADING.has(type) ? targetName(type, data) : null
    if (target !== null && isAtOrBelow(target, zone)) targets.push(target)
    index.set(name, types.set(type, targets))
    for (let at = name; at !== zone && !index.has(parentOf(at)); at = parentOf(at)) index.set(parentOf(at), new Map())
  }
  return index
}

/** The record sets that answer a query: none, one, those of a chain of aliases, or for ANY all of the name. Glue also counts if it was queried itself. */
function answeringRrsets(name: DomainName, type: string, zone: DomainName, index: NameIndex): Set<string> {
  const found = new Set<string>()
  const visit = (asked: DomainName, wanted: string): void => {
    for (const rrset of answersTo(asked, wanted, zone, index)) {
      const key = rrsetKey(rrset)
      if (found.has(key) || found.size >= MAX_ANSWERING) continue
      found.add(key)
      const targets = type === 'ANY' ? [] : (index.get(rrset.name)?.get(rrset.type) ?? [])
      if (rrset.type === 'NS')
        for (const host of rrset.name === zone ? [] : targets) for (const one of addressesAt(host, index)) found.add(one)
      else for (const target of targets) visit(target, wanted)
    }
  }
  visit(name, type)
  return found
}

/** Record sets that one query can count for: bounds chains of aliases. */
const MAX_ANSWERING = 64

const addressesAt = (name: DomainName, index: NameIndex): string[] =>
  [...ADDRESSES].filter((type) => index.get(name)?.has(type)).map((type) => rrsetKey({ name, type }))

/** The record sets of the zone that a query gets, without the targets of aliases. */
function answersTo(name: DomainName, type: string, zone: DomainName, index: NameIndex): NameAndType[] {
  const at = (owner: DomainName): NameAndType[] => answersAt(index.get(owner) ?? new Map(), type).map((one) => ({ name: owner, type: one }))
  const own = at(name)
  const cover = coverOf(name, zone, index)
  // DS belongs to the parent's side of a delegation (RFC 4035 section 3.1.4.1).
  if (cover !== null && !(cover.name === name && (cover.type === 'DNAME' || type === 'DS'))) return [...own, cover]
  if (index.has(name)) return own
  let encloser = parentOf(name)
  while (!index.has(encloser)) encloser = parentOf(encloser)
  return at(`*.${encloser}` as DomainName)
}

/** Provider-specific aliases are answered as addresses. */
const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

function answersAt(types: ReadonlyMap<string, unknown>, type: string): string[] {
  if (types.has(type)) return [type]
  if (type === 'ANY') return [...types.keys()]
  if (types.has('CNAME')) return ['CNAME']
  if (type === 'CNAME') {
    // The server counts an alias without the queried type, which mostly is an address. It may also have become other records since.
    const addresses = [...types.keys()].filter((one) => ADDRESSES.has(one) || one === 'ALIAS')
    return addresses.length > 0 ? addresses : [...types.keys()]
  }
  return types.has('ALIAS') && ADDRESSES.has(type) ? ['ALIAS'] : []
}

/** The topmost delegation or DNAME at or above the name. */
function coverOf(name: DomainName, zone: DomainName, index: NameIndex): NameAndType | null {
  let cover: NameAndType | null = null
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
      return `${counts(sets)} to delete ${agreeing(sets.length, 'is', 'are')} still queried, as ${source} says: ${listed(names, MAX_LISTED)}`
    }),
    ...refuse('unknown', (sets) => {
      const names = sets.map(({ name, type }) => `${name} ${type}`)
      return `whether ${counts(sets)} to delete ${agreeing(sets.length, 'is', 'are')} still queried is unknown, since ${problem}: ${listed(names, MAX_LISTED)}`
    }),
  ]
}

/** A time without fractions of a second. */
const timeText = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
