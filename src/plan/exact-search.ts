/**
 * The best sequence of calls for a few records: it misses the least of what must not be interrupted, and then makes the fewest calls.
 *
 * The records are bits: those to remove are the low bits, those to add the high ones, and a number tells which exist at a moment. First the search finds
 * the least weight of needs that has to be missed. Then it looks for calls that miss no more, over the states the zone can be in, updates before deletes
 * and creates. The number of calls allowed grows from the lower bound, so that the first sequence found is the shortest.
 */
import type { DefinedRecord, ExistingRecord, ResourceRecord } from '../dns/record.ts'
import { type Call, similarity } from './pair-records.ts'
import { conflicts } from './record-conflicts.ts'
import type { BitNeed, ZoneState } from './zone-state.ts'

/** Maximum number of records the search takes: its cost doubles with each. */
export const MAX_RECORDS = 14

export interface SearchTask {
  readonly removed: readonly ExistingRecord[]
  readonly added: readonly DefinedRecord[]
  /** The zone now: all of `removed` exist, none of `added` do. */
  readonly state: ZoneState
  /** Records that the provider accepts beyond those that exist; below 0 if there are too many already. */
  readonly headroom: number
  /** Whether continuity comes before fewest calls. */
  readonly keepsContinuity: boolean
}

export interface ExactCalls {
  readonly calls: readonly Call[]
  /** The weight of the needs that every order misses, or, if continuity does not come first, that these calls miss. */
  readonly missedWeight: number
}

/** Calls in an order in which each is accepted and finds room; null if there is no such order, or if the search would take too long. */
export function searchExactly(task: SearchTask): ExactCalls | null {
  if (task.removed.length + task.added.length > MAX_RECORDS) return null
  const space = stateSpace(task)
  if (!task.keepsContinuity) return searchFewestCalls(task, space)
  const allowances = leastMissed(space)
  if (allowances === null) return null
  const missedWeight = weightOf(space.needs, allowances[0] as bigint)
  const finders = allowances.map((allowed) => sequenceFinder(space, allowed))
  for (let budget = space.callsFrom(space.start); budget <= task.removed.length + task.added.length; budget += 1) {
    for (const find of finders) {
      const calls = find(budget, Number.POSITIVE_INFINITY)
      if (calls !== null) return { calls: withFewestRenames(calls, (renames) => find(budget, renames)), missedWeight }
    }
  }
  return null
}

/** The fewest calls, whatever they miss; then as little as a greedy choice can spare with that many calls, the weightiest needs first. */
function searchFewestCalls({ removed, added }: SearchTask, space: StateSpace): ExactCalls | null {
  const bits = space.needs.map((need, at) => ({ ...need, bit: 1n << BigInt(at) })).sort((a, b) => b.weight - a.weight)
  let allowed = bits.reduce((all, { bit }) => all | bit, 0n)
  for (let budget = space.callsFrom(space.start); budget <= removed.length + added.length; budget += 1) {
    let calls = sequenceFinder(space, allowed)(budget, Number.POSITIVE_INFINITY)
    if (calls === null) continue
    for (const { bit } of bits) {
      const fewer = sequenceFinder(space, allowed & ~bit)(budget, Number.POSITIVE_INFINITY)
      if (fewer === null) continue
      calls = fewer
      allowed &= ~bit
    }
    const find = sequenceFinder(space, allowed)
    return { calls: withFewestRenames(calls, (renames) => find(budget, renames)), missedWeight: weightOf(space.needs, allowed) }
  }
  return null
}

/** The weight of a set of needs, one bit each. */
const weightOf = (needs: readonly BitNeed[], set: bigint): number =>
  needs.reduce((sum, { weight }, at) => ((set >> BigInt(at)) & 1n ? sum + weight : sum), 0)

/** A call as bits. */
interface Move {
  readonly call: Call
  readonly removes: number
  readonly adds: number
  readonly isRename: boolean
}

interface StateSpace {
  readonly start: number
  readonly goal: number
  /** Every possible update, delete and create; the updates that a reader would choose come first. */
  readonly moves: readonly Move[]
  readonly needs: readonly BitNeed[]
  /** The records that exist after a move; null if it is impossible, refused or without room. */
  after(present: number, move: Move): number | null
  /** The needs that are missed while exactly these records exist, one bit each. */
  missed(present: number): bigint
  /** The fewest calls that any sequence needs from here: per type the greater of removals and additions. */
  callsFrom(present: number): number
}

function stateSpace({ removed, added, state, headroom }: SearchTask): StateSpace {
  const records: readonly ResourceRecord[] = [...removed, ...added]
  const maskOf = (isMember: (record: ResourceRecord, bit: number) => boolean): number =>
    records.reduce((mask, record, bit) => (isMember(record, bit) ? mask | (1 << bit) : mask), 0)
  const start = 2 ** removed.length - 1
  const goal = (2 ** records.length - 1) & ~start
  const isBlocked = added.map((desired) => state.isBlocked(desired, removed))
  const conflicting = added.map((one, at) =>
    maskOf((other, bit) => bit !== removed.length + at && other.name === one.name && conflicts(one, other)),
  )
  const types = [...new Set(records.map(({ type }) => type))].map((type) => maskOf((record) => record.type === type))
  const needs = state.needsOf(removed, added)
  return {
    start,
    goal,
    needs,
    moves: movesOf(removed, added),
    after(present, move) {
      if ((present & move.removes) !== move.removes || (present & move.adds) !== 0) return null
      const next = (present & ~move.removes) | move.adds
      if (move.adds === 0) return next
      const at = 31 - Math.clz32(move.adds) - removed.length
      if (isBlocked[at] || (next & (conflicting[at] as number)) !== 0) return null
      // A zone that holds too many records already may lose some and not gain any.
      return move.removes === 0 && headroom + removed.length - countBits(present) <= 0 ? null : next
    },
    missed: (present) =>
      needs.reduce((missed, { during, oneOf }, at) => {
        const isMissed = (during === 0 || (present & during) !== 0) && (present & oneOf) === 0
        return isMissed ? missed | (1n << BigInt(at)) : missed
      }, 0n),
    callsFrom: (present) =>
      types.reduce((sum, type) => sum + Math.max(countBits(present & start & type), countBits(goal & ~present & type)), 0),
  }
}

function countBits(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}

function movesOf(removed: readonly ExistingRecord[], added: readonly DefinedRecord[]): Move[] {
  const bitOf = (addedAt: number): number => 1 << (removed.length + addedAt)
  const updates = removed.flatMap((existing, from) =>
    added.flatMap((desired, to) => {
      if (existing.type !== desired.type) return []
      const isRename = existing.name !== desired.name
      return { call: { existing, desired }, removes: 1 << from, adds: bitOf(to), isRename, similarity: similarity(existing, desired) }
    }),
  )
  return [
    ...updates.sort((a, b) => b.similarity - a.similarity),
    ...removed.map((existing, from) => ({ call: { existing, desired: null }, removes: 1 << from, adds: 0, isRename: false })),
    ...added.map((desired, to) => ({ call: { existing: null, desired }, removes: 0, adds: bitOf(to), isRename: false })),
  ]
}

/** Finds calls that miss no more than `allowed`, with at most so many calls and renames among them. */
function sequenceFinder(space: StateSpace, allowed: bigint): (budget: number, renames: number) => Call[] | null {
  const known = new Map<number, boolean>()
  const isSafe = (present: number): boolean => {
    const safe = known.get(present) ?? (space.missed(present) & ~allowed) === 0n
    known.set(present, safe)
    return safe
  }
  return (budget, renames) => {
    const sequence: Call[] = []
    const deadEnds = new Set<string>()
    const search = (present: number, calls: number, spareRenames: number): boolean => {
      if (present === space.goal) return true
      const key = `${present} ${calls} ${spareRenames}`
      if (calls < space.callsFrom(present) || deadEnds.has(key)) return false
      for (const move of space.moves) {
        if (move.isRename && spareRenames === 0) continue
        const next = space.after(present, move)
        if (next === null || !isSafe(next)) continue
        sequence.push(move.call)
        if (search(next, calls - 1, spareRenames - (move.isRename ? 1 : 0))) return true
        sequence.pop()
      }
      deadEnds.add(key)
      return false
    }
    return search(space.start, budget, renames) ? sequence : null
  }
}

/** Among sequences of one length, one that renames the fewest records: a record that keeps its name is easier to follow. */
function withFewestRenames(calls: Call[], find: (renames: number) => Call[] | null): Call[] {
  const renames = calls.filter(({ existing, desired }) => existing !== null && desired !== null && existing.name !== desired.name).length
  for (let fewer = 0; fewer < renames; fewer += 1) {
    const better = find(fewer)
    if (better !== null) return better
  }
  return calls
}

/** Maximum number of states visited while sets of needs to give up are tried, so that no search takes long. */
const MAX_VISITED = 2 ** 19

/** Maximum number of sets of equal weight that the fewest calls are searched for. */
const MAX_EQUAL = 64

/**
 * The lightest sets of needs (as bits) of which one has to be missed to reach the goal; `[0n]` if none has to be. Null if missing all does not help, or
 * if it takes too long to find out. A search over sets, lighter ones first: the states reachable without missing more end at states that miss something,
 * and whoever goes on misses all that one of these does.
 */
function leastMissed(space: StateSpace): readonly bigint[] | null {
  const missed = new Map<number, bigint>()
  const missedAt = (present: number): bigint => {
    const known = missed.get(present) ?? space.missed(present)
    missed.set(present, known)
    return known
  }
  const open = new Map<bigint, number>([[0n, 0]])
  const tried = new Set<bigint>()
  const found: bigint[] = []
  let least = Number.POSITIVE_INFINITY
  let visited = 0
  while (open.size > 0 && found.length < MAX_EQUAL) {
    const [allowed, weight] = [...open].reduce((a, b) => (b[1] < a[1] ? b : a))
    if (weight > least) break
    open.delete(allowed)
    tried.add(allowed)
    const { isGoalReached, states, beyond } = reach(space, allowed, missedAt)
    visited += states
    if (isGoalReached) {
      found.push(allowed)
      least = weight
    } else if (visited > MAX_VISITED) return null
    else
      for (const set of beyond) {
        const more = allowed | set
        if (!tried.has(more)) open.set(more, weightOf(space.needs, more))
      }
  }
  return found.length === 0 ? null : found
}

interface Reached {
  readonly isGoalReached: boolean
  /** States visited. */
  readonly states: number
  /** The smallest sets of needs missed by the states just beyond. */
  readonly beyond: readonly bigint[]
}

/** Explores the states that miss no more than `allowed`. */
function reach(space: StateSpace, allowed: bigint, missedAt: (present: number) => bigint): Reached {
  const seen = new Set([space.start])
  const stack = [space.start]
  const beyond = new Set<bigint>()
  for (let present = stack.pop(); present !== undefined; present = stack.pop()) {
    if (present === space.goal) return { isGoalReached: true, states: seen.size, beyond: [] }
    for (const move of space.moves) {
      const next = space.after(present, move)
      if (next === null || seen.has(next)) continue
      const more = missedAt(next) & ~allowed
      if (more !== 0n) {
        beyond.add(more)
        continue
      }
      seen.add(next)
      stack.push(next)
    }
  }
  const isSmallest = (set: bigint): boolean => ![...beyond].some((other) => other !== set && (other & set) === other)
  return { isGoalReached: false, states: seen.size, beyond: [...beyond].filter(isSmallest) }
}
