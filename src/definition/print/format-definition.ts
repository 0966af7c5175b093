import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml'
import { failure, ok, type Result } from '../../dns/result.ts'
import { canRelocateAnchors, relocateAnchors } from '../edit/relocate-anchors.ts'
import { commentsOf } from '../yaml/comments.ts'
import { agreeOn, soundTree } from '../yaml/edit-document.ts'
import { printDocument } from '../yaml/print-document.ts'
import { isSameTree } from '../yaml/same-tree.ts'
import { type Position, rootPosition } from './format-positions.ts'
import { keyText, sortEntries } from './sort-entries.ts'
import { styleKey, styleScalar } from './style-scalars.ts'

/** Times a text is laid out until nothing changes. Odd comments and line ends take two. */
const MAX_ROUNDS = 4

/**
 * The canonical layout of a definition or fragment: keys in their order, names in octoDNS's natural order, two spaces of
 * indentation, quotes where some reader of YAML needs them, no folding. Comments, anchors, blank lines and the choice between
 * block and flow stay. The text that comes out means the same, and is its own canonical layout.
 */
export function formatDefinition(text: string): Result<string> {
  const start = soundTree(text)
  if (!start.ok) return start
  let before = text
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const after = layOutOnce(before)
    if (!after.ok || after.value === before) return after
    const tree = soundTree(after.value)
    if (!tree.ok || !isSameTree(start.value, tree.value))
      return failure('the file has a form that cannot be laid out without a change of meaning')
    if (!haveSameComments(text, after.value)) return failure('the file has comments in places where they cannot be kept')
    before = after.value
  }
  return failure('the file has a form whose layout never comes to rest')
}

function layOutOnce(text: string): Result<string> {
  const read = agreeOn(text)
  if (!read.ok) return read
  const { document, tree, heads } = read.value
  const { contents } = document
  if (contents === null || isEmptyScalar(contents)) return ok(text)
  const canSort = canRelocateAnchors(document)
  layOut(contents, rootPosition(tree), canSort)
  if (canSort) relocateAnchors(contents)
  return ok(printDocument(document, heads, text))
}

const isEmptyScalar = (node: Node): boolean => isScalar(node) && node.value === null

function layOut(node: Node, position: Position, canSort: boolean): void {
  if (isScalar(node)) styleScalar(node, position.isText)
  else if (isSeq(node)) for (const item of node.items) layOut(item as Node, position.item(), canSort)
  else if (isMap(node)) {
    const textOf = (sibling: string): string | undefined => {
      const value = node.items.find((pair) => keyText(pair) === sibling)?.value
      return isScalar(value) && typeof value.value === 'string' ? value.value : undefined
    }
    for (const pair of node.items) {
      styleKey(pair.key as Scalar)
      if (pair.value) layOut(pair.value as Node, position.child(keyText(pair), textOf), canSort)
    }
    if (canSort) sortEntries(node, position)
  }
}

function haveSameComments(a: string, b: string): boolean {
  const [x, y] = [commentsOf(a).sort(), commentsOf(b).sort()]
  return x.length === y.length && x.every((comment, i) => comment === y[i])
}
