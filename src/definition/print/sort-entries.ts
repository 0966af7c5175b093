/** Sorts the entries of a definition with their comments. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import { compareNatural } from './natural-order.ts'

export interface EntryOrder {
  /** The order of the keys; `natural` for names; null to keep the order of the file. */
  readonly order: readonly string[] | 'natural' | null
  /** The entries are records, so a comment above the first belongs to that record. */
  readonly isRecordMap?: true
}

/** Sorts the entries of a mapping. Comments and blank lines move with the entry below them. */
export function sortEntries(map: YAMLMap, { order, isRecordMap }: EntryOrder): void {
  if (order === null) return
  const rank = order === 'natural' ? null : new Map(order.map((key, i) => [key, i]))
  const compare = (a: string, b: string): number => {
    if (a === b) return 0
    // Merge keys come first.
    if (a === '<<' || b === '<<') return a === '<<' ? -1 : 1
    if (rank === null) return compareNatural(a, b)
    return (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size)
  }
  const sorted = (map.items as Pair<Node, Node | null>[]).toSorted((a, b) => compare(keyText(a), keyText(b)))
  const [before] = map.items as Pair<Node>[]
  const [after] = sorted
  map.items = sorted
  if (before === undefined || after === undefined || before === after) return
  // A blank line between entries stays between entries.
  if (after.key.spaceBefore) before.key.spaceBefore = true
  after.key.spaceBefore = false
  if (isRecordMap) moveCommentToFirst(map, before.key)
  keepHeader(map, before.key, after.key)
  keepModelinesOnTop(before.key, after.key)
}

export const keyText = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value ?? '') : '')

/** After a document marker the parser attaches a comment above the first entry to the mapping; otherwise it attaches it to the entry. */
function moveCommentToFirst(map: YAMLMap, before: Node): void {
  if (map.flow || typeof map.commentBefore !== 'string' || before.commentBefore) return
  before.commentBefore = map.commentBefore
  map.commentBefore = null
}

/** Only the last paragraph of the comment above the first entry belongs to the entry; the paragraphs above it are the header of the file. */
function keepHeader(map: YAMLMap, before: Node, after: Node): void {
  const cut = before.commentBefore?.lastIndexOf('\n\n') ?? -1
  if (map.flow || map.commentBefore || !before.commentBefore || cut === -1) return
  map.commentBefore = before.commentBefore.slice(0, cut)
  before.commentBefore = before.commentBefore.slice(cut + 2)
  after.spaceBefore = true
}

const MODELINE = /^ *yaml-language-server:/

/** A modeline, which names the file's schema for editors, stays at the top of the file. */
function keepModelinesOnTop(before: Node, after: Node): void {
  const lines = (before.commentBefore ?? '').split('\n')
  const modelines = lines.filter((line) => MODELINE.test(line))
  if (modelines.length === 0) return
  const rest = lines.filter((line) => !MODELINE.test(line))
  before.commentBefore = rest.length === 0 ? null : rest.join('\n')
  after.commentBefore = [...modelines, ...(after.commentBefore ? [after.commentBefore] : [])].join('\n')
}

/** A replaceable child node. */
interface Slot {
  readonly node: Node
  readonly set: (node: Node) => void
}

function* slotsOf(parent: Node): Generator<Slot> {
  if (isMap(parent)) {
    for (const pair of parent.items) {
      if (pair.value === null || pair.value === undefined) continue
      yield { node: pair.value as Node, set: (node) => Object.assign(pair, { value: node }) }
    }
  } else if (isSeq(parent)) {
    const items = parent.items as Node[]
    for (let i = 0; i < items.length; i += 1) yield { node: items[i] as Node, set: (node) => Object.assign(items, { [i]: node }) }
  }
}

/** Whether entries can be sorted: every anchor is defined once, and no key has one. */
export function canRelocateAnchors(document: Document): boolean {
  const names = new Set<string>()
  const visit = (node: Node): boolean => {
    if (!isAlias(node) && node.anchor !== undefined) {
      if (names.has(node.anchor)) return false
      names.add(node.anchor)
    }
    if (isMap(node) && node.items.some(({ key }) => isAlias(key) || (key as { anchor?: string }).anchor !== undefined)) return false
    for (const slot of slotsOf(node)) if (!visit(slot.node)) return false
    return true
  }
  return document.contents === null || visit(document.contents as Node)
}

/** After sorting, moves each anchored value to its first use and replaces the other uses by aliases. */
export function relocateAnchors(root: Node): void {
  const anchored = new Map<string, Slot>()
  const collect = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      if (!isAlias(slot.node) && slot.node.anchor !== undefined) anchored.set(slot.node.anchor, slot)
      collect(slot.node)
    }
  }
  collect(root)
  if (anchored.size === 0) return
  const placed = new Set<Node>()
  const place = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      const target = isAlias(slot.node) ? anchored.get(slot.node.source) : undefined
      if (isAlias(slot.node) && target !== undefined && !placed.has(target.node)) {
        target.set(slot.node)
        slot.set(target.node)
        placed.add(target.node)
        place(target.node)
      } else if (!isAlias(slot.node)) {
        placed.add(slot.node)
        place(slot.node)
      }
    }
  }
  place(root)
}
