/** The nodes of a YAML tree. */
import type { SourcePosition } from '../../base/diagnostic.ts'

/**
 * A tree of YAML with positions. The reader of a plain scalar decides what it means (a number, a name), so that `1.10` and `null` can be
 * labels. Aliases and merges are resolved, so a node may occur several times.
 */
export type YamlNode = YamlScalar | YamlMapping | YamlSequence

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly at: SourcePosition
  /** The text as written, with quotes and escapes resolved. */
  readonly text: string
  /** Without quotes and without a string tag, so that it may mean a number, a boolean or null. */
  readonly plain: boolean
  /** Stands in for invalid content that has been reported. */
  readonly broken?: true
}

export interface YamlMapping {
  readonly kind: 'mapping'
  readonly at: SourcePosition
  /** In file order; the keys are distinct. */
  readonly entries: readonly YamlEntry[]
}

export interface YamlEntry {
  readonly key: YamlScalar
  readonly value: YamlNode
}

export interface YamlSequence {
  readonly kind: 'sequence'
  readonly at: SourcePosition
  readonly items: readonly YamlNode[]
}

/** Up to this many keys a search is faster than an index. */
const FEW = 16

const indexes = new WeakMap<YamlMapping, ReadonlyMap<string, YamlEntry>>()

/** The entry of a key; undefined if the mapping does not have it. */
export function entryOf(mapping: YamlMapping, key: string): YamlEntry | undefined {
  const { entries } = mapping
  if (entries.length <= FEW) {
    for (const entry of entries) if (entry.key.text === key) return entry
    return undefined
  }
  let index = indexes.get(mapping)
  if (index === undefined) {
    index = new Map(entries.map((entry) => [entry.key.text, entry]))
    indexes.set(mapping, index)
  }
  return index.get(key)
}

/** The value of a key; undefined if the mapping does not have it. */
export const lookUp = (mapping: YamlMapping, key: string): YamlNode | undefined => entryOf(mapping, key)?.value

/** Whether the node is an empty value or a plain `null`. */
export const isNull = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.plain && node.text.length <= 4 && /^(?:~|null|Null|NULL)?$/.test(node.text)

/** Stands in for an invalid node that has been reported. */
export const brokenNode = (at: SourcePosition): YamlScalar => ({ kind: 'scalar', at, text: '', plain: true, broken: true })

export const isBroken = (node: YamlNode): boolean => node.kind === 'scalar' && node.broken === true

/** The number of nodes in the tree, shared ones counted every time; stops at `limit`. */
export function countNodes(node: YamlNode, limit: number): number {
  let count = 1
  const children = node.kind === 'mapping' ? node.entries.map((entry) => entry.value) : node.kind === 'sequence' ? node.items : []
  if (node.kind === 'mapping') count += children.length
  for (const child of children) {
    if (count >= limit) return limit
    count += countNodes(child, limit - count)
  }
  return count
}

const CORE = /^(?:!!|!<tag:yaml\.org,2002:)([a-z]+)>?$/

const TAGS_OF_KIND: Readonly<Record<YamlNode['kind'], ReadonlySet<string>>> = {
  scalar: new Set(['!', 'str', 'int', 'float', 'bool', 'null', 'merge']),
  mapping: new Set(['!', 'map']),
  sequence: new Set(['!', 'seq']),
}

/** The name of a tag: the local name of a core tag (`str` for `!!str` and `!<tag:yaml.org,2002:str>`), otherwise the tag as written. */
export const tagName = (tag: string): string => CORE.exec(tag)?.[1] ?? tag

/** Whether the tag does not change the meaning of a node of this kind. */
export const isCoreTag = (tag: string, kind: YamlNode['kind']): boolean => TAGS_OF_KIND[kind].has(tag)

/** Whether two trees have the same keys, items and texts. The order of keys and quotes do not matter, except that quoted text is not null. */
export function isSameTree(a: YamlNode, b: YamlNode): boolean {
  // Shared nodes are compared only once.
  const same = new Map<YamlNode, YamlNode>()
  const compare = (x: YamlNode, y: YamlNode): boolean => {
    if (x.kind === 'scalar') return y.kind === 'scalar' && x.text === y.text && isNull(x) === isNull(y)
    if (same.get(x) === y) return true
    const result =
      x.kind === 'sequence' ? y.kind === 'sequence' && compareItems(x.items, y.items) : y.kind === 'mapping' && compareEntries(x, y)
    if (result) same.set(x, y)
    return result
  }
  const compareItems = (x: readonly YamlNode[], y: readonly YamlNode[]): boolean =>
    x.length === y.length && x.every((item, i) => compare(item, y[i] as YamlNode))
  const compareEntries = (x: YamlMapping, y: YamlMapping): boolean =>
    x.entries.length === y.entries.length &&
    x.entries.every(({ key, value }) => {
      const other = lookUp(y, key.text)
      return other !== undefined && compare(value, other)
    })
  return compare(a, b)
}

/** A step of a path: a key of a mapping or an index of a sequence. */
export type PathStep = string | number

/** The steps of a JSON pointer (RFC 6901). */
export const pointerSteps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The node at a path; undefined if there is none. */
export function nodeAt(root: YamlNode, path: readonly PathStep[]): YamlNode | undefined {
  let node: YamlNode | undefined = root
  for (const step of path) node = node && childOf(node, step)
  return node
}

/** The position of the node at a path, or of its last existing ancestor. An empty value has the position of its key. */
export function positionAt(root: YamlNode, path: readonly PathStep[]): SourcePosition {
  let node = root
  let at = root.at
  for (const step of path) {
    const child = childOf(node, step)
    if (!child) break
    at = isNull(child) && node.kind === 'mapping' ? (keyPosition(node, String(step)) ?? child.at) : child.at
    node = child
  }
  return at
}

/** The position of a key; undefined if the mapping does not have it. */
export const keyPosition = (mapping: YamlMapping, key: string): SourcePosition | undefined => entryOf(mapping, key)?.key.at

function childOf(node: YamlNode, step: PathStep): YamlNode | undefined {
  if (node.kind === 'mapping') return lookUp(node, String(step))
  return node.kind === 'sequence' ? node.items[Number(step)] : undefined
}
