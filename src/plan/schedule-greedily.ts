/**
 * A safe order of many records to go and to come, with few splits, in near linear time. Records are done one call at a time, each safe in the state
 * before it. First what others wait for: a record that goes and frees its name is paired with any record of its type that can come now. Where nothing
 * of its type can come yet it is deleted, the other half of the update following later (a split); the name it frees lets the next one in, so that one
 * split serves a whole chain of swaps. What nobody waits for is paired last, as a reader would.
 *
 * In a full zone, what others wait for may lack room to come. A record that can go makes it: first one of a type of which more go than come, which
 * costs nothing, else half an update that nobody waits for, which costs a split.
 *
 * An end is always reached: what goes is always accepted, and what then still cannot come is made all the same. That is so only for a zone that the
 * target could not hold, of which its plan says so.
 */
import { type DefinedRecord, type ExistingRecord, type ResourceRecord, rrsetKey } from '../model/record.ts'
import { pointerOf } from './continuity.ts'
import { type Call, pairRecords } from './pair-records.ts'
import { clash } from './standing-conflicts.ts'
import type { Move, ZoneState } from './zone-state.ts'

/** Tells whether a move is safe now; relaxed, only whether the target accepts it. Neither asks for room. */
export interface Safety {
  isSafe(move: Move): boolean
  isAccepted(move: Move): boolean
}

/** Calls in an order in which each is accepted, and safe where that can be. `state` ends with all of them made. */
export function scheduleGreedily(
  removed: readonly ExistingRecord[],
  added: readonly DefinedRecord[],
  state: ZoneState,
  safety: Safety,
): Call[] {
  const way: Call[] = []
  let pool = createPool(removed, added, safety.isSafe)
  const make = (call: Call): boolean => {
    state.make(call)
    way.push(call)
    pool.take(call)
    return true
  }
  while (pool.size() > 0) {
    if (advance(pool, safety.isSafe, state, make)) continue
    const lacksRoom = state.isFull() && hasAny(pool.urgentComes)
    if (lacksRoom ? makeRoom(pool, make) : !pool.isAnybodyWaiting() && finish(pool, safety.isSafe, state, make)) continue
    if (splitOne(pool, state, make)) continue
    if (finish(pool, safety.isSafe, state, make)) continue
    // No order is safe: an interruption cannot be avoided. One call that is at least accepted, then on as before.
    const relaxed = createPool(pool.goes(), pool.comes(), safety.isAccepted, () => false)
    make(firstCall(relaxed, safety.isAccepted, state))
    pool = createPool(pool.goes(), pool.comes(), safety.isSafe)
  }
  return way
}

type IsSafe = (move: Move) => boolean
type Make = (call: Call) => boolean

/** The records still to go and to come, and which of them can be done now. */
interface Pool {
  size(): number
  take(call: Call): void
  goes(): ExistingRecord[]
  comes(): DefinedRecord[]
  isAnybodyWaiting(): boolean
  /** Updates in place that cannot be taken apart and are safe now. */
  readonly readyInPlace: ReadonlySet<Call>
  /** By type, what can be done now; the urgent ones have others waiting for them. */
  readonly readyGoes: ReadonlyMap<string, ReadonlySet<ExistingRecord>>
  readonly readyComes: ReadonlyMap<string, ReadonlySet<DefinedRecord>>
  readonly urgentGoes: ReadonlyMap<string, ReadonlySet<ExistingRecord>>
  readonly urgentComes: ReadonlyMap<string, ReadonlySet<DefinedRecord>>
  /** How many of a type are to go, less those to come. */
  surplus(type: string): number
}

function createPool(
  removed: readonly ExistingRecord[],
  added: readonly DefinedRecord[],
  isSafe: IsSafe,
  isInseparable: (call: Call) => boolean = mayNotBeSplit,
): Pool {
  const inPlace = new Set(pairRecords(removed, added).filter(isInseparable))
  const bound = new Set<ResourceRecord>(
    [...inPlace].flatMap(({ existing, desired }) => [existing as ResourceRecord, desired as ResourceRecord]),
  )
  const goes = new Set<ExistingRecord>()
  const comes = new Set<DefinedRecord>()
  const moving = new Set<string>([...removed, ...added].map((record) => record.name))
  /** The target of a pointer, where it is a name that records come to or go from. */
  const targetOf = (record: ResourceRecord | null): string | undefined => {
    const target = record === null ? undefined : pointerOf(record)?.target
    return target !== undefined && moving.has(target) ? target : undefined
  }
  const goesAt = new Groups<ExistingRecord>()
  const comesAt = new Groups<DefinedRecord>()
  const inPlaceAt = new Groups<Call>()
  const pointingAt = new Groups<DefinedRecord | Call>()
  const balance = new Map<string, number>()
  const addGo = (record: ExistingRecord): void => {
    goes.add(record)
    goesAt.add(record.name, record)
    balance.set(record.type, (balance.get(record.type) ?? 0) + 1)
  }
  const addCome = (record: DefinedRecord): void => {
    comes.add(record)
    comesAt.add(record.name, record)
    pointingAt.add(targetOf(record), record)
    balance.set(record.type, (balance.get(record.type) ?? 0) - 1)
  }
  for (const record of removed) if (!bound.has(record)) addGo(record)
  for (const record of added) if (!bound.has(record)) addCome(record)
  const inPlaceOf = new Map<ResourceRecord, Call>()
  for (const call of inPlace) {
    inPlaceAt.add(call.desired?.name, call)
    pointingAt.add(targetOf(call.desired), call)
    for (const record of [call.existing, call.desired]) if (record) inPlaceOf.set(record, call)
  }
  const readyInPlace = new Set<Call>()
  const readyGoes = new Groups<ExistingRecord>()
  const readyComes = new Groups<DefinedRecord>()
  const urgentGoes = new Groups<ExistingRecord>()
  const urgentComes = new Groups<DefinedRecord>()

  const isUrgentGo = (record: ExistingRecord): boolean =>
    [...comesAt.of(record.name)].some((other) => clash(record, other)) || goesAt.of(targetOf(record)).size > 0
  const isUrgentCome = (record: DefinedRecord): boolean => pointingAt.of(record.name).size > 0 || goesAt.of(record.name).size > 0
  const refresh = (name: string | undefined): void => {
    for (const record of goesAt.of(name)) {
      const ready = isSafe({ existing: record, desired: null })
      readyGoes.put(record.type, record, ready)
      urgentGoes.put(record.type, record, ready && isUrgentGo(record))
    }
    for (const record of [...comesAt.of(name), ...pointingAt.of(name)]) {
      if ('existing' in record) setMember(readyInPlace, record, isSafe(record))
      else {
        const ready = isSafe({ existing: null, desired: record })
        readyComes.put(record.type, record, ready)
        urgentComes.put(record.type, record, ready && isUrgentCome(record))
      }
    }
    for (const call of inPlaceAt.of(name)) setMember(readyInPlace, call, isSafe(call))
  }
  for (const name of moving) refresh(name)

  return {
    size: () => goes.size + comes.size + inPlace.size,
    goes: () => [...goes, ...[...inPlace].map((call) => call.existing as ExistingRecord)],
    comes: () => [...comes, ...[...inPlace].map((call) => call.desired as DefinedRecord)],
    isAnybodyWaiting: () => inPlace.size > 0 || [...goes].some(isUrgentGo),
    readyInPlace,
    readyGoes: readyGoes.map,
    readyComes: readyComes.map,
    urgentGoes: urgentGoes.map,
    urgentComes: urgentComes.map,
    surplus: (type) => balance.get(type) ?? 0,
    take({ existing, desired }) {
      // Who takes one half of an update in place leaves the other half on its own.
      for (const record of [existing, desired]) {
        const pair = record === null ? undefined : inPlaceOf.get(record)
        if (!pair || !inPlace.delete(pair)) continue
        readyInPlace.delete(pair)
        inPlaceAt.put(pair.desired?.name, pair, false)
        pointingAt.put(targetOf(pair.desired), pair, false)
        if (pair.existing && pair.existing !== existing) addGo(pair.existing)
        if (pair.desired && pair.desired !== desired) addCome(pair.desired)
      }
      if (existing && goes.delete(existing)) {
        balance.set(existing.type, (balance.get(existing.type) ?? 0) - 1)
        for (const group of [readyGoes, urgentGoes]) group.put(existing.type, existing, false)
        goesAt.put(existing.name, existing, false)
      }
      if (desired && comes.delete(desired)) {
        balance.set(desired.type, (balance.get(desired.type) ?? 0) + 1)
        for (const group of [readyComes, urgentComes]) group.put(desired.type, desired, false)
        comesAt.put(desired.name, desired, false)
        pointingAt.put(targetOf(desired), desired, false)
      }
      for (const name of new Set([existing?.name, desired?.name, targetOf(existing), targetOf(desired)])) refresh(name)
    },
  }
}

/** An update whose halves cannot stand side by side and of which neither may be missing: a CNAME, a null MX. */
const mayNotBeSplit = ({ existing, desired }: Call): boolean =>
  existing !== null && desired !== null && rrsetKey(existing) === rrsetKey(desired) && clash(existing, desired)

/** Sets by a key. */
class Groups<T> {
  readonly map = new Map<string, Set<T>>()
  add(key: string | undefined, value: T): void {
    if (key !== undefined) this.put(key, value, true)
  }
  put(key: string | undefined, value: T, present: boolean): void {
    if (key === undefined) return
    const set = this.map.get(key)
    if (set) setMember(set, value, present)
    else if (present) this.map.set(key, new Set([value]))
  }
  of(key: string | undefined): ReadonlySet<T> {
    return (key === undefined ? undefined : this.map.get(key)) ?? NOTHING
  }
}

const NOTHING: ReadonlySet<never> = new Set<never>()

const setMember = <T>(set: Set<T>, value: T, present: boolean): void => void (present ? set.add(value) : set.delete(value))

/** Candidates looked at where a pair is not safe though each half is. */
const TRIES = 8

/** Makes one call that others wait for and that costs no split. */
function advance(pool: Pool, isSafe: IsSafe, state: ZoneState, make: Make): boolean {
  for (const call of pool.readyInPlace) return make(call)
  for (const [type, goes] of pool.urgentGoes) {
    for (const existing of first(goes, TRIES)) {
      for (const desired of first(pool.readyComes.get(type) ?? NOTHING, TRIES))
        if (isSafe({ existing, desired })) return make({ existing, desired })
      if (pool.surplus(type) > 0) return make({ existing, desired: null })
    }
  }
  for (const [type, comes] of pool.urgentComes) {
    for (const desired of first(comes, TRIES)) {
      for (const existing of first(pool.readyGoes.get(type) ?? NOTHING, TRIES))
        if (isSafe({ existing, desired })) return make({ existing, desired })
      if (pool.surplus(type) < 0 && !state.isFull()) return make({ existing: null, desired })
    }
  }
  return false
}

/** Takes away a record so that others can come: one that has to go without another for it, else half an update. */
function makeRoom(pool: Pool, make: Make): boolean {
  const types = [...pool.readyGoes].filter(([, goes]) => goes.size > 0).sort(([a], [b]) => pool.surplus(b) - pool.surplus(a))
  for (const [, goes] of types) for (const existing of goes) return make({ existing, desired: null })
  return false
}

const hasAny = (groups: ReadonlyMap<string, ReadonlySet<unknown>>): boolean => {
  for (const group of groups.values()) if (group.size > 0) return true
  return false
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count
  for (const item of items) {
    if (left === 0) return
    left -= 1
    yield item
  }
}

/** Pairs as a reader would make them, where nothing waits for anything any more; what makes room first. */
function finish(pool: Pool, isSafe: IsSafe, state: ZoneState, make: Make): boolean {
  let made = false
  const calls = pairRecords(pool.goes(), pool.comes())
  for (const call of [...calls.filter(({ existing }) => existing !== null), ...calls.filter(({ existing }) => existing === null)])
    if (state.hasRoomFor(call) && isSafe(call)) made = make(call)
  return made
}

/** Half an update now, the other half later. */
function splitOne(pool: Pool, state: ZoneState, make: Make): boolean {
  for (const goes of pool.urgentGoes.values()) for (const existing of goes) return make({ existing, desired: null })
  if (!state.isFull()) for (const comes of pool.urgentComes.values()) for (const desired of comes) return make({ existing: null, desired })
  return false
}

/** One call that is accepted; where none is, because nothing is left to go and what comes has no place, one that comes all the same. */
function firstCall(pool: Pool, isAccepted: IsSafe, state: ZoneState): Call {
  for (const call of pool.readyInPlace) return call
  for (const goes of pool.urgentGoes.values()) for (const existing of goes) return { existing, desired: null }
  for (const call of pairRecords(pool.goes(), pool.comes())) if (state.hasRoomFor(call) && isAccepted(call)) return call
  for (const goes of pool.readyGoes.values()) for (const existing of goes) return { existing, desired: null }
  return { existing: null, desired: pool.comes()[0] as DefinedRecord }
}
