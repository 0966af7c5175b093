import type { SourcePosition } from '../../model/diagnostic.ts'

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

/** The value of a key; undefined where the mapping does not have it. For mappings of a few keys. */
export function valueOf(mapping: YamlMapping, key: string): YamlNode | undefined {
  for (const entry of mapping.entries) if (entry.key.text === key) return entry.value
  return undefined
}

/** Whether the node is an empty value or a plain `null`, which YAML takes for no value. */
export const isNull = (node: YamlNode): boolean => node.kind === 'scalar' && node.plain && /^(?:~|null|Null|NULL)?$/.test(node.text)

/** Whether the node is a scalar that stands for text, a number or a boolean. */
export const isPresent = (node: YamlNode): node is YamlScalar => node.kind === 'scalar' && !isNull(node)
