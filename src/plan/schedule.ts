/**
 * The calls that turn the existing zone into the desired one, and what each waits for. Five steps, one file each:
 *
 * 1. compare (`compare-zones.ts`): the records to remove and to add.
 * 2. pair (`pair-records.ts`): a removed and an added record of one type become one update. Σ max(removed, added) over the types is a lower bound for the
 *    number of calls, since a call changes one record and no update changes a type; the pairs meet it.
 * 3. order edges (`order-edges.ts`): what a call waits for so that the provider accepts it, and so that nothing is interrupted needlessly.
 * 4. break cycles (`break-cycles.ts`): calls that wait for one another are paired again, or an update is split, for one call more.
 * 5. topological order within the record limit (`topological-order.ts`).
 *
 * Plans are ranked by acceptance at every moment, then continuity, then the number of calls; `--prefer calls` puts calls before continuity. If the steps
 * leave a split, an interruption or a lack of room, and few records differ, one exact search over all of them (`exact-search.ts`) finds the best plan there
 * is. If many records differ, the plan says that its number of calls is not proved minimal.
 */
import { compareRecords, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import { type AcyclicCalls, breakCycles } from './break-cycles.ts'
import type { ZoneDifference } from './compare-zones.ts'
import {
  analyseContinuity,
  type Continuity,
  has,
  NEEDS,
  needKey,
  type Preference,
  pointerOf,
  type Side,
  satisfies,
  WEIGHT_IN_USE,
} from './continuity.ts'
import { searchExactly } from './exact-search.ts'
import { indexByName, isNameHeld, type OrderEdges, orderEdges } from './order-edges.ts'
import { additionsOf, type Call, compareCalls, pairRecords, recordOf, removalsOf } from './pair-records.ts'
import { type CallOrder, orderCalls } from './topological-order.ts'
import { zoneBefore } from './zone-state.ts'

/** Why a name may lack records for a moment: fewer calls were preferred, the zone lacks room, or no order avoids it. */
export type InterruptionReason = 'calls' | 'room' | 'order'

export interface Schedule {
  readonly calls: readonly Call[]
  /** For each call the indexes of the calls it waits for, ascending. */
  readonly after: readonly (readonly number[])[]
  /** Calls above the lower bound: updates that were split. */
  readonly splits: number
  /** Whether fewer calls are impossible. */
  readonly isProvedMinimal: boolean
  /** Whether all orders were searched. */
  readonly isExact: boolean
  /** The names that may lack records for a moment, by the reason. */
  readonly interrupted: ReadonlyMap<InterruptionReason, readonly string[]>
}

/**
 * The provider accepts `headroom` records beyond the existing ones; below 0, the zone holds too many already. `pair` makes updates of removals and additions.
 */
export function scheduleCalls(unordered: ZoneDifference, prefer: Preference, headroom: number, pair = pairRecords): Schedule {
  // Among equally good plans the first one found is taken: the order in which records were listed must not matter.
  const [removed, added] = [unordered.removed.toSorted(compareRecords), unordered.added.toSorted(compareRecords)]
  const difference: ZoneDifference = { ...unordered, removed, added }
  const task: Task = { difference, continuity: analyseContinuity(difference), paired: pair(removed, added), headroom }
  const careful = bestOf(task, 'continuity')
  const few = prefer === 'continuity' || careful.splits === 0 ? careful : bestOf(task, 'calls')
  const best = few.splits < careful.splits ? few : careful
  const { splits, isProvedMinimal, isExact } = best
  return {
    ...inReadingOrder(splits === 0 ? best.calls : explainSplits(best), best.after),
    splits,
    isProvedMinimal,
    isExact,
    interrupted: reasonsOf(task, best, careful),
  }
}

function inReadingOrder(calls: readonly Call[], after: CallOrder['after']): Pick<Schedule, 'calls' | 'after'> {
  const order = [...calls.keys()].sort((a, b) => compareCalls(calls[a] as Call, calls[b] as Call))
  const places = new Map(order.map((at, place) => [at, place]))
  return {
    calls: order.map((at) => calls[at] as Call),
    after: order.map((at) => (after[at] as number[]).map((before) => places.get(before) as number).sort((a, b) => a - b)),
  }
}

interface Task {
  readonly difference: ZoneDifference
  readonly continuity: Continuity
  readonly paired: readonly Call[]
  readonly headroom: number
}

interface Candidate extends CallOrder {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
  readonly splits: number
  readonly isProvedMinimal: boolean
  readonly isExact: boolean
}

function bestOf(task: Task, prefer: Preference): Candidate {
  const { difference, continuity, paired, headroom } = task
  const found = candidateOf(task, breakCycles(paired, difference, continuity, prefer), false)
  if (found.splits === 0 && found.missed.length === 0) return found
  const { removed, added } = difference
  const state = zoneBefore(difference, continuity)
  const exact = searchExactly({ removed, added, state, headroom, keepsContinuity: prefer === 'continuity' })
  return exact === null ? found : candidateOf(task, { calls: exact.calls, edges: orderEdges(exact.calls, continuity, true) }, true)
}

function candidateOf({ paired, headroom }: Task, { calls, edges }: AcyclicCalls, isExact: boolean): Candidate {
  const splits = calls.length - paired.length
  return { calls, edges, splits, isProvedMinimal: isExact || splits === 0, isExact, ...orderCalls(calls, edges, headroom, isExact) }
}

/** The names that a plan may interrupt, by what the plans that interrupt less do differently. */
function reasonsOf(task: Task, best: Candidate, careful: Candidate): Map<InterruptionReason, readonly string[]> {
  const reasons = new Map<InterruptionReason, readonly string[]>()
  const interruptions = interruptionsOf(best, task.continuity)
  let unexplained = interruptions.names
  const blame = (reason: InterruptionReason, actual: Interruptions, possible: Interruptions): void => {
    if (unexplained.length === 0 || possible.weight >= actual.weight) return
    const remaining = new Set(possible.names)
    const spared = unexplained.filter((name) => !remaining.has(name))
    // If no name is spared, less is interrupted at some of them.
    reasons.set(reason, spared.length > 0 ? spared : unexplained)
    unexplained = spared.length > 0 ? unexplained.filter((name) => remaining.has(name)) : []
  }
  const least = best === careful ? interruptions : interruptionsOf(careful, task.continuity)
  if (best !== careful) blame('calls', interruptions, least)
  // An exact search knows the limit already when it chooses the calls.
  const mayLackRoom = careful.isLimited || (careful.isExact && task.headroom < Number.POSITIVE_INFINITY)
  if (unexplained.length > 0 && mayLackRoom) {
    const roomy = bestOf({ ...task, headroom: Number.POSITIVE_INFINITY }, 'continuity')
    blame('room', least, interruptionsOf(roomy, task.continuity))
  }
  return unexplained.length === 0 ? reasons : reasons.set('order', unexplained)
}

// Why updates were split. A delete and a create of one type could be one update, unless one must be done before a third call and the other after it, or
// the zone lacks room. The third call is found along the edges of the plan.

interface SplitCalls {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
}

/** The same calls, with a reason for each delete and create that are halves of one update. Unsplit, a type has deletes or creates, never both. */
function explainSplits({ calls, edges, after }: SplitCalls): readonly Call[] {
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

// The names that some order along a plan's edges leaves without records for a moment, exactly.
//
// A name can be empty once all calls that remove its records are done, with all calls those wait for, unless one that creates a record is among them. That
// is the smallest such state, so a pointer at the name is interrupted if it still exists then, or can be created before any record of the name.

interface Interruptions {
  readonly names: readonly string[]
  /** The weight of the RRsets and pointers that are interrupted, see `Continuity.weightOf`. */
  readonly weight: number
}

interface OrderedCalls {
  readonly calls: readonly Call[]
  /** For each call the indexes of the calls it waits for. */
  readonly after: readonly (readonly number[])[]
  /** The names to look at. */
  readonly missed: readonly string[]
}

/** Maximum number of calls traced back, so that many names in a long chain take no longer. The names that are left are then reported without a closer look. */
const MAX_TRACED = 500_000

function interruptionsOf({ calls, after, missed }: OrderedCalls, continuity: Continuity): Interruptions {
  if (missed.length === 0) return { names: [], weight: 0 }
  const index = indexByName(calls)
  const pointers = pointersAt(new Set(missed), calls, continuity)
  const removedBy = (at: number): ResourceRecord => calls[at]?.existing as ResourceRecord
  const addedBy = (at: number): ResourceRecord => calls[at]?.desired as ResourceRecord
  let traced = 0
  /** The calls that are done when these are. */
  const doneWith = (last: readonly number[]): ReadonlySet<number> => {
    const done = new Set(last)
    for (const at of done) {
      for (const before of after[at] ?? []) done.add(before)
      traced += 1 + (after[at]?.length ?? 0)
      if (traced > MAX_TRACED) break
    }
    return done
  }
  const isEmptyWith = (done: ReadonlySet<number>, additions: readonly number[]): boolean => !additions.some((at) => done.has(at))

  const weightAt = (name: string): number => {
    const removals = index.removals.get(name) ?? []
    const additions = index.additions.get(name) ?? []
    let weight = 0
    for (const key of new Set(removals.map((at) => rrsetKey(removedBy(at))))) {
      const removed = removals.filter((at) => rrsetKey(removedBy(at)) === key)
      const { type } = removedBy(removed[0] as number)
      if (!continuity.continuing.has(key) || has(continuity.unchanged.sets, key) || index.held.get(name)?.has(type)) continue
      const added = additions.filter((at) => rrsetKey(addedBy(at)) === key)
      if (isEmptyWith(doneWith(removed), added)) weight += WEIGHT_IN_USE
    }
    for (const need of NEEDS) {
      const pointing = pointers.get(needKey(name, need)) ?? []
      if (pointing.length === 0 || has(continuity.unchanged.names, needKey(name, need)) || isNameHeld(index, name, need)) continue
      const added = additions.filter((at) => satisfies(addedBy(at).type, need))
      const done = doneWith(removals.filter((at) => satisfies(removedBy(at).type, need)))
      if (!isEmptyWith(done, added)) continue
      for (const { record, side, at } of pointing) {
        const isInterrupted = side === 'both' || (side === 'before' ? !done.has(at) : isEmptyWith(doneWith([at]), added))
        if (isInterrupted) weight += continuity.weightOf(record)
      }
    }
    return weight
  }

  const names: string[] = []
  let sum = 0
  for (const name of missed) {
    const weight = traced > MAX_TRACED ? WEIGHT_IN_USE : weightAt(name)
    if (weight === 0 && traced <= MAX_TRACED) continue
    names.push(name)
    sum += weight
  }
  return { names, weight: sum }
}

interface Pointer {
  readonly record: ResourceRecord
  readonly side: Side
  /** The call that creates or removes it; -1 for one that stays. */
  readonly at: number
}

/** The guarded pointers at these names, by target and need. */
function pointersAt(names: ReadonlySet<string>, calls: readonly Call[], continuity: Continuity): Map<string, Pointer[]> {
  const pointers = new Map<string, Pointer[]>()
  const note = (record: ResourceRecord | null, side: Side, at: number): void => {
    const pointer = record && pointerOf(record)
    if (!record || !pointer || !names.has(pointer.target) || !continuity.isGuarded(record, side)) return
    const key = needKey(pointer.target, pointer.need)
    const list = pointers.get(key)
    if (list) list.push({ record, side, at })
    else pointers.set(key, [{ record, side, at }])
  }
  calls.forEach(({ existing, desired }, at) => {
    note(existing, 'before', at)
    note(desired, 'after', at)
  })
  for (const record of continuity.unchangedPointers) note(record, 'both', -1)
  return pointers
}
