/**
 * An order of calls for a zone that has room for few records more, along all edges, in which creates are never more than that ahead of deletes.
 *
 * Idea. Only deletes make room, so calls are made for the sake of a delete, one delete after another, and those that no delete waits for at the end,
 * when all room there will be is there. A delete that waits for no create goes first, then one that waits for one create, and so on; with a delete
 * goes all it waits for, and any other delete as soon as nothing holds it. To find the order that needs the least room is hard in general (it is
 * sequencing to minimise the greatest cumulative cost); this finds it where deletes wait for creates of their own.
 *
 * Where a create finds no room, calls that no delete waits for can give it, since they are not made yet:
 * - an update of the create's type brings its record instead of its own, which is created at the end: as many calls as before;
 * - an update's record is deleted now, and the record to be deleted by a call that still waits is updated to what the update would have brought:
 *   as many calls as before;
 * - an update is split: its record is deleted now, the other created at the end: one call more.
 * Each only where the state it leads to interrupts nothing. Where none is, the delete goes ahead of what it waits for, and interrupts something:
 * the limit comes first.
 */
import type { Call } from './pair-records.ts'
import type { Move, ZoneState } from './zone-state.ts'

export interface RoomSchedule {
  /** The calls in order, some of them made of others; the records are the same. */
  readonly way: readonly Call[]
  /** Calls that went ahead of others they should have waited for. */
  readonly forced: number
}

/** What may be done to calls for room: nothing, whatever leaves as many calls, splits too. */
export type Means = 'order' | 'pairs' | 'splits'

export interface RoomTask {
  readonly calls: readonly Call[]
  /** For each call the calls it waits for; without circles. */
  readonly waitsFor: readonly ReadonlySet<number>[]
  /** Records the target takes beyond the existing ones. */
  readonly headroom: number
  readonly means: Means
  /** The state before the first call, where means other than the order are allowed. */
  readonly start: () => ZoneState
  readonly isSafe: (state: ZoneState, move: Move) => boolean
}

/** Calls looked at where one is wanted that gives room. */
const TRIES = 256

export function scheduleInRoom({ calls, waitsFor, headroom, means, start, isSafe }: RoomTask): RoomSchedule {
  // A call that was used for room has another in its place, or none and waits for the call that does its part.
  const current: (Call | null)[] = [...calls]
  const waits: (readonly number[])[] = waitsFor.map((set) => [...set].sort((a, b) => kindOf(calls[a]) - kindOf(calls[b]) || a - b))
  const followers: number[][] = calls.map(() => [])
  waits.forEach((list, at) => {
    for (const before of list) followers[before]?.push(at)
  })
  const open = waits.map((list) => list.length)
  const done = new Uint8Array(calls.length)
  const way: Call[] = []
  const { deletes, needed } = deletesByNeed(calls, waits)
  const givers = calls.flatMap((call, at) => (kindOf(call) === UPDATE && !needed[at] ? [at] : []))
  let room = headroom
  let forced = 0
  let state: ZoneState | null = null

  const push = (call: Call): void => {
    way.push(call)
    room += (call.existing === null ? 0 : 1) - (call.desired === null ? 0 : 1)
    state?.make(call)
  }
  /** Makes a call, and then every delete that nothing holds any more. */
  const make = (first: number): void => {
    const free = [first]
    for (let at = free.pop(); at !== undefined; at = free.pop()) {
      if (done[at]) continue
      done[at] = 1
      const call = current[at]
      if (call) push(call)
      for (const follower of followers[at] as number[]) {
        open[follower] = (open[follower] as number) - 1
        if (open[follower] === 0 && (current[follower] === null || kindOf(current[follower]) === DELETE)) free.push(follower)
      }
    }
  }
  const isSafeNow = (move: Move): boolean => {
    if (state === null) {
      state = start()
      for (const call of way) state.make(call)
    }
    return isSafe(state, move)
  }
  /** The next update that no delete waits for and that can be used so; those that cannot now are asked last another time. */
  const takeGiver = (isFit: (call: Call) => boolean): number | undefined => {
    const later: number[] = []
    let found: number | undefined
    for (let tries = Math.min(TRIES, givers.length); tries > 0 && found === undefined; tries -= 1) {
      const at = givers.pop() as number
      if (done[at]) continue
      if (open[at] === 0 && isFit(current[at] as Call)) found = at
      else later.push(at)
    }
    givers.unshift(...later)
    return found
  }
  const bringInstead = (create: number): boolean => {
    const { desired } = current[create] as Call
    if (desired === null) return false
    const giver = takeGiver(({ existing }) => existing?.type === desired.type && isSafeNow({ existing, desired }))
    if (giver === undefined) return false
    const call = current[giver] as Call
    current[create] = { existing: call.existing, desired }
    current[giver] = { existing: null, desired: call.desired }
    return true
  }
  const deleteInstead = (): boolean => {
    const waiting = new Map<string, number>()
    for (const at of deletes) if (!done[at] && kindOf(current[at]) === DELETE) waiting.set(current[at]?.existing?.type as string, at)
    if (waiting.size === 0) return false
    const giver = takeGiver(({ existing }) => waiting.has(existing?.type as string) && isSafeNow({ existing, desired: null }))
    if (giver === undefined) return false
    const { existing, desired } = current[giver] as Call
    const other = waiting.get(existing?.type as string) as number
    push({ existing, desired: null })
    current[other] = { existing: (current[other] as Call).existing, desired }
    current[giver] = null
    waits[giver] = [other]
    open[giver] = 1
    followers[other]?.push(giver)
    return true
  }
  const split = (): boolean => {
    const giver = takeGiver(({ existing }) => isSafeNow({ existing, desired: null }))
    if (giver === undefined) return false
    const { existing, desired } = current[giver] as Call
    push({ existing, desired: null })
    current[giver] = { existing: null, desired }
    return true
  }
  const goAhead = (target: number): void => {
    const isLeft = (at: number): boolean => !done[at] && kindOf(current[at]) === DELETE
    const at = isLeft(target) ? target : deletes.find(isLeft)
    if (at === undefined) return
    forced += 1
    make(at)
  }
  const makeRoom = (create: number, target: number): void => {
    if (means !== 'order' && (bringInstead(create) || deleteInstead())) return
    if (means === 'splits' && split()) return
    goAhead(target)
  }
  /** Makes a call with all it waits for. */
  const makeWithAll = (target: number): void => {
    const path = [{ at: target, next: 0 }]
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const before = done[step.at] ? undefined : waits[step.at]?.[step.next]
      if (before !== undefined) {
        step.next += 1
        if (!done[before]) path.push({ at: before, next: 0 })
        continue
      }
      path.pop()
      if (done[step.at]) continue
      if (room <= 0 && kindOf(current[step.at]) === CREATE) makeRoom(step.at, target)
      if (!done[step.at]) make(step.at)
    }
  }
  for (const at of deletes) if (open[at] === 0) make(at)
  for (const at of deletes) makeWithAll(at)
  for (const at of calls.keys()) makeWithAll(at)
  return { way, forced }
}

const DELETE = 0
const UPDATE = 1
const CREATE = 2

const kindOf = (call: Call | null | undefined): 0 | 1 | 2 => (call?.desired === null ? DELETE : call?.existing === null ? CREATE : UPDATE)

/** Calls before a delete that are counted, so that no count takes long. */
const MOST_COUNTED = 64

/** All deletes, those that wait for fewer creates first, and which calls a delete waits for, directly or through others. */
function deletesByNeed(calls: readonly Call[], waits: readonly (readonly number[])[]): { deletes: number[]; needed: Uint8Array } {
  const needed = new Uint8Array(calls.length)
  const deletes = calls.flatMap((call, at) => (kindOf(call) === DELETE ? [at] : []))
  const stack = [...deletes]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const before of waits[at] as readonly number[]) {
      if (needed[before]) continue
      needed[before] = 1
      stack.push(before)
    }
  }
  const createsBefore = (at: number): number => {
    const seen = new Set([at])
    for (const one of seen) {
      if (seen.size > MOST_COUNTED) break
      for (const before of waits[one] as readonly number[]) seen.add(before)
    }
    let count = 0
    for (const one of seen) if (kindOf(calls[one]) === CREATE) count += 1
    return count
  }
  const need = new Map(deletes.map((at) => [at, createsBefore(at)]))
  return { deletes: deletes.sort((a, b) => (need.get(a) as number) - (need.get(b) as number) || a - b), needed }
}
