/**
 * Step 5: the `after` edges of a plan, in a topological order within the record limit.
 *
 * All required edges are kept. Continuity, preferred and best-effort edges that would close a cycle are dropped, the weaker ones first.
 *
 * If the creates may exceed the record limit, they wait for deletes: along one order of the calls, create number i waits for delete number i - headroom.
 * So each create after the first `headroom` waits for a different delete, and the zone never exceeds the limit. The order has deletes as early as
 * possible, then updates, then creates. If only creates are left and the zone is full, a delete comes before the calls it should wait for: the limit takes
 * precedence over continuity, and the plan lists the interrupted names.
 */
import { addEdge, NO_CALLS, type OrderEdges } from './order-edges.ts'
import type { Call } from './pair-records.ts'

type Edges = readonly ReadonlySet<number>[]

export interface CallOrder {
  /** For each call the indexes of the calls it waits for, ascending. */
  readonly after: readonly number[][]
  /** Whether calls wait because of the record limit. */
  readonly isLimited: boolean
  /** The names that may be empty for a moment: in every order, or because edges were dropped. */
  readonly missed: readonly string[]
}

/**
 * Adds the edges of the record limit and drops edges until there is no cycle. `calls` is sorted along all required edges. `hasRoom`: that order never
 * exceeds the record limit. The provider accepts `headroom` more records; if it is negative, the zone already has too many.
 */
export function orderCalls(calls: readonly Call[], edges: OrderEdges, headroom: number, hasRoom: boolean): CallOrder {
  const isLimited = calls.filter(({ existing }) => existing === null).length > headroom
  const required = isLimited
    ? withLimitEdges(calls, hasRoom ? [...calls.keys()] : deletesFirst(calls, edges, headroom), edges.required, headroom)
    : edges.required
  const waits = withoutCycles(required, [edges.continuity, edges.preferred, edges.bestEffort])
  const atStake = [edges.continuity, edges.preferred].flatMap((layer) =>
    layer.flatMap((set, at) => [...set].flatMap((before) => (waits[at]?.has(before) ? [] : edges.namesAtStake(at, before)))),
  )
  return {
    after: waits.map((set) => [...set].sort((a, b) => a - b)),
    isLimited,
    missed: [...new Set([...edges.missed, ...atStake])].sort(),
  }
}

/** An order of the calls in which creates never outnumber deletes by more than `headroom`, if the calls allow it. */
function deletesFirst(calls: readonly Call[], edges: OrderEdges, headroom: number): number[] {
  const full = withoutCycles(edges.required, [edges.continuity, edges.preferred, edges.bestEffort])
  const order = deletesFirstAlong(calls, full, headroom)
  return order.forced === 0
    ? order.order
    : deletesFirstAlong(calls, withoutCycles(edges.required, [edges.continuity, edges.preferred]), headroom).order
}

function deletesFirstAlong(calls: readonly Call[], waits: Edges, headroom: number): { order: number[]; forced: number } {
  const followers = followersOf(waits)
  const open = waits.map((set) => set.size)
  const done = new Uint8Array(calls.length)
  const order: number[] = []
  const ready: [deletes: number[], updates: number[], urgentCreates: number[], creates: number[]] = [[], [], [], []]
  const enqueue = (at: number): void => {
    const { existing, desired } = calls[at] as Call
    const hasFollowers = (followers[at]?.length ?? 0) > 0
    ready[desired === null ? 0 : existing !== null ? 1 : hasFollowers ? 2 : 3].push(at)
  }
  for (let at = calls.length - 1; at >= 0; at -= 1) if (open[at] === 0) enqueue(at)
  const deletes = [...calls.keys()].filter((at) => calls[at]?.desired === null)
  let room = headroom
  let forced = 0
  const place = (at: number): void => {
    done[at] = 1
    order.push(at)
    const { existing, desired } = calls[at] as Call
    room += (existing === null ? 0 : 1) - (desired === null ? 0 : 1)
    for (const follower of followers[at] ?? []) {
      open[follower] = (open[follower] as number) - 1
      if (open[follower] === 0 && !done[follower]) enqueue(follower)
    }
  }
  const forceDelete = (): boolean => {
    const left = deletes.filter((at) => !done[at])
    if (left.length === 0) return false
    forced += 1
    place(left.reduce((best, at) => ((open[at] as number) < (open[best] as number) ? at : best)))
    return true
  }
  while (order.length < calls.length) {
    const at = ready[0].pop() ?? ready[1].pop()
    if (at !== undefined) {
      if (!done[at]) place(at)
      continue
    }
    if (room <= 0 && forceDelete()) continue
    place((ready[2].pop() ?? ready[3].pop()) as number)
  }
  return { order, forced }
}

/**
 * Makes create number i wait for delete number i - headroom. If the zone already has `-headroom` records too many, the same number of deletes comes first:
 * the next delete waits for them, and every create waits for that next delete.
 */
function withLimitEdges(calls: readonly Call[], order: readonly number[], required: Edges, headroom: number): Edges {
  const edges = required.map((set) => (set.size === 0 ? NO_CALLS : new Set(set)))
  const deletes = order.filter((at) => calls[at]?.desired === null)
  // With too few deletes the zone ends with too many records, which the plan reports. The remaining creates wait for the last delete.
  const deleteAt = (position: number): number | undefined => deletes[Math.min(position, deletes.length - 1)]
  const first = headroom < 0 ? deleteAt(-headroom) : undefined
  if (first !== undefined) for (const before of deletes.slice(0, -headroom)) addEdge(edges, first, before)
  const creates = order.filter((at) => calls[at]?.existing === null)
  creates.forEach((create, position) => {
    const needed = position < headroom ? undefined : deleteAt(position - headroom)
    for (const before of [first, needed]) if (before !== undefined) addEdge(edges, create, before)
  })
  return edges
}

function followersOf(waits: Edges): number[][] {
  const followers: number[][] = waits.map(() => [])
  waits.forEach((set, at) => {
    for (const before of set) followers[before]?.push(at)
  })
  return followers
}

/**
 * The edges without those that close a cycle: for each call, the calls it waits for. `others` is sorted from strong to weak. Required edges close a cycle
 * only in an invalid zone. Then the plan reports the zone, and some required edges are dropped too.
 */
export function withoutCycles(required: Edges, others: readonly Edges[]): Edges {
  const isUsed = (layer: Edges): boolean => layer.some((set) => set !== NO_CALLS)
  const layers: [Edges, ...Edges[]] = [required, ...others.filter(isUsed)]
  if (!layers.some(isUsed)) return required
  const rank = new Int32Array(required.length)
  for (const [position, at] of acyclicOrder(layers).entries()) rank[at] = position
  const waits = new Array<ReadonlySet<number>>(required.length).fill(NO_CALLS)
  for (const layer of layers)
    layer.forEach((set, at) => {
      for (const before of set) if ((rank[before] as number) < (rank[at] as number)) addEdge(waits, at, before)
    })
  return waits
}

/**
 * Kahn's algorithm. If every remaining call waits for another, the next call is the one whose strongest open edge is the weakest. If all of them have open
 * required edges, any call is next.
 */
function acyclicOrder(layers: readonly [Edges, ...Edges[]]): number[] {
  const count = layers[0].length
  const open = layers.map((layer) => Int32Array.from(layer, (set) => set.size))
  const followers = layers.map(followersOf)
  const done = new Uint8Array(count)
  const order: number[] = []
  /** The strength of a call's strongest open edge: 0 without one, the number of layers for a required edge. */
  const strengthOf = (at: number): number => {
    const layer = open.findIndex((counts) => (counts[at] as number) > 0)
    return layer === -1 ? 0 : layers.length - layer
  }
  const queues: number[][] = layers.map(() => [])
  const enqueue = (at: number): void => void queues[strengthOf(at)]?.push(at)
  for (let at = count - 1; at >= 0; at -= 1) enqueue(at)
  while (order.length < count) {
    const strength = queues.findIndex((queue) => queue.length > 0)
    const at = queues[strength]?.pop() ?? done.indexOf(0)
    if (done[at] || (strength !== -1 && strengthOf(at) !== strength)) continue
    done[at] = 1
    order.push(at)
    layers.forEach((_, layer) => {
      for (const follower of followers[layer]?.[at] ?? []) {
        const counts = open[layer] as Int32Array
        counts[follower] = (counts[follower] as number) - 1
        if (counts[follower] === 0 && !done[follower]) enqueue(follower)
      }
    })
  }
  return order
}

/** Tarjan's algorithm without recursion. A component follows the components it waits for. Without cycles, each has one index, in topological order. */
export function stronglyConnectedComponents(waits: readonly ReadonlySet<number>[]): number[][] {
  const order = new Int32Array(waits.length).fill(-1)
  const low = new Int32Array(waits.length)
  const onStack = new Uint8Array(waits.length)
  const stack: number[] = []
  const components: number[][] = []
  let next = 0
  const enter = (at: number): { at: number; rest: Iterator<number> } => {
    order[at] = next
    low[at] = next
    next += 1
    stack.push(at)
    onStack[at] = 1
    return { at, rest: (waits[at] as ReadonlySet<number>).values() }
  }
  for (let start = 0; start < waits.length; start += 1) {
    if (order[start] !== -1) continue
    if (waits[start]?.size === 0) {
      order[start] = next
      next += 1
      components.push([start])
      continue
    }
    const path = [enter(start)]
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const step = frame.rest.next()
      if (!step.done) {
        if (order[step.value] === -1) path.push(enter(step.value))
        else if (onStack[step.value]) low[frame.at] = Math.min(low[frame.at] as number, order[step.value] as number)
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent) low[parent.at] = Math.min(low[parent.at] as number, low[frame.at] as number)
      if (low[frame.at] !== order[frame.at]) continue
      const component = stack.splice(stack.lastIndexOf(frame.at))
      for (const at of component) onStack[at] = 0
      components.push(component)
    }
  }
  return components
}
