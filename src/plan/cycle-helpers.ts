/** Calls outside a cycle that help to open it: some save a call, others an interruption. */
import { append } from '../base/group-by.ts'
import { rrsetKey } from '../dns/record.ts'
import { pointerOf } from './continuity.ts'
import { MAX_RECORDS } from './exact-search.ts'
import { additionsOf, type Call, recordOf, removalsOf } from './pair-records.ts'

export const recordCount = (calls: readonly Call[]): number => removalsOf(calls).length + additionsOf(calls).length

export const isSingle = ({ existing, desired }: Call): boolean => existing === null || desired === null

export const isRename = ({ existing, desired }: Call): boolean =>
  existing !== null && desired !== null && rrsetKey(existing) !== rrsetKey(desired)

/**
 * Calls whose records a cycle may take over at no cost, because nothing that is still to come before them is pending. A call that removes a record waits if
 * a later cycle creates pointers at its name: that cycle may need the record.
 */
export class HelperPool {
  /** For each name the number of cycles still to be opened that create pointers at it. */
  readonly #pointersToCome = new Map<string, number>()
  readonly #byType = new Map<string, Set<Call>>()
  /** Creates at the end of an opened cycle: nothing later in the cycle waits for them. */
  readonly #late = new Set<Call>()
  readonly #taken = new Set<Call>()

  constructor(calls: readonly Call[], cycles: readonly (readonly Call[])[]) {
    for (const cycle of cycles) this.#countPointers(cycle, 1)
    for (const rank of [isSingle, isRename, (call: Call) => !isSingle(call) && !isRename(call)])
      for (const call of calls.filter(rank))
        this.#byType.set(recordOf(call).type, (this.#byType.get(recordOf(call).type) ?? new Set()).add(call))
  }
  #countPointers(cycle: readonly Call[], by: 1 | -1): void {
    const targets = cycle.flatMap(({ desired }) => (desired && pointerOf(desired)?.target) ?? [])
    for (const name of new Set(targets)) this.#pointersToCome.set(name, (this.#pointersToCome.get(name) ?? 0) + by)
  }
  /** Notes that the turn of a cycle has come. */
  open(cycle: readonly Call[]): void {
    this.#countPointers(cycle, -1)
  }
  addLate(call: Call): void {
    this.#late.add(call)
  }
  /** At most `count` calls of the type, those that change most freely first: creates and deletes, then renames, then updates within an RRset. */
  some(type: string, count: number): Call[] {
    const found: Call[] = [...this.#late].filter((call) => recordOf(call).type === type).slice(0, count)
    for (const call of this.#byType.get(type) ?? []) {
      if (found.length >= count) break
      if (call.existing === null || (this.#pointersToCome.get(call.existing.name) ?? 0) === 0) found.push(call)
    }
    return found
  }
  take(call: Call): void {
    this.#taken.add(call)
    this.#late.delete(call)
    this.#byType.get(recordOf(call).type)?.delete(call)
  }
  isTaken(call: Call): boolean {
    return this.#taken.has(call)
  }
  takeLate(): Call[] {
    const late = [...this.#late]
    this.#late.clear()
    return late
  }
  remaining(): ReadonlySet<Call> {
    return new Set([...this.#byType.values()].flatMap((calls) => [...calls]))
  }
}

/** Finds calls outside a cycle that change the same names: with them the cycle may be opened without leaving a name empty. */
export class NeighbourFinder {
  readonly #calls: readonly Call[]
  readonly #waits: readonly ReadonlySet<number>[]
  readonly #inCycles: ReadonlySet<number>
  #byName: Map<string, number[]> | null = null

  /** `inCycles`: all calls that are part of a cycle. */
  constructor(calls: readonly Call[], waits: readonly ReadonlySet<number>[], inCycles: ReadonlySet<number>) {
    this.#calls = calls
    this.#waits = waits
    this.#inCycles = inCycles
  }
  /** Indexes of as many neighbours as the search can take. Each comes with all calls that it waits for and that are not made. */
  of(component: readonly number[], isMade: (at: number) => boolean): number[] {
    const found = new Set(component)
    for (const at of component.flatMap((member) => namesOf(this.#calls[member] as Call)).flatMap((name) => this.#at(name))) {
      const more = this.#pending(at, found, isMade)
      if (more !== null && recordCount([...found, ...more].map((one) => this.#calls[one] as Call)) <= MAX_RECORDS)
        for (const one of more) found.add(one)
    }
    return [...found].slice(component.length)
  }
  /** A call and what it waits for, without what is made or found; null if that includes a part of another cycle or too many calls. */
  #pending(from: number, found: ReadonlySet<number>, isMade: (at: number) => boolean): ReadonlySet<number> | null {
    const pending = new Set<number>()
    const queue = [from]
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (found.has(at) || isMade(at) || pending.has(at)) continue
      if (this.#inCycles.has(at)) return null
      pending.add(at)
      if (pending.size > MAX_RECORDS) return null
      queue.push(...(this.#waits[at] ?? []))
    }
    return pending
  }
  #at(name: string): readonly number[] {
    if (this.#byName === null) {
      this.#byName = new Map()
      for (const [at, call] of this.#calls.entries()) for (const one of namesOf(call)) append(this.#byName, one, at)
    }
    return this.#byName.get(name) ?? []
  }
}

const namesOf = ({ existing, desired }: Call): string[] =>
  [...new Set([existing?.name, desired?.name])].filter((name) => name !== undefined)
