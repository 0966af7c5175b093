/**
 * Why updates were split. A delete and a create of one type could be one update, unless one must be done before a third call and the other after it, or
 * the zone lacks room. The third call is found along the edges of the plan.
 */
import type { ResourceRecord } from '../dns/record.ts'
import type { OrderEdges } from './order-edges.ts'
import { additionsOf, type Call, pairRecords, recordOf, removalsOf } from './pair-records.ts'

export interface SplitCalls {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
}

/** The same calls, with a reason for each delete and create that are halves of one update. Unsplit, a type has deletes or creates, never both. */
export function explainSplits({ calls, edges, after }: SplitCalls): readonly Call[] {
  const split = [...singlesByType(calls).values()].filter(({ deletes, creates }) => deletes.size > 0 && creates.size > 0)
  if (split.length === 0) return calls
  const reasons = new Map<number, string>()
  const isBinding = (at: number, before: number): boolean =>
    [edges.required, edges.continuity, edges.preferred].some((layer) => layer[at]?.has(before))
  const before = after.map((list, at) => list.filter((one) => isBinding(at, one)))
  const behind: number[][] = calls.map(() => [])
  before.forEach((list, at) => {
    for (const one of list) behind[one]?.push(at)
  })
  /** For a delete, the create that waits for it because of the record limit alone. */
  const makesRoomFor = new Map<number, number>()
  after.forEach((list, at) => {
    for (const one of list) if (!isBinding(at, one) && !edges.bestEffort[at]?.has(one)) makesRoomFor.set(one, at)
  })

  for (const { deletes, creates } of split) {
    const explain = (deleted: number, created: number, reason: string): void => {
      deletes.delete(deleted)
      creates.delete(created)
      for (const half of [deleted, created]) reasons.set(half, reason)
    }
    for (const created of [...creates]) {
      if (deletes.size === 0) break
      const earlier = pathTo(before, created, deletes)
      const later = earlier === null ? pathTo(behind, created, deletes) : null
      const path = earlier ?? later
      if (path !== null) explain(path.at(-1) as number, created, reasonOf(calls, path, earlier !== null))
    }
    const indexOf = new Map<ResourceRecord, number>([...deletes, ...creates].map((at) => [recordOf(calls[at] as Call), at]))
    const rest = [...deletes, ...creates].map((at) => calls[at] as Call)
    for (const { existing, desired } of pairRecords(removalsOf(rest), additionsOf(rest))) {
      if (existing === null || desired === null) continue
      const [deleted, created] = [indexOf.get(existing) as number, indexOf.get(desired) as number]
      const served = makesRoomFor.get(deleted)
      const reason =
        served === undefined || served === created
          ? `the deletion of ${label(existing)} and the creation of ${label(desired)} wait for different calls`
          : `${label(existing)} is deleted to make room for ${label(recordOf(calls[served] as Call))}`
      explain(deleted, created, reason)
    }
  }
  return calls.map((call, at) => (reasons.has(at) ? { ...call, split: reasons.get(at) } : call))
}

interface Singles {
  readonly deletes: Set<number>
  readonly creates: Set<number>
}

function singlesByType(calls: readonly Call[]): Map<string, Singles> {
  const types = new Map<string, Singles>()
  calls.forEach((call, at) => {
    if (call.existing !== null && call.desired !== null) return
    const { type } = recordOf(call)
    const singles = types.get(type) ?? { deletes: new Set(), creates: new Set() }
    types.set(type, singles)
    singles[call.desired === null ? 'deletes' : 'creates'].add(at)
  })
  return types
}

/** Maximum number of calls visited on the way from one half of an update to the other. */
const MAX_VISITED = 2000

/** The shortest path along edges from a call to one of others, both ends included. */
function pathTo(edges: readonly (readonly number[])[], from: number, goals: ReadonlySet<number>): number[] | null {
  const cameFrom = new Map<number, number | null>([[from, null]])
  for (const at of cameFrom.keys()) {
    if (goals.has(at)) {
      const path: number[] = []
      for (let one: number | null = at; one !== null; one = cameFrom.get(one) ?? null) path.unshift(one)
      return path
    }
    if (cameFrom.size > MAX_VISITED) return null
    for (const next of edges[at] ?? []) if (!cameFrom.has(next)) cameFrom.set(next, at)
  }
  return null
}

/** `path` leads from the create to the delete, along what each waits for if the delete is first. */
function reasonOf(calls: readonly Call[], path: readonly number[], isDeleteFirst: boolean): string {
  const [created, deleted] = [path[0] as number, path.at(-1) as number].map((at) => `${label(recordOf(calls[at] as Call))}`)
  const [createdIs, deletedIs] = [`${created} is created`, `${deleted} is deleted`]
  const [first, second] = isDeleteFirst ? [deletedIs, createdIs] : [createdIs, deletedIs]
  const between = (isDeleteFirst ? path.toReversed() : path).slice(1, -1)
  if (between.length === 0) return `${first} before ${second}`
  const what = (at: number | undefined): string => actionOf(calls[at as number] as Call)
  return `${first} before ${what(between[0])}, and ${second} after ${between.length === 1 ? 'that' : what(between.at(-1))}`
}

const label = ({ name, type }: ResourceRecord): string => `${name} ${type}`

function actionOf({ existing, desired }: Call): string {
  if (existing === null) return `${label(desired as ResourceRecord)} is created`
  if (desired === null) return `${label(existing)} is deleted`
  return existing.name === desired.name ? `${label(existing)} changes` : `${label(existing)} moves to ${desired.name}`
}
