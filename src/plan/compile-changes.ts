/**
 * The record changes of a plan in the units a target takes: single records, whole RRsets, one RFC 2136 message, or the file. Each is the least for its
 * unit: one replacement for an RRset however many of its records change; no update at all for what a message would delete and add again; one file.
 */
import { type DomainName, sortKey } from '../model/domain-name.ts'
import { compareRecords, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../model/record.ts'
import type { Ttl } from '../model/ttl.ts'
import type { Capabilities } from './capabilities.ts'
import type { Change } from './change.ts'
import { finalRecords } from './final-state.ts'

/** An RRset as it shall be; without data it is to be deleted. Unmanaged records of it are among the data, since a replacement takes all. */
export interface RrsetReplacement {
  readonly name: DomainName
  readonly type: string
  /** Null where the RRset is deleted, or follows the zone's default. */
  readonly ttl: Ttl | null
  readonly data: readonly string[]
}

/** What an UPDATE message says (RFC 2136 sections 2.4 and 2.5), its parts in the order they stand in the message. */
export interface UpdateMessage {
  /** RRsets that must hold exactly these data, or (without data) must not exist, or else nothing is done. */
  readonly prerequisites: readonly { readonly name: DomainName; readonly type: string; readonly data: readonly string[] }[]
  readonly deleteRrsets: readonly { readonly name: DomainName; readonly type: string }[]
  readonly deleteRecords: readonly ResourceRecord[]
  readonly add: readonly ResourceRecord[]
}

export type CompiledChanges =
  | { readonly granularity: 'record'; readonly calls: readonly Change[] }
  | { readonly granularity: 'rrset'; readonly replacements: readonly RrsetReplacement[] }
  | { readonly granularity: 'message'; readonly message: UpdateMessage | null }
  | { readonly granularity: 'file'; readonly records: readonly ResourceRecord[] | null }

/** Compiles a zone's changes for a target. `existing` are all records the zone has now, unmanaged ones too. Null where there is nothing to do. */
export function compileChanges(
  granularity: Capabilities['granularity'],
  existing: readonly ExistingRecord[],
  changes: readonly Change[],
): CompiledChanges {
  switch (granularity) {
    case 'record':
      return { granularity, calls: changes }
    case 'rrset':
      return { granularity, replacements: rrsetReplacements(existing, changes) }
    case 'message':
      return { granularity, message: updateMessage(existing, changes) }
    case 'file':
      return {
        granularity,
        records: changes.some((change) => change.subject === 'record') ? finalRecords(existing, changes).sort(compareRecords) : null,
      }
  }
}

/** How many calls a target needs for the changes. Changes of the zone itself are one call each everywhere. */
export function compiledCalls(compiled: CompiledChanges, changes: readonly Change[]): number {
  const domain = changes.filter((change) => change.subject === 'domain').length
  if (compiled.granularity === 'record') return changes.length
  if (compiled.granularity === 'rrset') return domain + compiled.replacements.length
  return domain + ((compiled.granularity === 'message' ? compiled.message : compiled.records) === null ? 0 : 1)
}

interface TouchedSet {
  readonly name: DomainName
  readonly type: string
  readonly before: readonly ResourceRecord[]
  readonly after: readonly ResourceRecord[]
}

/** The RRsets that differ before and after, those that go first, so that a CNAME and other types can trade places in the given order. */
function touchedSets(existing: readonly ExistingRecord[], changes: readonly Change[]): TouchedSet[] {
  const before = groupRrsets(existing)
  const after = groupRrsets(finalRecords(existing, changes))
  const touched = new Map<string, { name: DomainName; type: string }>()
  for (const change of changes) {
    if (change.subject !== 'record') continue
    for (const record of [change.existing, change.desired])
      if (record) touched.set(rrsetKey(record), { name: record.name, type: record.type })
  }
  const sets = [...touched].map(([key, { name, type }]) => ({ name, type, before: before.get(key) ?? [], after: after.get(key) ?? [] }))
  return sets.sort(
    (a, b) =>
      Number(a.after.length > 0) - Number(b.after.length > 0) ||
      compareText(sortKey(a.name), sortKey(b.name)) ||
      compareText(a.type, b.type),
  )
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const dataOf = (records: readonly ResourceRecord[]): string[] => [...new Set(records.map((record) => record.data))].sort(compareText)

/** The TTL of an RRset whose records may still differ in it: the lowest (RFC 2181 section 5.2 wants them equal). */
function ttlOf(records: readonly ResourceRecord[]): Ttl | null {
  const given = records.flatMap((record) => (record.ttl === null ? [] : [record.ttl]))
  return given.length === 0 ? null : (Math.min(...given) as Ttl)
}

function rrsetReplacements(existing: readonly ExistingRecord[], changes: readonly Change[]): RrsetReplacement[] {
  return touchedSets(existing, changes)
    .filter(({ before, after }) => JSON.stringify([ttlOf(before), dataOf(before)]) !== JSON.stringify([ttlOf(after), dataOf(after)]))
    .map(({ name, type, after }) => ({ name, type, ttl: ttlOf(after), data: dataOf(after) }))
}

/**
 * One message: it is carried out as a whole or not at all, so that its inner order interrupts nothing. Every RRset it touches is a prerequisite, so that
 * what somebody else changed meanwhile is not overwritten. A record whose TTL alone changes is added again, which replaces the TTL of its RRset
 * (RFC 2136 section 3.4.2.2).
 */
function updateMessage(existing: readonly ExistingRecord[], changes: readonly Change[]): UpdateMessage | null {
  const sets = touchedSets(existing, changes)
  if (sets.length === 0) return null
  const prerequisites = sets.map(({ name, type, before }) => ({ name, type, data: dataOf(before) }))
  const deleteRrsets: { name: DomainName; type: string }[] = []
  const deleteRecords: ResourceRecord[] = []
  const add: ResourceRecord[] = []
  for (const { name, type, before, after } of sets) {
    if (after.length === 0) {
      deleteRrsets.push({ name, type })
      continue
    }
    const wanted = new Set(dataOf(after))
    const kept = new Set(dataOf(before))
    const ttl = ttlOf(after)
    const gone = dataOf(before).filter((data) => !wanted.has(data))
    for (const data of gone) deleteRecords.push({ name, type, ttl: null, data })
    const sameTtl = ttlOf(before) === ttl
    for (const data of wanted) if (!kept.has(data) || !sameTtl) add.push({ name, type, ttl, data })
  }
  return { prerequisites, deleteRrsets, deleteRecords, add }
}
