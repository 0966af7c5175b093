/**
 * Lists the calls of a graph in an order in which the provider accepts each. Components come after those they wait for, and every call is applied to one state
 * of the zone. When the turn of a cycle comes, an exact search pairs its records again: alone; with neighbours, if every order of them alone interrupts
 * something; and with helpers, if it needs a split.
 */
import type { Preference } from './continuity.ts'
import { HelperPool, NeighbourFinder, recordCount } from './cycle-helpers.ts'
import { type ExactCalls, MAX_RECORDS, searchExactly } from './exact-search.ts'
import { additionsOf, type Call, lowerBound, recordOf, removalsOf } from './pair-records.ts'
import { stronglyConnectedComponents, withoutCycles } from './topological-order.ts'
import type { ZoneState } from './zone-state.ts'

export type Waits = readonly ReadonlySet<number>[]
export type Component = readonly number[]

export interface Graph {
  readonly calls: readonly Call[]
  /** For each call the calls it waits for: all of them, and those without which the provider refuses it. */
  readonly waits: Waits
  readonly required: Waits
  /** The strongly connected components, each after those it waits for. */
  readonly components: readonly Component[]
}

/** All calls of the graph; those of cycles are paired again. */
export function openCycles(graph: Graph, state: ZoneState, prefer: Preference): Call[] {
  const { calls, components } = graph
  return components.length === calls.length
    ? components.flat().map((at) => calls[at] as Call)
    : new CycleOpener(graph, state, prefer).open()
}

/** The calls found for a cycle and the calls that were searched with it. */
interface OpenedCycle {
  /** The cycle, with its neighbours if they spare an interruption. */
  readonly searched: readonly Call[]
  /** Null if there are too many records, or no order is accepted. */
  readonly found: ExactCalls | null
  /** Calls before the cycle that have to follow its neighbours. */
  readonly after: readonly number[]
}

class CycleOpener {
  readonly #graph: Graph
  readonly #state: ZoneState
  readonly #prefer: Preference
  /** The calls of cycles and all that they wait for. */
  readonly #needed: ReadonlySet<number>
  readonly #helpers: HelperPool
  readonly #neighbours: NeighbourFinder
  readonly #sequence: Call[] = []
  readonly #made = new Set<number>()
  /** The calls made since the last cycle, which may still move. */
  #tail: number[] = []

  constructor(graph: Graph, state: ZoneState, prefer: Preference) {
    const { calls, waits, components } = graph
    const cycles = components.filter(({ length }) => length > 1)
    const needed = withAllWaits(cycles.flat(), waits)
    this.#graph = graph
    this.#state = state
    this.#prefer = prefer
    this.#needed = needed
    this.#helpers = new HelperPool(
      calls.filter((_, at) => waits[at]?.size === 0 && !needed.has(at)),
      cycles.map((cycle) => cycle.map((at) => calls[at] as Call)),
    )
    this.#neighbours = new NeighbourFinder(calls, waits, new Set(cycles.flat()))
  }

  open(): Call[] {
    const { waits, components } = this.#graph
    for (const component of components) {
      const [first = 0] = component
      if (!this.#needed.has(first) || this.#made.has(first)) continue
      // What it waits for may be a create of an earlier cycle that is still among the helpers.
      if (component.some((at) => [...(waits[at] ?? [])].some((before) => !component.includes(before)))) this.#applyLate()
      if (component.length === 1) this.#applySingle(first)
      else this.#openCycle(component)
    }
    this.#applyLate()
    const remaining = this.#helpers.remaining()
    for (const at of components.flat()) {
      if (!this.#needed.has(at) && !this.#made.has(at) && (waits[at]?.size !== 0 || remaining.has(this.#call(at))))
        this.#apply(this.#call(at))
    }
    return this.#sequence
  }

  #openCycle(component: Component): void {
    const cycle = component.map((at) => this.#call(at))
    this.#helpers.open(cycle)
    const alone = this.#search(cycle)
    const { searched, found, after } = (alone !== null && alone.missedWeight > 0 ? this.#withNeighbours(component, alone) : null) ?? {
      searched: cycle,
      found: alone,
      after: [],
    }
    for (const at of component) this.#made.add(at)
    const order = this.#withHelpers(searched, found)?.calls ?? alongRequired(component, this.#graph).map((at) => this.#call(at))
    const lastRemoval = order.findLastIndex(({ existing }) => existing !== null)
    for (const call of order.slice(0, lastRemoval + 1)) this.#apply(call)
    for (const create of order.slice(lastRemoval + 1)) this.#helpers.addLate(create)
    this.#tail = []
    if (after.length > 0) this.#applyLate()
    for (const at of after) this.#applySingle(at)
  }

  /** Searches a cycle with its neighbours, which may include calls made since the last cycle. Null, with all as before, if that interrupts no less. */
  #withNeighbours(component: Component, alone: ExactCalls): OpenedCycle | null {
    this.#applyLate()
    const former = this.#tail
    this.#undoTail()
    const near = this.#neighbours.of(component, (at) => this.#made.has(at) || this.#helpers.isTaken(this.#call(at)))
    const moved = new Set(near)
    const after: number[] = []
    for (const at of former) {
      if (moved.has(at)) continue
      if ([...(this.#graph.waits[at] ?? [])].some((before) => moved.has(before))) {
        moved.add(at)
        after.push(at)
      } else this.#applySingle(at)
    }
    const cycle = component.map((at) => this.#call(at))
    const searched = [...cycle, ...near.map((at) => this.#call(at))]
    const found = near.length === 0 ? null : this.#search(searched)
    const isBetter = found !== null && found.missedWeight < alone.missedWeight
    if (isBetter && (this.#prefer === 'continuity' || splitsIn(found, searched) <= splitsIn(alone, cycle))) {
      for (const at of near) {
        this.#made.add(at)
        this.#helpers.take(this.#call(at))
      }
      return { searched, found, after }
    }
    this.#undoTail()
    for (const at of former) this.#applySingle(at)
    return null
  }

  /** The calls found for a cycle, or those for it and helpers if that saves calls. */
  #withHelpers(cycle: readonly Call[], alone: ExactCalls | null): ExactCalls | null {
    const splits = alone === null ? 0 : splitsIn(alone, cycle)
    if (splits === 0) return alone
    const helpers: Call[] = []
    for (const type of new Set(cycle.map((call) => recordOf(call).type)))
      for (const helper of this.#helpers.some(type, splits))
        if (recordCount([...cycle, ...helpers, helper]) <= MAX_RECORDS) helpers.push(helper)
    const helped = helpers.length === 0 ? null : this.#search([...cycle, ...helpers])
    if (helped === null || splitsIn(helped, [...cycle, ...helpers]) >= splits) return alone
    for (const helper of helpers) this.#helpers.take(helper)
    return helped
  }

  #search(calls: readonly Call[]): ExactCalls | null {
    return searchExactly({
      removed: removalsOf(calls),
      added: additionsOf(calls),
      state: this.#state,
      headroom: Number.POSITIVE_INFINITY,
      keepsContinuity: this.#prefer === 'continuity',
    })
  }

  #call(at: number): Call {
    return this.#graph.calls[at] as Call
  }
  #apply(call: Call): void {
    this.#state.apply(call)
    this.#sequence.push(call)
  }
  #applySingle(at: number): void {
    this.#apply(this.#call(at))
    this.#made.add(at)
    this.#tail.push(at)
  }
  /** Makes the creates at the ends of earlier cycles. */
  #applyLate(): void {
    const late = this.#helpers.takeLate()
    if (late.length > 0) this.#tail = []
    for (const call of late) this.#apply(call)
  }
  #undoTail(): void {
    for (const at of this.#tail.toReversed()) {
      this.#state.undo(this.#call(at))
      this.#sequence.pop()
      this.#made.delete(at)
    }
    this.#tail = []
  }
}

const splitsIn = ({ calls }: ExactCalls, cycle: readonly Call[]): number => calls.length - lowerBound(cycle)

/** An order for calls that no search can improve: along all required edges, and along the others that close no cycle. */
function alongRequired(component: Component, { required, waits }: Graph): number[] {
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
