/**
 * Step 4: break the cycles in which calls wait for one another, and list all calls in an order in which the provider accepts each.
 *
 * Pairs make the fewest calls unless they form a cycle: a CNAME and an A record swap names, or a host is renamed while a CNAME follows it. Each cycle is a
 * strongly connected component. An exact search pairs its records again, first alone. If every order of them interrupts something, it takes in the calls
 * that change the same names. If they need a split, it takes in calls of the same types that wait for nothing: such a call can take over half of an update
 * at no cost. Otherwise an update is split into a delete and a create, one call more; that create can help the next cycle.
 *
 * A component with too many records for the search loses its updates to splits, one at a time, until its remainder is small enough. The number of calls is
 * then not proved minimal.
 *
 * Components come after those they wait for, and every call is applied to one state of the zone. So each listed call is accepted in turn and, if the search
 * found a way, interrupts nothing.
 */
import type { ZoneDifference } from './compare-zones.ts'
import type { Continuity } from './continuity.ts'
import { HelperPool, isRename, isSingle, NeighbourFinder, recordCount } from './cycle-helpers.ts'
import { type ExactCalls, MAX_RECORDS, searchExactly } from './exact-search.ts'
import { append, NO_CALLS, type OrderEdges, orderEdges } from './order-edges.ts'
import { additionsOf, type Call, compareCalls, lowerBound, recordOf, removalsOf } from './pair-records.ts'
import { stronglyConnectedComponents, withoutCycles } from './topological-order.ts'
import { type ZoneState, zoneBefore } from './zone-state.ts'

/** What wins if a plan cannot have both: no interruption, or the fewest calls. */
export type Preference = 'continuity' | 'calls'

type Waits = readonly ReadonlySet<number>[]
type Component = readonly number[]

export interface AcyclicCalls {
  readonly calls: readonly Call[]
  readonly edges: OrderEdges
}

/** Returns the records of `paired` in calls without cycles. The record limit is left to step 5. */
export function breakCycles(paired: readonly Call[], difference: ZoneDifference, continuity: Continuity, prefer: Preference): AcyclicCalls {
  let calls = paired.toSorted(compareCalls)
  const traded = new Set<Call>()
  for (let round = 1; ; round += 1) {
    const countIn = (component: Component): number => recordCount(component.map((at) => calls[at] as Call))
    const edges = orderEdges(calls, continuity, false)
    const waits = prefer === 'calls' ? edges.required : edges.required.map((set, at) => union(set, edges.continuity[at] ?? NO_CALLS))
    const graph: Graph = {
      calls,
      waits,
      required: edges.required,
      components: joinSmallCycles(stronglyConnectedComponents(waits), calls, waits),
    }
    const large = graph.components.filter((component) => component.length > 1 && countIn(component) > MAX_RECORDS)
    const split = large.flatMap((component) =>
      updatesToSplit(component, graph, round <= SINGLE_ROUNDS ? 1 : Math.ceil(component.length / CALLS_PER_SPLIT)),
    )
    if (split.length === 0) {
      if (graph.components.length === calls.length && prefer === 'continuity') return { calls, edges }
      const sequence = openCycles(graph, zoneBefore(difference, continuity), prefer)
      return { calls: sequence, edges: orderEdges(sequence, continuity, true) }
    }
    calls = splitUpdates(graph, split, traded).sort(compareCalls)
  }
}

interface Graph {
  readonly calls: readonly Call[]
  /** For each call the calls it waits for: all of them, and those without which the provider refuses it. */
  readonly waits: Waits
  readonly required: Waits
  /** The strongly connected components, each after those it waits for. */
  readonly components: readonly Component[]
}

const union = (a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> =>
  a.size === 0 ? b : b.size === 0 ? a : new Set([...a, ...b])

/** Makes one component of all cycles and whatever lies between them if a search can take it: cycles of one component share splits. */
function joinSmallCycles(components: readonly Component[], calls: readonly Call[], waits: Waits): readonly Component[] {
  const cycles = components.filter(({ length }) => length > 1)
  const isSmall = (component: Component): boolean => recordCount(component.map((at) => calls[at] as Call)) <= MAX_RECORDS
  if (cycles.length < 2 || !isSmall(cycles.flat())) return components
  const ring = waits.map((set) => new Set(set))
  for (const [place, [at = 0]] of cycles.entries()) ring[at]?.add(cycles[(place + 1) % cycles.length]?.[0] as number)
  const joined = stronglyConnectedComponents(ring)
  return joined.every(isSmall) ? joined : components
}

/** One update is split per round, this many times; after that, one update per so many calls of a component. */
const SINGLE_ROUNDS = 64
const CALLS_PER_SPLIT = 100

/** The renames with the most edges to other calls of the component. Splitting an update within its RRset could leave the RRset empty. */
function updatesToSplit(component: Component, { calls, waits }: Graph, count: number): number[] {
  const members = new Set(component)
  const followers = new Map<number, number>()
  for (const at of component) for (const before of waits[at] ?? []) followers.set(before, (followers.get(before) ?? 0) + 1)
  const bonds = (at: number): number => [...(waits[at] ?? [])].filter((before) => members.has(before)).length * (followers.get(at) ?? 0)
  return component
    .filter((at) => isRename(calls[at] as Call))
    .map((at) => ({ at, bonds: bonds(at) }))
    .sort((a, b) => b.bonds - a.bonds || a.at - b.at)
    .slice(0, count)
    .map(({ at }) => at)
}

/**
 * Replaces each of these updates by two calls. If a call of the same type has no edges, it takes over one half, so the number of calls stays. Updates made
 * this way are noted in `traded` and never traded again, so that the splits come to an end.
 */
function splitUpdates({ calls, waits }: Graph, split: readonly number[], traded: Set<Call>): Call[] {
  const isBound = new Set(waits.flatMap((set, at) => (set.size > 0 ? [at, ...set] : [])))
  const unbound = new Map<string, number[]>()
  calls.forEach((call, at) => {
    if (!isBound.has(at) && !traded.has(call) && (isSingle(call) || isRename(call))) append(unbound, recordOf(call).type, at)
  })
  const result: (Call | null)[] = [...calls]
  for (const at of split) {
    const call = calls[at] as Call
    const helper = traded.has(call) ? undefined : unbound.get(recordOf(call).type)?.pop()
    const other = helper === undefined ? null : (calls[helper] as Call)
    if (helper !== undefined) result[helper] = null
    const halves: Call[] = [
      { existing: call.existing, desired: other?.desired ?? null },
      { existing: other?.existing ?? null, desired: call.desired },
    ]
    if (other !== null) for (const half of halves) traded.add(half)
    result[at] = null
    result.push(...halves)
  }
  return result.filter((call) => call !== null)
}

/** Applies all calls in an order along what they wait for, and opens each cycle when its turn comes. */
function openCycles({ calls, waits, required, components }: Graph, state: ZoneState, prefer: Preference): Call[] {
  const cycles = components.filter(({ length }) => length > 1)
  if (cycles.length === 0) return components.flat().map((at) => calls[at] as Call)
  const needed = withAllWaits(cycles.flat(), waits)
  const helpers = new HelperPool(
    calls.filter((_, at) => waits[at]?.size === 0 && !needed.has(at)),
    cycles.map((cycle) => cycle.map((at) => calls[at] as Call)),
  )
  const sequence: Call[] = []
  const made = new Set<number>()
  const apply = (call: Call): void => {
    state.apply(call)
    sequence.push(call)
  }
  const isMade = (at: number): boolean => made.has(at) || helpers.isTaken(calls[at] as Call)
  const neighbours = new NeighbourFinder(calls, waits, new Set(cycles.flat()))
  for (const component of components) {
    if (!needed.has(component[0] as number) || made.has(component[0] as number)) continue
    // What it waits for may be a create of an earlier cycle that is still among the helpers.
    if (component.some((at) => [...(waits[at] ?? [])].some((before) => !component.includes(before)))) helpers.takeLate().forEach(apply)
    for (const at of component) made.add(at)
    if (component.length === 1) {
      apply(calls[component[0] as number] as Call)
      continue
    }
    const cycle = component.map((at) => calls[at] as Call)
    helpers.open(cycle)
    const alone = searchFor(cycle, state, prefer)
    const near = alone !== null && alone.missedWeight > 0 ? neighbours.of(component, isMade) : []
    // A neighbour may wait for a create of an earlier cycle that is still among the helpers.
    if (near.length > 0) helpers.takeLate().forEach(apply)
    const larger = [...cycle, ...near.map((at) => calls[at] as Call)]
    const spared = near.length === 0 ? null : searchFor(larger, state, prefer)
    const isSpared = spared !== null && isBetter(spared, larger, alone as ExactCalls, cycle, prefer)
    for (const at of isSpared ? near : []) {
      made.add(at)
      helpers.take(calls[at] as Call)
    }
    const opened = isSpared ? withHelpers(larger, spared, helpers, state, prefer) : withHelpers(cycle, alone, helpers, state, prefer)
    const order = opened?.calls ?? alongRequired(component, required, waits).map((at) => calls[at] as Call)
    const lastRemoval = order.findLastIndex(({ existing }) => existing !== null)
    order.slice(0, lastRemoval + 1).forEach(apply)
    for (const create of order.slice(lastRemoval + 1)) helpers.addLate(create)
  }
  helpers.takeLate().forEach(apply)
  const remaining = helpers.remaining()
  for (const [at] of components as readonly [number][]) {
    const call = calls[at] as Call
    if (!needed.has(at) && !made.has(at) && (waits[at]?.size !== 0 || remaining.has(call))) apply(call)
  }
  return sequence
}

const searchFor = (calls: readonly Call[], state: ZoneState, prefer: Preference): ExactCalls | null =>
  searchExactly({
    removed: removalsOf(calls),
    added: additionsOf(calls),
    state,
    headroom: Number.POSITIVE_INFINITY,
    keepsContinuity: prefer === 'continuity',
  })

const splitsIn = ({ calls }: ExactCalls, cycle: readonly Call[]): number => calls.length - lowerBound(cycle)

const isBetter = (one: ExactCalls, larger: readonly Call[], other: ExactCalls, cycle: readonly Call[], prefer: Preference): boolean =>
  one.missedWeight < other.missedWeight && (prefer === 'continuity' || splitsIn(one, larger) <= splitsIn(other, cycle))

/** The calls found for a cycle, or those for it and helpers if that saves calls. */
function withHelpers(
  cycle: readonly Call[],
  alone: ExactCalls | null,
  pool: HelperPool,
  state: ZoneState,
  prefer: Preference,
): ExactCalls | null {
  const splits = alone === null ? 0 : splitsIn(alone, cycle)
  if (splits === 0) return alone
  const helpers: Call[] = []
  for (const type of new Set(cycle.map((call) => recordOf(call).type)))
    for (const helper of pool.some(type, splits)) if (recordCount([...cycle, ...helpers, helper]) <= MAX_RECORDS) helpers.push(helper)
  const helped = helpers.length === 0 ? null : searchFor([...cycle, ...helpers], state, prefer)
  if (helped === null || splitsIn(helped, [...cycle, ...helpers]) >= splits) return alone
  for (const helper of helpers) pool.take(helper)
  return helped
}

/** An order for calls that no search can improve: along all required edges, and along the others that close no cycle. */
function alongRequired(component: Component, required: Waits, waits: Waits): number[] {
  const places = new Map(component.map((at, place) => [at, place]))
  const within = (edges: Waits): Set<number>[] =>
    component.map((at) => new Set([...(edges[at] ?? [])].flatMap((before) => places.get(before) ?? [])))
  return stronglyConnectedComponents(withoutCycles(within(required), [within(waits)])).map(
    ([place]) => component[place as number] as number,
  )
}

function withAllWaits(from: readonly number[], waits: Waits): Set<number> {
  const found = new Set(from)
  for (const at of found) for (const before of waits[at] ?? []) found.add(before)
  return found
}
