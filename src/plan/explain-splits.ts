/**
 * Why updates were split. A delete and a create of one type could be one update, were it not that one of them has to be done before another call and
 * the other after it, or that the zone lacks room. The call between them is found along the edges that the calls were ordered by.
 */
import type { ResourceRecord } from '../model/record.ts'
import type { OrderEdges } from './edge-layers.ts'
import { type Call, pairRecords } from './pair-records.ts'

export interface OrderedCalls {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
}

/** Says of each delete and create that are two halves of an update why they are. Unsplit, a type has deletes or creates, never both. */
export function explainSplits(ordered: OrderedCalls): Call[] {
  const { calls } = ordered
  const reasons = new Map<number, string>()
  const split = [...singlesByType(calls).values()].filter(({ deletes, creates }) => deletes.length > 0 && creates.length > 0)
  if (split.length === 0) return [...calls]
  const graph = graphOf(ordered)
  for (const { deletes, creates } of split) {
    const freeDeletes = new Set(deletes)
    const freeCreates = new Set(creates)
    const explain = (gone: number, come: number, reason: string): void => {
      freeDeletes.delete(gone)
      freeCreates.delete(come)
      for (const half of [gone, come]) reasons.set(half, reason)
    }
    for (const come of creates) {
      if (freeDeletes.size === 0) break
      const way = pathTo(graph.after, come, freeDeletes)
      if (way) explain(way.at(-1) as number, come, goesFirst(calls, way))
      const back = way ? null : pathTo(graph.before, come, freeDeletes)
      if (back) explain(back.at(-1) as number, come, comesFirst(calls, back))
    }
    const recordsAt = new Map<ResourceRecord, number>([...freeDeletes, ...freeCreates].map((at) => [recordOf(calls, at), at]))
    const rest = pairRecords(
      [...freeDeletes].flatMap((at) => calls[at]?.existing ?? []),
      [...freeCreates].flatMap((at) => calls[at]?.desired ?? []),
    )
    for (const { existing, desired } of rest) {
      if (existing === null || desired === null) continue
      const [gone, come] = [recordsAt.get(existing) as number, recordsAt.get(desired) as number]
      explain(gone, come, makesRoom(ordered, graph.room.get(gone), gone, come))
    }
  }
  return calls.map((call, at) => (reasons.has(at) ? { ...call, split: reasons.get(at) } : call))
}

const recordOf = (calls: readonly Call[], at: number): ResourceRecord => (calls[at]?.desired ?? calls[at]?.existing) as ResourceRecord

interface Singles {
  readonly deletes: number[]
  readonly creates: number[]
}

function singlesByType(calls: readonly Call[]): Map<string, Singles> {
  const types = new Map<string, Singles>()
  calls.forEach(({ existing, desired }, at) => {
    if (existing !== null && desired !== null) return
    const { type } = recordOf(calls, at)
    const singles = types.get(type) ?? { deletes: [], creates: [] }
    types.set(type, singles)
    ;(desired === null ? singles.deletes : singles.creates).push(at)
  })
  return types
}

interface Graph {
  /** For each call those that it waits for, and those that wait for it, because of what they do. */
  readonly after: readonly (readonly number[])[]
  readonly before: readonly (readonly number[])[]
  /** For a delete the create that waits for it because of the record limit alone. */
  readonly room: ReadonlyMap<number, number>
}

function graphOf(ordered: OrderedCalls): Graph {
  const { hard, continuity, doubtful, courtesy } = ordered.edges
  const room = new Map<number, number>()
  const before: number[][] = ordered.after.map(() => [])
  const after = ordered.after.map((list, at) =>
    list.filter((one) => {
      const strong = hard[at]?.has(one) || continuity[at]?.has(one) || doubtful[at]?.has(one)
      if (strong) before[one]?.push(at)
      else if (!courtesy[at]?.has(one)) room.set(one, at)
      return strong
    }),
  )
  return { after, before, room }
}

/** Calls looked at on the way from one half to the other. */
const MOST_VISITED = 2000

/** The shortest way along edges from a call to one of others, both ends included. */
function pathTo(edges: readonly (readonly number[])[], from: number, goals: ReadonlySet<number>): number[] | null {
  const cameFrom = new Map<number, number | null>([[from, null]])
  for (const at of cameFrom.keys()) {
    if (goals.has(at)) {
      const path: number[] = []
      for (let one: number | null = at; one !== null; one = cameFrom.get(one) ?? null) path.unshift(one)
      return path
    }
    if (cameFrom.size > MOST_VISITED) return null
    for (const next of edges[at] ?? []) if (!cameFrom.has(next)) cameFrom.set(next, at)
  }
  return null
}

const label = ({ name, type }: ResourceRecord): string => `${name} ${type}`

/** What a call does, in words. */
function deedOf({ existing, desired }: Call): string {
  if (existing === null) return `${label(desired as ResourceRecord)} comes`
  if (desired === null) return `${label(existing)} goes`
  return existing.name === desired.name ? `${label(existing)} changes` : `${label(existing)} moves to ${desired.name}`
}

const deedAt = (calls: readonly Call[], at: number | undefined): string => deedOf(calls[at as number] as Call)

/** The create waits for calls that wait for the delete. */
function goesFirst(calls: readonly Call[], path: readonly number[]): string {
  const [come, gone] = [recordOf(calls, path[0] as number), recordOf(calls, path.at(-1) as number)]
  if (path.length === 2) return `${label(gone)} has to go before ${label(come)} comes`
  const first = `${label(gone)} has to go before ${deedAt(calls, path.at(-2))}`
  return `${first}, and ${label(come)} can only come after ${path.length === 3 ? 'that' : deedAt(calls, path[1])}`
}

/** The delete waits for calls that wait for the create. */
function comesFirst(calls: readonly Call[], path: readonly number[]): string {
  const [come, gone] = [recordOf(calls, path[0] as number), recordOf(calls, path.at(-1) as number)]
  if (path.length === 2) return `${label(come)} has to come before ${label(gone)} goes`
  const first = `${label(come)} has to come before ${deedAt(calls, path[1])}`
  return `${first}, and ${label(gone)} can only go after ${path.length === 3 ? 'that' : deedAt(calls, path.at(-2))}`
}

/** Neither waits for the other because of what they do: the delete makes room, or the halves are those of splits that others share. */
function makesRoom({ calls }: OrderedCalls, served: number | undefined, gone: number, come: number): string {
  if (served !== undefined && served !== come)
    return `${label(recordOf(calls, gone))} has to go before the zone has room for ${label(recordOf(calls, served))}`
  return `${label(recordOf(calls, gone))} and ${label(recordOf(calls, come))} have different calls to wait for`
}
