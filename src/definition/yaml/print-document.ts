import { type Document, isAlias, isCollection, isNode, isPair, isScalar, type Node, Scalar, visit } from 'yaml'
import type { HeadsByKey } from './edit-document.ts'

/**
 * Characters that some reader of YAML refuses or takes for a line end where they stand as they are, so that they are written as escapes:
 * delete and the C1 controls, the line separators, the byte order mark and what is no character.
 */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** A document as text, never folded. `text` is the one it was made of. The document is not to be used afterwards. */
export function printDocument(document: Document, heads: HeadsByKey, text: string): string {
  const mark = markFor(text)
  markHeads(document, heads, mark)
  markUnsafe(document, mark)
  const printed = document.toString({ lineWidth: 0, indent: 2, indentSeq: true, singleQuote: true, flowCollectionPadding: false })
  return printed
    .replaceAll(new RegExp(`${mark}([0-9a-f]{4})`, 'g'), (_, code: string) =>
      code.startsWith('00') ? `\\x${code.slice(2)}` : `\\u${code}`,
    )
    .replaceAll(
      new RegExp(`\\n((?:[ ]*\\n)*)[ ]*#${mark}${HEAD}(.*)`, 'g'),
      (_, blank: string, comment: string) => ` #${comment}${blank && '\n'}`,
    )
}

/** Behind the mark of a comment, where no digit of an escape can stand. */
const HEAD = ':'

/** A run of characters of private use that is longer than any in the text. */
function markFor(text: string): string {
  let longest = 0
  for (const [run] of text.matchAll(/\ue000+/g)) longest = Math.max(longest, run.length)
  return '\ue000'.repeat(longest + 1)
}

/**
 * The printer puts the comment behind a key on a line of its own, with a mark by which it finds back. What it would put between a key and
 * its anchor goes below both.
 */
function markHeads(document: Document, heads: HeadsByKey, mark: string): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isNode(value)) return
      const head = heads.get(key)
      // An alias may have taken the place of a block.
      if (isAlias(value) && head !== undefined && !value.comment) {
        value.comment = head
        return
      }
      const node = firstBelow(value)
      const lines = [head === undefined ? null : mark + HEAD + head, value.commentBefore, node === value ? null : node.commentBefore]
      if (node !== value) value.commentBefore = null
      node.commentBefore = lines.filter((line) => line).join('\n') || null
    },
  })
}

/** What is printed first on the line below a key: an anchor or a tag stays behind the key. */
function firstBelow(value: Node): Node {
  if (!isCollection(value) || value.flow || (value.anchor === undefined && value.tag === undefined)) return value
  const [first] = value.items
  const node = isPair(first) ? first.key : first
  return isNode(node) ? node : value
}

function markUnsafe(document: Document, mark: string): void {
  visit(document, (_, scalar) => {
    if (!isScalar(scalar) || typeof scalar.value !== 'string' || scalar.value.search(UNSAFE) === -1) return
    scalar.value = scalar.value.replaceAll(UNSAFE, (character) => mark + character.charCodeAt(0).toString(16).padStart(4, '0'))
    scalar.type = Scalar.QUOTE_DOUBLE
  })
}
