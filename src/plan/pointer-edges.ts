/**
 * Edges for what records point at: a pointer comes after its target, and leaves before it goes; or, where the name changes hands without a gap, something
 * comes to it before the last goes, and pointers come and leave as they like. Where that is the same to all that must be kept whole, pointers wait.
 */
import { rrsetKey } from '../model/record.ts'
import type { CallIndex } from './call-index.ts'
import { type Continuity, has, type Need, needKey, pointerOf, satisfies } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import { addEdge, keepWhole, type OrderEdges } from './edge-layers.ts'
import { clash } from './standing-conflicts.ts'

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

export function addPointerEdges(index: CallIndex, difference: ZoneDifference, continuity: Continuity, edges: OrderEdges): void {
  for (const target of targetsOf(index, difference, continuity).values()) {
    const { name, need, inPlace } = target
    const isPointedAt = target.stays || inPlace.length > 0
    if (has(continuity.standing.names, needKey(name, need)) || index.isNameHeld(name, need)) continue
    const arrivals = (index.comesTo.get(name) ?? []).filter((at) => satisfies(index.desiredOf(at), need))
    const departures = (index.goesFrom.get(name) ?? []).filter((at) => satisfies(index.existingOf(at), need))
    const [comer, goer] = [arrivals.length === 0 ? null : index.first(arrivals), departures.length === 0 ? null : index.last(departures)]
    if (comer !== null && goer !== null) {
      if (index.overlaps(departures, arrivals) ?? (isPointedAt && !clashes(index, departures, arrivals))) {
        if (isPointedAt || isGuarded(target, index, continuity)) keepWhole(index, edges, goer, comer)
        else addEdge(edges.courtesy, goer, comer)
        continue
      }
      if (isPointedAt) edges.missed.push(name)
      if (!target.stays && inPlace.length > 0) edges.gaps.push([...inPlace, ...departures, ...arrivals])
      // A pointer changed in place is spared at least on the side of the gap on which it is changed.
      for (const pointer of index.isRanked ? inPlace : []) {
        if (index.isBefore(pointer, goer)) addEdge(edges.continuity, goer, pointer)
        else if (index.isBefore(comer, pointer)) addEdge(edges.continuity, pointer, comer)
      }
    }
    for (const pointer of comer === null ? [] : target.comes) {
      if (continuity.isGuarded(index.desiredOf(pointer), 'after')) keepWhole(index, edges, pointer, comer as number)
      else addEdge(edges.courtesy, pointer, comer as number)
    }
    for (const pointer of goer === null ? [] : target.leaves) {
      if (continuity.isGuarded(index.existingOf(pointer), 'before')) keepWhole(index, edges, goer as number, pointer)
      else addEdge(edges.courtesy, goer as number, pointer)
    }
  }
}

/** Whether a pointer that comes or leaves must not miss the name. */
const isGuarded = ({ comes, leaves }: Target, { desiredOf, existingOf }: CallIndex, continuity: Continuity): boolean =>
  comes.some((at) => continuity.isGuarded(desiredOf(at), 'after')) || leaves.some((at) => continuity.isGuarded(existingOf(at), 'before'))

const clashes = ({ existingOf, desiredOf }: CallIndex, departures: readonly number[], arrivals: readonly number[]): boolean =>
  departures.some((from) => arrivals.some((to) => clash(existingOf(from), desiredOf(to))))

function targetsOf(index: CallIndex, difference: ZoneDifference, continuity: Continuity): Map<string, Target> {
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
  index.calls.forEach(({ existing, desired }, at) => {
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
