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
  const soft = [edges.continuity, edges.courtesy]
  const hard = edges.hard.map((set) => new Set(set))
  const limited = calls.reduce((sum, call) => sum + (call.existing === null ? 1 : 0), 0) > headroom
  if (limited) addLimit(calls, orderWithin(calls, edges, headroom), hard, headroom)
  const yielded = yieldingEdges(hard, soft)
  const after = hard.map((set, at) => {
    const all = new Set(set)
    for (const layer of soft) for (const before of layer[at] as Set<number>) if (!yielded.has(edgeKey(at, before))) all.add(before)
    return [...all].sort((a, b) => a - b)
  })
  const gaps = (at: number): number =>
    [...(edges.continuity[at] as Set<number>)].filter((before) => yielded.has(edgeKey(at, before)) && !hard[at]?.has(before)).length
  const interruptions = calls.reduce((sum, _, at) => sum + gaps(at), edges.unavoidable)
  return { after, interruptions, limited }
}

const edgeKey = (at: number, before: number): string => `${at} ${before}`

/** In an order that keeps within the limit, create number i waits for delete number i - headroom. */
function addLimit(calls: readonly Call[], order: readonly number[], hard: readonly Set<number>[], headroom: number): void {
  const creates = order.filter((at) => calls[at]?.existing === null)
  const deletes = order.filter((at) => calls[at]?.desired === null)
  creates.slice(headroom).forEach((create, position) => {
    const needed = deletes[position]
    if (needed !== undefined) hard[create]?.add(needed)
  })
}

/**
 * An order of calls along all edges that never passes the limit: deletes and updates as soon as they can, and of the creates first those that a delete
 * waits for, since they give room again. Where no call can go on, a delete that only soft edges hold does.
 */
function orderWithin(calls: readonly Call[], edges: LeastCalls['edges'], headroom: number): number[] {
  const soft = [edges.continuity, edges.courtesy]
  const yielded = yieldingEdges(edges.hard, soft)
  const keeps = (at: number, before: number): boolean => !yielded.has(edgeKey(at, before))
  const waitsFor = edges.hard.map(
    (set, at) => new Set([...set, ...soft.flatMap((layer) => [...(layer[at] ?? [])].filter((before) => keeps(at, before)))]),
  )
  const followers: number[][] = calls.map(() => [])
  waitsFor.forEach((set, at) => {
    for (const before of set) followers[before]?.push(at)
  })
  const givesRoom = leadsToDelete(calls, waitsFor)
  const classOf = (at: number): number => (calls[at]?.desired === null ? 0 : calls[at]?.existing !== null ? 1 : givesRoom[at] ? 2 : 3)
  const ready: number[][] = [[], [], [], []]
  const open = waitsFor.map((set) => set.size)
  const done = new Uint8Array(calls.length)
  const order: number[] = []
  let room = headroom
  const make = (at: number): void => {
    done[at] = 1
    order.push(at)
    room += calls[at]?.desired === null ? 1 : calls[at]?.existing === null ? -1 : 0
    for (const follower of followers[at] as number[]) {
      open[follower] = (open[follower] as number) - 1
      if (open[follower] === 0 && !done[follower]) ready[classOf(follower)]?.push(follower)
    }
  }
  open.forEach((count, at) => {
    if (count === 0) ready[classOf(at)]?.push(at)
  })
  const cursor = [0, 0, 0, 0]
  const next = (): number | undefined => {
    for (let level = 0; level < (room > 0 ? 4 : 2); level += 1) {
      const at = ready[level]?.[cursor[level] as number]
      if (at === undefined) continue
      cursor[level] = (cursor[level] as number) + 1
      return at
    }
    return undefined
  }
  const mayYield = (at: number): boolean => !done[at] && [...(edges.hard[at] as Set<number>)].every((before) => done[before])
  const isDelete = (at: number): boolean => calls[at]?.desired === null
  while (order.length < calls.length) {
    const at = next() ?? calls.findIndex((_, index) => isDelete(index) && mayYield(index))
    if (at !== -1 && !done[at]) make(at)
    else if (at === -1) {
      const held = calls.findIndex((call, index) => mayYield(index) && (call.existing !== null || room > 0))
      make(held === -1 ? calls.findIndex((_, index) => mayYield(index)) : held)
    }
  }
  return order
}

/** Calls that a delete waits for, directly or through others. */
function leadsToDelete(calls: readonly Call[], waitsFor: readonly ReadonlySet<number>[]): Uint8Array {
  const marked = new Uint8Array(calls.length)
  const stack = calls.flatMap((call, at) => (call.desired === null ? [at] : []))
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const before of waitsFor[at] ?? []) {
      if (marked[before]) continue
      marked[before] = 1
      stack.push(before)
    }
  }
  return marked
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
