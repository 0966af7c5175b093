/** Sorts the entries of a definition with their comments. */
import { isScalar, type Node, type Pair, type YAMLMap } from 'yaml'
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
  const [oldFirst] = map.items as Pair<Node>[]
  const [newFirst] = sorted
  map.items = sorted
  if (oldFirst === undefined || newFirst === undefined || oldFirst === newFirst) return
  // The parser stores a blank line with the key below it, so the new first entry hands its own to the old first.
  if (newFirst.key.spaceBefore) oldFirst.key.spaceBefore = true
  newFirst.key.spaceBefore = false
  if (isRecordMap) attachCommentToEntry(map, oldFirst.key)
  keepHeader(map, oldFirst.key, newFirst.key)
  keepModelinesOnTop(oldFirst.key, newFirst.key)
}

export const keyText = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value ?? '') : '')

/** After a document marker the parser attaches the comment above the first entry to the mapping: moves it to the entry. */
function attachCommentToEntry(map: YAMLMap, oldFirst: Node): void {
  if (map.flow || typeof map.commentBefore !== 'string' || oldFirst.commentBefore) return
  oldFirst.commentBefore = map.commentBefore
  map.commentBefore = null
}

/** Only the last paragraph of the comment above the first entry belongs to the entry; the paragraphs above it are the header of the file. */
function keepHeader(map: YAMLMap, oldFirst: Node, newFirst: Node): void {
  const cut = oldFirst.commentBefore?.lastIndexOf('\n\n') ?? -1
  if (map.flow || map.commentBefore || !oldFirst.commentBefore || cut === -1) return
  map.commentBefore = oldFirst.commentBefore.slice(0, cut)
  oldFirst.commentBefore = oldFirst.commentBefore.slice(cut + 2)
  newFirst.spaceBefore = true
}

const MODELINE = /^ *yaml-language-server:/

/** A modeline, which names the file's schema for editors, stays at the top of the file. */
function keepModelinesOnTop(oldFirst: Node, newFirst: Node): void {
  const lines = (oldFirst.commentBefore ?? '').split('\n')
  const modelines = lines.filter((line) => MODELINE.test(line))
  if (modelines.length === 0) return
  const rest = lines.filter((line) => !MODELINE.test(line))
  oldFirst.commentBefore = rest.length === 0 ? null : rest.join('\n')
  newFirst.commentBefore = [...modelines, ...(newFirst.commentBefore ? [newFirst.commentBefore] : [])].join('\n')
}
