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
import { append } from '../base/group-by.ts'
import type { ZoneDifference } from './compare-zones.ts'
import type { Continuity, Preference } from './continuity.ts'
import { isRename, isSingle, recordCount } from './cycle-helpers.ts'
import { MAX_RECORDS } from './exact-search.ts'
import { type Component, type Graph, openCycles, type Waits } from './open-cycles.ts'
import { NO_CALLS, type OrderEdges, orderEdges } from './order-edges.ts'
import { type Call, compareCalls, recordOf } from './pair-records.ts'
import { stronglyConnectedComponents } from './topological-order.ts'
import { zoneBefore } from './zone-state.ts'

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
