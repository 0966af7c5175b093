import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { styleKey, styleScalar } from '../print/style-scalars.ts'
import type { PlainYaml } from '../yaml/print-plain.ts'

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
