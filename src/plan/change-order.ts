/**
 * The order of calls as a graph: an edge from a call to those that must be done before it. Every order that respects the graph,
 * also a concurrent one, passes only through states the service accepts.
 *
 * Hard edges, which the service's rules demand, always lead from what leaves to what comes: a CNAME and other types at its name,
 * a null MX and other MX, and, where the zone is full, create i waits for delete i - headroom. A call that only leaves waits for
 * nothing by a hard edge, so hard edges cannot form a cycle. Soft edges keep what is pointed at in place: what points waits for its
 * target to come, a target that leaves waits for what pointed at it. Where soft edges would close a cycle they yield.
 */
import type { DomainName } from '../model/domain-name.ts'
import { targetName } from '../model/rdata/canonical.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { Call } from './least-calls.ts'
import { clash } from './standing-conflicts.ts'

/** For each call the indexes of the calls it waits for, ascending. `headroom` is how many records the target takes beyond the existing ones. */
export function orderCalls(calls: readonly Call[], difference: ZoneDifference, headroom: number): number[][] {
  const hard = calls.map(() => new Set<number>())
  addExclusivityEdges(calls, hard)
  addLimitEdges(calls, hard, headroom)
  const soft = calls.map(() => new Set<number>())
  addTargetEdges(calls, difference, soft)
  return dropCyclicSoftEdges(hard, soft)
}

const isNullMx = (record: ResourceRecord): boolean => record.type === 'MX' && record.data === '0 .'

function addExclusivityEdges(calls: readonly Call[], edges: Set<number>[]): void {
  const leaving = new Map<DomainName, number[]>()
  const sensitive = new Set<DomainName>()
  calls.forEach(({ existing, desired }, index) => {
    for (const record of [existing, desired]) if (record && (record.type === 'CNAME' || isNullMx(record))) sensitive.add(record.name)
    if (existing) {
      const list = leaving.get(existing.name)
      if (list) list.push(index)
      else leaving.set(existing.name, [index])
    }
  })
  calls.forEach(({ desired }, index) => {
    if (!desired || !sensitive.has(desired.name)) return
    for (const other of leaving.get(desired.name) ?? []) {
      const leaves = calls[other]?.existing
      if (other !== index && leaves && clash(leaves, desired)) edges[index]?.add(other)
    }
  })
}

function addLimitEdges(calls: readonly Call[], edges: Set<number>[], headroom: number): void {
  const deletes = calls.flatMap((call, index) => (call.desired === null ? [index] : []))
  const creates = calls.flatMap((call, index) => (call.existing === null ? [index] : []))
  if (creates.length <= headroom) return
  // The creates before position `headroom` need no room; each later one needs a delete of its own, so that at any moment the
  // creates done are at most headroom + the deletes done.
  creates.forEach((create, position) => {
    const needed = deletes[position - headroom]
    if (position >= headroom && needed !== undefined) edges[create]?.add(needed)
  })
}

function addTargetEdges(calls: readonly Call[], difference: ZoneDifference, edges: Set<number>[]): void {
  const coming = new Map<string, number[]>()
  const going = new Map<string, number[]>()
  const note = (map: Map<string, number[]>, name: string, index: number): void => {
    const list = map.get(name)
    if (list) list.push(index)
    else map.set(name, [index])
  }
  calls.forEach(({ existing, desired }, index) => {
    if (existing && existing.name !== desired?.name) note(going, existing.name, index)
    if (desired && desired.name !== existing?.name) note(coming, desired.name, index)
  })
  const stays = new Set(difference.kept.concat(difference.unmanaged).map((record) => record.name as string))
  calls.forEach(({ existing, desired }, index) => {
    const before = existing ? targetName(existing.type, existing.data) : null
    const after = desired ? targetName(desired.type, desired.data) : null
    if (after !== null && !stays.has(after)) for (const other of coming.get(after) ?? []) if (other !== index) edges[index]?.add(other)
    if (before !== null && before !== after) for (const other of going.get(before) ?? []) if (other !== index) edges[other]?.add(index)
  })
}

/** Kahn's algorithm over both kinds of edges; where nothing is free, the soft edges of the first waiting call that hard edges do not hold yield. */
function dropCyclicSoftEdges(hard: readonly Set<number>[], soft: readonly Set<number>[]): number[][] {
  const count = hard.length
  const waitsFor = hard.map((set, index) => new Set([...set, ...(soft[index] as Set<number>)]))
  const heldBy: number[][] = hard.map(() => [])
  waitsFor.forEach((set, index) => {
    for (const other of set) heldBy[other]?.push(index)
  })
  const open = waitsFor.map((set) => set.size)
  const hardOpen = hard.map((set) => set.size)
  const done = new Array<boolean>(count).fill(false)
  const ready: number[] = []
  open.forEach((size, index) => {
    if (size === 0) ready.push(index)
  })
  let finished = 0
  let scan = 0
  while (finished < count) {
    const index = ready.pop()
    if (index === undefined) {
      while (scan < count && (done[scan] || (hardOpen[scan] ?? 0) > 0)) scan += 1
      if (scan === count) {
        scan = 0
        continue
      }
      for (const other of soft[scan] as Set<number>) if (!done[other] && !hard[scan]?.has(other)) waitsFor[scan]?.delete(other)
      open[scan] = 0
      ready.push(scan)
      continue
    }
    if (done[index]) continue
    done[index] = true
    finished += 1
    for (const other of heldBy[index] as number[]) {
      if (!waitsFor[other]?.has(index)) continue
      open[other] = (open[other] ?? 0) - 1
      if (hard[other]?.has(index)) {
        hardOpen[other] = (hardOpen[other] ?? 0) - 1
        if (other < scan) scan = other
      }
      if (open[other] === 0 && !done[other]) ready.push(other)
    }
  }
  return waitsFor.map((set) => [...set].sort((a, b) => a - b))
}
