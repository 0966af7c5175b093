/**
 * What a call waits for, one edge for each reason, in three strengths. Hard: the target refuses otherwise (a CNAME and other records of its
 * name, a null MX and other MX). Continuity: something that need not be interrupted would be (see `continuity.ts`). Courtesy: nothing that was
 * there before is at stake, but a new pointer is better made after its target, and an old one better taken away before it.
 *
 * Continuity asks for "some record of these comes before the last of those goes". An edge needs one of each, so one is picked on either side: by
 * `rank`, where an order is known in which every call is safe, the first that comes and the last that goes, so that all edges follow that order;
 * else a plain create and a plain delete before updates, which other edges are more likely to bind.
 */
import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import { type Continuity, has, type Need, needKey, pointerOf, satisfies, satisfiesType } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { Call } from './pair-records.ts'
import { clash } from './standing-conflicts.ts'

export interface OrderEdges {
  /** For each call the calls it waits for. */
  readonly hard: readonly Set<number>[]
  readonly continuity: readonly Set<number>[]
  /** Continuity that the known order does not keep whole. */
  readonly doubtful: readonly Set<number>[]
  readonly courtesy: readonly Set<number>[]
  /** Names that RRsets leave, or that are pointed at, and that change hands with a gap: they cannot without, or do not in the known order. */
  readonly missed: string[]
  /** Of these, the calls about each name that only pointers changed in place point at: other calls might point elsewhere for that while. */
  readonly gaps: number[][]
}

/** Positions of calls in an order in which every call is safe; a call without one was not part of it. */
export type Ranks = ReadonlyMap<Call, number>

/** Whether a call changes a record without taking it out of its RRset. */
export const staysInSet = ({ existing, desired }: Call): boolean =>
  existing !== null && desired !== null && rrsetKey(existing) === rrsetKey(desired)

export function orderEdges(
  calls: readonly Call[],
  difference: ZoneDifference,
  continuity: Continuity,
  ranks: Ranks | null = null,
): OrderEdges {
  const none = (): Set<number>[] => calls.map(() => new Set<number>())
  const edges: OrderEdges = { hard: none(), continuity: none(), doubtful: none(), courtesy: none(), missed: [], gaps: [] }
  const index = indexCalls(calls)
  const pick = picker(calls, ranks)
  addExclusivity(calls, edges.hard)
  addContinuingSets(calls, index, continuity, pick, ranks, edges)
  addTargets(calls, index, difference, continuity, pick, ranks, edges)
  return edges
}

/** Calls by the names they come to and go from. An update within its RRset does neither. */
interface CallIndex {
  readonly comesTo: ReadonlyMap<string, readonly number[]>
  readonly goesFrom: ReadonlyMap<string, readonly number[]>
  /** By name, the types of RRsets with an update in place, which keeps them from ever being empty. */
  readonly heldTypes: ReadonlyMap<string, ReadonlySet<string>>
}

function indexCalls(calls: readonly Call[]): CallIndex {
  const comesTo = new Map<string, number[]>()
  const goesFrom = new Map<string, number[]>()
  const heldTypes = new Map<string, Set<string>>()
  calls.forEach((call, at) => {
    if (call.existing && staysInSet(call)) {
      const types = heldTypes.get(call.existing.name)
      if (types) types.add(call.existing.type)
      else heldTypes.set(call.existing.name, new Set([call.existing.type]))
      return
    }
    if (call.desired) append(comesTo, call.desired.name, at)
    if (call.existing) append(goesFrom, call.existing.name, at)
  })
  return { comesTo, goesFrom, heldTypes }
}

function append(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

const existingOf = (calls: readonly Call[], at: number): ResourceRecord => calls[at]?.existing as ResourceRecord

const desiredOf = (calls: readonly Call[], at: number): ResourceRecord => calls[at]?.desired as ResourceRecord

interface Picker {
  /** The call to wait for where any of these will do. */
  readonly first: (candidates: readonly number[]) => number
  /** The call that waits where any of these will do. */
  readonly last: (candidates: readonly number[]) => number
}

function picker(calls: readonly Call[], ranks: Ranks | null): Picker {
  const best = (candidates: readonly number[], costOf: (at: number) => number): number =>
    candidates.reduce((chosen, at) => (costOf(at) < costOf(chosen) ? at : chosen))
  const rankOf = (at: number): number | undefined => ranks?.get(calls[at] as Call)
  const ranked = (candidates: readonly number[]): readonly number[] => {
    const known = candidates.filter((at) => rankOf(at) !== undefined)
    return known.length > 0 ? known : candidates
  }
  return {
    first: (candidates) => best(ranked(candidates), (at) => rankOf(at) ?? (calls[at]?.existing === null ? 0 : 1)),
    last: (candidates) => best(ranked(candidates), (at) => -(rankOf(at) ?? (calls[at]?.desired === null ? 1 : 0))),
  }
}

const isNullMx = (record: ResourceRecord): boolean => record.type === 'MX' && record.data === '0 .'

/** What comes waits for everything at its name that it cannot stand beside. */
function addExclusivity(calls: readonly Call[], edges: readonly Set<number>[]): void {
  const leaving = new Map<string, number[]>()
  const sensitive = new Set<string>()
  calls.forEach(({ existing, desired }, at) => {
    for (const record of [existing, desired]) if (record && (record.type === 'CNAME' || isNullMx(record))) sensitive.add(record.name)
    if (existing) append(leaving, existing.name, at)
  })
  if (sensitive.size === 0) return
  calls.forEach(({ desired }, at) => {
    if (!desired || !sensitive.has(desired.name)) return
    for (const other of leaving.get(desired.name) ?? []) if (other !== at && clash(existingOf(calls, other), desired)) edges[at]?.add(other)
  })
}

/** An RRset that is there before and after and of which no record stays or changes in place: one comes before the last goes. */
function addContinuingSets(
  calls: readonly Call[],
  index: CallIndex,
  continuity: Continuity,
  pick: Picker,
  ranks: Ranks | null,
  edges: OrderEdges,
): void {
  for (const [name, going] of index.goesFrom) {
    const coming = index.comesTo.get(name)
    if (!coming) continue
    for (const [key, goes] of bySet(going, (at) => calls[at]?.existing)) {
      const { type } = existingOf(calls, goes[0] as number)
      if (index.heldTypes.get(name)?.has(type) || has(continuity.standing.sets, key)) continue
      const comes = coming.filter((at) => rrsetKey(desiredOf(calls, at)) === key)
      const goer = existingOf(calls, goes[0] as number)
      if (comes.length === 0) continue
      // Where the two cannot stand side by side, a gap cannot be avoided.
      if (comes.some((at) => clash(goer, desiredOf(calls, at)))) {
        edges.missed.push(name)
        continue
      }
      const before = pick.first(comes)
      const after = pick.last(goes)
      keepWhole(calls, edges, after, before, ranks)
    }
  }
}

function bySet(indexes: readonly number[], recordOf: (at: number) => ResourceRecord | null | undefined): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const at of indexes) append(groups, rrsetKey(recordOf(at) as ResourceRecord), at)
  return groups
}

/** Everything that points at one name with one need. */
interface Target {
  readonly name: string
  readonly need: Need
  /** Calls by which a pointer comes to it, and by which one leaves it. */
  readonly comes: number[]
  readonly leaves: number[]
  /** A pointer stays at it throughout, and must not miss it. */
  stays: boolean
  /** Calls that change such a pointer in place. */
  readonly inPlace: number[]
}

function addTargets(
  calls: readonly Call[],
  index: CallIndex,
  difference: ZoneDifference,
  continuity: Continuity,
  pick: Picker,
  ranks: Ranks | null,
  edges: OrderEdges,
): void {
  for (const target of targetsOf(calls, index, difference, continuity).values()) {
    const { name, need, inPlace } = target
    const isPointedAt = target.stays || inPlace.length > 0
    if (has(continuity.standing.names, needKey(name, need)) || isHeldInPlace(index, name, need)) continue
    const arrivals = (index.comesTo.get(name) ?? []).filter((at) => satisfies(desiredOf(calls, at), need))
    const departures = (index.goesFrom.get(name) ?? []).filter((at) => satisfies(existingOf(calls, at), need))
    const [comer, goer] = [arrivals.length === 0 ? null : pick.first(arrivals), departures.length === 0 ? null : pick.last(departures)]
    if (comer !== null && goer !== null) {
      const overlaps = overlapsInRank(calls, departures, arrivals, ranks)
      if (overlaps ?? (isPointedAt && !clashes(calls, departures, arrivals))) {
        overlap(calls, target, arrivals, departures, continuity, pick, ranks, edges)
        continue
      }
      if (isPointedAt) edges.missed.push(name)
      if (!target.stays && inPlace.length > 0) edges.gaps.push([...inPlace, ...departures, ...arrivals])
      // A pointer changed in place is spared at least on the side of the gap on which it is changed.
      for (const pointer of ranks === null ? [] : inPlace) {
        if (isBefore(calls, ranks, pointer, goer)) addEdge(edges.continuity, goer, pointer)
        else if (isBefore(calls, ranks, comer, pointer)) addEdge(edges.continuity, pointer, comer)
      }
    }
    for (const pointer of comer === null ? [] : target.comes) {
      if (continuity.isGuarded(desiredOf(calls, pointer), 'after')) keepWhole(calls, edges, pointer, comer as number, ranks)
      else addEdge(edges.courtesy, pointer, comer as number)
    }
    for (const pointer of goer === null ? [] : target.leaves) {
      if (continuity.isGuarded(existingOf(calls, pointer), 'before')) keepWhole(calls, edges, goer as number, pointer, ranks)
      else addEdge(edges.courtesy, goer as number, pointer)
    }
  }
}

/** The name changes hands without a gap: something comes before the last goes. Then pointers may come and leave as they like. */
function overlap(
  calls: readonly Call[],
  target: Target,
  arrivals: readonly number[],
  departures: readonly number[],
  continuity: Continuity,
  pick: Picker,
  ranks: Ranks | null,
  edges: OrderEdges,
): void {
  const guarded =
    target.stays ||
    target.inPlace.length > 0 ||
    target.comes.some((at) => continuity.isGuarded(desiredOf(calls, at), 'after')) ||
    target.leaves.some((at) => continuity.isGuarded(existingOf(calls, at), 'before'))
  if (guarded) keepWhole(calls, edges, pick.last(departures), pick.first(arrivals), ranks)
  else addEdge(edges.courtesy, pick.last(departures), pick.first(arrivals))
}

/** An edge of continuity; where the known order goes against it, one that yields before others. */
function keepWhole(calls: readonly Call[], edges: OrderEdges, waits: number, before: number, ranks: Ranks | null): void {
  addEdge(isBefore(calls, ranks, waits, before) ? edges.doubtful : edges.continuity, waits, before)
}

function isBefore(calls: readonly Call[], ranks: Ranks | null, first: number, second: number): boolean {
  const [a, b] = [ranks?.get(calls[first] as Call), ranks?.get(calls[second] as Call)]
  return a !== undefined && b !== undefined && a < b
}

const addEdge = (edges: readonly Set<number>[], waits: number, before: number): void => {
  if (waits !== before) edges[waits]?.add(before)
}

/** Whether, in the known order, something comes to the name before the last goes; undefined where that is not known. */
function overlapsInRank(
  calls: readonly Call[],
  departures: readonly number[],
  arrivals: readonly number[],
  ranks: Ranks | null,
): boolean | undefined {
  const known = (indexes: readonly number[]): number[] => indexes.flatMap((at) => ranks?.get(calls[at] as Call) ?? [])
  const [comes, goes] = [known(arrivals), known(departures)]
  return comes.length === 0 || goes.length === 0 ? undefined : Math.min(...comes) < Math.max(...goes)
}

const clashes = (calls: readonly Call[], departures: readonly number[], arrivals: readonly number[]): boolean =>
  departures.some((from) => arrivals.some((to) => clash(existingOf(calls, from), desiredOf(calls, to))))

/** An update in place keeps the name as the need wants it. */
const isHeldInPlace = (index: CallIndex, name: string, need: Need): boolean =>
  [...(index.heldTypes.get(name) ?? [])].some((type) => satisfiesType(type, need))

function targetsOf(calls: readonly Call[], index: CallIndex, difference: ZoneDifference, continuity: Continuity): Map<string, Target> {
  const targets = new Map<string, Target>()
  const targetOf = (pointer: { target: string; need: Need }): Target => {
    const key = needKey(pointer.target, pointer.need)
    let target = targets.get(key)
    if (!target) {
      target = { name: pointer.target, need: pointer.need, comes: [], leaves: [], stays: false, inPlace: [] }
      targets.set(key, target)
    }
    return target
  }
  const moves = (name: string): boolean => index.comesTo.has(name) || index.goesFrom.has(name)
  calls.forEach(({ existing, desired }, at) => {
    const before = existing && pointerOf(existing)
    const after = desired && pointerOf(desired)
    // A pointer that keeps its target in place misses it only if it is there on both sides; else it leaves what goes, or comes to what comes.
    const same = before && after && before.target === after.target && existing && desired && rrsetKey(existing) === rrsetKey(desired)
    if (same && moves(before.target) && continuity.isGuarded(existing, 'before') && continuity.isGuarded(desired, 'after')) {
      targetOf(before).inPlace.push(at)
      return
    }
    if (before && moves(before.target) && !(same && !continuity.isGuarded(existing, 'before'))) targetOf(before).leaves.push(at)
    if (after && moves(after.target) && !(same && !continuity.isGuarded(desired, 'after'))) targetOf(after).comes.push(at)
  })
  for (const record of [...difference.kept, ...difference.unmanaged]) {
    const pointer = pointerOf(record)
    if (pointer && moves(pointer.target) && continuity.isGuarded(record, 'standing')) targetOf(pointer).stays = true
  }
  return targets
}
