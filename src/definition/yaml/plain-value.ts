import type { YamlNode } from './yaml-node.ts'

const NULL = /^(?:~|null|Null|NULL)?$/
const BOOLEAN = /^(?:true|True|TRUE|false|False|FALSE)$/
const INTEGER = /^[-+]?[0-9]+$/
const OTHER_INTEGER = /^0(?:o[0-7]+|x[0-9a-fA-F]+)$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
/** What begins like an IPv4 address has more dots than any number. */
const ADDRESS = /^[0-9]+\.[0-9]+\./
const SPECIAL_FLOAT = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** What a plain scalar stands for by the core schema of YAML 1.2 (section 10.3.2). */
export function plainScalar(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0)
  // Most plain scalars begin with a letter that begins none of the words below.
  if (first > 0x39 && !'~nNtTfF'.includes(text[0] as string)) return text
  if (ADDRESS.test(text)) return text
  if (NULL.test(text)) return null
  if (BOOLEAN.test(text)) return text[0] === 't' || text[0] === 'T'
  if (INTEGER.test(text) || OTHER_INTEGER.test(text) || FLOAT.test(text)) return Number(text)
  if (!SPECIAL_FLOAT.test(text)) return text
  return text.toLowerCase().includes('nan') ? Number.NaN : text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** The JSON value of a node, for a schema to look at. A node that aliases bring to several places becomes one shared value. */
export function plainValue(root: YamlNode): unknown {
  let shared: Map<YamlNode, unknown> | null = null
  const convert = (node: YamlNode): unknown => {
    if (node.kind === 'scalar') return node.plain ? plainScalar(node.text) : node.text
    const known = shared?.get(node)
    if (known !== undefined) return known
    const value =
      node.kind === 'sequence' ? node.items.map(convert) : objectOf(node.entries.map(({ key, value }) => [key.text, convert(value)]))
    shared ??= new Map()
    shared.set(node, value)
    return value
  }
  return convert(root)
}

/** An object whose keys are only those given: a key `__proto__` is a key like any other. */
function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, value] of entries) {
    if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
    else object[key] = value
  }
  return object
}
