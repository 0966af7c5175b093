/**
 * The calls of a plan and what each waits for, also where the target has room for few records more.
 *
 * The fewest calls without a thought for room (`least-calls.ts`) are as good as any where some order of them needs no more room than there is:
 * `schedule-in-room.ts` looks for one. Where it finds none that interrupts nothing, other calls may do. Few records are searched exactly, with the
 * limit among what makes a state safe: what is found misses the least of what should not be interrupted, in the fewest calls. For many, calls are
 * exchanged or split as the order comes to need room (`schedule-in-room.ts`), done in groups that are searched one after another
 * (`schedule-in-turn.ts`), or scheduled anew greedily, and what interrupts least in the fewest calls is taken; whether fewer would do is then not
 * proved, unless there are as few as without the limit.
 *
 * A plan that is not proved is looked at once more: halves of updates that need not be apart are joined (`join-halves.ts`), and of not too many records
 * those that share no names are searched one after another.
 *
 * The limit never costs a call by itself: what goes is accepted at any time, so that all deletes may go first. It does only where that would interrupt
 * something. So where calls come before continuity the number is that without the limit.
 */
import { compareRecords } from '../model/record.ts'
import { type CallOrder, orderCalls, withoutCircles } from './change-order.ts'
import { closableGaps } from './closable-gaps.ts'
import { analyseContinuity, type Continuity } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import { explainSplits } from './explain-splits.ts'
import { forcedSplits } from './forced-splits.ts'
import { joinHalves } from './join-halves.ts'
import { comesOf, goesOf, inReadingOrder, type LeastCalls, leastCalls, lowerBound, type Preference, safetyOf } from './least-calls.ts'
import { type MissedNames, missedNames } from './missed-names.ts'
import { orderEdges } from './order-edges.ts'
import type { Call } from './pair-records.ts'
import { MAX_EXACT, scheduleExactly } from './schedule-exactly.ts'
import { scheduleGreedily } from './schedule-greedily.ts'
import { type Means, type RoomSchedule, type RoomTask, scheduleInRoom } from './schedule-in-room.ts'
import { scheduleInTurn } from './schedule-in-turn.ts'
import { zoneState } from './zone-state.ts'

/** Why a name may miss records for a moment: fewer calls were preferred, the zone lacks room, or no order avoids it. */
export type Because = 'calls' | 'room' | 'order'

export interface PlannedCalls {
  readonly calls: readonly Call[]
  /** For each call the indexes of the calls it waits for, ascending. */
  readonly after: readonly (readonly number[])[]
  /** Calls above the lower bound, Σ max(D, C) over the types: updates that were split. */
  readonly splits: number
  /** Whether fewer are impossible. */
  readonly proved: boolean
  /** The names that may miss records for a moment, by the reason. */
  readonly interrupted: ReadonlyMap<Because, readonly string[]>
}

/** Plans calls for a target that takes `headroom` records beyond the existing ones; below 0, it holds too many already. */
export function planCalls(unordered: ZoneDifference, prefer: Preference, headroom: number): PlannedCalls {
  // Of plans that are equally good the first one found is taken, which is to be the same in whatever order the records were listed.
  const [removed, added] = [unordered.removed.toSorted(compareRecords), unordered.added.toSorted(compareRecords)]
  const difference: ZoneDifference = { ...unordered, removed, added }
  const task = { difference, continuity: analyseContinuity(difference), headroom }
  const careful = best(task, 'continuity')
  const few = prefer === 'continuity' || careful.splits === 0 ? careful : best(task, 'calls')
  const planned = few.splits < careful.splits ? few : careful
  const { after, splits, proved } = planned
  return { calls: explainSplits(planned), after, splits, proved, interrupted: interruptedBy(task, planned, careful) }
}

/** The names that a plan may interrupt, each with what other plans that interrupt less do not have to put up with. */
function interruptedBy(task: Task, planned: Candidate, careful: Candidate): Map<Because, readonly string[]> {
  const missedBy = (one: Candidate): MissedNames => missedNames(one, task.difference, task.continuity)
  const reasons = new Map<Because, readonly string[]>()
  const missed = missedBy(planned)
  let rest = missed.names
  const blame = (because: Because, has: MissedNames, wouldHave: MissedNames): void => {
    if (rest.length === 0 || wouldHave.weight >= has.weight) return
    const others = new Set(wouldHave.names)
    const spared = rest.filter((name) => !others.has(name))
    // Where only more is missed at the same names, that is at all of them.
    reasons.set(because, spared.length > 0 ? spared : rest)
    rest = spared.length > 0 ? rest.filter((name) => others.has(name)) : []
  }
  const least = planned === careful ? missed : missedBy(careful)
  if (planned !== careful) blame('calls', missed, least)
  if (rest.length > 0 && careful.limited)
    blame('room', least, missedBy(best({ ...task, headroom: Number.POSITIVE_INFINITY }, 'continuity')))
  return rest.length === 0 ? reasons : reasons.set('order', rest)
}

interface Task {
  readonly difference: ZoneDifference
  readonly continuity: Continuity
  readonly headroom: number
}

/** Calls with their order, and the edges it is made of. */
export interface Candidate extends LeastCalls, CallOrder {
  /** Whether the record limit holds calls back. */
  readonly limited: boolean
}

/** Records that differ for which groups are searched one after another where there is no other need to. */
const MOST_REVISED = 2000

function best(task: Task, prefer: Preference): Candidate {
  const found = firstBest(task, prefer)
  if (found.proved && found.interruptions === 0) return found
  const joined = withHalvesJoined(task, found, prefer)
  if (prefer === 'calls' || found.limited || (joined.proved && joined.interruptions === 0)) return joined
  if (task.difference.removed.length + task.difference.added.length > MOST_REVISED) return joined
  const way = scheduleInTurn(roomTask(found, task, WITHOUT_COURTESY), 'given up')
  return way === null ? joined : better(joined, withHalvesJoined(task, { ...anew(task, way, () => false), limited: false }, prefer))
}

/** The same with halves of updates joined where they need not be apart. */
function withHalvesJoined(task: Task, found: Candidate, prefer: Preference): Candidate {
  if (found.splits === 0) return found
  const { hard, continuity, doubtful, courtesy } = found.edges
  const isStrong = (at: number, before: number): boolean => [hard, continuity, doubtful].some((layer) => layer[at]?.has(before))
  const waitsFor = found.after.map((list, at) => list.filter((before) => isStrong(at, before) || !courtesy[at]?.has(before)))
  const way = joinHalves(found.calls, waitsFor)
  if (way === null) return found
  const isProved = ({ splits }: { splits: number }): boolean =>
    found.interruptions === 0 && splits <= forcedSplits(task.difference, prefer === 'calls' ? 'ignored' : 'kept', splits)
  return better(found, { ...anew(task, way, isProved), limited: found.limited })
}

function firstBest(task: Task, prefer: Preference): Candidate {
  const { difference, continuity, headroom } = task
  const least = leastOf(task, prefer)
  if (least.calls.reduce((sum, call) => sum + (call.existing === null ? 1 : 0), 0) <= headroom) return candidateOf(least, headroom, null)
  const ordered = orderInRoom(least, task)
  const plain = candidateOf(least, headroom, ordered.way)
  if (ordered.forced === 0) return plain
  const all = difference.removed.length + difference.added.length
  if (prefer === 'continuity' && all <= MAX_EXACT) {
    const state = zoneState(difference, continuity, headroom)
    const found = scheduleExactly(difference.removed, difference.added, state, prefer)
    if (found !== null) return anew(task, found.calls, () => true)
  }
  const asFew = ({ splits }: { splits: number }): boolean => least.proved && splits === least.splits
  const found = [plain, anew(task, inRoom(least, task, prefer === 'calls' ? 'pairs' : 'splits', WITHOUT_COURTESY).way, asFew)]
  if (prefer === 'calls') return found.reduce(better)
  const gaps = orderCalls(least.calls, least.edges, Number.POSITIVE_INFINITY, null).interruptions
  const isAsGood = ({ interruptions, splits }: Candidate): boolean => interruptions <= gaps && splits <= least.splits
  const room = roomTask(least, task, WITHOUT_COURTESY)
  const others = [() => scheduleInTurn(room, 'kept'), () => anewGreedily(room), () => scheduleInTurn(room, 'given up')]
  for (const schedule of others) {
    if (found.some(isAsGood)) break
    const way = schedule()
    if (way !== null) found.push(anew(task, way, asFew))
  }
  return found.reduce(better)
}

function anewGreedily({ calls, start }: RoomTask): readonly Call[] {
  const state = start()
  return scheduleGreedily(goesOf(calls), comesOf(calls), state, safetyOf(state, 'continuity'))
}

/** The fewest calls without a thought for room; those that close gaps where they do. */
function leastOf({ difference, continuity }: Task, prefer: Preference): LeastCalls {
  const least = leastCalls(difference, continuity, prefer)
  if (prefer === 'calls' || closableGaps(least.calls, least.edges, difference, continuity).length === 0) return least
  const closing = leastCalls(difference, continuity, prefer, 'close')
  const gapsOf = ({ calls, edges }: LeastCalls): number => orderCalls(calls, edges, Number.POSITIVE_INFINITY, null).interruptions
  return gapsOf(closing) < gapsOf(least) ? closing : least
}

type Layers = readonly ('continuity' | 'doubtful' | 'courtesy')[]

const WITHOUT_COURTESY: Layers = ['continuity', 'doubtful']

/** An order of the calls as they are; courtesy yields where there is none with it. */
function orderInRoom(least: LeastCalls, task: Task): RoomSchedule {
  const polite = inRoom(least, task, 'order', ['continuity', 'doubtful', 'courtesy'])
  return polite.forced === 0 ? polite : inRoom(least, task, 'order', WITHOUT_COURTESY)
}

const inRoom = (least: LeastCalls, task: Task, means: Means, layers: Layers): RoomSchedule =>
  scheduleInRoom({ ...roomTask(least, task, layers), means })

function roomTask({ calls, edges }: LeastCalls, { difference, continuity, headroom }: Task, layers: Layers): RoomTask {
  const waitsFor = withoutCircles(
    edges.hard,
    layers.map((layer) => edges[layer]),
  )
  const start = () => zoneState(difference, continuity, headroom)
  return { calls, waitsFor, headroom, means: 'order', start, isSafe: (state, move) => safetyOf(state, 'continuity').isSafe(move) }
}

function candidateOf(least: LeastCalls, headroom: number, within: readonly Call[] | null): Candidate {
  return { ...least, ...orderCalls(least.calls, least.edges, headroom, within), limited: within !== null }
}

/** Other calls in an order that has room for each. */
function anew({ difference, continuity, headroom }: Task, way: readonly Call[], isProved: (of: { splits: number }) => boolean): Candidate {
  const calls = inReadingOrder(way)
  const edges = orderEdges(calls, difference, continuity, new Map(way.map((call, rank) => [call, rank])))
  const splits = calls.length - lowerBound(difference.removed, difference.added)
  return candidateOf({ calls, edges, splits, proved: splits === 0 || isProved({ splits }) }, headroom, way)
}

/** The one that interrupts less, else the one with fewer calls. */
const better = (a: Candidate, b: Candidate): Candidate => ((b.interruptions - a.interruptions || b.splits - a.splits) < 0 ? b : a)
