/**
 * The fewest calls for a few records to go and to come, with an order in which each is safe: a search over which of them are done, calls that do
 * two at once first. The number of calls allowed grows from the lower bound until a way is found, so that the first way found is the shortest.
 *
 * What is done tells the state, whatever the way to it. So whether a state is safe is asked once; and before it is asked in how many calls the end can
 * be reached, whether it can at all. Room is asked for at each call: a zone that holds too many records already may lose some and not gain any.
 */
import type { DefinedRecord, ExistingRecord } from '../model/record.ts'
import { closeness } from './closeness.ts'
import type { Call } from './pair-records.ts'
import type { Move, ZoneState } from './zone-state.ts'

/** Records to go and to come that the search takes on: its cost grows with two to their power. */
export const MAX_EXACT = 14

/** Calls in a safe order for which there is always room, or null where there is none. `state` is left as it was. */
export function scheduleExactly(
  goes: readonly ExistingRecord[],
  comes: readonly DefinedRecord[],
  state: ZoneState,
  isSafe: (move: Move) => boolean,
): Call[] | null {
  const types = [...new Set([...goes, ...comes].map((record) => record.type))]
  const moves = possibleMoves(goes, comes)
  const full = 2 ** (goes.length + comes.length) - 1
  const least = (left: number): number => {
    let sum = 0
    for (const type of types) sum += Math.max(countLeft(goes, left, 0, type), countLeft(comes, left, goes.length, type))
    return sum
  }
  const known = new Map<number, boolean>()
  const leadsToSafety = (left: number, call: Call): boolean => {
    const safe = known.get(left) ?? isSafe(call)
    known.set(left, safe)
    return safe
  }
  const find = (budget: number, renames: number): Call[] | null => {
    const way: Call[] = []
    const hopeless = new Set<string>()
    const search = (left: number, calls: number, spare: number): boolean => {
      if (left === 0) return true
      const key = `${left} ${calls} ${spare}`
      if (calls < least(left) || hopeless.has(key)) return false
      for (const { bits, call, rename } of moves) {
        if ((left & bits) !== bits || (rename && spare === 0)) continue
        if (!state.hasRoomFor(call) || !leadsToSafety(left & ~bits, call)) continue
        state.make(call)
        way.push(call)
        const found = search(left & ~bits, calls - 1, spare - (rename ? 1 : 0))
        state.undo(call)
        if (found) return true
        way.pop()
      }
      hopeless.add(key)
      return false
    }
    return search(full, budget, renames) ? way : null
  }
  if (find(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY) === null) return null
  for (let budget = least(full); budget <= goes.length + comes.length; budget += 1) {
    const way = find(budget, Number.POSITIVE_INFINITY)
    if (way !== null) return withFewestRenames(way, (renames) => find(budget, renames))
  }
  return null
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

interface PossibleMove {
  /** The records it does, as bits: those to go first, those to come above them. */
  readonly bits: number
  readonly call: Call
  /** It moves a record to another name. */
  readonly rename: boolean
}

/** Every update, delete and create; updates that a reader would choose come first. */
function possibleMoves(goes: readonly ExistingRecord[], comes: readonly DefinedRecord[]): PossibleMove[] {
  const updates: (PossibleMove & { readonly closeness: number })[] = []
  goes.forEach((existing, from) => {
    comes.forEach((desired, to) => {
      if (existing.type !== desired.type) return
      updates.push({
        bits: (1 << from) | (1 << (goes.length + to)),
        call: { existing, desired },
        rename: existing.name !== desired.name,
        closeness: closeness(existing, desired),
      })
    })
  })
  updates.sort((a, b) => b.closeness - a.closeness)
  return [
    ...updates,
    ...goes.map((existing, from) => ({ bits: 1 << from, call: { existing, desired: null }, rename: false })),
    ...comes.map((desired, to) => ({ bits: 1 << (goes.length + to), call: { existing: null, desired }, rename: false })),
  ]
}

function countLeft(records: readonly { readonly type: string }[], left: number, shift: number, type: string): number {
  let count = 0
  for (let i = 0; i < records.length; i += 1) if (records[i]?.type === type && left & (1 << (shift + i))) count += 1
  return count
}
