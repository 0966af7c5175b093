import type { SourcePosition } from '../../dns/diagnostic.ts'

/**
 * YAML as a definition sees it: text with places. What a plain scalar means (a number, a name) is decided by who reads it,
 * so that `1.10` and `null` can be labels. Aliases and merges are resolved; one node may stand in several places.
 */
export type YamlNode = YamlScalar | YamlMapping | YamlSequence

export interface YamlScalar {
  readonly kind: 'scalar'
  readonly at: SourcePosition
  /** The text of a plain scalar as it is written; of others with quotes and escapes resolved. */
  readonly text: string
  /** Written without quotes and without a tag that makes it a string: it may stand for a number, a boolean or nothing. */
  readonly plain: boolean
  /** Stands where something was at fault that has been reported; nothing more is to be said about it. */
  readonly broken?: true
}

export interface YamlMapping {
  readonly kind: 'mapping'
  readonly at: SourcePosition
  /** In the order of the file; the keys differ. */
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

/** Above this many keys an index is faster than a search. */
const FEW = 16

const indexes = new WeakMap<YamlMapping, ReadonlyMap<string, YamlEntry>>()

/** The entry of a key; undefined where the mapping does not have it. */
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

/** The value of a key; undefined where the mapping does not have it. */
export const lookUp = (mapping: YamlMapping, key: string): YamlNode | undefined => entryOf(mapping, key)?.value

/** Whether the node is an empty value or a plain `null`, which YAML takes for no value. */
export const isNull = (node: YamlNode): boolean => node.kind === 'scalar' && node.plain && /^(?:~|null|Null|NULL)?$/.test(node.text)

/** A stand-in for a node that could not be had; the fault has been reported. */
export const brokenNode = (at: SourcePosition): YamlScalar => ({ kind: 'scalar', at, text: '', plain: true, broken: true })

export const isBroken = (node: YamlNode): boolean => node.kind === 'scalar' && node.broken === true

/** Nodes in the tree, shared ones counted every time; stops at `limit`. */
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
