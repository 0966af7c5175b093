/** The JSON values of plain YAML scalars. */
import type { YamlNode } from './yaml-node.ts'

const NULL = /^(?:~|null|Null|NULL)?$/
const BOOLEAN = /^(?:true|True|TRUE|false|False|FALSE)$/
const INTEGER = /^[-+]?[0-9]+$/
const OTHER_INTEGER = /^0(?:o[0-7]+|x[0-9a-fA-F]+)$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
/** Text that begins like an IPv4 address; no number has two dots. */
const ADDRESS = /^[0-9]+\.[0-9]+\./
const SPECIAL_FLOAT = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** The value of a plain scalar in the core schema of YAML 1.2 (section 10.3.2). */
export function resolvePlainScalar(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0)
  // Most plain scalars begin with a letter that none of the words below begins with.
  if (first > 0x39 && !'~nNtTfF'.includes(text[0] as string)) return text
  if (ADDRESS.test(text)) return text
  if (NULL.test(text)) return null
  if (BOOLEAN.test(text)) return text[0] === 't' || text[0] === 'T'
  if (INTEGER.test(text) || OTHER_INTEGER.test(text) || FLOAT.test(text)) return Number(text)
  if (!SPECIAL_FLOAT.test(text)) return text
  return text.toLowerCase().includes('nan') ? Number.NaN : text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** The JSON value of a node, for schema validation. A node that aliases repeat becomes one shared value. */
export function toJsonValue(root: YamlNode): unknown {
  let shared: Map<YamlNode, unknown> | null = null
  const convert = (node: YamlNode): unknown => {
    if (node.kind === 'scalar') return node.plain ? resolvePlainScalar(node.text) : node.text
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

/** An object with exactly these keys; `__proto__` becomes an ordinary key. */
function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, value] of entries) {
    if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
    else object[key] = value
  }
  return object
}

/** Plain scalars that YAML 1.1 (https://yaml.org/type/) or 1.2 (section 10.3.2) does not read as text. */
const NOT_TEXT: readonly RegExp[] = [
  /^(?:~|null|Null|NULL)?$/,
  /^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  // Integers: binary, octal, decimal, hexadecimal, base 60.
  /^[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/,
  /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/,
  /^(?:<<|=)$/,
]

/** Plain scalars that PyYAML, and so octoDNS, refuses in a flow collection: `[::1, a?b]`. */
const NOT_PLAIN_IN_FLOW = /^:|\?/

const MAY_BE_OTHER = /^(?:[-+.0-9~<=]|[yYnNtTfFoO])|^$/

/** Whether every YAML parser reads the plain scalar as text, in any collection. Addresses such as 192.0.2.1 are text. */
export function isUnambiguousText(text: string): boolean {
  if (NOT_PLAIN_IN_FLOW.test(text)) return false
  if (!MAY_BE_OTHER.test(text)) return true
  return !NOT_TEXT.some((pattern) => pattern.test(text))
}
