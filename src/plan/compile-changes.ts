/**
 * The record changes of a plan in the units a target takes: single records, whole RRsets, one RFC 2136 message, or the file. Each is the least for its
 * unit: one replacement for an RRset however many of its records change; no update at all for what a message would delete and add again; one file.
 * Replacements are in an order in which they can be sent one by one (`rrset-order.ts`).
 */
import type { DomainName } from '../dns/domain-name.ts'
import { compareNames } from '../dns/domain-name.ts'
import { compareRecords, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { Capabilities } from './capabilities.ts'
import { pointerOf, satisfies } from './continuity.ts'
import type { Change } from './plan.ts'
import { finalRecords } from './plan.ts'
import { alongEdges, withoutCycles } from './topological-order.ts'

/** An RRset as it shall be; without data it is to be deleted. Unmanaged records of it are among the data, since a replacement takes all. */
export interface RrsetReplacement {
  readonly name: DomainName
  readonly type: string
  /** Null where the RRset is deleted, or follows the zone's default. */
  readonly ttl: Ttl | null
  readonly data: readonly string[]
}

/** One part of the update section of an UPDATE message (RFC 2136 section 2.5). */
export type UpdatePart =
  | { readonly action: 'delete-rrset'; readonly name: DomainName; readonly type: string }
  | { readonly action: 'delete' | 'add'; readonly record: ResourceRecord }

/** What an UPDATE message says (RFC 2136 section 2). */
export interface UpdateMessage {
  /** RRsets that must hold exactly these data, or (without data) must not exist, or else nothing is done. */
  readonly prerequisites: readonly { readonly name: DomainName; readonly type: string; readonly data: readonly string[] }[]
  /** In the order in which they stand in the message and are carried out. */
  readonly updates: readonly UpdatePart[]
}

export type CompiledChanges =
  | { readonly granularity: 'record'; readonly calls: readonly Change[] }
  | { readonly granularity: 'rrset'; readonly replacements: readonly RrsetReplacement[] }
  | { readonly granularity: 'message'; readonly message: UpdateMessage | null }
  | { readonly granularity: 'file'; readonly records: readonly ResourceRecord[] | null }

/** Compiles a zone's changes for a target. `existing` are all records the zone has now, unmanaged ones too. Null where there is nothing to do. */
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
      return { granularity, replacements: inSafeOrder(changedSets(existing, changes)).map(replacementOf) }
    case 'message':
      return { granularity, message: updateMessage(changedSets(existing, changes), zone) }
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

/** The RRsets that differ before and after for a target that keeps neither duplicates nor more than one TTL in an RRset. */
function changedSets(existing: readonly ExistingRecord[], changes: readonly Change[]): ChangedSet[] {
  const before = groupRrsets(existing)
  const after = groupRrsets(finalRecords(existing, changes))
  const touched = new Map<string, { name: DomainName; type: string }>()
  for (const change of changes) {
    if (change.subject !== 'record') continue
    for (const record of [change.existing, change.desired])
      if (record) touched.set(rrsetKey(record), { name: record.name, type: record.type })
  }
  const sets: ChangedSet[] = []
  for (const [key, { name, type }] of touched) {
    const [was, becomes] = [before.get(key) ?? [], after.get(key) ?? []]
    const set = { name, type, before: dataOf(was), after: dataOf(becomes), ttl: lowestTtl(becomes), ttlDiffers: false }
    set.ttlDiffers = becomes.length > 0 && was.some(({ ttl }) => ttl !== set.ttl)
    if (set.ttlDiffers || JSON.stringify(set.before) !== JSON.stringify(set.after)) sets.push(set)
  }
  return sets
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const dataOf = (records: readonly ResourceRecord[]): string[] => [...new Set(records.map((record) => record.data))].sort(compareText)

/** The TTL of an RRset whose records may still differ in it: the lowest (RFC 2181 section 5.2 wants them equal). */
export function lowestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const given = records.flatMap((record) => (record.ttl === null ? [] : [record.ttl]))
  return given.length === 0 ? null : given.reduce((lowest, ttl) => (ttl < lowest ? ttl : lowest))
}

const replacementOf = ({ name, type, ttl, after }: ChangedSet): RrsetReplacement => ({ name, type, ttl, data: after })

/**
 * One message: it is carried out as a whole or not at all, so that its inner order interrupts nothing. What goes stands before what comes, since records
 * beside a CNAME are ignored (RFC 2136 section 3.4.2.2); but NS records of the apex come before others of them go, one by one, since a server ignores
 * the deletion of that whole RRset and of the last of its records (section 3.4.2.4). All of them cannot go. Every RRset it changes is a prerequisite, so
 * that what somebody else changed meanwhile is not overwritten. An RRset whose TTL changes is deleted and added anew: to add its records again replaces
 * the TTL in BIND, as the RFC has it, but not in Knot DNS. For NS records of the apex there is nothing else.
 */
function updateMessage(changed: readonly ChangedSet[], zone: DomainName): UpdateMessage | null {
  const isApexNs = ({ name, type }: ChangedSet): boolean => type === 'NS' && name === zone
  const sets = changed.filter((set) => !isApexNs(set) || set.after.length > 0).sort(compareSets)
  if (sets.length === 0) return null
  const apexNs = sets.filter(isApexNs).map(recordParts)
  const others = sets
    .filter((set) => !isApexNs(set))
    .map((set) => (set.after.length === 0 || set.ttlDiffers ? wholeParts(set) : recordParts(set)))
  return {
    prerequisites: sets.map(({ name, type, before }) => ({ name, type, data: before })),
    updates: [
      ...apexNs.flatMap(({ come, go }) => [...come, ...go]),
      ...others.flatMap(({ go }) => go),
      ...others.flatMap(({ come }) => come),
    ],
  }
}

interface UpdateParts {
  readonly go: readonly UpdatePart[]
  readonly come: readonly UpdatePart[]
}

const wholeParts = ({ name, type, ttl, after }: ChangedSet): UpdateParts => ({
  go: [{ action: 'delete-rrset', name, type }],
  come: after.map((data) => ({ action: 'add', record: { name, type, ttl, data } })),
})

function recordParts({ name, type, ttl, before, after, ttlDiffers }: ChangedSet): UpdateParts {
  const [kept, wanted] = [new Set(before), new Set(after)]
  const gone = before.filter((data) => !wanted.has(data))
  const added = after.filter((data) => ttlDiffers || !kept.has(data))
  return {
    go: gone.map((data) => ({ action: 'delete', record: { name, type, ttl: null, data } })),
    come: added.map((data) => ({ action: 'add', record: { name, type, ttl, data } })),
  }
}

/**
 * An order for replacements of RRsets that are sent one by one. A CNAME and other types at one name come after what they take the place of has gone; that
 * always holds. Beyond it, additions come before removals: a target is there before what comes to point at it, and goes after what pointed at it; at one
 * name what comes does so before other sets go. Where these form a circle, as when two names trade places and what points at them stays, one yields.
 */
/** An RRset and what becomes of it, its data sorted and without duplicates; no data where it does not exist. */
interface ChangedSet {
  readonly name: DomainName
  readonly type: string
  /** The TTL it is to have. */
  readonly ttl: Ttl | null
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Whether any of its records has another TTL than it is to have. */
  readonly ttlDiffers: boolean
}

/** By name, those of one name by type. */
const compareSets = (a: ChangedSet, b: ChangedSet): number =>
  compareNames(a.name, b.name) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

const comes = ({ before }: ChangedSet): boolean => before.length === 0
const goes = ({ after }: ChangedSet): boolean => after.length === 0

/** 0 for what comes, 1 for what changes, 2 for what goes. */
const phaseOf = (set: ChangedSet): number => (comes(set) ? 0 : goes(set) ? 2 : 1)

/** The sets in the order of their replacement. Near linear in the number of their records. */
function inSafeOrder(changed: readonly ChangedSet[]): ChangedSet[] {
  const sets = changed.toSorted((a, b) => phaseOf(a) - phaseOf(b) || compareSets(a, b))
  const byName = new Map<string, number[]>()
  sets.forEach(({ name }, at) => {
    const there = byName.get(name)
    if (there) there.push(at)
    else byName.set(name, [at])
  })
  const hard: Set<number>[] = sets.map(() => new Set())
  const soft: Set<number>[] = sets.map(() => new Set())
  for (const there of byName.values()) {
    for (const come of there.filter((at) => comes(sets[at] as ChangedSet))) {
      for (const go of there.filter((at) => goes(sets[at] as ChangedSet))) {
        const inTheWay = (sets[come]?.type === 'CNAME') !== (sets[go]?.type === 'CNAME')
        if (inTheWay) hard[come]?.add(go)
        else soft[go]?.add(come)
      }
    }
  }
  sets.forEach((set, at) => {
    const [was, becomes] = [targetsOf(set, set.before), targetsOf(set, set.after)]
    const atTarget = (target: string, need: 'any' | 'address'): number[] =>
      (byName.get(target) ?? []).filter((other) => other !== at && satisfies(sets[other]?.type ?? '', need))
    for (const [target, need] of becomes) {
      if (was.has(target)) continue
      for (const other of atTarget(target, need)) if (comes(sets[other] as ChangedSet)) soft[at]?.add(other)
    }
    for (const [target, need] of was) {
      if (becomes.has(target)) continue
      for (const other of atTarget(target, need)) if (goes(sets[other] as ChangedSet)) soft[other]?.add(at)
    }
  })
  return alongEdges(withoutCycles(hard, [soft])).map((at) => sets[at] as ChangedSet)
}

function targetsOf({ name, type }: ChangedSet, data: readonly string[]): Map<string, 'any' | 'address'> {
  const pointers = data.map((one) => pointerOf({ name, type, ttl: null, data: one })).filter((pointer) => pointer !== null)
  return new Map(pointers.map(({ target, need }) => [target, need]))
}
