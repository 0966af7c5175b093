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
import { append, type CallIndex, indexCalls, type Ranks } from './call-index.ts'
import { type Continuity, has, pointerOf } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import { keepWhole, type OrderEdges } from './edge-layers.ts'
import type { Call } from './pair-records.ts'
import { addPointerEdges } from './pointer-edges.ts'
import { clash } from './standing-conflicts.ts'

export function orderEdges(
  calls: readonly Call[],
  difference: ZoneDifference,
  continuity: Continuity,
  ranks: Ranks | null = null,
): OrderEdges {
  const none = (): Set<number>[] => calls.map(() => new Set<number>())
  const namesAtStake = (waits: number, before: number): string[] => stakesOf(calls[waits] as Call, calls[before] as Call, continuity)
  const edges: OrderEdges = { hard: none(), continuity: none(), doubtful: none(), courtesy: none(), missed: [], gaps: [], namesAtStake }
  const index = indexCalls(calls, ranks)
  addExclusivity(index, edges.hard)
  addContinuingSets(index, continuity, edges)
  addPointerEdges(index, difference, continuity, edges)
  return edges
}

/** A name that changes hands between the two calls, or one that the later points at and the earlier comes to, or the other way round. */
function stakesOf(waits: Call, before: Call, continuity: Continuity): string[] {
  const [gone, come] = [waits.existing?.name, before.desired?.name]
  const pointedAt = (record: ResourceRecord | null, side: 'before' | 'after'): string | undefined =>
    record !== null && continuity.isGuarded(record, side) ? pointerOf(record)?.target : undefined
  const names = new Set<string>()
  if (come !== undefined && (come === gone || come === pointedAt(waits.desired, 'after'))) names.add(come)
  if (gone !== undefined && gone === pointedAt(before.existing, 'before')) names.add(gone)
  return [...names]
}

const isNullMx = (record: ResourceRecord): boolean => record.type === 'MX' && record.data === '0 .'

/** What comes waits for everything at its name that it cannot stand beside. */
function addExclusivity({ calls, existingOf }: CallIndex, edges: readonly Set<number>[]): void {
  const leaving = new Map<string, number[]>()
  const sensitive = new Set<string>()
  calls.forEach(({ existing, desired }, at) => {
    for (const record of [existing, desired]) if (record && (record.type === 'CNAME' || isNullMx(record))) sensitive.add(record.name)
    if (existing) append(leaving, existing.name, at)
  })
  if (sensitive.size === 0) return
  calls.forEach(({ desired }, at) => {
    if (!desired || !sensitive.has(desired.name)) return
    for (const other of leaving.get(desired.name) ?? []) if (other !== at && clash(existingOf(other), desired)) edges[at]?.add(other)
  })
}

/** An RRset that is there before and after and of which no record stays or changes in place: one comes before the last goes. */
function addContinuingSets(index: CallIndex, continuity: Continuity, edges: OrderEdges): void {
  for (const [name, going] of index.goesFrom) {
    const coming = index.comesTo.get(name)
    if (!coming) continue
    for (const [key, goes] of bySet(going, index.existingOf)) {
      const goer = index.existingOf(goes[0] as number)
      if (index.isSetHeld(name, goer.type) || has(continuity.standing.sets, key)) continue
      const comes = coming.filter((at) => rrsetKey(index.desiredOf(at)) === key)
      if (comes.length === 0) continue
      // Where the two cannot stand side by side, a gap cannot be avoided.
      if (comes.some((at) => clash(goer, index.desiredOf(at)))) edges.missed.push(name)
      else keepWhole(index, edges, index.last(goes), index.first(comes))
    }
  }
}

function bySet(indexes: readonly number[], recordOf: (at: number) => ResourceRecord): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const at of indexes) append(groups, rrsetKey(recordOf(at)), at)
  return groups
}
