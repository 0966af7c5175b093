import type { YamlNode } from './yaml-node.ts'

const CORE = /^(?:!!|!<tag:yaml\.org,2002:)([a-z]+)>?$/

const TAGS_OF_KIND: Readonly<Record<YamlNode['kind'], ReadonlySet<string>>> = {
  scalar: new Set(['!', 'str', 'int', 'float', 'bool', 'null', 'merge']),
  mapping: new Set(['!', 'map']),
  sequence: new Set(['!', 'seq']),
}

/** A tag as it is written, tags of YAML's core by their local name: `!!str` and `!<tag:yaml.org,2002:str>` are `str`. */
export const tagName = (tag: string): string => CORE.exec(tag)?.[1] ?? tag

/** Whether a node of this kind may carry the tag without another meaning than it has untagged. */
export const isCoreTag = (tag: string, kind: YamlNode['kind']): boolean => TAGS_OF_KIND[kind].has(tag)
