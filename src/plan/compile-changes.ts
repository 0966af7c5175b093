/**
 * The record changes of a plan in the units that a target takes: single records, RRsets, one RFC 2136 message, or one file. An RRset is replaced once,
 * however many of its records change. A message does not delete what it would add again.
 */
import { compareNames, type DomainName } from '../dns/domain-name.ts'
import { compareRecords, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { Capabilities } from './capabilities.ts'
import { type Need, pointerOf, satisfies } from './continuity.ts'
import { append } from './order-edges.ts'
import { type Change, finalRecords } from './plan.ts'
import { stronglyConnectedComponents, withoutCycles } from './topological-order.ts'

/** An RRset after the change, its unmanaged records included. Without data it is deleted. */
export interface RrsetReplacement {
  readonly name: DomainName
  readonly type: string
  /** Null if the RRset is deleted, or follows the zone's default. */
  readonly ttl: Ttl | null
  readonly data: readonly string[]
}

/** One part of the update section of an UPDATE message (RFC 2136 section 2.5). */
export type UpdatePart =
  | { readonly action: 'delete-rrset'; readonly name: DomainName; readonly type: string }
  | { readonly action: 'delete' | 'add'; readonly record: ResourceRecord }

/** An UPDATE message (RFC 2136 section 2). */
export interface UpdateMessage {
  /** RRsets that must hold exactly these data or, without data, must not exist. Otherwise the server does nothing. */
  readonly prerequisites: readonly { readonly name: DomainName; readonly type: string; readonly data: readonly string[] }[]
  /** In the order of the message, in which the server applies them. */
  readonly updates: readonly UpdatePart[]
}

/** Null for a message or file if there is nothing to change. */
export type CompiledChanges =
  | { readonly granularity: 'record'; readonly calls: readonly Change[] }
  | { readonly granularity: 'rrset'; readonly replacements: readonly RrsetReplacement[] }
  | { readonly granularity: 'message'; readonly message: UpdateMessage | null }
  | { readonly granularity: 'file'; readonly records: readonly ResourceRecord[] | null }

/** Compiles a zone's changes for a target. `existing`: all records of the zone, unmanaged ones included. */
export function compileChanges(
  granularity: Capabilities['granularity'],
  zone: DomainName,
  existing: readonly ExistingRecord[],
  changes: readonly Change[],
): CompiledChanges {
  switch (granularity) {
    case 'record':
      return { granularity, calls: changes }
    case 'rrset':
      return {
        granularity,
        replacements: inSafeOrder(changedSets(existing, changes)).map(({ name, type, ttl, after }) => ({ name, type, ttl, data: after })),
      }
    case 'message':
      return { granularity, message: updateMessage(changedSets(existing, changes), zone) }
    case 'file': {
      const isChanged = changes.some((change) => change.subject === 'record')
      return { granularity, records: isChanged ? finalRecords(existing, changes).sort(compareRecords) : null }
    }
  }
}

/** The calls that a target needs for compiled changes. A change of the zone itself is one call. */
export function compiledCalls(compiled: CompiledChanges, changes: readonly Change[]): number {
  if (compiled.granularity === 'record') return changes.length
  const domain = changes.filter((change) => change.subject === 'domain').length
  if (compiled.granularity === 'rrset') return domain + compiled.replacements.length
  return domain + ((compiled.granularity === 'message' ? compiled.message : compiled.records) === null ? 0 : 1)
}

/** An RRset before and after, its data sorted and without duplicates. It has no data if it does not exist. */
interface ChangedSet {
  readonly name: DomainName
  readonly type: string
  /** The TTL after the change. */
  readonly ttl: Ttl | null
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Whether an existing record has another TTL than the RRset will have. */
  readonly ttlDiffers: boolean
}

/** The RRsets that differ before and after, for a target without duplicates and with one TTL per RRset. */
function changedSets(existing: readonly ExistingRecord[], changes: readonly Change[]): ChangedSet[] {
  const before = groupRrsets(existing)
  const after = groupRrsets(finalRecords(existing, changes))
  const records = changes
    .flatMap((change) => (change.subject === 'record' ? [change.existing, change.desired] : []))
    .filter((one) => one !== null)
  const touched = new Map(records.map((record) => [rrsetKey(record), record]))
  return [...touched].flatMap(([key, { name, type }]) => {
    const [old, fresh] = [before.get(key) ?? [], after.get(key) ?? []]
    const ttl = lowestTtl(fresh)
    const ttlDiffers = fresh.length > 0 && old.some((record) => record.ttl !== ttl)
    const set = { name, type, ttl, before: dataOf(old), after: dataOf(fresh), ttlDiffers }
    return ttlDiffers || JSON.stringify(set.before) !== JSON.stringify(set.after) ? [set] : []
  })
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const dataOf = (records: readonly ResourceRecord[]): string[] => [...new Set(records.map((record) => record.data))].sort(compareText)

/** The lowest TTL of an RRset's records, which should be equal (RFC 2181 section 5.2). */
export function lowestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const ttls = records.flatMap((record) => (record.ttl === null ? [] : [record.ttl]))
  return ttls.length === 0 ? null : ttls.reduce((lowest, ttl) => (ttl < lowest ? ttl : lowest))
}

const compareSets = (a: ChangedSet, b: ChangedSet): number => compareNames(a.name, b.name) || compareText(a.type, b.type)

const isNew = ({ before }: ChangedSet): boolean => before.length === 0
const isRemoved = ({ after }: ChangedSet): boolean => after.length === 0

/** New RRsets first, then changed ones, then removed ones. */
const phaseOf = (set: ChangedSet): number => (isNew(set) ? 0 : isRemoved(set) ? 2 : 1)

/**
 * The order in which RRsets are replaced one by one. A CNAME and other types at one name never exist together. Otherwise a target is created before its
 * pointers and removed after them, and at one name new RRsets come before removed ones. If this is a cycle, as when two names swap their records, one of
 * these wishes yields.
 */
function inSafeOrder(changed: readonly ChangedSet[]): ChangedSet[] {
  const sets = changed.toSorted((a, b) => phaseOf(a) - phaseOf(b) || compareSets(a, b))
  const setAt = (at: number): ChangedSet => sets[at] as ChangedSet
  const byName = new Map<string, number[]>()
  for (const [at, { name }] of sets.entries()) append(byName, name, at)
  const required: Set<number>[] = sets.map(() => new Set())
  const preferred: Set<number>[] = sets.map(() => new Set())
  for (const atName of byName.values()) {
    for (const added of atName.filter((at) => isNew(setAt(at)))) {
      for (const removed of atName.filter((at) => isRemoved(setAt(at)))) {
        if ((setAt(added).type === 'CNAME') !== (setAt(removed).type === 'CNAME')) required[added]?.add(removed)
        else preferred[removed]?.add(added)
      }
    }
  }
  sets.forEach((set, at) => {
    const [before, after] = [targetsOf(set, set.before), targetsOf(set, set.after)]
    const atTarget = (target: string, need: Need): number[] =>
      (byName.get(target) ?? []).filter((other) => other !== at && satisfies(setAt(other).type, need))
    for (const [target, need] of after)
      if (!before.has(target)) for (const other of atTarget(target, need)) if (isNew(setAt(other))) preferred[at]?.add(other)
    for (const [target, need] of before)
      if (!after.has(target)) for (const other of atTarget(target, need)) if (isRemoved(setAt(other))) preferred[other]?.add(at)
  })
  return stronglyConnectedComponents(withoutCycles(required, [preferred])).map(([at]) => setAt(at as number))
}

function targetsOf({ name, type }: ChangedSet, data: readonly string[]): Map<string, Need> {
  const pointers = data.flatMap((one) => pointerOf({ name, type, ttl: null, data: one }) ?? [])
  return new Map(pointers.map(({ target, need }) => [target, need]))
}

/**
 * One message, which a server applies as a whole or not at all. Every changed RRset is a prerequisite, so concurrent changes are not overwritten. Deletions
 * come first, because a server ignores records beside a CNAME (RFC 2136 section 3.4.2.2). Apex NS records are the exception: they are added first and then
 * deleted one by one, because a server ignores the deletion of all of them (section 3.4.2.4). For the same reason they cannot all be removed.
 *
 * An RRset whose TTL changes is deleted and added again: adding its records alone changes the TTL in BIND, as the RFC says, but not in Knot DNS. For apex NS
 * records there is no other way.
 */
function updateMessage(changed: readonly ChangedSet[], zone: DomainName): UpdateMessage | null {
  const isApexNs = ({ name, type }: ChangedSet): boolean => type === 'NS' && name === zone
  const sets = changed.filter((set) => !isApexNs(set) || set.after.length > 0).sort(compareSets)
  if (sets.length === 0) return null
  const apexNs = sets.filter(isApexNs).map(recordParts)
  const others = sets
    .filter((set) => !isApexNs(set))
    .map((set) => (set.after.length === 0 || set.ttlDiffers ? rrsetParts(set) : recordParts(set)))
  return {
    prerequisites: sets.map(({ name, type, before }) => ({ name, type, data: before })),
    updates: [
      ...apexNs.flatMap(({ adds, deletes }) => [...adds, ...deletes]),
      ...others.flatMap(({ deletes }) => deletes),
      ...others.flatMap(({ adds }) => adds),
    ],
  }
}

interface UpdateParts {
  readonly deletes: readonly UpdatePart[]
  readonly adds: readonly UpdatePart[]
}

const rrsetParts = ({ name, type, ttl, after }: ChangedSet): UpdateParts => ({
  deletes: [{ action: 'delete-rrset', name, type }],
  adds: after.map((data) => ({ action: 'add', record: { name, type, ttl, data } })),
})

function recordParts({ name, type, ttl, before, after, ttlDiffers }: ChangedSet): UpdateParts {
  const [existing, desired] = [new Set(before), new Set(after)]
  const removed = before.filter((data) => !desired.has(data))
  const added = after.filter((data) => ttlDiffers || !existing.has(data))
  return {
    deletes: removed.map((data) => ({ action: 'delete', record: { name, type, ttl: null, data } })),
    adds: added.map((data) => ({ action: 'add', record: { name, type, ttl, data } })),
  }
}
