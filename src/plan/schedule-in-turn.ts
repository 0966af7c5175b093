/**
 * An order of calls for a zone with hardly any room, or too many records to search together, one group of records after another. A group is of records that share names, or point at names that
 * others come to or go from; what is done with others does not change what is safe in it, so that only room passes from one to the next. Groups that
 * lose records go first. Each is done in an order of its own calls where one has room, else searched exactly; where that finds nothing, together with
 * another group, which may give room by a split, or again when others have left more room.
 *
 * Records that one call renames are of one group. Where groups become too large so, renames from one to another are given up, which takes more calls.
 */

import { pointerOf } from './continuity.ts'
import { comesOf, goesOf, recordsOf } from './least-calls.ts'
import type { Call } from './pair-records.ts'
import { MAX_EXACT, scheduleExactly } from './schedule-exactly.ts'
import { type RoomTask, scheduleInRoom } from './schedule-in-room.ts'

/** Sets of records done that exact searches for one plan may look at, so that they do not take long together. */
const MAX_STATES = 200 * 2 ** MAX_EXACT

/** Groups tried together with one that lacks room. */
const MAX_GIVERS = 32

/** Calls for the same records, in an order that has room for each and in which each is safe; null where it is not found so. */
export function scheduleInTurn(task: Omit<RoomTask, 'means'>, renames: 'kept' | 'given up'): Call[] | null {
  const state = task.start()
  const way: Call[] = []
  let room = task.headroom
  let states = 0
  const search = (calls: readonly Call[]): readonly Call[] | null => {
    const [goes, comes] = [goesOf(calls), comesOf(calls)]
    const events = goes.length + comes.length
    if (events > MAX_EXACT || states > MAX_STATES) return null
    states += 2 ** events
    const found = scheduleExactly(goes, comes, state, 'continuity')
    return found === null || found.missed > 0 ? null : found.calls
  }
  const calls = renames === 'kept' ? task.calls : task.calls.flatMap(halvesOf)
  const orderOf = (group: readonly number[]): readonly Call[] | null =>
    (renames === 'kept' ? orderAsTheyAre(task, group, room) : null) ?? search(group.map((at) => calls[at] as Call))
  const take = (order: readonly Call[] | null): boolean => {
    for (const call of order ?? []) {
      state.make(call)
      way.push(call)
      room += roomOf(call)
    }
    return order !== null
  }
  let left = groupsOf(calls).sort((a, b) => growthOf(a, calls) - growthOf(b, calls))
  while (left.length > 0) {
    const lacking: number[][] = []
    let givers: number[][] = []
    for (const group of left) {
      const order = orderOf(group)
      if (order === null) lacking.push(group)
      else if (growthOf(group, calls) >= 0) givers.push(group)
      else take(order)
    }
    const together = (group: readonly number[]): boolean => {
      const giver = givers.slice(0, MAX_GIVERS).find((other) => take(search([...group, ...other].map((at) => calls[at] as Call))))
      givers = givers.filter((other) => other !== giver)
      return giver !== undefined
    }
    const later = lacking.filter((group) => !take(orderOf(group)) && !together(group))
    for (const group of givers) if (!take(orderOf(group))) later.push(group)
    if (later.length === left.length) return null
    left = later
  }
  return way
}

/** An update as two calls, which an exact search joins again where both are in one group. */
const halvesOf = (call: Call): Call[] =>
  call.existing && call.desired
    ? [
        { existing: call.existing, desired: null },
        { existing: null, desired: call.desired },
      ]
    : [call]

function orderAsTheyAre(task: Omit<RoomTask, 'means'>, group: readonly number[], room: number): readonly Call[] | null {
  const places = new Map(group.map((at, place) => [at, place]))
  const waitsFor = group.map((at) => new Set([...(task.waitsFor[at] ?? [])].flatMap((before) => places.get(before) ?? [])))
  const calls = group.map((at) => task.calls[at] as Call)
  const { way, forced } = scheduleInRoom({ ...task, calls, waitsFor, headroom: room, means: 'order' })
  return forced === 0 && isRoomFor(way, room) ? way : null
}

/** The room a call gives, below 0 where it takes some. */
const roomOf = ({ existing, desired }: Call): number => (existing === null ? 0 : 1) - (desired === null ? 0 : 1)

const growthOf = (group: readonly number[], calls: readonly Call[]): number => group.reduce((sum, at) => sum - roomOf(calls[at] as Call), 0)

function isRoomFor(way: readonly Call[], headroom: number): boolean {
  let room = headroom
  return way.every((call) => {
    room += roomOf(call)
    return room >= 0 || call.existing !== null
  })
}

/** The calls in groups that share no name, in the order of their first calls. */
function groupsOf(calls: readonly Call[]): number[][] {
  const parents = new Map<string, string>()
  const rootOf = (name: string): string => {
    let root = name
    for (let up = parents.get(root); up !== undefined && up !== root; up = parents.get(root)) root = up
    for (let at = name; at !== root; ) {
      const up = parents.get(at) ?? root
      parents.set(at, root)
      at = up
    }
    return root
  }
  const owners = new Set<string>(calls.flatMap(recordsOf).map(({ name }) => name))
  /** The names of a call's records and of what they point at, where something comes to that or goes from it. */
  const namesOf = (call: Call): string[] =>
    recordsOf(call).flatMap((record) => {
      const target = pointerOf(record)?.target
      return target !== undefined && owners.has(target) ? [record.name, target] : [record.name]
    })
  for (const call of calls) {
    const [first, ...others] = namesOf(call)
    for (const other of others) parents.set(rootOf(other), rootOf(first as string))
  }
  const groups = new Map<string, number[]>()
  calls.forEach((call, at) => {
    const [first] = namesOf(call)
    const root = rootOf(first as string)
    const group = groups.get(root)
    if (group) group.push(at)
    else groups.set(root, [at])
  })
  return [...groups.values()]
}
