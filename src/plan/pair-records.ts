/**
 * Pairs of a record that goes and one that comes, as a reader would make them: of one type always; the same name and data first (a TTL
 * change), then the same name, then the closest name: the one with the longest common suffix of labels. Among the records of one name, or those
 * that meet below one, equal data go first, then the closest pairs (`closeness.ts`).
 *
 * Near linear: names are met bottom-up in a trie of reversed labels, and what is left over at a name is carried to its parent. Each record is compared
 * with each where that is little work; larger sets are paired in sorted order.
 */
import { type DomainName, parentOf, ROOT } from '../model/domain-name.ts'
import { compareRecords, type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord } from '../model/record.ts'
import { closeness } from './closeness.ts'

/** One call to be: an update where both are there, else a delete or a create. */
export interface Call {
  readonly existing: ExistingRecord | null
  readonly desired: DefinedRecord | null
  /** Why this is half of what one update would do; absent where no update was split. */
  readonly split?: string | undefined
}

/** Every record of both sides in exactly one call, with as many pairs for each type as there can be. */
export function pairRecords(removed: readonly ExistingRecord[], added: readonly DefinedRecord[]): Call[] {
  const calls: Call[] = []
  const left = { removed: [] as ExistingRecord[], added: [] as DefinedRecord[] }
  const removedSets = groupRrsets(removed)
  for (const [key, desired] of groupRrsets(added)) {
    const existing = removedSets.get(key) ?? []
    removedSets.delete(key)
    pairSet(existing, desired, calls, left)
  }
  for (const existing of removedSets.values()) appendAll(left.removed, existing)
  pairAcrossNames(left.removed, left.added, calls)
  return calls
}

interface Unpaired {
  readonly removed: ExistingRecord[]
  readonly added: DefinedRecord[]
}

/** Pairs within one list each: equal data first, then the closest. What is over goes to `left`. */
function pairSet(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[], left: Unpaired): void {
  const [existing, desired] = [removed[0], added[0]]
  if (existing && desired && removed.length + added.length === 2) {
    calls.push({ existing, desired })
    return
  }
  if (removed.length === 0 || added.length === 0) {
    appendAll(left.removed, removed)
    appendAll(left.added, added)
    return
  }
  const byData = new Map<string, ExistingRecord[]>()
  for (const record of [...removed].sort(compareRecords)) {
    const list = byData.get(record.data)
    if (list) list.push(record)
    else byData.set(record.data, [record])
  }
  const rest: DefinedRecord[] = []
  for (const desired of [...added].sort(compareRecords)) {
    const existing = byData.get(desired.data)?.shift()
    if (existing) calls.push({ existing, desired })
    else rest.push(desired)
  }
  const unpaired = [...byData.values()].flat().sort(compareRecords)
  if (unpaired.length * rest.length > MAX_COMPARED) pairInOrder(unpaired, rest, calls, left)
  else pairClosest(unpaired, rest, calls, left)
}

/** Pairs of which each is looked at; so at most 16 for each record where there are as many on either side. */
const MAX_COMPARED = 1024

function pairInOrder(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[], left: Unpaired): void {
  const pairs = Math.min(removed.length, added.length)
  for (let i = 0; i < pairs; i += 1) calls.push({ existing: removed[i] as ExistingRecord, desired: added[i] as DefinedRecord })
  appendAll(left.removed, removed.slice(pairs))
  appendAll(left.added, added.slice(pairs))
}

/** The closest pair first, of equally close ones the first in sorted order. */
function pairClosest(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[], left: Unpaired): void {
  const pairs = removed.flatMap((existing) => added.map((desired) => ({ existing, desired, closeness: closeness(existing, desired) })))
  const taken = new Set<ResourceRecord>()
  for (const { existing, desired } of pairs.sort((a, b) => b.closeness - a.closeness)) {
    if (taken.has(existing) || taken.has(desired)) continue
    taken.add(existing).add(desired)
    calls.push({ existing, desired })
  }
  for (const record of removed) if (!taken.has(record)) left.removed.push(record)
  for (const record of added) if (!taken.has(record)) left.added.push(record)
}

function pairAcrossNames(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[]): void {
  const addedByType = groupByType(added)
  for (const [type, existing] of groupByType(removed)) {
    const desired = addedByType.get(type) ?? []
    addedByType.delete(type)
    if (desired.length > 0) pairInTrie(existing, desired, calls)
    else for (const record of existing) calls.push({ existing: record, desired: null })
  }
  for (const desired of addedByType.values()) for (const record of desired) calls.push({ existing: null, desired: record })
}

/** Appends without handing the items over as arguments, of which there may be too many. */
function appendAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item)
}

function groupByType<R extends { readonly type: string }>(records: readonly R[]): Map<string, R[]> {
  const groups = new Map<string, R[]>()
  for (const record of records) {
    const group = groups.get(record.type)
    if (group) group.push(record)
    else groups.set(record.type, [record])
  }
  return groups
}

/** Names by their number of labels, deepest first; leftovers of a name join its parent's. */
function pairInTrie(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[]): void {
  const levels: Map<DomainName, Unpaired>[] = []
  const nodeOf = (name: DomainName, depth: number): Unpaired => {
    levels[depth] ??= new Map()
    const level = levels[depth]
    let node = level.get(name)
    if (!node) {
      node = { removed: [], added: [] }
      level.set(name, node)
    }
    return node
  }
  for (const record of removed) nodeOf(record.name, depthOf(record.name)).removed.push(record)
  for (const record of added) nodeOf(record.name, depthOf(record.name)).added.push(record)
  for (let depth = levels.length - 1; depth >= 0; depth -= 1) {
    for (const [name, node] of levels[depth] ?? []) {
      const left: Unpaired = { removed: [], added: [] }
      pairSet(node.removed, node.added, calls, left)
      if (depth === 0) {
        for (const existing of left.removed) calls.push({ existing, desired: null })
        for (const desired of left.added) calls.push({ existing: null, desired })
        continue
      }
      const parent = nodeOf(parentOf(name), depth - 1)
      for (const record of left.removed) parent.removed.push(record)
      for (const record of left.added) parent.added.push(record)
    }
  }
}

function depthOf(name: DomainName): number {
  let depth = 0
  for (let at = name; at !== ROOT; at = parentOf(at)) depth += 1
  return depth
}
