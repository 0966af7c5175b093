/** Prints data as YAML in the canonical layout, for new files: quotes only if some YAML parser needs them, and no folded lines. */
import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import { isUnambiguousText } from './plain-scalars.ts'

/** Data to print. Numbers are printed plain, text so that every YAML parser reads it as text. */
export type YamlData = string | number | boolean | readonly YamlData[] | { readonly [key: string]: YamlData }

/** Characters that need a double-quoted scalar: controls, line separators, the byte order mark and noncharacters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NEEDS_ESCAPES = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

/** Text that cannot be a plain scalar (YAML 1.2.2 section 7.3.3). */
const NOT_PLAIN = /^[ ,[\]{}#&*!|>'"%@`]|^[?-]$|^[?-] |: | #|[ :-]$/

const FLOW_INDICATOR = /[[\]{},]/

/** Characters that the canonical layout does not quote. */
const ORDINARY = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

export type ScalarPlace = 'block' | 'flow' | 'key'

/** Prints text as a scalar that every YAML parser reads as this text. */
export function printText(text: string, place: ScalarPlace): string {
  if (NEEDS_ESCAPES.test(text)) return doubleQuoted(text)
  if (isUnambiguousText(text) && ORDINARY.test(text)) {
    if (!NOT_PLAIN.test(text) && !(place === 'flow' && FLOW_INDICATOR.test(text))) return text
    if (text.includes("'") && !text.includes('"')) return doubleQuoted(text)
  }
  return `'${text.replaceAll("'", "''")}'`
}

const doubleQuoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\\u00(..)/g, (found, code: string | undefined) => {
    if (code !== undefined) return `\\x${code}`
    const value = found.charCodeAt(0)
    return value < 0x100 ? `\\x${value.toString(16).padStart(2, '0')}` : `\\u${value.toString(16).padStart(4, '0')}`
  })

const isList = (value: YamlData): value is readonly YamlData[] => Array.isArray(value)

/** Prints data in flow style, on one line. */
function printFlow(value: YamlData, place: ScalarPlace = 'block'): string {
  if (typeof value === 'string') return printText(value, place)
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map((item) => printFlow(item, 'flow')).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `${printText(key, 'flow')}: ${printFlow(item, 'flow')}`)
  return `{${entries.join(', ')}}`
}

/** The longest line in flow style, in columns; longer data is printed in block style. */
export const DEFINITION_WIDTH = 120

/** Prints `key: value`, indented by `indent` spaces: on one line if it fits, otherwise with one line per part. */
export function printEntry(key: string, value: YamlData, indent: number): string {
  const head = `${' '.repeat(indent)}${printText(key, 'key')}:`
  const flow = `${head} ${printFlow(value)}`
  if (flow.length <= DEFINITION_WIDTH || typeof value !== 'object' || isEmpty(value)) return `${flow}\n`
  return `${head}\n${printBlock(value, indent + 2)}`
}

const isEmpty = (value: object): boolean => (Array.isArray(value) ? value : Object.keys(value)).length === 0

function printBlock(value: readonly YamlData[] | { readonly [key: string]: YamlData }, indent: number): string {
  if (!isList(value))
    return Object.entries(value)
      .map(([key, item]) => printEntry(key, item, indent))
      .join('')
  return value.map((item) => printItem(item, indent)).join('')
}

/** Prints an item of a list in block style. */
export function printItem(item: YamlData, indent: number): string {
  const head = `${' '.repeat(indent)}- `
  const flow = `${head}${printFlow(item)}`
  if (flow.length <= DEFINITION_WIDTH || typeof item !== 'object' || isEmpty(item)) return `${flow}\n`
  return head + printBlock(item, indent + 2).slice(indent + 2)
}

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
