/** YAML documents that can be edited with their comments. */
import {
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  Parser,
  Scalar,
  type ScalarTag,
  visit,
} from 'yaml'
import type { SourcePosition } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { attachComments, type KeyComments } from './comments.ts'
import { mergeEntries } from './merge-entries.ts'
import { readYaml } from './read-yaml.ts'
import type { YamlNode } from './yaml-node.ts'
import { brokenNode, isSameTree, tagName, type YamlEntry, type YamlMapping, type YamlScalar } from './yaml-node.ts'

const EMPTY = /^(?:~|[Nn]ull|NULL)?$/

/** The null value, printed as it was written. Every other scalar stays text, so that no number is converted and changed. */
const NULL_TAG: ScalarTag = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: EMPTY,
  identify: (value) => value === null || value === undefined,
  resolve: () => new Scalar(null),
  stringify: ({ source }) => (typeof source === 'string' && EMPTY.test(source) ? source : ''),
}

export interface EditableYaml {
  readonly document: Document.Parsed
  /** The tree of the file as the rest of the program reads it. */
  readonly tree: YamlNode
  /** Comments on the line of `key:`, by key, without the number sign. */
  readonly keyComments: CommentsByKey
}

export type CommentsByKey = ReadonlyMap<unknown, string>

/**
 * Parses a file into a document that can be edited without losing comments. Fails unless the independent parser of `readYaml` reads the
 * same tree, so that an edit never changes a file that was misunderstood.
 */
export function parseEditableYaml(text: string): Result<EditableYaml> {
  const tree = readValidTree(text)
  if (!tree.ok) return tree

  const { document, keyComments } = compose(text)
  const [error] = document.errors
  if (error) return failure(`a second YAML parser rejects the file: ${error.message}`)
  const other = treeOfDocument(document)
  if (other === null || !isSameTree(tree.value, other)) return failure('two YAML parsers read the file differently, so it is not changed')
  return ok({ document, tree: tree.value, keyComments })
}

function compose(text: string): { readonly document: Document.Parsed; readonly keyComments: CommentsByKey } {
  let comments: KeyComments = { afterKey: new Map(), belowKey: new Map(), blankBeforeEnd: new Set() }
  function* tokensWithAttachedComments() {
    for (const token of new Parser().parse(text)) {
      if (token.type === 'document') comments = attachComments(token)
      yield token
    }
  }
  const composer = new Composer({
    schema: 'failsafe',
    customTags: [NULL_TAG],
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const [document] = composer.compose(tokensWithAttachedComments(), true, text.length)
  if (document === undefined) throw new Error('the text has no document')
  const keyComments = new Map<unknown, string>()
  const { afterKey, belowKey, blankBeforeEnd } = comments
  visit(document, {
    Collection(_, block) {
      // The parser drops a blank line above the comment at the end of a block; a line end at the start of the comment restores it.
      if (block.comment && !block.flow && blankBeforeEnd.has(block.range?.[0] ?? -1)) block.comment = `\n${block.comment}`
    },
    Pair(_, { key, value }) {
      const offset = (key as Scalar.Parsed | null)?.range?.[0] ?? -1
      const head = afterKey.get(offset)
      const comment = belowKey.get(offset)
      if (head !== undefined) keyComments.set(key, head)
      if (comment !== undefined && isScalar(value)) value.commentBefore = comment
    },
  })
  return { document: document as Document.Parsed, keyComments }
}

/** The tree of a file without problems; placeholders stand in for the files it includes. */
export function readValidTree(text: string): Result<YamlNode> {
  const { root, diagnostics } = readYaml(text, { file: '', resolveInclude: (path) => includePlaceholder(path) })
  const [first] = diagnostics
  if (first) return failure(`line ${first.at?.line}: ${first.message}`)
  return root === null ? failure('the file is not YAML') : ok(root)
}

const NOWHERE: SourcePosition = { file: '', line: 1, column: 1 }

/** The placeholder for `!include PATH` when trees are compared without included files. It is a mapping, so that it can be merged. */
function includePlaceholder(path: string): YamlMapping {
  const key: YamlScalar = { kind: 'scalar', at: NOWHERE, text: `\u0000include ${path}`, plain: false }
  return { kind: 'mapping', at: NOWHERE, entries: [{ key, value: key }] }
}

/** The tree of a document of the package `yaml`, as `readYaml` builds it, without positions. Null if an alias or key is invalid. */
function treeOfDocument(document: Document.Parsed | Document): YamlNode | null {
  const anchors = new Map<string, YamlNode>()
  let isValid = true
  const refuse = (): void => {
    isValid = false
  }
  const treeOf = (node: Node | null): YamlNode => {
    const tree = shapeOf(node)
    if (node !== null && !isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, tree)
    return tree
  }
  const shapeOf = (node: Node | null): YamlNode => {
    if (node === null) return { kind: 'scalar', at: NOWHERE, text: '', plain: true }
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      isValid &&= target !== undefined
      return target ?? brokenNode(NOWHERE)
    }
    if (isScalar(node)) return scalarOf(node)
    if (isSeq(node)) return { kind: 'sequence', at: NOWHERE, items: (node.items as Node[]).map(treeOf) }
    if (!isMap(node)) return brokenNode(NOWHERE)
    const entries = node.items.map(({ key, value }): YamlEntry => {
      const keyTree = treeOf(key as Node)
      isValid &&= keyTree.kind === 'scalar'
      return { key: keyTree.kind === 'scalar' ? keyTree : brokenNode(NOWHERE), value: treeOf(value as Node | null) }
    })
    return { kind: 'mapping', at: NOWHERE, entries: mergeEntries(entries, refuse) }
  }
  const tree = treeOf(document.contents as ParsedNode | null)
  return isValid ? tree : null
}

function scalarOf(node: Scalar): YamlNode {
  const tag = node.tag === undefined ? null : tagName(`!<${node.tag}>`)
  const text = node.value === null ? (node.source ?? '') : String(node.value)
  if (tag === '!<!include>') return includePlaceholder(text)
  const plain = tag === null ? node.type === Scalar.PLAIN || node.type === undefined : tag !== 'str' && tag !== '!<!>'
  return { kind: 'scalar', at: NOWHERE, text, plain }
}

/**
 * Characters written as escapes, since some YAML parsers refuse them or read them as line ends: delete and the C1 controls, the line
 * separators, the byte order mark and noncharacters.
 */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** Prints a document without folding lines. `text` is the original file. The document must not be used afterwards. */
export function printDocument(document: Document, heads: CommentsByKey, text: string): string {
  const mark = markFor(text)
  markHeads(document, heads, mark)
  markUnsafe(document, mark)
  const printed = document.toString({
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY,
    indent: 2,
    indentSeq: true,
    singleQuote: true,
    flowCollectionPadding: false,
  })
  return printed
    .replaceAll(new RegExp(`${mark}([0-9a-f]{4})`, 'g'), (_, code: string) =>
      code.startsWith('00') ? `\\x${code.slice(2)}` : `\\u${code}`,
    )
    .replaceAll(
      new RegExp(`\\n((?:[ ]*\\n)*)[ ]*#${mark}${HEAD}(.*)`, 'g'),
      (_, blank: string, comment: string) => ` #${comment}${blank && '\n'}`,
    )
}

/** Follows the mark of a comment; an escape has a digit there. */
const HEAD = ':'

/** A run of private-use characters longer than any in the text. */
function markFor(text: string): string {
  let longest = 0
  for (const [run] of text.matchAll(/\ue000+/g)) longest = Math.max(longest, run.length)
  return '\ue000'.repeat(longest + 1)
}

/**
 * Marks the comments after keys, which the package prints on their own line, so that `printDocument` can move them back. Comments that it
 * would print between a key and its anchor are moved below both.
 */
function markHeads(document: Document, heads: CommentsByKey, mark: string): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isNode(value)) return
      const head = heads.get(key)
      // An alias may have replaced a block.
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

/** The node that is printed first below a key: an anchor or a tag stays on the line of the key. */
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
