/** Calls by the names they come to and go from, and by their places in an order in which every call is safe, where one is known. */
import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import { type Need, satisfiesType } from './continuity.ts'
import type { Call } from './pair-records.ts'

/** Positions of calls in an order in which every call is safe; a call without one was not part of it: it is made after all of them. */
export type Ranks = ReadonlyMap<Call, number>

/** Whether a call changes a record without taking it out of its RRset. */
export const staysInSet = ({ existing, desired }: Call): boolean =>
  existing !== null && desired !== null && rrsetKey(existing) === rrsetKey(desired)

export interface CallIndex {
  readonly calls: readonly Call[]
  /** Whether an order is known. */
  readonly isRanked: boolean
  /** Calls by the names they come to and go from. An update within its RRset does neither. */
  readonly comesTo: ReadonlyMap<string, readonly number[]>
  readonly goesFrom: ReadonlyMap<string, readonly number[]>
  /** The record that a call takes away, or brings; it must be one that does. */
  existingOf(at: number): ResourceRecord
  desiredOf(at: number): ResourceRecord
  /** Whether an update in place keeps an RRset from ever being empty. */
  isSetHeld(name: string, type: string): boolean
  /** Whether an update in place keeps the name as the need wants it. */
  isNameHeld(name: string, need: Need): boolean
  /** The call to wait for where any of these will do. */
  first(candidates: readonly number[]): number
  /** The call that waits where any of these will do. */
  last(candidates: readonly number[]): number
  /** Whether the known order has one call before another. */
  isBefore(first: number, second: number): boolean
  /** Whether, in the known order, one of the second comes before the last of the first goes; undefined where that is not known. */
  overlaps(departures: readonly number[], arrivals: readonly number[]): boolean | undefined
}

export function indexCalls(calls: readonly Call[], ranks: Ranks | null): CallIndex {
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
  const rankOf = (at: number): number | undefined => ranks?.get(calls[at] as Call)
  const isKnown = (at: number): boolean => rankOf(at) !== undefined
  const best = (candidates: readonly number[], isWanted: (at: number) => boolean, costOf: (at: number) => number): number => {
    const wanted = ranks === null ? [] : candidates.filter(isWanted)
    return (wanted.length > 0 ? wanted : candidates).reduce((chosen, at) => (costOf(at) < costOf(chosen) ? at : chosen))
  }
  return {
    calls,
    isRanked: ranks !== null,
    comesTo,
    goesFrom,
    existingOf: (at) => calls[at]?.existing as ResourceRecord,
    desiredOf: (at) => calls[at]?.desired as ResourceRecord,
    isSetHeld: (name, type) => heldTypes.get(name)?.has(type) ?? false,
    isNameHeld: (name, need) => [...(heldTypes.get(name) ?? [])].some((type) => satisfiesType(type, need)),
    first: (candidates) => best(candidates, isKnown, (at) => rankOf(at) ?? (calls[at]?.existing === null ? 0 : 1)),
    last: (candidates) =>
      best(
        candidates,
        (at) => !isKnown(at),
        (at) => -(rankOf(at) ?? (calls[at]?.desired === null ? 1 : 0)),
      ),
    isBefore(first, second) {
      const [a, b] = [rankOf(first), rankOf(second)]
      return a !== undefined && b !== undefined && a < b
    },
    overlaps(departures, arrivals) {
      const comes = arrivals.flatMap((at) => rankOf(at) ?? [])
      const goes = departures.flatMap((at) => rankOf(at) ?? [])
      return comes.length === 0 || goes.length < departures.length ? undefined : Math.min(...comes) < Math.max(...goes)
    },
  }
}

export function append(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
