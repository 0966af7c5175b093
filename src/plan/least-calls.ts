/**
 * Matching what must go with what must come into calls. A call creates, updates or deletes one record, and an update may
 * change anything but the type, so for each type with D records to remove and C to add, max(D, C) calls are the least; every
 * pair of one removed and one added record saves a call. Pairs are made for the reader first: the same name and data (a TTL
 * change), then the same name, then another name of the type. A pair across names is made only where it is safe without further
 * ordering: neither name changes from or to CNAME, the type is not NS, and no record points at either name.
 */
import { targetName } from '../model/rdata/canonical.ts'
import { compareRecords, type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../model/record.ts'
import type { ZoneDifference } from './diff-zone.ts'

/** One call to be: an update where both are there, else a delete or a create. */
export interface Call {
  readonly existing: ExistingRecord | null
  readonly desired: DefinedRecord | null
}

/** Matches removed and added records into calls; order of the result is by name, for a reader. */
export function leastCalls(difference: ZoneDifference): Call[] {
  const calls: Call[] = []
  const removedSets = groupRrsets(difference.removed)
  const addedSets = groupRrsets(difference.added)
  const restRemoved: ExistingRecord[] = []
  const restAdded: DefinedRecord[] = []
  for (const [key, added] of addedSets) {
    const removed = removedSets.get(key)
    if (!removed) {
      restAdded.push(...added)
      continue
    }
    removedSets.delete(key)
    pairSet(removed, added, calls, restRemoved, restAdded)
  }
  for (const removed of removedSets.values()) restRemoved.push(...removed)
  pairAcrossNames(difference, restRemoved, restAdded, calls)
  return calls.sort((a, b) => compareRecords(recordOf(a), recordOf(b)))
}

export const recordOf = (call: Call): ResourceRecord => (call.desired ?? call.existing) as ResourceRecord

/** Pairs the records of one RRset: equal data first, the rest in sorted order. */
function pairSet(
  removed: readonly ExistingRecord[],
  added: readonly DefinedRecord[],
  calls: Call[],
  restRemoved: ExistingRecord[],
  restAdded: DefinedRecord[],
): void {
  const byData = new Map(removed.map((record) => [record.data, record]))
  const left = new Set(removed)
  const unpaired: DefinedRecord[] = []
  for (const desired of added) {
    const same = byData.get(desired.data)
    if (same && left.delete(same)) calls.push({ existing: same, desired })
    else unpaired.push(desired)
  }
  const existing = [...left].sort(compareRecords)
  const desired = unpaired.sort(compareRecords)
  const pairs = Math.min(existing.length, desired.length)
  for (let i = 0; i < pairs; i += 1) calls.push({ existing: existing[i] as ExistingRecord, desired: desired[i] as DefinedRecord })
  restRemoved.push(...existing.slice(pairs))
  restAdded.push(...desired.slice(pairs))
}

function pairAcrossNames(
  difference: ZoneDifference,
  removed: readonly ExistingRecord[],
  added: readonly DefinedRecord[],
  calls: Call[],
): void {
  const fixed = namesThatMustNotMove(difference)
  const movable = (record: ResourceRecord): boolean => record.type !== 'NS' && !fixed.has(record.name)
  const donors = new Map<string, ExistingRecord[]>()
  for (const record of [...removed].sort(compareRecords)) {
    if (!movable(record)) calls.push({ existing: record, desired: null })
    else (donors.get(record.type) ?? setDefault(donors, record.type)).push(record)
  }
  const takers: DefinedRecord[] = []
  for (const record of [...added].sort(compareRecords)) {
    if (movable(record)) takers.push(record)
    else calls.push({ existing: null, desired: record })
  }
  const cursor = new Map<string, number>()
  for (const desired of takers) {
    const at = cursor.get(desired.type) ?? 0
    const existing = donors.get(desired.type)?.[at] ?? null
    cursor.set(desired.type, at + 1)
    calls.push({ existing, desired })
  }
  for (const [type, records] of donors) for (const existing of records.slice(cursor.get(type) ?? 0)) calls.push({ existing, desired: null })
}

function setDefault(map: Map<string, ExistingRecord[]>, key: string): ExistingRecord[] {
  const list: ExistingRecord[] = []
  map.set(key, list)
  return list
}

/** Names where CNAME and other types trade places, names with a null MX before or after, and names that records point at. */
function namesThatMustNotMove(difference: ZoneDifference): Set<string> {
  const names = new Set<string>()
  const cnames = new Set<string>()
  const all = [...difference.removed, ...difference.added, ...difference.kept, ...difference.unmanaged]
  for (const record of all) {
    if (record.type === 'CNAME') cnames.add(record.name)
    if (record.type === 'MX' && record.data === '0 .') names.add(record.name)
    const target = targetName(record.type, record.data)
    if (target !== null) names.add(target)
  }
  if (cnames.size > 0) for (const record of all) if (record.type !== 'CNAME' && cnames.has(record.name)) names.add(record.name)
  return names
}

/** Whether both sides of an update are of one RRset. */
export const staysInSet = (call: Call): boolean =>
  call.existing !== null && call.desired !== null && rrsetKey(call.existing) === rrsetKey(call.desired)
