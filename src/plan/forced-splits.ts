/**
 * Splits that no plan goes without, for zones too large to search. Of a type of which few records differ, the fewest calls are looked for while the calls
 * of all other types count nothing; and with the differences at all but a few names left out. Whatever plan the zone has is, without what was left
 * out, a way through this smaller question that makes as many calls of the type or fewer. So it makes no fewer splits of the type than are found.
 */
import { analyseContinuity, pointerOf } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import { type StateSpace, stateSpace } from './state-space.ts'
import { zoneState } from './zone-state.ts'

/** Records that differ in one question. */
const MAX_RECORDS = 12

/** Splits that cannot be avoided, where nothing that can be kept whole is interrupted, or (`needs` is `ignored`) whatever is. */
export function forcedSplits(difference: ZoneDifference, needs: 'kept' | 'ignored', enough: number): number {
  const types = new Map<string, { goes: number; comes: number }>()
  const countOf = (type: string): { goes: number; comes: number } => {
    const count = types.get(type) ?? { goes: 0, comes: 0 }
    types.set(type, count)
    return count
  }
  for (const { type } of difference.removed) countOf(type).goes += 1
  for (const { type } of difference.added) countOf(type).comes += 1
  let splits = 0
  for (const [type, { goes, comes }] of types) {
    if (splits >= enough) break
    if (goes === 0 || comes === 0 || goes + comes > MAX_RECORDS) continue
    const part = partAbout(type, difference)
    if (part === null) continue
    const state = zoneState(part, analyseContinuity(part))
    const space = stateSpace(part.removed, part.added, state, needs === 'kept' ? state.needsOf(part.removed, part.added) : [])
    const calls = fewestOf(type, space)
    if (calls !== null) splits += calls - Math.max(goes, comes)
  }
  return splits
}

/** The differences at the names of a type's records, and at as many of those that point there, or are pointed at, as are few enough. */
function partAbout(type: string, difference: ZoneDifference): ZoneDifference | null {
  const changing = [...difference.removed, ...difference.added]
  const sizes = new Map<string, number>()
  for (const { name } of changing) sizes.set(name, (sizes.get(name) ?? 0) + 1)
  const names = new Set<string>()
  let size = 0
  const add = (name: string): boolean => {
    const more = names.has(name) ? 0 : (sizes.get(name) ?? 0)
    if (size + more > MAX_RECORDS) return false
    size += more
    names.add(name)
    return true
  }
  for (const record of changing) if (record.type === type && !add(record.name)) return null
  for (const record of changing) {
    const target = pointerOf(record)?.target
    if (target === undefined) continue
    if (names.has(target)) add(record.name)
    else if (names.has(record.name)) add(target)
  }
  const isNear = ({ name }: { name: string }): boolean => names.has(name)
  return { ...difference, removed: difference.removed.filter(isNear), added: difference.added.filter(isNear) }
}

/** The fewest calls of a type on any way to the goal that misses nothing, calls of other types being free; null where there is none. */
function fewestOf(type: string, space: StateSpace): number | null {
  const settled = new Set<number>()
  let current = [space.start]
  for (let calls = 0; current.length > 0; calls += 1) {
    const next: number[] = []
    for (let present = current.pop(); present !== undefined; present = current.pop()) {
      if (settled.has(present)) continue
      if (present === space.goal) return calls
      settled.add(present)
      for (const move of space.moves) {
        const after = space.after(present, move)
        if (after === null || settled.has(after) || space.missed(after) !== 0n) continue
        const isOfType = (move.call.existing ?? move.call.desired)?.type === type
        ;(isOfType ? next : current).push(after)
      }
    }
    current = next
  }
  return null
}
