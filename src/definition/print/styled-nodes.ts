import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { isTextForAll } from '../yaml/other-readings.ts'
import type { PlainYaml } from '../yaml/print-plain.ts'

/** Characters that quotes do not trouble: what is printable, without those that mark directions or look like nothing. */
const ORDINARY = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

/** Gives a key the quotes it needs, so that no reader of YAML takes a name for anything else. */
export function styleKey(key: Scalar): void {
  const text = String(key.value ?? '')
  if (key.tag !== undefined || !ORDINARY.test(text) || (text === '<<' && key.type === Scalar.PLAIN)) return
  key.type = isTextForAll(text) ? Scalar.PLAIN : Scalar.QUOTE_SINGLE
}

/** Gives a value the quotes it needs. A plain number or boolean stays one unless its place is for text. */
export function styleScalar(scalar: Scalar, isText: boolean): void {
  if (scalar.tag !== undefined || scalar.type === Scalar.BLOCK_FOLDED || scalar.type === Scalar.BLOCK_LITERAL) return
  if (scalar.value === null || typeof scalar.value !== 'string') return
  const text = scalar.value
  if (text.includes('\n')) {
    scalar.type = Scalar.QUOTE_DOUBLE
    return
  }
  if (!ORDINARY.test(text)) return
  if (isTextForAll(text)) scalar.type = Scalar.PLAIN
  else if (isText || scalar.type !== Scalar.PLAIN) scalar.type = Scalar.QUOTE_SINGLE
}

/** A scalar that every reader of YAML takes for this text. */
export function styled(text: string): Scalar {
  const scalar = new Scalar(text)
  styleKey(scalar)
  if (scalar.type === undefined) scalar.type = Scalar.QUOTE_DOUBLE
  return scalar
}

/** A value as a node of a document that is edited. Collections in it are in flow style. */
export function plainNode(value: PlainYaml): Node {
  if (typeof value === 'string') {
    const scalar = new Scalar(value)
    styleScalar(scalar, true)
    if (scalar.type === undefined) scalar.type = Scalar.QUOTE_DOUBLE
    return scalar
  }
  if (typeof value !== 'object') {
    // The document is one of texts: a number is the text that it is written with.
    const scalar = new Scalar(String(value))
    scalar.type = Scalar.PLAIN
    return scalar
  }
  if (Array.isArray(value)) {
    const list = new YAMLSeq()
    list.flow = true
    list.items = (value as readonly PlainYaml[]).map(plainNode)
    return list
  }
  const map = new YAMLMap()
  map.flow = true
  map.items = Object.entries(value).map(([key, item]) => new Pair(styled(key), plainNode(item as PlainYaml)))
  return map
}
