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
import { compareRecords } from '../dns/record.ts'
import { type AcyclicCalls, breakCycles } from './break-cycles.ts'
import type { ZoneDifference } from './compare-zones.ts'
import { analyseContinuity, type Continuity, type Preference } from './continuity.ts'
import { searchExactly } from './exact-search.ts'
import { explainSplits } from './explain-splits.ts'
import { type Interruptions, interruptionsOf } from './interruptions.ts'
import { type OrderEdges, orderEdges } from './order-edges.ts'
import { type Call, compareCalls, pairRecords } from './pair-records.ts'
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
