import { isScalar, type Node, type Pair, type YAMLMap } from 'yaml'
import type { Position } from './format-positions.ts'
import { compareNatural } from './natural-order.ts'

/** Puts the entries of a mapping in the order of its place. Comments and blank lines go with the entry below them. */
export function sortEntries(map: YAMLMap, { order, isRecordMap }: Position): void {
  if (order === null) return
  const rank = order === 'natural' ? null : new Map(order.map((key, i) => [key, i]))
  const compare = (a: string, b: string): number => {
    if (a === b) return 0
    // What is merged comes first.
    if (a === '<<' || b === '<<') return a === '<<' ? -1 : 1
    if (rank === null) return compareNatural(a, b)
    return (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size)
  }
  const sorted = (map.items as Pair<Node, Node | null>[]).toSorted((a, b) => compare(keyText(a), keyText(b)))
  const [before] = map.items as Pair<Node>[]
  const [after] = sorted
  map.items = sorted
  if (before === undefined || after === undefined || before === after) return
  // The blank line between entries stays between entries.
  if (after.key.spaceBefore) before.key.spaceBefore = true
  after.key.spaceBefore = false
  if (isRecordMap) handCommentDown(map, before.key)
  keepHeader(map, before.key, after.key)
  keepOnTop(before.key, after.key)
}

export const keyText = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value ?? '') : '')

/** After a document marker the parser keeps the comment above the first entry with the mapping; elsewhere with the entry. */
function handCommentDown(map: YAMLMap, before: Node): void {
  if (map.flow || typeof map.commentBefore !== 'string' || before.commentBefore) return
  before.commentBefore = map.commentBefore
  map.commentBefore = null
}

/** Of the comment above an entry that was the first, only the last paragraph is about the entry: what is above it is about the whole. */
function keepHeader(map: YAMLMap, before: Node, after: Node): void {
  const cut = before.commentBefore?.lastIndexOf('\n\n') ?? -1
  if (map.flow || map.commentBefore || !before.commentBefore || cut === -1) return
  map.commentBefore = before.commentBefore.slice(0, cut)
  before.commentBefore = before.commentBefore.slice(cut + 2)
  after.spaceBefore = true
}

const MODELINE = /^ *yaml-language-server:/

/** A line that tells editors the schema of the file stays on top of it, whatever entry comes first. */
function keepOnTop(before: Node, after: Node): void {
  const lines = (before.commentBefore ?? '').split('\n')
  const modelines = lines.filter((line) => MODELINE.test(line))
  if (modelines.length === 0) return
  const rest = lines.filter((line) => !MODELINE.test(line))
  before.commentBefore = rest.length === 0 ? null : rest.join('\n')
  after.commentBefore = [...modelines, ...(after.commentBefore ? [after.commentBefore] : [])].join('\n')
}
