/** The calls of a plan as data: the changes that each carries, and the RRsets before and after it. */
import { compareText } from '../base/text.ts'
import { compareNames, type DomainName } from '../dns/domain-name.ts'
import { type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { CallRules } from './capabilities.ts'
import { type Change, finalRecords } from './plan.ts'

/** The data of an RRset, sorted and without duplicates, and its TTL. */
export interface RrsetImage {
  /** The lowest TTL of its records; null if they follow the zone's default. */
  readonly ttl: Ttl | null
  /** Whether some record has another TTL, against RFC 2181 section 5.2. Never in a desired image. */
  readonly hasOtherTtls: boolean
  readonly data: readonly string[]
}

/** An RRset before and after a call, unmanaged records included; null if it does not exist. */
export interface RrsetChange {
  readonly name: DomainName
  readonly type: string
  readonly existing: RrsetImage | null
  readonly desired: RrsetImage | null
}

/** The content of one call. */
export interface Changeset {
  /** Indexes of the changes that it carries, ascending. */
  readonly indexes: readonly number[]
  readonly changes: readonly Change[]
  /** For the deletion of a zone, all its RRsets; otherwise those that the call changes, or none if the target takes single records. */
  readonly rrsets: readonly RrsetChange[]
  /** Numbers of the calls that must be done before this one, ascending. */
  readonly after: readonly number[]
}

/** The calls of a plan, by their number. `existing`: all records of the zone, unmanaged ones included. */
export function changesetsOf(changes: readonly Change[], existing: readonly ExistingRecord[], { unit }: CallRules): Changeset[] {
  const calls: { indexes: number[]; after: Set<number> }[] = []
  changes.forEach(({ call, after }, index) => {
    calls[call] ??= { indexes: [], after: new Set() }
    calls[call].indexes.push(index)
    for (const before of after) calls[call].after.add((changes[before] as Change).call)
  })
  const rrsets = unit === 'record' ? null : new Map(rrsetChanges(existing, changes).map((rrset) => [rrsetKey(rrset), rrset]))
  return calls.map(({ indexes, after }) => {
    const own = indexes.map((index) => changes[index] as Change)
    const keys = new Set(own.flatMap((change) => (change.subject === 'record' ? [rrsetKey(change)] : [])))
    const deletesZone = own.some(({ subject, action }) => subject === 'domain' && action === 'delete')
    const touched = deletesZone ? allRemoved(existing) : [...keys].flatMap((key) => rrsets?.get(key) ?? [])
    return {
      indexes,
      changes: own,
      rrsets: touched.sort(compareRrsets),
      after: [...after].sort((a, b) => a - b),
    }
  })
}

const allRemoved = (existing: readonly ExistingRecord[]): RrsetChange[] =>
  [...groupRrsets(existing).values()].flatMap((records) => {
    const [first] = records
    return first === undefined ? [] : [{ name: first.name, type: first.type, existing: rrsetImage(records), desired: null }]
  })

/** The number of calls that carry these changes. */
export const totalCalls = (changes: readonly Change[]): number => changes.reduce((most, { call }) => Math.max(most, call + 1), 0)

/** The RRsets that differ before and after, for a target without duplicates and with one TTL per RRset. */
export function rrsetChanges(existing: readonly ExistingRecord[], changes: readonly Change[]): RrsetChange[] {
  const before = groupRrsets(existing)
  const after = groupRrsets(finalRecords(existing, changes))
  const records = changes
    .flatMap((change) => (change.subject === 'record' ? [change.existing, change.desired] : []))
    .filter((record) => record !== null)
  const touched = new Map(records.map((record) => [rrsetKey(record), record]))
  return [...touched].map(([key, { name, type }]) => ({
    name,
    type,
    existing: rrsetImage(before.get(key) ?? []),
    desired: rrsetImage(after.get(key) ?? []),
  }))
}

export function rrsetImage(records: readonly ResourceRecord[]): RrsetImage | null {
  if (records.length === 0) return null
  const ttl = lowestTtl(records)
  return {
    ttl,
    hasOtherTtls: records.some((record) => record.ttl !== ttl),
    data: [...new Set(records.map((record) => record.data))].sort(compareText),
  }
}

/** Whether two images are equal in data and TTLs. */
export function sameImage(a: RrsetImage | null, b: RrsetImage | null): boolean {
  if (a === null || b === null) return a === b
  return a.ttl === b.ttl && a.hasOtherTtls === b.hasOtherTtls && JSON.stringify(a.data) === JSON.stringify(b.data)
}

/** The lowest TTL of an RRset's records, which should be equal (RFC 2181 section 5.2). */
export function lowestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const ttls = records.flatMap((record) => (record.ttl === null ? [] : [record.ttl]))
  return ttls.length === 0 ? null : ttls.reduce((lowest, ttl) => (ttl < lowest ? ttl : lowest))
}

export type RrsetName = Pick<RrsetChange, 'name' | 'type'>

export const compareRrsets = (a: RrsetName, b: RrsetName): number => compareNames(a.name, b.name) || compareText(a.type, b.type)
