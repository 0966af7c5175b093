/**
 * Step 4: calls that do not wait for one another in cycles, and an order of them in which each is accepted.
 *
 * Paired calls are as few as can be, unless they wait for one another in a cycle: a CNAME and an A that swap names, an A that is renamed while a CNAME
 * follows it. The calls of a cycle form a strongly connected component. An exact search pairs its records again, first alone, then together with calls of
 * the same types that wait for nothing: such a call can take over one half of an update of the cycle at no cost. If that does not help, an update is split
 * into a delete and a create, and the create can in turn help with the next cycle.
 *
 * A component that is too large for the search loses its updates to splits, one at a time, until what is left of it is small enough. The number of calls is
 * then not proved minimal.
 *
 * Components are visited after the components they wait for, and all calls are applied to one state of the zone. So the calls are listed in an order in
 * which each is accepted and, if the search found a way, interrupts nothing.
 */
import { rrsetKey } from '../dns/record.ts'
import type { ZoneDifference } from './compare-zones.ts'
import type { Continuity } from './continuity.ts'
import { MAX_RECORDS, searchExactly } from './exact-search.ts'
import { append, orderEdges } from './order-edges.ts'
import { additionsOf, type Call, compareCalls, lowerBound, recordOf, removalsOf } from './pair-records.ts'
import { alongEdges, stronglyConnectedComponents, withoutCycles } from './topological-order.ts'
import { type ZoneState, zoneBefore } from './zone-state.ts'

/** What comes first if a plan cannot have both: no interruption, or the fewest calls. */
export type Preference = 'continuity' | 'calls'

type Waits = readonly ReadonlySet<number>[]

/** The records of `paired` in calls without cycles, listed in an order in which each is accepted. The record limit is left to step 5. */
export function breakCycles(paired: readonly Call[], difference: ZoneDifference, continuity: Continuity, prefer: Preference): Call[] {
  let calls = paired.toSorted(compareCalls)
  const traded = new Set<Call>()
  for (let round = 1; ; round += 1) {
    const { required, continuity: preserving } = orderEdges(calls, continuity, false)
    const waits = prefer === 'calls' ? required : required.map((set, at) => new Set([...set, ...(preserving[at] ?? [])]))
    const components = withCyclesJoined(stronglyConnectedComponents(waits), calls, waits)
    const large = components.filter((component) => recordCount(component.map((at) => calls[at] as Call)) > MAX_RECORDS)
    const split = new Set(
      large.flatMap((component) =>
        updatesToSplit(component, calls, waits, round <= SINGLE_ROUNDS ? 1 : Math.ceil(component.length / CALLS_PER_SPLIT)),
      ),
    )
    if (split.size > 0) calls = splitUpdates(calls, split, waits, traded).sort(compareCalls)
    else return inSequence(calls, waits, required, components, zoneBefore(difference, continuity), prefer)
  }
}

/** All cycles as one component, with what lies between them, if an exact search takes it: they can share splits. */
function withCyclesJoined(components: readonly number[][], calls: readonly Call[], waits: Waits): readonly number[][] {
  const cycles = components.filter(({ length }) => length > 1)
  const isSmall = (component: readonly number[]): boolean => recordCount(component.map((at) => calls[at] as Call)) <= MAX_RECORDS
  if (cycles.length < 2 || !isSmall(cycles.flat())) return components
  const ring = waits.map((set) => new Set(set))
  for (const [place, [at = 0]] of cycles.entries()) ring[at]?.add(cycles[(place + 1) % cycles.length]?.[0] as number)
  const joined = stronglyConnectedComponents(ring)
  return joined.every(isSmall) ? joined : components
}

const recordCount = (calls: readonly Call[]): number => removalsOf(calls).length + additionsOf(calls).length

/** Components are looked for again after every single split, this many times; after that, one update per so many calls is split at a time. */
const SINGLE_ROUNDS = 64
const CALLS_PER_SPLIT = 100

/** The updates that most other calls of a component are bound to. To split an update within its RRset could leave the RRset empty. */
function updatesToSplit(component: readonly number[], calls: readonly Call[], waits: Waits, count: number): number[] {
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

const isRename = ({ existing, desired }: Call): boolean => existing !== null && desired !== null && rrsetKey(existing) !== rrsetKey(desired)

/**
 * Each of these updates as two calls. A call of the same type that is bound to no other takes over one half, so that there is no call more. `traded` are
 * updates made so: they are split for good, so that the splits come to an end.
 */
function splitUpdates(calls: readonly Call[], split: ReadonlySet<number>, waits: Waits, traded: Set<Call>): Call[] {
  const isBound = new Set(waits.flatMap((set, at) => (set.size > 0 ? [at, ...set] : [])))
  const free = new Map<string, number[]>()
  calls.forEach((call, at) => {
    if (!isBound.has(at) && !traded.has(call) && (call.existing === null || call.desired === null || isRename(call)))
      append(free, recordOf(call).type, at)
  })
  const result: (Call | null)[] = [...calls]
  for (const at of split) {
    const call = calls[at] as Call
    const helper = traded.has(call) ? undefined : free.get(recordOf(call).type)?.pop()
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

/** Applies all calls in an order along what they wait for, and opens each cycle when it is reached. */
function inSequence(
  calls: readonly Call[],
  waits: Waits,
  required: Waits,
  components: readonly (readonly number[])[],
  state: ZoneState,
  prefer: Preference,
): Call[] {
  const cycles = components.filter((component) => component.length > 1)
  if (cycles.length === 0) return components.flat().map((at) => calls[at] as Call)
  const sequence: Call[] = []
  const apply = (call: Call): void => {
    state.apply(call)
    sequence.push(call)
  }
  const isOpen = new Set(calls.keys())
  const helpers = new HelperPool()
  const followers: number[][] = calls.map(() => [])
  waits.forEach((set, at) => {
    for (const before of set) followers[before]?.push(at)
  })
  const openWaits = waits.map((set) => set.size)
  // Before a cycle comes only what it waits for: any other call stays free to help.
  const needed = withAllWaits(cycles.flat(), waits)
  const offerIfFree = (at: number): void => {
    if (openWaits[at] === 0 && !needed.has(at)) helpers.add(calls[at] as Call, at)
  }
  for (const at of calls.keys()) offerIfFree(at)
  const close = (at: number): void => {
    isOpen.delete(at)
    for (const follower of followers[at] ?? []) {
      openWaits[follower] = (openWaits[follower] as number) - 1
      offerIfFree(follower)
    }
  }
  /** Creates that are put off so that they can help later cycles, by the calls that had their records. */
  const putOff = new Map<number, readonly Call[]>()
  const catchUp = (at: number): void => {
    for (const before of waits[at] ?? []) for (const call of putOff.get(before) ?? []) if (helpers.take(call)) apply(call)
  }
  const applyAt = (at: number): void => {
    catchUp(at)
    helpers.take(calls[at] as Call)
    apply(calls[at] as Call)
    close(at)
  }
  const openCycle = (component: readonly number[]): void => {
    for (const at of component) catchUp(at)
    const cycle = component.map((at) => calls[at] as Call)
    const opened = pairAgain(cycle, helpers, state, prefer)
    const used = (opened?.helpers ?? []).flatMap((helper) => helpers.indexOf(helper) ?? [])
    for (const helper of opened?.helpers ?? []) helpers.take(helper)
    const inOrder = opened?.calls ?? alongRequired(component, required, waits).map((at) => calls[at] as Call)
    const lastKept = inOrder.findLastIndex(({ existing }) => existing !== null)
    for (const call of inOrder.slice(0, lastKept + 1)) apply(call)
    const late = inOrder.slice(lastKept + 1)
    for (const call of late) helpers.add(call, null)
    for (const at of [...component, ...used]) {
      putOff.set(at, late)
      close(at)
    }
  }
  for (const component of components) {
    if (component.length > 1) openCycle(component)
    else for (const at of component) if (needed.has(at)) applyAt(at)
  }
  for (const component of components) for (const at of component) if (isOpen.has(at)) applyAt(at)
  for (const call of helpers.rest()) apply(call)
  return sequence
}

/** Calls that wait for nothing that is not done, by type, those that change most freely last. */
class HelperPool {
  readonly #indexes = new Map<Call, number | null>()
  readonly #byType = new Map<string, Set<Call>>()

  /** `index` is null for a call that is not one of the graph. */
  add(call: Call, index: number | null): void {
    this.#indexes.set(call, index)
    const { type } = recordOf(call)
    this.#byType.set(type, (this.#byType.get(type) ?? new Set()).add(call))
  }
  /** Whether the call was in the pool. */
  take(call: Call): boolean {
    this.#byType.get(recordOf(call).type)?.delete(call)
    return this.#indexes.delete(call)
  }
  indexOf(call: Call): number | null | undefined {
    return this.#indexes.get(call)
  }
  /** At most `count` calls of the type: creates and deletes first, updates within an RRset last. */
  some(type: string, count: number): Call[] {
    const found: Call[] = []
    const calls = this.#byType.get(type) ?? []
    const isSingle = ({ existing, desired }: Call): boolean => existing === null || desired === null
    const isWithinRrset = (call: Call): boolean => !isSingle(call) && !isRename(call)
    for (const isWanted of [isSingle, isRename, isWithinRrset]) {
      for (const call of calls) {
        if (found.length === count) return found
        if (isWanted(call)) found.push(call)
      }
    }
    return found
  }
  rest(): Call[] {
    return [...this.#indexes.keys()]
  }
}

interface PairedAgain {
  /** In an order in which each is accepted. */
  readonly calls: readonly Call[]
  /** The calls from outside the cycle whose records are among these. */
  readonly helpers: readonly Call[]
}

/** Null if there are too many records to search, or no order is accepted. */
function pairAgain(cycle: readonly Call[], pool: HelperPool, state: ZoneState, prefer: Preference): PairedAgain | null {
  const search = (calls: readonly Call[]): Call[] | null =>
    searchExactly({
      removed: removalsOf(calls),
      added: additionsOf(calls),
      state,
      headroom: Number.POSITIVE_INFINITY,
      keepsContinuity: prefer === 'continuity',
    })
  const alone = search(cycle)
  if (alone === null) return null
  const splits = alone.length - lowerBound(cycle)
  const helpers: Call[] = []
  let count = recordCount(cycle)
  for (const type of new Set(cycle.map((call) => recordOf(call).type))) {
    for (const helper of splits === 0 ? [] : pool.some(type, splits)) {
      count += recordCount([helper])
      if (count <= MAX_RECORDS) helpers.push(helper)
    }
  }
  const helped = helpers.length === 0 ? null : search([...cycle, ...helpers])
  if (helped === null || helped.length - lowerBound([...cycle, ...helpers]) >= splits) return { calls: alone, helpers: [] }
  return { calls: helped, helpers }
}

/** An order of calls that no search can improve: what the provider requires, and of the rest what closes no cycle. */
function alongRequired(component: readonly number[], required: Waits, waits: Waits): number[] {
  const places = new Map(component.map((at, place) => [at, place]))
  const within = (edges: Waits): Set<number>[] =>
    component.map((at) => new Set([...(edges[at] ?? [])].flatMap((before) => places.get(before) ?? [])))
  return alongEdges(withoutCycles(within(required), [within(waits)])).map((place) => component[place] as number)
}

function withAllWaits(from: readonly number[], waits: Waits): Set<number> {
  const found = new Set(from)
  for (const at of found) for (const before of waits[at] ?? []) found.add(before)
  return found
}
