import type { SourcePosition } from '../../dns/diagnostic.ts'
import { isNull, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/** A step from a node to one below it: a key of a mapping or an index of a sequence. */
export type PathStep = string | number

/** The steps of a JSON pointer (RFC 6901). */
export const pointerSteps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The node a path leads to; undefined where it leads nowhere. */
export function nodeAt(root: YamlNode, path: readonly PathStep[]): YamlNode | undefined {
  let node: YamlNode | undefined = root
  for (const step of path) node = node && childOf(node, step)
  return node
}

/** The place of what a path leads to, or of the last node on the way that is there. An empty value is where its key is. */
export function placeAt(root: YamlNode, path: readonly PathStep[]): SourcePosition {
  let node = root
  let at = root.at
  for (const step of path) {
    const child = childOf(node, step)
    if (!child) break
    at = isNull(child) && node.kind === 'mapping' ? (keyPlace(node, String(step)) ?? child.at) : child.at
    node = child
  }
  return at
}

/** The place of a key; undefined where the mapping does not have it. */
export const keyPlace = (mapping: YamlMapping, key: string): SourcePosition | undefined =>
  mapping.entries.find((entry) => entry.key.text === key)?.key.at

function childOf(node: YamlNode, step: PathStep): YamlNode | undefined {
  if (node.kind === 'mapping') return node.entries.find((entry) => entry.key.text === String(step))?.value
  return node.kind === 'sequence' ? node.items[Number(step)] : undefined
}
