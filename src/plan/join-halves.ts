/**
 * A delete and a create of one type that do not wait for one another, directly or through others, made one update. Every state that an order of the
 * calls so joined passes through is one that the calls apart can pass through as well, so that nothing more is refused or interrupted.
 */
import type { ResourceRecord } from '../model/record.ts'
import { closeness } from './closeness.ts'
import type { Call } from './pair-records.ts'

/** Creates tried for a delete: the closest. */
const TRIES = 16

/** Calls that searches for waits look at for one plan, so that they do not take long together. */
const MOST_STEPS = 1_000_000

/** The calls in an order along what they wait for, with halves joined; null where none can be. `waitsFor` has no circles. */
export function joinHalves(calls: readonly Call[], waitsFor: readonly Iterable<number>[]): Call[] | null {
  const waits = waitsFor.map((set) => new Set(set))
  /** For the create of a joined update, the delete that stands for both. */
  const joined = new Map<number, number>()
  const standIn = (at: number): number => joined.get(at) ?? at
  let steps = 0
  const isWaiting = (from: number, goal: number): boolean => {
    const seen = new Set([from])
    for (const at of seen) {
      steps += 1
      if (at === goal || steps > MOST_STEPS) return true
      for (const before of waits[at] as ReadonlySet<number>) seen.add(standIn(before))
    }
    return false
  }
  const made = [...calls]
  for (const { deletes, creates } of singlesByType(calls).values()) {
    const open = new Set(creates)
    for (const goes of deletes) {
      if (open.size === 0 || steps > MOST_STEPS) break
      const { existing } = calls[goes] as Call
      const closenessTo = (create: number): number => closeness(existing as ResourceRecord, calls[create]?.desired as ResourceRecord)
      const candidates = [...first(open, 4 * TRIES)].sort((a, b) => closenessTo(b) - closenessTo(a))
      const comes = candidates.slice(0, TRIES).find((create) => !isWaiting(create, goes) && !isWaiting(goes, create))
      if (comes === undefined) continue
      open.delete(comes)
      joined.set(comes, goes)
      for (const before of waits[comes] as ReadonlySet<number>) waits[goes]?.add(before)
      made[goes] = { existing, desired: calls[comes]?.desired ?? null }
    }
  }
  return joined.size === 0
    ? null
    : inOrder(made, waits, standIn)
        .filter((at) => !joined.has(at))
        .map((at) => made[at] as Call)
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count
  for (const item of items) {
    if (left === 0) return
    left -= 1
    yield item
  }
}

interface Singles {
  readonly deletes: number[]
  readonly creates: number[]
}

function singlesByType(calls: readonly Call[]): Map<string, Singles> {
  const types = new Map<string, Singles>()
  calls.forEach(({ existing, desired }, at) => {
    const record = existing ?? desired
    if (record === null || (existing !== null && desired !== null)) return
    const singles = types.get(record.type) ?? { deletes: [], creates: [] }
    types.set(record.type, singles)
    ;(desired === null ? singles.deletes : singles.creates).push(at)
  })
  return types
}

/** Each after those it waits for. */
function inOrder(calls: readonly Call[], waits: readonly ReadonlySet<number>[], standIn: (at: number) => number): number[] {
  const order = new Set<number>()
  for (const start of calls.keys()) {
    const path = [{ at: standIn(start), rest: (waits[standIn(start)] as ReadonlySet<number>).values() }]
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const next: IteratorResult<number> = order.has(step.at) ? { done: true, value: undefined } : step.rest.next()
      if (!next.done) {
        const before = standIn(next.value)
        if (!order.has(before)) path.push({ at: before, rest: (waits[before] as ReadonlySet<number>).values() })
        continue
      }
      path.pop()
      order.add(step.at)
    }
  }
  return [...order]
}
