/**
 * The `after` edges of a plan. All hard edges stand. Where the zone is full, creates wait for deletes, which is hard too: in one order of the calls that
 * respects all edges, create number i waits for delete number i - headroom, so that at any moment the creates done are at most headroom + the deletes
 * done. Hard edges form no circle: those of `order-edges.ts` by construction, and a delete waits for nothing by a hard edge. Continuity and courtesy
 * edges that would close a circle with them yield.
 */

import type { LeastCalls } from './least-calls.ts'
import type { Call } from './pair-records.ts'

export interface CallOrder {
  /** For each call the indexes of the calls it waits for, ascending. */
  readonly after: readonly number[][]
  /** Continuity edges that had to yield. */
  readonly interruptions: number
  /** Whether the record limit holds calls back. */
  readonly limited: boolean
}

/** Orders calls. `headroom` is how many records the target takes beyond the existing ones. */
export function orderCalls({ calls, edges }: LeastCalls, headroom: number): CallOrder {
  const { order } = sortCalls(edges.hard, [edges.continuity, edges.courtesy])
  const hard = edges.hard.map((set) => new Set(set))
  const limited = addLimit(calls, order, hard, headroom)
  const { yielded } = sortCalls(hard, [edges.continuity, edges.courtesy])
  const after = hard.map((set, at) => {
    const all = new Set(set)
    for (const soft of [edges.continuity, edges.courtesy])
      for (const before of soft[at] as Set<number>) if (!yielded.has(edgeKey(at, before))) all.add(before)
    return [...all].sort((a, b) => a - b)
  })
  const interruptions = edges.continuity.reduce(
    (sum, set, at) => sum + [...set].filter((before) => yielded.has(edgeKey(at, before)) && !hard[at]?.has(before)).length,
    0,
  )
  return { after, interruptions, limited }
}

const edgeKey = (at: number, before: number): string => `${at} ${before}`

function addLimit(calls: readonly Call[], order: readonly number[], hard: readonly Set<number>[], headroom: number): boolean {
  const creates = order.filter((at) => calls[at]?.existing === null)
  const deletes = order.filter((at) => calls[at]?.desired === null)
  if (creates.length <= headroom) return false
  creates.slice(headroom).forEach((create, position) => {
    const needed = deletes[position]
    if (needed !== undefined) hard[create]?.add(needed)
  })
  return true
}

/**
 * Kahn's algorithm over hard and soft edges. Where no call is free, one that no hard edge holds goes on without its soft edges, the weaker ones
 * first: a call that only courtesy holds before one that continuity holds.
 */
function sortCalls(
  hard: readonly ReadonlySet<number>[],
  soft: readonly (readonly ReadonlySet<number>[])[],
): { order: number[]; yielded: Set<string> } {
  const count = hard.length
  const layers = [hard, ...soft]
  const open = layers.map((layer) => Int32Array.from(layer, (set) => set.size))
  const heldBy: { at: number; layer: number }[][] = hard.map(() => [])
  layers.forEach((layer, number) => {
    layer.forEach((set, at) => {
      for (const before of set) heldBy[before]?.push({ at, layer: number })
    })
  })
  const done = new Uint8Array(count)
  const order: number[] = []
  const yielded = new Set<string>()
  const openOf = (layer: number, at: number): number => open[layer]?.[at] ?? 0
  const strengthOf = (at: number): number => {
    for (let layer = 0; layer < layers.length; layer += 1) if (openOf(layer, at) > 0) return layers.length - layer
    return 0
  }
  // Calls by the strength of what still holds them: 0 is free, the number of layers is held by a hard edge.
  const queues: number[][] = Array.from({ length: layers.length }, () => [])
  const enqueue = (at: number): void => {
    queues[strengthOf(at)]?.push(at)
  }
  for (let at = count - 1; at >= 0; at -= 1) enqueue(at)
  while (order.length < count) {
    const level = queues.findIndex((queue) => queue.length > 0)
    const at = queues[level]?.pop()
    if (at === undefined) throw new Error('hard edges have a circle')
    if (done[at] || strengthOf(at) !== level) continue
    for (let layer = 1; layer < layers.length; layer += 1) {
      for (const before of layers[layer]?.[at] ?? []) if (!done[before]) yielded.add(edgeKey(at, before))
    }
    done[at] = 1
    order.push(at)
    for (const { at: other, layer } of heldBy[at] as { at: number; layer: number }[]) {
      if (done[other]) continue
      const counts = open[layer] as Int32Array
      counts[other] = (counts[other] ?? 0) - 1
      if (counts[other] === 0) enqueue(other)
    }
  }
  return { order, yielded }
}
