/**
 * All orders in which a concurrent apply can make the calls of a plan. The completed calls at any moment are a set that contains, with each
 * call, everything it waits for. Whether such a set breaks a rule can be decided without listing them, from the smallest set for each rule:
 *
 * - "x and y exist together": y is added and x is not removed. The smallest set with y added is y with everything it waits for, transitively.
 * - "none of these exists (while p exists)": the initial ones are removed and none of the later ones is added. The smallest set is all calls
 *   that remove one (and the call that adds p) with everything they wait for; it breaks the rule unless it adds a later one (or removes p).
 * - "more than the limit": the maximum by which creates can be ahead of deletes. Each create includes the deletes it waits for, so that is
 *   the number of creates that cannot be matched to distinct deletes (König).
 */
import type { Random } from './random.ts'
import { type ContinuityRules, meets, refusalOf, type SimulatedCall, type Stage } from './zone-simulator.ts'

type Graph = readonly (readonly number[])[]

/** An order that respects the graph, or an error message for an invalid graph. `choose` selects among the positions of the ready calls. */
export function orderAlong(after: Graph, choose: (ready: readonly number[]) => number = () => 0): number[] | string {
  const open = after.map((list) => new Set(list))
  const heldBy: number[][] = after.map(() => [])
  for (const [index, list] of after.entries()) {
    if (new Set(list).size !== list.length) return `call ${index} waits twice for the same`
    for (const before of list) {
      if (!Number.isInteger(before) || before < 0 || before >= after.length) return `call ${index} waits for ${before}, which is no call`
      heldBy[before]?.push(index)
    }
  }
  const ready = [...after.keys()].filter((index) => open[index]?.size === 0)
  const order: number[] = []
  while (ready.length > 0) {
    const at = choose(ready)
    const index = ready[at] as number
    ready[at] = ready[ready.length - 1] as number
    ready.pop()
    order.push(index)
    for (const other of heldBy[index] as number[]) {
      open[other]?.delete(index)
      if (open[other]?.size === 0) ready.push(other)
    }
  }
  return order.length === after.length ? order : `calls wait for each other in a cycle, ${after.length - order.length} of them`
}

/** A possible order of a concurrent apply: a random one, or one that prefers creates, deletes or the latest ready call. */
export function randomOrder(calls: readonly SimulatedCall[], after: Graph, random: Random): number[] {
  const costs = [
    () => 0,
    (index: number) => (calls[index]?.removed === null ? 0 : 1),
    (index: number) => (calls[index]?.added === null ? 0 : 1),
    (index: number) => (calls[index]?.removed && calls[index]?.added ? 0 : 1),
  ]
  const cost = random.pick(costs)
  const order = orderAlong(after, (ready) => {
    const least = Math.min(...ready.map(cost))
    return random.pick([...ready.keys()].filter((at) => cost(ready[at] as number) === least))
  })
  if (typeof order === 'string') throw new Error(order)
  return order
}

/** For each call, itself and everything it waits for, transitively. */
function closures(after: Graph): Set<number>[] {
  const order = orderAlong(after)
  if (typeof order === 'string') throw new Error(order)
  const all: Set<number>[] = []
  for (const index of order) {
    const set = new Set([index])
    for (const before of after[index] as readonly number[]) for (const one of all[before] as Set<number>) set.add(one)
    all[index] = set
  }
  return all
}

/** Describes a state of some interleaving that the service refuses; null if there is none. */
export function findRefusedState(stages: readonly Stage[], calls: readonly SimulatedCall[], after: Graph, limit: number | null) {
  const all = closures(after)
  const callOf = callsByStage(calls)
  const byName = new Map<string, Stage[]>()
  for (const stage of stages) {
    const list = byName.get(stage.record.name)
    if (list) list.push(stage)
    else byName.set(stage.record.name, [stage])
  }
  for (const same of byName.values()) {
    for (const added of same) {
      if (added.before) continue
      const y = callOf.get(added) as number
      for (const removed of same) {
        if (removed.after || all[y]?.has(callOf.get(removed) as number)) continue
        const problem = refusalOf([added.record, removed.record], null)
        if (problem !== null) return `${problem}, where call ${y} does not wait for call ${callOf.get(removed)}`
      }
    }
  }
  if (limit === null) return null
  const before = stages.filter((stage) => stage.before).length
  const most = before + createsAhead(calls, all)
  return most > limit ? `${most} records where ${limit} are allowed` : null
}

const callsByStage = (calls: readonly SimulatedCall[]): ReadonlyMap<Stage, number> =>
  new Map(calls.flatMap(({ removed, added }, index) => [removed, added].flatMap((stage) => (stage ? [[stage, index] as const] : []))))

/** The maximum by which creates can be ahead of deletes: creates minus a maximum matching of creates to deletes they wait for. */
function createsAhead(calls: readonly SimulatedCall[], all: readonly Set<number>[]): number {
  const creates = [...calls.keys()].filter((index) => calls[index]?.removed === null)
  const deletesOf = (create: number): number[] => [...(all[create] as Set<number>)].filter((index) => calls[index]?.added === null)
  const matched = new Map<number, number>()
  const augment = (create: number, seen: Set<number>): boolean => {
    for (const one of deletesOf(create)) {
      if (seen.has(one)) continue
      seen.add(one)
      const holder = matched.get(one)
      if (holder !== undefined && !augment(holder, seen)) continue
      matched.set(one, create)
      return true
    }
    return false
  }
  return creates.filter((create) => !augment(create, new Set())).length
}

/** Describes the first interruption that some interleaving causes; null if there is none. */
export const findInterruption = (
  stages: readonly Stage[],
  calls: readonly SimulatedCall[],
  after: Graph,
  rules: ContinuityRules,
): string | null => findInterruptions(stages, calls, after, rules)[0] ?? null

/** Everything that some interleaving interrupts, each RRset and each pointer once. */
export function findInterruptions(stages: readonly Stage[], calls: readonly SimulatedCall[], after: Graph, rules: ContinuityRules) {
  const all = closures(after)
  const callOf = callsByStage(calls)
  const problems: string[] = []
  /** The smallest set of calls after which none of the stages exists, neither an initial nor a later one; null if there is none. */
  const leastWithout = (stagesOfRule: readonly Stage[], more: readonly number[]): Set<number> | null => {
    if (stagesOfRule.some((stage) => stage.before && stage.after)) return null
    const begin = [...stagesOfRule.filter((stage) => stage.before).map((stage) => callOf.get(stage) as number), ...more]
    const done = new Set(begin.flatMap((index) => [...(all[index] as Set<number>)]))
    return stagesOfRule.some((stage) => !stage.before && done.has(callOf.get(stage) as number)) ? null : done
  }
  const list = (done: Set<number>): string => `after calls ${[...done].sort((a, b) => a - b).join(', ')}: `
  for (const set of rules.continuing) {
    const done = leastWithout(
      stages.filter(({ record }) => `${record.name} ${record.type}` === set),
      [],
    )
    if (done !== null) problems.push(`${list(done)}${set} is empty`)
  }
  for (const [stage, need] of rules.guarded) {
    const call = callOf.get(stage) ?? null
    const done = leastWithout(
      stages.filter(({ record }) => meets(record, need)),
      call !== null && stage.after ? [call] : [],
    )
    if (done === null || (call !== null && stage.before && done.has(call))) continue
    problems.push(`${list(done)}${stage.record.name} ${stage.record.type} points at ${need.target}, which lacks ${need.need}`)
  }
  return problems
}
