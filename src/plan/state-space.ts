/**
 * A few records to go and to come as bits: what is there at a moment is a number, and whether the target accepts it and what it interrupts takes a
 * few operations to tell. The records to go have the low bits, those to come the bits above.
 */
import type { DefinedRecord, ExistingRecord, ResourceRecord } from '../model/record.ts'
import { closeness } from './closeness.ts'
import type { Call } from './pair-records.ts'
import { clash } from './standing-conflicts.ts'
import type { BitNeed, ZoneState } from './zone-state.ts'

/** What a call does, as bits. */
export interface PossibleMove {
  readonly call: Call
  readonly goes: number
  readonly comes: number
  /** It moves a record to another name. */
  readonly rename: boolean
}

export interface StateSpace {
  readonly start: number
  readonly goal: number
  /** Every update, delete and create; updates that a reader would choose come first. */
  readonly moves: readonly PossibleMove[]
  readonly needs: readonly BitNeed[]
  /** What is there after a move; null where it cannot be made, or is not accepted, or finds no room. */
  after(present: number, move: PossibleMove): number | null
  /** The needs that are missed while just these records are there, one bit each. */
  missed(present: number): bigint
  /** Fewest calls that any sequence needs from here, Σ max(D, C) over the types. */
  callsFrom(present: number): number
}

/** `needs` is empty where continuity is not asked for. None of `comes` is there in `state` yet, and all of `goes` are. */
export function stateSpace(
  goes: readonly ExistingRecord[],
  comes: readonly DefinedRecord[],
  state: ZoneState,
  needs: readonly BitNeed[],
): StateSpace {
  const records: readonly ResourceRecord[] = [...goes, ...comes]
  const maskOf = (test: (record: ResourceRecord, bit: number) => boolean): number =>
    records.reduce((mask, record, bit) => (test(record, bit) ? mask | (1 << bit) : mask), 0)
  const start = 2 ** goes.length - 1
  const goal = (2 ** records.length - 1) & ~start
  for (const existing of goes) state.make({ existing, desired: null })
  const isBlocked = comes.map((desired) => !state.isAccepted({ existing: null, desired }))
  for (const existing of goes) state.undo({ existing, desired: null })
  const clashes = comes.map((one, at) => maskOf((other, bit) => bit !== goes.length + at && other.name === one.name && clash(one, other)))
  const room = state.room()
  const types = [...new Set(records.map(({ type }) => type))].map((type) => maskOf((record) => record.type === type))
  return {
    start,
    goal,
    needs,
    moves: possibleMoves(goes, comes),
    after(present, move) {
      if ((present & move.goes) !== move.goes || (present & move.comes) !== 0) return null
      const next = (present & ~move.goes) | move.comes
      if (move.comes === 0) return next
      const at = 31 - Math.clz32(move.comes) - goes.length
      if (isBlocked[at] || (next & (clashes[at] as number)) !== 0) return null
      // A zone that holds too many records already may lose some and not gain any.
      return move.goes === 0 && room + goes.length - countBits(present) <= 0 ? null : next
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

function possibleMoves(goes: readonly ExistingRecord[], comes: readonly DefinedRecord[]): PossibleMove[] {
  const updates: (PossibleMove & { readonly closeness: number })[] = []
  const bitOf = (come: number): number => 1 << (goes.length + come)
  goes.forEach((existing, from) => {
    comes.forEach((desired, to) => {
      if (existing.type !== desired.type) return
      const rename = existing.name !== desired.name
      updates.push({ call: { existing, desired }, goes: 1 << from, comes: bitOf(to), rename, closeness: closeness(existing, desired) })
    })
  })
  updates.sort((a, b) => b.closeness - a.closeness)
  return [
    ...updates,
    ...goes.map((existing, from) => ({ call: { existing, desired: null }, goes: 1 << from, comes: 0, rename: false })),
    ...comes.map((desired, to) => ({ call: { existing: null, desired }, goes: 0, comes: bitOf(to), rename: false })),
  ]
}

/** Sets of needs to be given up that are looked at, times the states reached with each, so that no search takes long. */
const MAX_REACHED = 2 ** 19

/** Sets of needs that cost equally little to give up of which the fewest calls are looked for. */
const MAX_EQUAL = 64

/**
 * The sets of needs, each as bits, of which one has to be missed for the goal to be reached at all, and that are the least; `[0n]` where none is.
 * Null where even missing all does not help, or where that takes too long to find. A search over sets, lighter ones first: what can be reached without
 * missing more ends at states that miss something, and who goes on misses all that some one of these does.
 */
export function leastMissed(space: StateSpace): readonly bigint[] | null {
  const missed = new Map<number, bigint>()
  const missedAt = (present: number): bigint => {
    const known = missed.get(present) ?? space.missed(present)
    missed.set(present, known)
    return known
  }
  const weightOf = (set: bigint): number => space.needs.reduce((sum, { weight }, at) => ((set >> BigInt(at)) & 1n ? sum + weight : sum), 0)
  const open = new Map<bigint, number>([[0n, 0]])
  const tried = new Set<bigint>()
  const found: bigint[] = []
  let least = Number.POSITIVE_INFINITY
  let reached = 0
  while (open.size > 0 && found.length < MAX_EQUAL) {
    const [given, weight] = [...open].reduce((a, b) => (b[1] < a[1] ? b : a))
    if (weight > least) break
    open.delete(given)
    tried.add(given)
    const { isGoalReached, states, beyond } = reach(space, given, missedAt)
    reached += states
    if (isGoalReached) {
      found.push(given)
      least = weight
    } else if (reached > MAX_REACHED) return null
    else
      for (const set of beyond) {
        const more = given | set
        if (!tried.has(more)) open.set(more, weightOf(more))
      }
  }
  return found.length === 0 ? null : found
}

/** What can be reached without missing more than `given`, and the least sets that the states just beyond it miss. */
function reach(
  space: StateSpace,
  given: bigint,
  missedAt: (present: number) => bigint,
): { isGoalReached: boolean; states: number; beyond: readonly bigint[] } {
  const seen = new Set([space.start])
  const stack = [space.start]
  const beyond = new Set<bigint>()
  for (let present = stack.pop(); present !== undefined; present = stack.pop()) {
    if (present === space.goal) return { isGoalReached: true, states: seen.size, beyond: [] }
    for (const move of space.moves) {
      const next = space.after(present, move)
      if (next === null || seen.has(next)) continue
      const more = missedAt(next) & ~given
      if (more !== 0n) {
        beyond.add(more)
        continue
      }
      seen.add(next)
      stack.push(next)
    }
  }
  const isLeast = (set: bigint): boolean => ![...beyond].some((other) => other !== set && (other & set) === other)
  return { isGoalReached: false, states: seen.size, beyond: [...beyond].filter(isLeast) }
}
