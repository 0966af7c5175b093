/**
 * The names that some order along a plan's edges leaves without records for a moment, told exactly. A name can be empty once all calls that take its
 * records away are made, with all that those wait for, unless one that brings a record is among them. That state is the least one of its kind, so that a
 * record that points at the name is missed out if it is still there then, or can come without any of those that bring a record.
 */
import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import { indexCalls } from './call-index.ts'
import { type Continuity, has, NEEDS, needKey, pointerOf, type Side, satisfies, WEIGHT_IN_USE } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { Call } from './pair-records.ts'

export interface MissedNames {
  readonly names: readonly string[]
  /** What the RRsets and pointers count that miss something, see `Continuity.weightOf`. */
  readonly weight: number
}

export interface OrderedCalls {
  readonly calls: readonly Call[]
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
  /** Names that may be missed: these are looked at. */
  readonly missed: readonly string[]
}

interface Pointer {
  readonly record: ResourceRecord
  readonly side: Side
  /** The call that brings it, or takes it away; -1 for one that stays. */
  readonly at: number
}

/** Calls gone back along, so that many names in a long chain take no longer; names that are left then count as missed. */
const MOST_STEPS = 500_000

export function missedNames({ calls, after, missed }: OrderedCalls, difference: ZoneDifference, continuity: Continuity): MissedNames {
  if (missed.length === 0) return { names: [], weight: 0 }
  const index = indexCalls(calls, null)
  const pointers = pointersAt(new Set(missed), calls, difference, continuity)
  let steps = 0
  /** The calls that are made once these are. */
  const madeWith = (last: readonly number[]): ReadonlySet<number> => {
    const made = new Set(last)
    for (const at of made) {
      for (const before of after[at] ?? []) made.add(before)
      steps += 1 + (after[at]?.length ?? 0)
      if (steps > MOST_STEPS) break
    }
    return made
  }
  const isFree = (made: ReadonlySet<number>, comes: readonly number[]): boolean => !comes.some((at) => made.has(at))

  const weightAt = (name: string): number => {
    const goes = index.goesFrom.get(name) ?? []
    const comes = index.comesTo.get(name) ?? []
    let weight = 0
    for (const key of new Set(goes.map((at) => rrsetKey(index.existingOf(at))))) {
      const going = goes.filter((at) => rrsetKey(index.existingOf(at)) === key)
      const { type } = index.existingOf(going[0] as number)
      if (!continuity.continuing.has(key) || has(continuity.standing.sets, key) || index.isSetHeld(name, type)) continue
      const coming = comes.filter((at) => rrsetKey(index.desiredOf(at)) === key)
      if (isFree(madeWith(going), coming)) weight += WEIGHT_IN_USE
    }
    for (const need of NEEDS) {
      const pointing = pointers.get(needKey(name, need)) ?? []
      if (pointing.length === 0 || has(continuity.standing.names, needKey(name, need)) || index.isNameHeld(name, need)) continue
      const coming = comes.filter((at) => satisfies(index.desiredOf(at), need))
      const emptied = madeWith(goes.filter((at) => satisfies(index.existingOf(at), need)))
      if (!isFree(emptied, coming)) continue
      for (const { record, side, at } of pointing) {
        const isMissed = side === 'standing' || (side === 'before' ? !emptied.has(at) : isFree(madeWith([at]), coming))
        if (isMissed) weight += continuity.weightOf(record)
      }
    }
    return weight
  }

  const names: string[] = []
  let sum = 0
  for (const name of missed) {
    const weight = steps > MOST_STEPS ? WEIGHT_IN_USE : weightAt(name)
    if (weight === 0 && steps <= MOST_STEPS) continue
    names.push(name)
    sum += weight
  }
  return { names, weight: sum }
}

/** The pointers whose targets must not go missing, by target and need. */
function pointersAt(
  names: ReadonlySet<string>,
  calls: readonly Call[],
  difference: ZoneDifference,
  continuity: Continuity,
): Map<string, Pointer[]> {
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
  for (const record of [...difference.kept, ...difference.unmanaged]) note(record, 'standing', -1)
  return pointers
}
