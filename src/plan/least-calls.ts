/**
 * The fewest calls of any safe plan, and their order.
 *
 * Idea. A call creates, updates or deletes one record, and an update may change anything but the type. So for each type with D records to go and C to
 * come, max(D, C) calls are needed; whoever pairs min(D, C) of them needs no more. Records are paired for the reader first (`pair-records.ts`), then
 * looked at as a graph: a call waits for those that must be done before it (`order-edges.ts`). If no calls wait for one another in a circle, the
 * calls are as few as can be and every order along the edges is safe.
 *
 * Where calls wait in a circle (a knot: a CNAME and an A that trade names, an A that is renamed while a CNAME follows it), their records are paired
 * anew together with some of the same types that are not in the knot: a record that may come at any time lets one in the knot go early, and so opens
 * it at no cost. What cannot be opened so is opened by a split: one update becomes a delete and a create. Few records are searched exactly
 * (`schedule-exactly.ts`): least is missed that should not be, in the fewest calls. Many are scheduled greedily. The order found is one in which every
 * call is accepted. All edges that keep whole what that order keeps whole follow it, so that no circle of them is left; what it misses is kept whole
 * only where that closes no circle.
 *
 * Proof of the minimum. Without a knot the number is the lower bound. With one, the exact search finds the least for the records it is given; records
 * outside it are of use only as such helpers, any of a type as good as another where none waits for another, and no more of them than splits without
 * any. Where a helper was left out because there are too many, or the search was greedy, the number is proved only if it is the lower bound and the
 * splits that are forced (`forced-splits.ts`); else the plan says that it is not proved.
 *
 * Limits. Where so many records differ that no exact search is made of all of them, not only the number of calls may be above the least: more may be
 * missed than has to be, too. The record limit is not looked at here; what it asks for besides is found in `plan-calls.ts`. A call never makes a record
 * that is not wanted in the end; parking a record elsewhere takes two calls, as many as a split.
 */
import { compareRecords, type DefinedRecord, type ExistingRecord, type ResourceRecord } from '../model/record.ts'
import { findKnots } from './call-graph.ts'
import { type Ranks, staysInSet } from './call-index.ts'
import { closableGaps } from './closable-gaps.ts'
import { type Continuity, pointerOf } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { OrderEdges } from './edge-layers.ts'
import { forcedSplits } from './forced-splits.ts'
import { orderEdges } from './order-edges.ts'
import { type Call, pairRecords } from './pair-records.ts'
import { type ExactWay, MAX_EXACT, scheduleExactly } from './schedule-exactly.ts'
import { scheduleGreedily } from './schedule-greedily.ts'
import { type Move, type ZoneState, zoneState } from './zone-state.ts'

/** What comes first where fewest calls and no interruption cannot both be had. */
export type Preference = 'continuity' | 'calls'

export interface LeastCalls {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
  /** Calls above the lower bound, Σ max(D, C) over the types: updates that were split. */
  readonly splits: number
  /** Whether fewer are impossible. */
  readonly proved: boolean
}

/** Times that knots are looked for again among calls paired anew. */
const MAX_ROUNDS = 4

/** With `gaps` to be closed, records are also paired anew where that may close them; whether it has is seen when the calls are ordered. */
export function leastCalls(
  difference: ZoneDifference,
  continuity: Continuity,
  prefer: Preference,
  gaps: 'leave' | 'close' = 'leave',
): LeastCalls {
  const paired = pairRecords(difference.removed, difference.added)
  const order = (calls: readonly Call[], ranks: Ranks | null): OrderEdges => orderEdges(calls, difference, continuity, ranks)
  const knotted = (calls: readonly Call[], edges: OrderEdges): Call[] =>
    knotsOf(edges, prefer).flatMap((knot) => knot.map((at) => calls[at] as Call))

  let calls = inReadingOrder(paired)
  let edges = order(calls, null)
  const total = difference.removed.length + difference.added.length
  let knot = [...knotted(calls, edges), ...(gaps === 'close' ? closableGaps(calls, edges, difference, continuity) : [])]
  // Of few records it is searched how little has to be missed, also where all could be ordered.
  if (prefer === 'continuity' && edges.missed.length > 0 && total <= MAX_EXACT) knot = [...calls]
  let proved = true
  const inKnots = new Set<ResourceRecord>()
  for (let round = 1; knot.length > 0; round += 1) {
    const known = inKnots.size
    for (const record of knot.flatMap(recordsOf)) inKnots.add(record)
    // Few records in all, the same ones again, most of them, or ever more: then all at once.
    const together = total <= MAX_EXACT || known === inKnots.size || 2 * inKnots.size > total || round === MAX_ROUNDS
    const part = together ? calls : neighbours(calls, inKnots)
    const helpers = together ? NO_HELPERS : helperGroups(calls, part, edges)
    const untied = untie(part, helpers, () => zoneState(difference, continuity), prefer)
    proved = untied.proved
    const taken = new Set(untied.calls)
    calls = inReadingOrder([...calls.filter((call) => !taken.has(call)), ...untied.way])
    edges = order(calls, new Map(untied.way.map((call, rank) => [call, rank])))
    knot = knotted(calls, edges)
    // What still waits in a circle is continuity that no order of these calls keeps whole: there it yields.
    if (together) break
  }
  const splits = calls.length - lowerBound(difference.removed, difference.added)
  const isWhole = edges.missed.length === 0 && edges.doubtful.every((set) => set.size === 0) && knot.length === 0
  const areForced = (): boolean =>
    (isWhole || prefer === 'calls') && splits <= forcedSplits(difference, prefer === 'calls' ? 'ignored' : 'kept', splits)
  return { calls, edges, splits, proved: splits === 0 || proved || areForced() }
}

export const recordsOf = ({ existing, desired }: Call): ResourceRecord[] => [existing, desired].filter((record) => record !== null)

/** Calls by the records they leave, or take away, where that is all they do. */
export const inReadingOrder = (calls: readonly Call[]): Call[] =>
  calls.toSorted((a, b) => compareRecords(recordOf(a), recordOf(b)) || (a.desired === null ? 1 : 0) - (b.desired === null ? 1 : 0))

export const recordOf = (call: Call): ResourceRecord => (call.desired ?? call.existing) as ResourceRecord

function knotsOf(edges: OrderEdges, prefer: Preference): number[][] {
  const strong = prefer === 'calls' ? edges.hard : edges.hard.map((set, at) => joined(set, edges.continuity[at] as ReadonlySet<number>))
  return findKnots(strong)
}

const joined = (a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> =>
  b.size === 0 ? a : a.size === 0 ? b : new Set([...a, ...b])

/** Σ max(D, C) over the types. */
export function lowerBound(removed: readonly ResourceRecord[], added: readonly ResourceRecord[]): number {
  const balance = new Map<string, { goes: number; comes: number }>()
  const of = (type: string): { goes: number; comes: number } => {
    const counts = balance.get(type) ?? { goes: 0, comes: 0 }
    balance.set(type, counts)
    return counts
  }
  for (const record of removed) of(record.type).goes += 1
  for (const record of added) of(record.type).comes += 1
  let sum = 0
  for (const { goes, comes } of balance.values()) sum += Math.max(goes, comes)
  return sum
}

/** The calls that share a name with records of knots, or point at one, or are pointed at by one, and so on. */
function neighbours(calls: readonly Call[], inKnots: ReadonlySet<ResourceRecord>): Call[] {
  const callsAt = new Map<string, Call[]>()
  for (const call of calls) {
    for (const name of namesOf(call)) {
      const list = callsAt.get(name)
      if (list) list.push(call)
      else callsAt.set(name, [call])
    }
  }
  const part = new Set(calls.filter((call) => recordsOf(call).some((record) => inKnots.has(record))))
  const names = new Set<string>()
  for (const call of part) {
    for (const name of namesOf(call)) {
      if (names.has(name)) continue
      names.add(name)
      for (const other of callsAt.get(name) ?? []) part.add(other)
    }
  }
  return [...part]
}

const namesOf = (call: Call): Set<string> =>
  new Set(recordsOf(call).flatMap((record) => [record.name, pointerOf(record)?.target ?? record.name]))

/** Groups of calls of other records that wait on one another and need not be looked at more than this. */
const MAX_BOUND_GROUPS = 6

interface Helpers {
  readonly groups: readonly Call[][]
  /** Whether these are all that may help. */
  readonly complete: boolean
}

const NO_HELPERS: Helpers = { groups: [], complete: true }

/**
 * What may help to open a knot, each a group that is taken whole: first single calls of the part's types that no other waits for and that wait for none,
 * those that change most without an update before updates; then such calls with all that they are bound to, but for creates of other types that no
 * call waits for, which may as well come last.
 */
function helperGroups(calls: readonly Call[], part: readonly Call[], { hard, continuity }: OrderEdges): Helpers {
  const types = new Set(part.flatMap(recordsOf).map((record) => record.type))
  const taken = new Set(part)
  const bound = new Set<Call>()
  const waitedFor = new Set<Call>()
  for (const edges of [hard, continuity]) {
    edges.forEach((set, at) => {
      if (set.size > 0) bound.add(calls[at] as Call)
      for (const before of set) waitedFor.add(calls[before] as Call)
    })
  }
  for (const call of waitedFor) bound.add(call)
  const ease = (call: Call): number => (call.existing === null || call.desired === null ? 0 : staysInSet(call) ? 2 : 1)
  const fitting = calls.filter((call) => types.has(recordOf(call).type) && !taken.has(call)).sort((a, b) => ease(a) - ease(b))
  const groups = fitting.filter((call) => !bound.has(call)).map((call) => [call])
  const mayComeLast = (call: Call): boolean => call.existing === null && !waitedFor.has(call) && !types.has(recordOf(call).type)
  let complete = true
  let boundGroups = 0
  for (const call of fitting) {
    if (taken.has(call) || !bound.has(call)) continue
    if (boundGroups === MAX_BOUND_GROUPS) return { groups, complete: false }
    const whole = neighbours(calls, new Set(recordsOf(call))).filter((other) => !taken.has(other))
    for (const other of whole) taken.add(other)
    const group = whole.filter((other) => !mayComeLast(other))
    if (group.length < whole.length) complete = false
    if (eventsOf(group) > MAX_EXACT) {
      complete = false
      continue
    }
    groups.push(group)
    boundGroups += 1
  }
  return { groups, complete }
}

interface Untied {
  /** The calls whose records were paired anew. */
  readonly calls: readonly Call[]
  /** Calls for the same records, in an order in which each is safe. */
  readonly way: readonly Call[]
  /** Whether fewer are impossible. */
  readonly proved: boolean
}

/** Pairs the records of a part of the calls anew, with helpers where they save splits. */
function untie(part: readonly Call[], helpers: Helpers, start: () => ZoneState, prefer: Preference): Untied {
  const alone = searchExactly(part, start(), prefer)
  if (alone === null) {
    const calls = [...new Set([...part, ...helpers.groups.flatMap((group) => (group.length === 1 ? group : []))])]
    const state = start()
    return { calls, way: scheduleGreedily(goesOf(calls), comesOf(calls), state, safetyOf(state, prefer)), proved: false }
  }
  const splits = splitsOf(alone.calls, part)
  if (splits === 0) return { calls: part, way: alone.calls, proved: true }
  const wanted = fewOfEachType(helpers.groups, splits)
  let calls = [...part]
  let { complete } = helpers
  for (const group of wanted) {
    // A call may be in a group of its own and in that of others it is bound to.
    const more = [...new Set([...calls, ...group])]
    if (eventsOf(more) <= MAX_EXACT) calls = more
    else complete = false
  }
  const helped = calls.length === part.length ? null : searchExactly(calls, start(), prefer)
  if (helped === null || splitsOf(helped.calls, calls) >= splits) return { calls: part, way: alone.calls, proved: complete }
  return { calls, way: helped.calls, proved: complete }
}

/** Calls above the lower bound for the records of `calls`. */
const splitsOf = (way: readonly Call[], calls: readonly Call[]): number => way.length - lowerBound(goesOf(calls), comesOf(calls))

export const goesOf = (calls: readonly Call[]): ExistingRecord[] => calls.flatMap((call) => (call.existing ? [call.existing] : []))

export const comesOf = (calls: readonly Call[]): DefinedRecord[] => calls.flatMap((call) => (call.desired ? [call.desired] : []))

const eventsOf = (calls: readonly Call[]): number => goesOf(calls).length + comesOf(calls).length

function searchExactly(calls: readonly Call[], state: ZoneState, prefer: Preference): ExactWay | null {
  return eventsOf(calls) > MAX_EXACT ? null : scheduleExactly(goesOf(calls), comesOf(calls), state, prefer)
}

/** As many single helpers of each type as there are splits, which no more can save, and all groups. */
function fewOfEachType(groups: readonly Call[][], splits: number): Call[][] {
  const counts = new Map<string, number>()
  return groups.filter((group) => {
    if (group.length > 1) return true
    const { type } = recordOf(group[0] as Call)
    const count = (counts.get(type) ?? 0) + 1
    counts.set(type, count)
    return count <= splits
  })
}

/** Tells whether a move is safe under a preference. */
export function safetyOf(state: ZoneState, prefer: Preference): { isSafe(move: Move): boolean; isAccepted(move: Move): boolean } {
  const isAccepted = (move: Move): boolean => state.isAccepted(move)
  return { isAccepted, isSafe: prefer === 'calls' ? isAccepted : (move) => isAccepted(move) && state.isContinuous(move) }
}
