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
import type { DefinedRecord, ExistingRecord } from '../model/record.ts'
import { isPointerType } from './continuity.ts'
import { type Call, pairRecords } from './pair-records.ts'
import { createPool, type Pool } from './record-pool.ts'
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
  const pool = createPool(removed, added, safety.isSafe)
  /** The same records, asked only whether the target accepts them; made when it is first needed. */
  let relaxed: Pool | null = null
  const make = (call: Call): boolean => {
    state.make(call)
    way.push(call)
    pool.take(call)
    relaxed?.take(call)
    return true
  }
  let pairedAt = Number.POSITIVE_INFINITY
  /** To pair all that is left takes long, so that it is done again only when half of it is done; between, what can be done at once is. */
  const finish = (): boolean => {
    if (2 * pool.size() > pairedAt) return makeAny(pool, safety.isSafe, state, make)
    pairedAt = pool.size()
    return pairAll(pool, safety.isSafe, state, make)
  }
  while (pool.size() > 0) {
    if (advance(pool, safety.isSafe, state, make)) continue
    const lacksRoom = state.isFull() && hasAny(pool.urgentComes)
    if (lacksRoom ? makeRoom(pool, make) : !pool.isAnybodyWaiting() && finish()) continue
    if (splitOne(pool, state, make)) continue
    if (finish()) continue
    // No order is safe: an interruption cannot be avoided. One call that is at least accepted, then on as before.
    relaxed ??= createPool(pool.goes(), pool.comes(), safety.isAccepted, () => false)
    make(firstCall(relaxed, safety.isAccepted, state))
  }
  return way
}

type IsSafe = (move: Move) => boolean
const NOTHING: ReadonlySet<never> = new Set<never>()
type Make = (call: Call) => boolean

/** Candidates looked at where a pair is not safe though each half is. */
const TRIES = 8

/** Makes one call that others wait for and that costs no split. */
function advance(pool: Pool, isSafe: IsSafe, state: ZoneState, make: Make): boolean {
  for (const call of pool.readyInPlace) return make(call)
  for (const [type, goes] of pointersFirst(pool.urgentGoes)) {
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

/** What points at a name that goes lets that go, but not the other way round. */
const pointersFirst = <T>(groups: ReadonlyMap<string, T>): (readonly [string, T])[] =>
  [...groups].sort(([a], [b]) => Number(isPointerType(b)) - Number(isPointerType(a)))

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
function pairAll(pool: Pool, isSafe: IsSafe, state: ZoneState, make: Make): boolean {
  let made = false
  const calls = pairRecords(pool.goes(), pool.comes())
  for (const call of [...calls.filter(({ existing }) => existing !== null), ...calls.filter(({ existing }) => existing === null)])
    if (state.hasRoomFor(call) && isSafe(call)) made = make(call)
  return made
}

/** Makes one call that costs no split. */
function makeAny(pool: Pool, isSafe: IsSafe, state: ZoneState, make: Make): boolean {
  for (const [type, goes] of pool.readyGoes) {
    for (const existing of first(goes, TRIES)) {
      for (const desired of first(pool.readyComes.get(type) ?? NOTHING, TRIES))
        if (isSafe({ existing, desired })) return make({ existing, desired })
      if (pool.surplus(type) > 0) return make({ existing, desired: null })
    }
  }
  if (state.isFull()) return false
  for (const [type, comes] of pool.readyComes) {
    if (pool.surplus(type) < 0) for (const desired of comes) return make({ existing: null, desired })
  }
  return false
}

/** Half an update now, the other half later: of a few, one that lets most others in. */
function splitOne(pool: Pool, state: ZoneState, make: Make): boolean {
  const goes = pointersFirst(pool.urgentGoes).flatMap(([, records]) => [...first(records, TRIES)])
  const [one, ...others] = goes
  if (one) {
    const existing = others.reduce((best, other) => (pool.letsIn(other) > pool.letsIn(best) ? other : best), one)
    return make({ existing, desired: null })
  }
  if (!state.isFull()) for (const comes of pool.urgentComes.values()) for (const desired of comes) return make({ existing: null, desired })
  return false
}

/** One call that is accepted; where none is, because nothing is left to go and what comes has no place, one that comes all the same. */
function firstCall(pool: Pool, isAccepted: IsSafe, state: ZoneState): Call {
  for (const goes of pool.urgentGoes.values()) for (const existing of goes) return { existing, desired: null }
  for (const [type, goes] of pool.readyGoes)
    for (const existing of first(goes, TRIES))
      for (const desired of first(pool.readyComes.get(type) ?? NOTHING, TRIES))
        if (isAccepted({ existing, desired })) return { existing, desired }
  for (const goes of pool.readyGoes.values()) for (const existing of goes) return { existing, desired: null }
  if (!state.isFull()) for (const comes of pool.readyComes.values()) for (const desired of comes) return { existing: null, desired }
  return { existing: null, desired: pool.nextCome() }
}
