import { isScalar, type Node, type Pair, type YAMLMap } from 'yaml'
import { compareNatural } from '../octodns/natural-order.ts'
import type { Position } from './format-positions.ts'

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
  if (isRecordMap) handCommentDown(map, before.key, after.key)
  keepOnTop(before.key, after.key)
}

export const keyText = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value ?? '') : '')

/**
 * The parser keeps a comment above the first entry with the mapping. Its last paragraph is about that entry, which has moved;
 * the paragraphs above it are about the whole.
 */
function handCommentDown(map: YAMLMap, before: Node, after: Node): void {
  if (map.flow || typeof map.commentBefore !== 'string' || before.commentBefore) return
  const cut = map.commentBefore.lastIndexOf('\n\n')
  before.commentBefore = map.commentBefore.slice(cut === -1 ? 0 : cut + 2)
  map.commentBefore = cut === -1 ? null : map.commentBefore.slice(0, cut)
  if (cut !== -1) after.spaceBefore = true
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
