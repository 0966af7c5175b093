import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { isUnambiguousText } from '../yaml/plain-scalars.ts'
import type { YamlData } from '../yaml/print-yaml.ts'

/** Characters that need no escapes in quotes: printable ones, except direction marks and invisible ones. */
const ORDINARY = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

/** Sets the quotes of a key, so that every YAML parser reads it as text. */
export function styleKey(key: Scalar): void {
  const text = String(key.value ?? '')
  if (key.tag !== undefined || !ORDINARY.test(text) || (text === '<<' && key.type === Scalar.PLAIN)) return
  key.type = isUnambiguousText(text) ? Scalar.PLAIN : Scalar.QUOTE_SINGLE
}

/** Sets the quotes of a value. A plain number or boolean stays one unless `isText`. */
export function styleScalar(scalar: Scalar, isText: boolean): void {
  if (scalar.tag !== undefined || scalar.type === Scalar.BLOCK_FOLDED || scalar.type === Scalar.BLOCK_LITERAL) return
  if (scalar.value === null || typeof scalar.value !== 'string') return
  const text = scalar.value
  if (text.includes('\n')) {
    scalar.type = Scalar.QUOTE_DOUBLE
    return
  }
  if (!ORDINARY.test(text)) return
  if (isUnambiguousText(text)) scalar.type = Scalar.PLAIN
  else if (isText || scalar.type !== Scalar.PLAIN) scalar.type = Scalar.QUOTE_SINGLE
}

/** A scalar that every YAML parser reads as this text. */
export function styled(text: string): Scalar {
  const scalar = new Scalar(text)
  styleKey(scalar)
  if (scalar.type === undefined) scalar.type = Scalar.QUOTE_DOUBLE
  return scalar
}

/** A value as a node for a document being edited. Collections are in flow style. */
export function plainNode(value: YamlData): Node {
  if (typeof value === 'string') {
    const scalar = new Scalar(value)
    styleScalar(scalar, true)
    if (scalar.type === undefined) scalar.type = Scalar.QUOTE_DOUBLE
    return scalar
  }
  if (typeof value !== 'object') {
    // The parser of the document reads all scalars as text, so a number is written as its text.
    const scalar = new Scalar(String(value))
    scalar.type = Scalar.PLAIN
    return scalar
  }
  if (Array.isArray(value)) {
    const list = new YAMLSeq()
    list.flow = true
    list.items = (value as readonly YamlData[]).map(plainNode)
    return list
  }
  const map = new YAMLMap()
  map.flow = true
  map.items = Object.entries(value).map(([key, item]) => new Pair(styled(key), plainNode(item as YamlData)))
  return map
}
