/** Knots of a graph in which each call waits for others: calls that wait for one another in a circle. Tarjan's algorithm, without recursion. */

/** The strongly connected sets of more than one call, as indexes. */
export function findKnots(waitsFor: readonly Iterable<number>[]): number[][] {
  const count = waitsFor.length
  const order = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const onStack = new Uint8Array(count)
  const stack: number[] = []
  const knots: number[][] = []
  let next = 0
  const enter = (at: number): { at: number; rest: Iterator<number> } => {
    order[at] = next
    low[at] = next
    next += 1
    stack.push(at)
    onStack[at] = 1
    return { at, rest: (waitsFor[at] as Iterable<number>)[Symbol.iterator]() }
  }
  for (let start = 0; start < count; start += 1) {
    if (order[start] !== -1) continue
    const path = [enter(start)]
    while (path.length > 0) {
      const frame = path[path.length - 1] as { at: number; rest: Iterator<number> }
      const step = frame.rest.next()
      if (!step.done) {
        const to = step.value
        if (order[to] === -1) path.push(enter(to))
        else if (onStack[to]) low[frame.at] = Math.min(low[frame.at] as number, order[to] as number)
        continue
      }
      path.pop()
      const parent = path[path.length - 1]
      if (parent) low[parent.at] = Math.min(low[parent.at] as number, low[frame.at] as number)
      if (low[frame.at] !== order[frame.at]) continue
      const knot: number[] = []
      for (let at = -1; at !== frame.at; ) {
        at = stack.pop() as number
        onStack[at] = 0
        knot.push(at)
      }
      if (knot.length > 1) knots.push(knot)
    }
  }
  return knots
}
