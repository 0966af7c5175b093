import { type Document, parseDocument, Scalar, type ScalarTag } from 'yaml'
import { fault, ok, type Result } from '../../model/result.ts'
import { includeMark, treeOfDocument } from './document-tree.ts'
import { readYaml } from './read-yaml.ts'
import { isSameTree } from './same-tree.ts'
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
}

/**
 * A file as a document that can be edited with its comments, and proof that it is the file everybody else reads: two parsers,
 * written by different people, must find the same tree in it.
 */
export function agreeOn(text: string): Result<EditableFile> {
  const tree = soundTree(text)
  if (!tree.ok) return tree
  // Failsafe: what a plain scalar stands for is not for an editor to decide.
  const document = parseDocument(text, {
    schema: 'failsafe',
    customTags: [NULL_TAG],
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const [error] = document.errors
  if (error) return fault(`a second YAML parser refuses the file: ${error.message}`)
  const other = treeOfDocument(document)
  if (other === null || !isSameTree(tree.value, other)) return fault('two YAML parsers read the file differently, so it is left as it is')
  return ok({ document, tree: tree.value })
}

/** The tree of a file without faults; files it includes are marks in it. */
export function soundTree(text: string): Result<YamlNode> {
  const { root, diagnostics } = readYaml(text, { file: '', resolveInclude: (path) => includeMark(path) })
  const [first] = diagnostics
  if (first) return fault(`line ${first.at?.line}: ${first.message}`)
  return root === null ? fault('the file is not YAML') : ok(root)
}
