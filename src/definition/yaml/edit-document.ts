import { Composer, type Document, isScalar, Parser, Scalar, type ScalarTag, visit } from 'yaml'
import { failure, ok, type Result } from '../../dns/result.ts'
import { includeMark, treeOfDocument } from './document-tree.ts'
import { readYaml } from './read-yaml.ts'
import { isSameTree } from './same-tree.ts'
import { type KeyComments, settleComments } from './settle-comments.ts'
import type { YamlNode } from './yaml-node.ts'

const EMPTY = /^(?:~|[Nn]ull|NULL)?$/

/** No value, which is printed as it was written. Everything else is text to an editor: it never becomes a number and back. */
const NULL_TAG: ScalarTag = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: EMPTY,
  identify: (value) => value === null || value === undefined,
  resolve: () => new Scalar(null),
  stringify: ({ source }) => (typeof source === 'string' && EMPTY.test(source) ? source : ''),
}

export interface EditableFile {
  readonly document: Document.Parsed
  /** The tree of the file as every other part of the program reads it. */
  readonly tree: YamlNode
  /** Comments that stand behind `key:`, by the key. Without their number sign. */
  readonly heads: HeadsByKey
}

export type HeadsByKey = ReadonlyMap<unknown, string>

/**
 * A file as a document that can be edited with its comments, and proof that it is the file everybody else reads: two parsers,
 * written by different people, must find the same tree in it.
 */
export function agreeOn(text: string): Result<EditableFile> {
  const tree = soundTree(text)
  if (!tree.ok) return tree
  // Failsafe: what a plain scalar stands for is not for an editor to decide.
  const { document, heads } = compose(text)
  const [error] = document.errors
  if (error) return failure(`a second YAML parser refuses the file: ${error.message}`)
  const other = treeOfDocument(document)
  if (other === null || !isSameTree(tree.value, other)) return failure('two YAML parsers read the file differently, so it is left as it is')
  return ok({ document, tree: tree.value, heads })
}

function compose(text: string): { readonly document: Document.Parsed; readonly heads: HeadsByKey } {
  let comments: KeyComments = { behind: new Map(), below: new Map(), spaced: new Set() }
  function* settled() {
    for (const token of new Parser().parse(text)) {
      if (token.type === 'document') comments = settleComments(token)
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
  const [document] = composer.compose(settled(), true, text.length)
  if (document === undefined) throw new Error('a text without a document')
  const heads = new Map<unknown, string>()
  const { behind, below, spaced } = comments
  visit(document, {
    Collection(_, block) {
      // The parser passes over a blank line above the comment at the end of a block; the printer has one where the comment begins with it.
      if (block.comment && !block.flow && spaced.has(block.range?.[0] ?? -1)) block.comment = `\n${block.comment}`
    },
    Pair(_, { key, value }) {
      const offset = (key as Scalar.Parsed | null)?.range?.[0] ?? -1
      const head = behind.get(offset)
      const comment = below.get(offset)
      if (head !== undefined) heads.set(key, head)
      if (comment !== undefined && isScalar(value)) value.commentBefore = comment
    },
  })
  return { document: document as Document.Parsed, heads }
}

/** The tree of a file without faults; files it includes are marks in it. */
export function soundTree(text: string): Result<YamlNode> {
  const { root, diagnostics } = readYaml(text, { file: '', resolveInclude: (path) => includeMark(path) })
  const [first] = diagnostics
  if (first) return failure(`line ${first.at?.line}: ${first.message}`)
  return root === null ? failure('the file is not YAML') : ok(root)
}
