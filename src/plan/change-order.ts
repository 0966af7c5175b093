/**
 * The `after` edges of a plan. All hard edges stand. Where the zone may become full, creates wait for deletes, which is hard too: in one order of the
 * calls, create number i waits for delete number i - headroom. Whichever creates are done at a moment, those beyond the first `headroom` have each a
 * delete of their own that is done, so that no more are done than headroom and deletes done allow. Hard edges form no circle: those of `order-edges.ts` by construction, and all others follow that one order, which follows them.
 * Continuity and courtesy edges that would close a circle with them yield.
 */

import type { OrderEdges } from './edge-layers.ts'
import type { Call } from './pair-records.ts'

export interface CallOrder {
  /** For each call the indexes of the calls it waits for, ascending. */
  readonly after: readonly number[][]
  /** Continuity edges that had to yield, and what no order keeps whole. */
  readonly interruptions: number
  /** The names that may miss records for a moment so, each once. */
  readonly missed: readonly string[]
}

/** Orders calls. `within` is an order along all hard edges in which creates are never more than `headroom` ahead of deletes; null where all may be. */
export function orderCalls(calls: readonly Call[], edges: OrderEdges, headroom: number, within: readonly Call[] | null): CallOrder {
  const soft = [edges.continuity, edges.doubtful, edges.courtesy]
  const hard = edges.hard.map((set) => new Set(set))
  if (within !== null) addLimit(calls, within, hard, headroom)
  const waitsFor = withoutCircles(hard, soft)
  const after = waitsFor.map((set) => [...set].sort((a, b) => a - b))
  const yielded = [edges.continuity, edges.doubtful].flatMap((layer) =>
    layer.flatMap((set, at) => [...set].flatMap((before) => (waitsFor[at]?.has(before) ? [] : edges.namesAtStake(at, before)))),
  )
  const missed = [...edges.missed, ...yielded]
  return { after, interruptions: missed.length, missed: [...new Set(missed)].sort() }
}

/** For each call those it waits for along hard edges and these soft ones, but for soft edges that would close a circle. */
export function withoutCircles(hard: readonly ReadonlySet<number>[], soft: readonly (readonly ReadonlySet<number>[])[]): Set<number>[] {
  const yielded = yieldingEdges(hard, soft)
  return hard.map((set, at) => {
    const all = new Set(set)
    for (const layer of soft) for (const before of layer[at] ?? []) if (!yielded.has(edgeKey(at, before))) all.add(before)
    return all
  })
}

const edgeKey = (at: number, before: number): string => `${at} ${before}`

/**
 * Create number i waits for delete number i - headroom. A zone that holds too many records already, by `-headroom`, has to lose those first: every
 * create waits for the next delete after them, and that for all before it.
 */
function addLimit(calls: readonly Call[], within: readonly Call[], hard: readonly Set<number>[], headroom: number): void {
  const indexes = new Map(calls.map((call, at) => [call, at]))
  const indexesOf = (isOne: (call: Call) => boolean): number[] => within.filter(isOne).map((call) => indexes.get(call) as number)
  const deletes = indexesOf(({ desired }) => desired === null)
  // Where deletes are too few the zone would hold too many records in the end, which its plan says; then nothing waits longer than for the last.
  const deleteAt = (position: number): number | undefined => deletes[Math.min(position, deletes.length - 1)]
  const first = headroom < 0 ? deleteAt(-headroom) : undefined
  if (first !== undefined) for (const before of deletes.slice(0, -headroom)) if (before !== first) hard[first]?.add(before)
  indexesOf(({ existing }) => existing === null).forEach((create, position) => {
    const needed = position < headroom ? undefined : deleteAt(position - headroom)
    for (const before of [first, needed]) if (before !== undefined) hard[create]?.add(before)
  })
}

/**
 * Kahn's algorithm over hard and soft edges. Where no call is free, one that no hard edge holds goes on without its soft edges, the weaker ones
 * first: a call that only courtesy holds before one that continuity holds.
 */
function yieldingEdges(hard: readonly ReadonlySet<number>[], soft: readonly (readonly ReadonlySet<number>[])[]): Set<string> {
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
  return yielded
}
