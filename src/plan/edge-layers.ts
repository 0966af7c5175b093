/** The edges between calls, in layers by strength. */
import type { CallIndex } from './call-index.ts'

export interface OrderEdges {
  /** For each call the calls it waits for. */
  readonly hard: readonly Set<number>[]
  readonly continuity: readonly Set<number>[]
  /** Continuity that the known order does not keep whole. */
  readonly doubtful: readonly Set<number>[]
  readonly courtesy: readonly Set<number>[]
  /** Names that RRsets leave, or that are pointed at, and that change hands with a gap: they cannot without, or do not in the known order. */
  readonly missed: string[]
  /** Of these, the calls about each name that only pointers changed in place point at: other calls might point elsewhere for that while. */
  readonly gaps: number[][]
  /** The names that are empty for a moment where a call does not wait for another along an edge of continuity. */
  namesAtStake(waits: number, before: number): readonly string[]
}

/** An edge of continuity; where the known order goes against it, one that yields before others. */
export function keepWhole(index: CallIndex, edges: OrderEdges, waits: number, before: number): void {
  addEdge(index.isBefore(waits, before) ? edges.doubtful : edges.continuity, waits, before)
}

export function addEdge(edges: readonly Set<number>[], waits: number, before: number): void {
  if (waits !== before) edges[waits]?.add(before)
}
