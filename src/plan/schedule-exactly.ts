/**
 * The best calls for a few records to go and to come, with their order: least missed of what should not be interrupted, then the fewest calls. First
 * it is found what has to be missed; then calls are searched that miss no more, over which records are done, calls that do two at once first. The
 * number of calls allowed grows from the lower bound until a way is found, so that the first way found is the shortest.
 *
 * What is done tells the state, whatever the way to it. Room is asked for at each call: a zone that holds too many records already may lose some and not
 * gain any.
 */
import type { DefinedRecord, ExistingRecord } from '../model/record.ts'
import type { Call } from './pair-records.ts'
import { leastMissed, type StateSpace, stateSpace } from './state-space.ts'
import type { ZoneState } from './zone-state.ts'

/** Records to go and to come that the search takes on: its cost grows with two to their power. */
export const MAX_EXACT = 14

export interface ExactWay {
  /** Calls in an order in which each is accepted and finds room. */
  readonly calls: Call[]
  /** RRsets and pointers that miss something for a moment: as few as can be. */
  readonly missed: number
}

/** Null where no order is accepted, or where it would take too long to find the best. With `calls` preferred, nothing counts as missed. */
export function scheduleExactly(
  goes: readonly ExistingRecord[],
  comes: readonly DefinedRecord[],
  state: ZoneState,
  prefer: 'continuity' | 'calls',
): ExactWay | null {
  const space = stateSpace(goes, comes, state, prefer === 'calls' ? [] : state.needsOf(goes, comes))
  const sets = leastMissed(space)
  if (sets === null) return null
  const missed = space.needs.reduce((sum, { weight }, at) => (((sets[0] as bigint) >> BigInt(at)) & 1n ? sum + weight : sum), 0)
  const finders = sets.map((given) => finder(space, given))
  for (let budget = space.callsFrom(space.start); budget <= goes.length + comes.length; budget += 1) {
    for (const find of finders) {
      const calls = find(budget, Number.POSITIVE_INFINITY)
      if (calls !== null) return { calls: withFewestRenames(calls, (renames) => find(budget, renames)), missed }
    }
  }
  return null
}

/** Finds calls that miss no more than `given`, at most as many of them, and of those that rename, as are allowed. */
function finder(space: StateSpace, given: bigint): (budget: number, renames: number) => Call[] | null {
  const known = new Map<number, boolean>()
  const isSafe = (present: number): boolean => {
    const safe = known.get(present) ?? (space.missed(present) & ~given) === 0n
    known.set(present, safe)
    return safe
  }
  return (budget, renames) => {
    const way: Call[] = []
    const hopeless = new Set<string>()
    const search = (present: number, calls: number, spare: number): boolean => {
      if (present === space.goal) return true
      const key = `${present} ${calls} ${spare}`
      if (calls < space.callsFrom(present) || hopeless.has(key)) return false
      for (const move of space.moves) {
        if (move.rename && spare === 0) continue
        const next = space.after(present, move)
        if (next === null || !isSafe(next)) continue
        way.push(move.call)
        if (search(next, calls - 1, spare - (move.rename ? 1 : 0))) return true
        way.pop()
      }
      hopeless.add(key)
      return false
    }
    return search(space.start, budget, renames) ? way : null
  }
}

/** Among ways of one length, one that renames the fewest records: what stays at its name is easier to follow. */
function withFewestRenames(way: Call[], find: (renames: number) => Call[] | null): Call[] {
  const renames = way.filter(({ existing, desired }) => existing !== null && desired !== null && existing.name !== desired.name).length
  for (let fewer = 0; fewer < renames; fewer += 1) {
    const better = find(fewer)
    if (better !== null) return better
  }
  return way
}
