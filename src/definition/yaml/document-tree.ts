import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type ParsedNode, Scalar } from 'yaml'
import type { SourcePosition } from '../../dns/diagnostic.ts'
import { mergeEntries } from './merge-entries.ts'
import { tagName } from './tags.ts'
import { brokenNode, type YamlEntry, type YamlMapping, type YamlNode, type YamlScalar } from './yaml-node.ts'

const NOWHERE: SourcePosition = { file: '', line: 1, column: 1 }

/** What stands for `!include PATH` where files are compared without the files they include. It can be merged, as a file can. */
export function includeMark(path: string): YamlMapping {
  const key: YamlScalar = { kind: 'scalar', at: NOWHERE, text: `\u0000include ${path}`, plain: false }
  return { kind: 'mapping', at: NOWHERE, entries: [{ key, value: key }] }
}

/** The tree of a document of the package `yaml`, as `readYaml` makes it of its text; places are not kept. Null where an alias leads nowhere. */
export function treeOfDocument(document: Document.Parsed | Document): YamlNode | null {
  const anchors = new Map<string, YamlNode>()
  let whole = true
  const refuse = (): void => {
    whole = false
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
      whole &&= target !== undefined
      return target ?? brokenNode(NOWHERE)
    }
    if (isScalar(node)) return scalarOf(node)
    if (isSeq(node)) return { kind: 'sequence', at: NOWHERE, items: (node.items as Node[]).map(treeOf) }
    if (!isMap(node)) return brokenNode(NOWHERE)
    const entries = node.items.map(({ key, value }): YamlEntry => {
      const keyTree = treeOf(key as Node)
      whole &&= keyTree.kind === 'scalar'
      return { key: keyTree.kind === 'scalar' ? keyTree : brokenNode(NOWHERE), value: treeOf(value as Node | null) }
    })
    return { kind: 'mapping', at: NOWHERE, entries: mergeEntries(entries, refuse) }
  }
  const tree = treeOf(document.contents as ParsedNode | null)
  return whole ? tree : null
}

function scalarOf(node: Scalar): YamlNode {
  const tag = node.tag === undefined ? null : tagName(`!<${node.tag}>`)
  const text = node.value === null ? (node.source ?? '') : String(node.value)
  if (tag === '!<!include>') return includeMark(text)
  const plain = tag === null ? node.type === Scalar.PLAIN || node.type === undefined : tag !== 'str' && tag !== '!<!>'
  return { kind: 'scalar', at: NOWHERE, text, plain }
}
