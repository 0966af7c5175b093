/**
 * Step 2: pairs of a removed and an added record, each of which one update can carry out, as a reader would make them. The records of a pair have the same
 * type. Equal names and data come first (a TTL change), then equal names, then names with the longest common suffix of labels; among records of one name,
 * or records that meet below a common parent, equal data come first, then the most similar pairs.
 *
 * Near linear: names meet bottom-up in a trie of reversed labels, and unpaired records of a name move up to its parent. Each record is compared with each if
 * that is little work; larger sets are paired in sorted order.
 */
import { groupBy } from '../base/group-by.ts'
import { type DomainName, parentOf, ROOT } from '../dns/domain-name.ts'
import { compareRecords, type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'

/** An update if it has both records, else a delete or a create. */
export interface Call {
  readonly existing: ExistingRecord | null
  readonly desired: DefinedRecord | null
  /** Why this is half of an update that was split, in words. */
  readonly split?: string | undefined
}

export const recordOf = (call: Call): ResourceRecord => (call.desired ?? call.existing) as ResourceRecord

export const removalsOf = (calls: readonly Call[]): ExistingRecord[] => calls.flatMap(({ existing }) => existing ?? [])

export const additionsOf = (calls: readonly Call[]): DefinedRecord[] => calls.flatMap(({ desired }) => desired ?? [])

/** Orders calls for readers: by the record that a call leaves or, for a delete, removes. */
export const compareCalls = (a: Call, b: Call): number =>
  compareRecords(recordOf(a), recordOf(b)) || (a.desired === null ? 1 : 0) - (b.desired === null ? 1 : 0)

/** The fewest calls for the records of these calls: per type the greater of removals and additions. */
export function lowerBound(calls: readonly Call[]): number {
  const balance = new Map<string, { removed: number; added: number }>()
  for (const call of calls) {
    const { type } = recordOf(call)
    const counts = balance.get(type) ?? { removed: 0, added: 0 }
    balance.set(type, counts)
    if (call.existing) counts.removed += 1
    if (call.desired) counts.added += 1
  }
  return [...balance.values()].reduce((sum, { removed, added }) => sum + Math.max(removed, added), 0)
}

/** Every record in exactly one call, with as many pairs of each type as possible. */
export function pairRecords(removed: readonly ExistingRecord[], added: readonly DefinedRecord[]): Call[] {
  const calls: Call[] = []
  const unpaired = pairEachRrset(removed, added, calls)
  const removedByType = groupBy(unpaired.removed, typeOf)
  const addedByType = groupBy(unpaired.added, typeOf)
  for (const type of new Set([...removedByType.keys(), ...addedByType.keys()])) {
    const [existing, desired] = [removedByType.get(type) ?? [], addedByType.get(type) ?? []]
    if (existing.length > 0 && desired.length > 0) pairInTrie(existing, desired, calls)
    else addSingles({ removed: existing, added: desired }, calls)
  }
  return calls
}

/** The same, with pairs only inside an RRset. */
export function pairWithinRrsets(removed: readonly ExistingRecord[], added: readonly DefinedRecord[]): Call[] {
  const calls: Call[] = []
  addSingles(pairEachRrset(removed, added, calls), calls)
  return calls
}

/** Returns the records that find no partner in their RRset. */
function pairEachRrset(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[]): Unpaired {
  const unpaired: Unpaired = { removed: [], added: [] }
  const removedSets = groupRrsets(removed)
  for (const [key, desired] of groupRrsets(added)) {
    pairSet({ removed: removedSets.get(key) ?? [], added: desired }, calls, unpaired)
    removedSets.delete(key)
  }
  for (const existing of removedSets.values()) appendAll(unpaired.removed, existing)
  return unpaired
}

interface Unpaired {
  readonly removed: ExistingRecord[]
  readonly added: DefinedRecord[]
}

function addSingles({ removed, added }: Unpaired, calls: Call[]): void {
  for (const existing of removed) calls.push({ existing, desired: null })
  for (const desired of added) calls.push({ existing: null, desired })
}

/** Maximum number of pairs that are compared, so at most 32 per record. */
const MAX_COMPARED = 1024

/** Pairs the records of two lists: those with equal data, then the most similar. The rest is left over. */
function pairSet({ removed, added }: Unpaired, calls: Call[], leftOver: Unpaired): void {
  const [existing, desired] = [removed[0], added[0]]
  if (existing && desired && removed.length === 1 && added.length === 1) {
    calls.push({ existing, desired })
    return
  }
  if (!existing || !desired) {
    appendAll(leftOver.removed, removed)
    appendAll(leftOver.added, added)
    return
  }
  const sorted = removed.toSorted(compareRecords)
  const byData = groupBy(sorted, ({ data }) => data)
  const paired = new Set<ResourceRecord>()
  const rest: DefinedRecord[] = []
  for (const record of added.toSorted(compareRecords)) {
    const equal = byData.get(record.data)?.shift()
    if (equal) {
      calls.push({ existing: equal, desired: record })
      paired.add(equal)
    } else rest.push(record)
  }
  const unpaired: Unpaired = { removed: sorted.filter((record) => !paired.has(record)), added: rest }
  const pairs = unpaired.removed.length * rest.length > MAX_COMPARED ? pairsInOrder(unpaired) : mostSimilarPairs(unpaired)
  for (const pair of pairs) {
    if (paired.has(pair.existing) || paired.has(pair.desired)) continue
    paired.add(pair.existing).add(pair.desired)
    calls.push(pair)
  }
  for (const record of unpaired.removed) if (!paired.has(record)) leftOver.removed.push(record)
  for (const record of unpaired.added) if (!paired.has(record)) leftOver.added.push(record)
}

interface Pair {
  readonly existing: ExistingRecord
  readonly desired: DefinedRecord
}

const pairsInOrder = ({ removed, added }: Unpaired): Pair[] =>
  removed.slice(0, added.length).map((existing, at) => ({ existing, desired: added[at] as DefinedRecord }))

/** All pairs, the most similar first, equally similar ones in sorted order. */
const mostSimilarPairs = ({ removed, added }: Unpaired): Pair[] =>
  removed
    .flatMap((existing) => added.map((desired) => ({ pair: { existing, desired }, similarity: similarity(existing, desired) })))
    .sort((a, b) => b.similarity - a.similarity)
    .map(({ pair }) => pair)

/** Appends without passing the items as arguments, of which there may be too many. */
function appendAll<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item)
}

const typeOf = ({ type }: ResourceRecord): string => type

/** Pairs the records of one type by name, the deepest names first. */
function pairInTrie(removed: readonly ExistingRecord[], added: readonly DefinedRecord[], calls: Call[]): void {
  const levels: Map<DomainName, Unpaired>[] = []
  const nodeOf = (name: DomainName, depth: number): Unpaired => {
    levels[depth] ??= new Map()
    const level = levels[depth]
    const node = level.get(name) ?? { removed: [], added: [] }
    level.set(name, node)
    return node
  }
  for (const record of removed) nodeOf(record.name, depthOf(record.name)).removed.push(record)
  for (const record of added) nodeOf(record.name, depthOf(record.name)).added.push(record)
  for (let depth = levels.length - 1; depth > 0; depth -= 1) {
    for (const [name, node] of levels[depth] ?? []) pairSet(node, calls, nodeOf(parentOf(name), depth - 1))
  }
  const leftOver: Unpaired = { removed: [], added: [] }
  for (const root of levels[0]?.values() ?? []) pairSet(root, calls, leftOver)
  addSingles(leftOver, calls)
}

function depthOf(name: DomainName): number {
  let depth = 0
  for (let at = name; at !== ROOT; at = parentOf(at)) depth += 1
  return depth
}

/** How similar two records of one type are to a reader: greater if one is more likely to be taken for a change of the other. */
export function similarity(existing: ResourceRecord, desired: ResourceRecord): number {
  const isSameSet = rrsetKey(existing) === rrsetKey(desired)
  const ofNames = isSameSet ? WITHIN_RRSET : SUFFIX_WEIGHT * commonSuffix(existing.name, desired.name, 0)
  return ofNames + (existing.data === desired.data ? EQUAL_DATA : sharedPart(existing.data, desired.data))
}

/** More than all that names and data can add up to: 254 octets of name in text of up to four characters each, and less than 1 for data. */
const WITHIN_RRSET = 1e6
/** A longer common suffix of names exceeds everything in the data. */
const SUFFIX_WEIGHT = 3
const EQUAL_DATA = 2

/** The share of two texts that stays if one span of them is replaced, from 0 to below 1. */
function sharedPart(a: string, b: string): number {
  const prefix = commonPrefix(a, b)
  return (prefix + commonSuffix(a, b, prefix)) / (Math.max(a.length, b.length) + 1)
}

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

/** The length of the common suffix that does not reach into the first `prefix` characters of either. */
function commonSuffix(a: string, b: string, prefix: number): number {
  const most = Math.min(a.length, b.length) - prefix
  let length = 0
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length += 1
  return length
}
