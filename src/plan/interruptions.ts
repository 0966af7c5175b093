/**
 * The names that some order along a plan's edges leaves without records for a moment, exactly.
 *
 * A name can be empty once all calls that remove its records are done, with all calls those wait for, unless one that creates a record is among them. That
 * is the smallest such state, so a pointer at the name is interrupted if it still exists then, or can be created before any record of the name.
 */
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type Continuity, has, NEEDS, needKey, pointerOf, type Side, satisfies, WEIGHT_IN_USE } from './continuity.ts'
import { indexByName, isNameHeld } from './order-edges.ts'
import type { Call } from './pair-records.ts'

export interface Interruptions {
  readonly names: readonly string[]
  /** The weight of the RRsets and pointers that are interrupted, see `Continuity.weightOf`. */
  readonly weight: number
}

export interface OrderedCalls {
  readonly calls: readonly Call[]
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
  /** The names to look at. */
  readonly missed: readonly string[]
}

/** Maximum number of calls traced back, so that many names in a long chain take no longer. The names that are left are then reported without a closer look. */
const MAX_TRACED = 500_000

export function interruptionsOf({ calls, after, missed }: OrderedCalls, continuity: Continuity): Interruptions {
  if (missed.length === 0) return { names: [], weight: 0 }
  const index = indexByName(calls)
  const pointers = pointersAt(new Set(missed), calls, continuity)
  const removedBy = (at: number): ResourceRecord => calls[at]?.existing as ResourceRecord
  const addedBy = (at: number): ResourceRecord => calls[at]?.desired as ResourceRecord
  let traced = 0
  /** The calls that are done when these are. */
  const doneWith = (last: readonly number[]): ReadonlySet<number> => {
    const done = new Set(last)
    for (const at of done) {
      for (const before of after[at] ?? []) done.add(before)
      traced += 1 + (after[at]?.length ?? 0)
      if (traced > MAX_TRACED) break
    }
    return done
  }
  const isEmptyWith = (done: ReadonlySet<number>, additions: readonly number[]): boolean => !additions.some((at) => done.has(at))

  const weightAt = (name: string): number => {
    const removals = index.removals.get(name) ?? []
    const additions = index.additions.get(name) ?? []
    let weight = 0
    for (const key of new Set(removals.map((at) => rrsetKey(removedBy(at))))) {
      const removed = removals.filter((at) => rrsetKey(removedBy(at)) === key)
      const { type } = removedBy(removed[0] as number)
      if (!continuity.continuing.has(key) || has(continuity.unchanged.sets, key) || index.held.get(name)?.has(type)) continue
      const added = additions.filter((at) => rrsetKey(addedBy(at)) === key)
      if (isEmptyWith(doneWith(removed), added)) weight += WEIGHT_IN_USE
    }
    for (const need of NEEDS) {
      const pointing = pointers.get(needKey(name, need)) ?? []
      if (pointing.length === 0 || has(continuity.unchanged.names, needKey(name, need)) || isNameHeld(index, name, need)) continue
      const added = additions.filter((at) => satisfies(addedBy(at).type, need))
      const done = doneWith(removals.filter((at) => satisfies(removedBy(at).type, need)))
      if (!isEmptyWith(done, added)) continue
      for (const { record, side, at } of pointing) {
        const isInterrupted = side === 'both' || (side === 'before' ? !done.has(at) : isEmptyWith(doneWith([at]), added))
        if (isInterrupted) weight += continuity.weightOf(record)
      }
    }
    return weight
  }

  const names: string[] = []
  let sum = 0
  for (const name of missed) {
    const weight = traced > MAX_TRACED ? WEIGHT_IN_USE : weightAt(name)
    if (weight === 0 && traced <= MAX_TRACED) continue
    names.push(name)
    sum += weight
  }
  return { names, weight: sum }
}

interface Pointer {
  readonly record: ResourceRecord
  readonly side: Side
  /** The call that creates or removes it; -1 for one that stays. */
  readonly at: number
}

/** The guarded pointers at these names, by target and need. */
function pointersAt(names: ReadonlySet<string>, calls: readonly Call[], continuity: Continuity): Map<string, Pointer[]> {
  const pointers = new Map<string, Pointer[]>()
  const note = (record: ResourceRecord | null, side: Side, at: number): void => {
    const pointer = record && pointerOf(record)
    if (!record || !pointer || !names.has(pointer.target) || !continuity.isGuarded(record, side)) return
    const key = needKey(pointer.target, pointer.need)
    const list = pointers.get(key)
    if (list) list.push({ record, side, at })
    else pointers.set(key, [{ record, side, at }])
  }
  calls.forEach(({ existing, desired }, at) => {
    note(existing, 'before', at)
    note(desired, 'after', at)
  })
  for (const record of continuity.unchangedPointers) note(record, 'both', -1)
  return pointers
}
