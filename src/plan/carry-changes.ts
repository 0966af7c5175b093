/**
 * Which call carries each change of a plan, and in which order calls follow each other.
 *
 * A target takes single records or whole RRsets, one or several per call. A call that several units share and that is carried out as a whole needs no
 * order inside it. If one call cannot carry everything, units go into calls along their order. Units that the target refuses beside each other, such as a
 * CNAME and an A record of one name, share a call if they can.
 */
import { append } from '../base/group-by.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { rdataOctets } from '../dns/rdata/rdata-codec.ts'
import { type ExistingRecord, rrsetKey } from '../dns/record.ts'
import type { CallRules } from './capabilities.ts'
import { compareRrsets, type RrsetChange, type RrsetImage, type RrsetName, rrsetChanges } from './changesets.ts'
import { type Need, pointerOf, satisfies } from './continuity.ts'
import { addEdge, NO_CALLS } from './order-edges.ts'
import type { RecordChange } from './plan.ts'
import { typesExclude } from './record-conflicts.ts'
import { stronglyConnectedComponents, withoutCycles } from './topological-order.ts'

/** Record changes with the calls that carry them, and the names that lack records for a moment between two calls. */
export interface CarriedChanges {
  readonly changes: readonly RecordChange[]
  readonly interrupted: readonly string[]
  /** Whether the record limit decides the order. */
  readonly isLimited: boolean
}

type Uncarried = Omit<RecordChange, 'call'>

/** Whether changes that depend on each other may share a call. */
const takesAnyOrder = ({ atomic, ordersChanges = false }: CallRules): boolean => atomic || ordersChanges

/** Each change in a separate call. */
export const carryOneByOne = (changes: readonly Uncarried[]): RecordChange[] => changes.map((change, call) => ({ ...change, call }))

/** Whether one call carries all of these changes. */
export function fitInOneCall(
  changes: readonly Uncarried[],
  existing: readonly ExistingRecord[],
  rules: CallRules,
  zone: DomainName,
): boolean {
  if (!takesAnyOrder(rules) || (rules.maxUnits ?? 2) < 2) return false
  if (rules.unit === 'record') return rules.maxUnits === null || changes.length <= rules.maxUnits
  const units = rrsetUnits(changes, existing, rules, zone)
  return isWithin(totalSize(units), rules)
}

export const carryTogether = (changes: readonly Uncarried[]): RecordChange[] => changes.map((change) => ({ ...change, after: [], call: 0 }))

/**
 * Changes of single records, in several calls: the changes stay in the order of their `after` edges. In a call that is carried out as a whole, a change may
 * follow another one of the same call.
 */
export function carryRecords(changes: readonly Uncarried[], rules: CallRules): RecordChange[] {
  const most = rules.maxUnits ?? changes.length
  const waits = changes.map(({ after }) => new Set(after))
  const callOf = new Int32Array(changes.length)
  const sizes: number[] = []
  for (const [at] of stronglyConnectedComponents(waits) as [number][]) {
    let call = 0
    for (const before of changes[at]?.after ?? []) call = Math.max(call, (callOf[before] as number) + (takesAnyOrder(rules) ? 0 : 1))
    while ((sizes[call] ?? 0) >= most) call += 1
    callOf[at] = call
    for (let one = sizes.length; one <= call; one += 1) sizes[one] = 0
    sizes[call] = (sizes[call] as number) + 1
  }
  // Calls that only earlier calls fill are never empty, because each change takes the first call that has room.
  const firstOf = firstChanges(callOf)
  return changes.map((change, index) => {
    const call = callOf[index] as number
    const calls = new Set(change.after.map((before) => callOf[before] as number).filter((before) => before !== call))
    return { ...change, call, after: [...calls].map((before) => firstOf.get(before) as number).sort((a, b) => a - b) }
  })
}

function firstChanges(callOf: Int32Array): Map<number, number> {
  const first = new Map<number, number>()
  callOf.forEach((call, index) => {
    if (!first.has(call)) first.set(call, index)
  })
  return first
}

/** Everything that changes in one RRset. */
interface RrsetUnit extends RrsetChange {
  /** Indexes of its changes. */
  readonly indexes: readonly number[]
  /** What it takes in a call, at most. */
  readonly size: CallSize
}

const totalSize = (units: readonly RrsetUnit[]): CallSize => units.reduce((sum, { size }) => addSizes(sum, size), NO_SIZE)

function rrsetUnits(changes: readonly Uncarried[], existing: readonly ExistingRecord[], rules: CallRules, zone: DomainName): RrsetUnit[] {
  const indexes = new Map<string, number[]>()
  for (const [index, change] of changes.entries()) append(indexes, rrsetKey(change), index)
  const carried = changes.map((change) => ({ ...change, call: 0 }))
  return rrsetChanges(existing, carried).map((rrset) => ({
    ...rrset,
    indexes: indexes.get(rrsetKey(rrset)) ?? [],
    size: sizeOf(rrset, rules, zone),
  }))
}

/**
 * Changes of RRsets, in several calls. `headroom`: the records that the target accepts beyond the existing ones. If that is too little for all additions at
 * once, RRsets that lose records come first and one call follows another: then the zone never holds more records than before the plan or after it. `isDivided`: only
 * RRsets that must change together share a call, so that a call that the target refuses carries nothing else.
 */
export function carryRrsets(
  changes: readonly Uncarried[],
  existing: readonly ExistingRecord[],
  rules: CallRules,
  headroom: number,
  zone: DomainName,
  isDivided = false,
): CarriedChanges {
  const units = rrsetUnits(changes, existing, rules, zone)
  const isLimited = units.reduce((sum, unit) => sum + Math.max(0, growthOf(unit)), 0) > headroom
  units.sort((a, b) => (isLimited ? growthOf(a) - growthOf(b) : phaseOf(a) - phaseOf(b)) || compareRrsets(a, b))
  const edges = rrsetEdges(units)
  const callOf = callsOfUnits(units, edges, rules, isLimited, isDivided)
  const count = callOf.reduce((most, call) => Math.max(most, call + 1), 0)
  const waits: Set<number>[] = Array.from({ length: count }, (_, at) => new Set(isLimited && at > 0 ? [at - 1] : []))
  const interrupted = new Set<string>()
  const noteLayer = (layer: readonly ReadonlySet<number>[], nameAtStake: typeof yieldedName): void =>
    layer.forEach((set, at) => {
      for (const before of set) {
        const [later, earlier] = [callOf[at] as number, callOf[before] as number]
        if (later > earlier) waits[later]?.add(earlier)
        const name = later === earlier ? null : nameAtStake(units[at] as RrsetUnit, units[before] as RrsetUnit, later > earlier)
        if (name !== null) interrupted.add(name)
      }
    })
  noteLayer(edges.required, replacedName)
  noteLayer(edges.preferred, yieldedName)
  const changeCalls = new Int32Array(changes.length)
  units.forEach(({ indexes }, at) => {
    for (const index of indexes) changeCalls[index] = callOf[at] as number
  })
  const firstOf = firstChanges(changeCalls)
  return {
    changes: changes.map((change, index) => {
      const own = changeCalls[index] as number
      const after = [...(waits[own] ?? [])].map((before) => firstOf.get(before) as number).sort((a, b) => a - b)
      return { ...change, call: own, after }
    }),
    interrupted: [...interrupted].sort(),
    isLimited,
  }
}

/** By how many records the zone grows. */
const growthOf = ({ existing, desired }: RrsetChange): number => (desired?.data.length ?? 0) - (existing?.data.length ?? 0)

/** The number of the call of each unit. Clusters fill one call after another. */
function callsOfUnits(
  units: readonly RrsetUnit[],
  edges: RrsetEdges,
  rules: CallRules,
  isLimited: boolean,
  isDivided: boolean,
): Int32Array {
  const callOf = new Int32Array(units.length).fill(-1)
  let call = -1
  let open: CallSize = NO_SIZE
  const mustFollow = (cluster: readonly number[], size: CallSize): boolean => {
    if (!isWithin(size, rules)) return true
    // A call that may be carried out in part keeps no order inside, and no record limit.
    if (takesAnyOrder(rules)) return false
    return (
      isLimited ||
      cluster.some((at) =>
        [edges.required, edges.preferred].some((layer) => [...(layer[at] ?? [])].some((before) => callOf[before] === call)),
      )
    )
  }
  for (const cluster of isLimited ? clustersByGrowth(units, edges, rules) : clustersOf(units, edges, rules)) {
    const own = totalSize(cluster.map((at) => units[at] as RrsetUnit))
    const together = addSizes(open, own)
    const isNext = call === -1 || isDivided || mustFollow(cluster, together)
    if (isNext) call += 1
    open = isNext ? own : together
    for (const at of cluster) callOf[at] = call
  }
  return callOf
}

/** A name at which a CNAME and other types replace each other is empty between their two calls. */
const replacedName = (later: RrsetUnit): string | null => later.name

/** The name that a pointer in use misses, or that is empty for a moment, if the order of two calls is not as preferred. */
function yieldedName(later: RrsetUnit, earlier: RrsetUnit, isKept: boolean): string | null {
  if (isKept) return null
  if (later.name === earlier.name) return later.name
  const [pointer, target] = isRemoved(later) ? [earlier, later] : [later, earlier]
  return isNew(pointer) || isRemoved(pointer) ? null : target.name
}

const isNew = ({ existing }: RrsetChange): boolean => existing === null
const isRemoved = ({ desired }: RrsetChange): boolean => desired === null

/** New RRsets first, then changed ones, then removed ones. */
const phaseOf = (rrset: RrsetChange): number => (isNew(rrset) ? 0 : isRemoved(rrset) ? 2 : 1)

interface RrsetEdges {
  /** For each RRset those it waits for: the target refuses any other order, unless one call carries both. */
  readonly required: readonly ReadonlySet<number>[]
  readonly preferred: readonly ReadonlySet<number>[]
}

/**
 * A CNAME and other types at one name never exist together, nor an ALIAS and addresses. Otherwise a target is created before its pointers and removed after them, and at one name new
 * RRsets come before removed ones.
 */
function rrsetEdges(units: readonly RrsetUnit[]): RrsetEdges {
  const unitAt = (at: number): RrsetUnit => units[at] as RrsetUnit
  const byName = new Map<string, number[]>()
  for (const [at, { name }] of units.entries()) append(byName, name, at)
  const required = new Array<ReadonlySet<number>>(units.length).fill(NO_CALLS)
  const preferred = new Array<ReadonlySet<number>>(units.length).fill(NO_CALLS)
  for (const atName of byName.values()) {
    for (const added of atName.filter((at) => isNew(unitAt(at)))) {
      for (const removed of atName.filter((at) => isRemoved(unitAt(at)))) {
        if (typesExclude(unitAt(added).type, unitAt(removed).type)) addEdge(required, added, removed)
        else addEdge(preferred, removed, added)
      }
    }
  }
  units.forEach((unit, at) => {
    const [before, after] = [targetsOf(unit, unit.existing), targetsOf(unit, unit.desired)]
    const atTarget = (target: string, need: Need): number[] =>
      (byName.get(target) ?? []).filter((other) => other !== at && satisfies(unitAt(other).type, need))
    for (const [target, need] of after)
      if (!before.has(target)) for (const other of atTarget(target, need)) if (isNew(unitAt(other))) addEdge(preferred, at, other)
    for (const [target, need] of before)
      if (!after.has(target)) for (const other of atTarget(target, need)) if (isRemoved(unitAt(other))) addEdge(preferred, other, at)
  })
  return { required, preferred }
}

function targetsOf({ name, type }: RrsetName, image: RrsetImage | null): Map<string, Need> {
  const pointers = (image?.data ?? []).flatMap((data) => pointerOf({ name, type, ttl: null, data }) ?? [])
  return new Map(pointers.map(({ target, need }) => [target, need]))
}

/** RRsets in an order that the target accepts. Those that wait for one another, and a CNAME with its replacement, stay together if a call can carry them. */
function clustersOf(units: readonly RrsetUnit[], { required, preferred }: RrsetEdges, rules: CallRules): number[][] {
  const singly = stronglyConnectedComponents(withoutCycles(required, [preferred]))
  if (!takesAnyOrder(rules) || rules.maxUnits === 1) return singly
  const bound = required.map((set, at) => new Set([...set, ...(preferred[at] ?? [])]))
  required.forEach((set, at) => {
    for (const before of set) bound[before]?.add(at)
  })
  const rank = new Map(singly.map(([at], position) => [at as number, position]))
  const rankOf = (at: number): number => rank.get(at) as number
  return stronglyConnectedComponents(bound).flatMap((cluster) => {
    const canShare = isWithin(totalSize(cluster.map((at) => units[at] as RrsetUnit)), rules)
    return canShare ? [cluster] : cluster.sort((a, b) => rankOf(a) - rankOf(b)).map((at) => [at])
  })
}

/**
 * RRsets in the order of their growth, for a zone without room. Required edges lead from removed to new RRsets, so that order is accepted. A CNAME and its
 * replacement share a call if it can carry both.
 */
function clustersByGrowth(units: readonly RrsetUnit[], { required }: RrsetEdges, rules: CallRules): number[][] {
  const singly = units.map((_, at) => [at])
  if (!takesAnyOrder(rules) || rules.maxUnits === 1) return singly
  const bound = required.map((set) => new Set(set))
  required.forEach((set, at) => {
    for (const before of set) bound[before]?.add(at)
  })
  const clusters = stronglyConnectedComponents(bound).flatMap((cluster) =>
    isWithin(totalSize(cluster.map((at) => units[at] as RrsetUnit)), rules) ? [cluster] : cluster.map((at) => [at]),
  )
  const growth = (cluster: readonly number[]): number => cluster.reduce((sum, at) => sum + growthOf(units[at] as RrsetUnit), 0)
  return clusters.sort((a, b) => growth(a) - growth(b) || (a[0] as number) - (b[0] as number))
}

// What the change of an RRset takes in a call, at most.

interface CallSize {
  readonly units: number
  readonly octets: number
  /** Records before and after the change. */
  readonly values: number
  /** Characters of the data of those records. */
  readonly characters: number
}

const NO_SIZE: CallSize = { units: 0, octets: 0, values: 0, characters: 0 }

const addSizes = (a: CallSize, b: CallSize): CallSize => ({
  units: a.units + b.units,
  octets: a.octets + b.octets,
  values: a.values + b.values,
  characters: a.characters + b.characters,
})

const isWithin = ({ units, octets, values, characters }: CallSize, { maxUnits, maxOctets, maxValues }: CallRules): boolean =>
  (maxUnits === null || units <= maxUnits) &&
  (maxOctets === null || octets <= maxOctets) &&
  (maxValues === undefined || (values <= maxValues.count && characters <= maxValues.characters))

function sizeOf(rrset: RrsetChange, rules: CallRules, zone: DomainName): CallSize {
  const data = [...(rrset.existing?.data ?? []), ...(rrset.desired?.data ?? [])]
  const lengthOf = rules.maxValues?.lengthOf ?? ((_, one) => one.length)
  const characters = rules.maxValues === undefined ? 0 : data.reduce((sum, one) => sum + lengthOf(rrset.type, one), 0)
  return { units: 1, octets: rules.maxOctets === null ? 0 : octetsOf(rrset, rules, zone), values: data.length, characters }
}

/** Type, class, TTL and length (RFC 1035 section 4.1.3). */
const RECORD_HEADER = 10

/** A pointer to the zone's name, which every message has at its beginning (RFC 1035 section 4.1.4). */
const POINTER = 2

/** More octets than the rdata of any type has beyond its text: AAAA and LOC have 16 in as few as three characters. */
const RDATA_MARGIN = 32

/**
 * Each existing record once as expected and once as deleted, each desired one once. In an UPDATE message (RFC 2136) one record says that the RRset is to be
 * deleted or does not exist; NS records of the apex are deleted one by one.
 */
export function octetsOf(
  { name, type, existing, desired }: RrsetChange,
  { isDnsMessage, countsRdataOnly }: CallRules,
  zone: DomainName,
): number {
  if (countsRdataOnly) return [...(existing?.data ?? []), ...(desired?.data ?? [])].reduce((sum, data) => sum + data.length, 0)
  if (!isDnsMessage) {
    const size = (image: RrsetImage | null): number =>
      (image?.data ?? []).reduce((sum, data) => sum + name.length + 1 + RECORD_HEADER + data.length + RDATA_MARGIN, 0)
    return 2 * (name.length + 1 + RECORD_HEADER) + 2 * size(existing) + size(desired)
  }
  // Text is never shorter than the labels that it stands for.
  const bare = (name === zone ? 0 : name.length - zone.length) + POINTER + RECORD_HEADER
  const size = (image: RrsetImage | null): number => (image?.data ?? []).reduce((sum, data) => sum + bare + rdataSize(type, data), 0)
  return bare + size(existing) + (type === 'NS' && name === zone ? size(existing) : 0) + size(desired)
}

/** A type without a wire form is refused elsewhere. */
function rdataSize(type: string, data: string): number {
  try {
    return rdataOctets(type, data).length
  } catch {
    return data.length + RDATA_MARGIN
  }
}
