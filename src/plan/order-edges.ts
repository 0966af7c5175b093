/**
 * Step 3: which call waits for which, one edge per reason.
 *
 * - `required`: the provider refuses any other order. A CNAME excludes other records at its name (RFC 2181 section 10.1), a null MX other MX
 *   (RFC 7505 section 3).
 * - `continuity`: without the edge something is interrupted that need not be (`continuity.ts`).
 * - `preferred`: a continuity edge that contradicts the known order of the calls. It is kept if it closes no cycle.
 * - `bestEffort`: nothing in use is at stake, but a new pointer is better created after its target, an old one better deleted before it.
 *
 * Continuity asks that some record of one group is created before the last record of another group is removed. An edge needs one call on either side.
 * With a known order of the calls these are the first to be created and the last to be removed, so that all edges follow that order. Without one, a
 * plain create and a plain delete are chosen before updates, because other edges are more likely to bind an update.
 */
import { append } from '../base/group-by.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type Continuity, has, type Need, needKey, pointerOf, satisfies } from './continuity.ts'
import type { Call } from './pair-records.ts'
import { conflicts, isNullMx } from './record-conflicts.ts'

/** For each call the calls it waits for. */
type Layer = readonly ReadonlySet<number>[]

/** Shared by all calls that wait for nothing: most of a large plan. */
export const NO_CALLS: ReadonlySet<number> = new Set()

/** Adds `before` to the calls that `waits` waits for. */
export function addEdge(edges: ReadonlySet<number>[], waits: number, before: number): void {
  if (waits === before) return
  const set = edges[waits]
  if (set === undefined || set === NO_CALLS) edges[waits] = new Set([before])
  else (set as Set<number>).add(before)
}

export interface OrderEdges {
  readonly required: Layer
  readonly continuity: Layer
  readonly preferred: Layer
  readonly bestEffort: Layer
  /** Names that are empty for a moment in every order of these calls, or in the known order. */
  readonly missed: readonly string[]
  /** The names that may be empty for a moment if the first call does not wait for the second. */
  namesAtStake(waits: number, before: number): readonly string[]
}

/** `isOrdered`: the calls are listed in an order in which each is accepted. */
export function orderEdges(calls: readonly Call[], continuity: Continuity, isOrdered: boolean): OrderEdges {
  const empty = (): ReadonlySet<number>[] => new Array<ReadonlySet<number>>(calls.length).fill(NO_CALLS)
  const graph: Graph = {
    calls,
    continuity,
    index: indexByName(calls),
    isOrdered,
    edges: { required: empty(), continuity: empty(), preferred: empty(), bestEffort: empty() },
    missed: [],
  }
  addRequiredEdges(graph)
  addRrsetEdges(graph)
  for (const target of targetsOf(graph).values()) addTargetEdges(graph, target)
  return { ...graph.edges, missed: graph.missed, namesAtStake: (waits, before) => namesAtStake(graph, waits, before) }
}

interface Graph {
  readonly calls: readonly Call[]
  readonly continuity: Continuity
  readonly index: NameIndex
  readonly isOrdered: boolean
  readonly edges: Record<'required' | 'continuity' | 'preferred' | 'bestEffort', ReadonlySet<number>[]>
  readonly missed: string[]
}

/** Calls by the names at which they create and remove records. An update within its RRset does neither. */
export interface NameIndex {
  readonly additions: ReadonlyMap<string, readonly number[]>
  readonly removals: ReadonlyMap<string, readonly number[]>
  /** Types that an update within its RRset keeps from ever being empty, by name. */
  readonly held: ReadonlyMap<string, ReadonlySet<string>>
}

export function indexByName(calls: readonly Call[]): NameIndex {
  const additions = new Map<string, number[]>()
  const removals = new Map<string, number[]>()
  const held = new Map<string, Set<string>>()
  calls.forEach(({ existing, desired }, at) => {
    if (existing && desired && rrsetKey(existing) === rrsetKey(desired)) {
      held.set(existing.name, (held.get(existing.name) ?? new Set()).add(existing.type))
      return
    }
    if (desired) append(additions, desired.name, at)
    if (existing) append(removals, existing.name, at)
  })
  return { additions, removals, held }
}

export const isNameHeld = ({ held }: NameIndex, name: string, need: Need): boolean =>
  [...(held.get(name) ?? [])].some((type) => satisfies(type, need))

const removedBy = ({ calls }: Graph, at: number): ResourceRecord => calls[at]?.existing as ResourceRecord
const addedBy = ({ calls }: Graph, at: number): ResourceRecord => calls[at]?.desired as ResourceRecord

/** The call to wait for if any of these will do. */
const firstOf = ({ calls, isOrdered }: Graph, candidates: readonly number[]): number =>
  candidates.find((at) => isOrdered || calls[at]?.existing === null) ?? (candidates[0] as number)

/** The call that waits if any of these will do. */
const lastOf = ({ calls, isOrdered }: Graph, candidates: readonly number[]): number =>
  (isOrdered ? candidates.at(-1) : candidates.find((at) => calls[at]?.desired === null)) ?? (candidates[0] as number)

function addContinuityEdge({ edges, isOrdered }: Graph, waits: number, before: number): void {
  addEdge(isOrdered && waits < before ? edges.preferred : edges.continuity, waits, before)
}

/** A created record waits for everything at its name that the provider does not accept beside it. */
function addRequiredEdges(graph: Graph): void {
  const { calls, edges } = graph
  const exclusive = new Set<string>()
  const noteExclusive = (record: ResourceRecord | null): void => {
    if (record && (record.type === 'CNAME' || isNullMx(record))) exclusive.add(record.name)
  }
  for (const { existing, desired } of calls) {
    noteExclusive(existing)
    noteExclusive(desired)
  }
  if (exclusive.size === 0) return
  const leaving = new Map<string, number[]>()
  calls.forEach(({ existing }, at) => {
    if (existing && exclusive.has(existing.name)) append(leaving, existing.name, at)
  })
  calls.forEach(({ desired }, at) => {
    if (!desired || !exclusive.has(desired.name)) return
    for (const other of leaving.get(desired.name) ?? []) if (conflicts(removedBy(graph, other), desired)) addEdge(edges.required, at, other)
  })
}

/** In an RRset that continues although no record of it stays or changes in place, one record is created before the last is removed. */
function addRrsetEdges(graph: Graph): void {
  const { continuity, index, missed } = graph
  for (const [name, removals] of index.removals) {
    const additions = index.additions.get(name)
    if (!additions) continue
    const byKey = new Map<string, number[]>()
    for (const at of removals) append(byKey, rrsetKey(removedBy(graph, at)), at)
    for (const [key, removed] of byKey) {
      const example = removedBy(graph, removed[0] as number)
      if (index.held.get(name)?.has(example.type) || has(continuity.unchanged.sets, key)) continue
      const added = additions.filter((at) => rrsetKey(addedBy(graph, at)) === key)
      if (added.length === 0) continue
      if (added.some((at) => conflicts(example, addedBy(graph, at)))) missed.push(name)
      else addContinuityEdge(graph, lastOf(graph, removed), firstOf(graph, added))
    }
  }
}

/** Everything that points at one name with one need. */
interface Target {
  readonly name: string
  readonly need: Need
  /** Calls by which a pointer at it is created, and removed. */
  readonly additions: number[]
  readonly removals: number[]
  /** Calls that change a guarded pointer at it in place. */
  readonly inPlace: number[]
  /** A guarded pointer at it stays as it is. */
  isAlwaysPointedAt: boolean
}

function targetsOf({ calls, continuity, index }: Graph): Map<string, Target> {
  const targets = new Map<string, Target>()
  const targetOf = ({ target: name, need }: { target: string; need: Need }): Target => {
    const key = needKey(name, need)
    const target = targets.get(key) ?? { name, need, additions: [], removals: [], inPlace: [], isAlwaysPointedAt: false }
    targets.set(key, target)
    return target
  }
  const changes = (name: string): boolean => index.additions.has(name) || index.removals.has(name)
  calls.forEach(({ existing, desired }, at) => {
    const before = existing && pointerOf(existing)
    const after = desired && pointerOf(desired)
    const staysAtTarget = existing && desired && before && before.target === after?.target && rrsetKey(existing) === rrsetKey(desired)
    const wasGuarded = existing !== null && continuity.isGuarded(existing, 'before')
    const isGuarded = desired !== null && continuity.isGuarded(desired, 'after')
    if (staysAtTarget && wasGuarded && isGuarded && changes(before.target)) targetOf(before).inPlace.push(at)
    else {
      if (before && changes(before.target) && (!staysAtTarget || wasGuarded)) targetOf(before).removals.push(at)
      if (after && changes(after.target) && (!staysAtTarget || isGuarded)) targetOf(after).additions.push(at)
    }
  })
  for (const record of continuity.unchangedPointers) {
    const pointer = pointerOf(record)
    if (pointer && changes(pointer.target)) targetOf(pointer).isAlwaysPointedAt = true
  }
  return targets
}

/**
 * A pointer is created after its target, and removed before it. Or the target changes hands without a gap, one record of it being created before the last
 * is removed, and pointers may change at any time. If both ways preserve everything, pointers wait.
 */
function addTargetEdges(graph: Graph, target: Target): void {
  const { continuity, edges, index, isOrdered, missed } = graph
  const { name, need, inPlace } = target
  if (has(continuity.unchanged.names, needKey(name, need)) || isNameHeld(index, name, need)) return
  const additions = (index.additions.get(name) ?? []).filter((at) => satisfies(addedBy(graph, at).type, need))
  const removals = (index.removals.get(name) ?? []).filter((at) => satisfies(removedBy(graph, at).type, need))
  const first = additions.length === 0 ? null : firstOf(graph, additions)
  const last = removals.length === 0 ? null : lastOf(graph, removals)
  if (first !== null && last !== null) {
    const isPointedAt = target.isAlwaysPointedAt || inPlace.length > 0
    const changesHands = isOrdered ? first < last : isPointedAt && !excludesHandover(graph, removals, additions)
    if (changesHands) {
      if (isPointedAt || hasGuardedPointer(graph, target)) addContinuityEdge(graph, last, first)
      else addEdge(edges.bestEffort, last, first)
      return
    }
    if (isPointedAt) missed.push(name)
    // A pointer changed in place is spared at least on that side of the gap on which it is changed.
    for (const pointer of isOrdered ? inPlace : []) {
      if (pointer < last) addEdge(edges.continuity, last, pointer)
      else if (first < pointer) addEdge(edges.continuity, pointer, first)
    }
  }
  for (const pointer of first === null ? [] : target.additions) {
    if (continuity.isGuarded(addedBy(graph, pointer), 'after')) addContinuityEdge(graph, pointer, first as number)
    else addEdge(edges.bestEffort, pointer, first as number)
  }
  for (const pointer of last === null ? [] : target.removals) {
    if (continuity.isGuarded(removedBy(graph, pointer), 'before')) addContinuityEdge(graph, last as number, pointer)
    else addEdge(edges.bestEffort, last as number, pointer)
  }
}

const excludesHandover = (graph: Graph, removals: readonly number[], additions: readonly number[]): boolean =>
  removals.some((from) => additions.some((to) => conflicts(removedBy(graph, from), addedBy(graph, to))))

const hasGuardedPointer = (graph: Graph, { additions, removals }: Target): boolean =>
  additions.some((at) => graph.continuity.isGuarded(addedBy(graph, at), 'after')) ||
  removals.some((at) => graph.continuity.isGuarded(removedBy(graph, at), 'before'))

/** A name that both calls change, or that one changes and the other points at. */
function namesAtStake({ calls, continuity }: Graph, waits: number, before: number): readonly string[] {
  const [later, earlier] = [calls[waits] as Call, calls[before] as Call]
  const targetOf = (record: ResourceRecord | null, side: 'before' | 'after'): string | undefined =>
    record !== null && continuity.isGuarded(record, side) ? pointerOf(record)?.target : undefined
  const [removed, added] = [later.existing?.name, earlier.desired?.name]
  const names = new Set<string>()
  if (added !== undefined && (added === removed || added === targetOf(later.desired, 'after'))) names.add(added)
  if (removed !== undefined && removed === targetOf(earlier.existing, 'before')) names.add(removed)
  return [...names]
}
