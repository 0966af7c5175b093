/**
 * YAML text of plain values, as the canonical layout has it: quotes where some reader of YAML needs them, no folding. It is for new
 * files, which have no layout to keep.
 */
import { isUnambiguousText } from './plain-scalars.ts'

/** A value to print. Numbers are printed plain, text always so that every reader takes it for text. */
export type YamlData = string | number | boolean | readonly YamlData[] | { readonly [key: string]: YamlData }

/** What stands in no scalar but a double-quoted one: controls, line separators, the byte order mark, what is no character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NEEDS_ESCAPES = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/

/** What begins or ends a plain scalar as something else (YAML 1.2.2 section 7.3.3). */
const NOT_PLAIN = /^[ ,[\]{}#&*!|>'"%@`]|^[?-]$|^[?-] |: | #|[ :-]$/

const FLOW_INDICATOR = /[[\]{},]/

/** Characters that canonical layout leaves plain. */
const ORDINARY = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

export type ScalarPlace = 'block' | 'flow' | 'key'

/** Text as a scalar that every reader takes for this text. */
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

/** A value in flow style: on one line. */
export function printFlow(value: YamlData, place: ScalarPlace = 'block'): string {
  if (typeof value === 'string') return printText(value, place)
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map((item) => printFlow(item, 'flow')).join(', ')}]`
  const entries = Object.entries(value).map(([key, item]) => `${printText(key, 'flow')}: ${printFlow(item, 'flow')}`)
  return `{${entries.join(', ')}}`
}

/** Columns that flow style may reach; what is longer goes to lines of its own. */
export const DEFINITION_WIDTH = 120

/** `key: value` with its lines indented by `indent` spaces: on one line where it fits, else one line for each part. */
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

/** One item of a list in block style. */
export function printItem(item: YamlData, indent: number): string {
  const head = `${' '.repeat(indent)}- `
  const flow = `${head}${printFlow(item)}`
  if (flow.length <= DEFINITION_WIDTH || typeof item !== 'object' || isEmpty(item)) return `${flow}\n`
  return head + printBlock(item, indent + 2).slice(indent + 2)
}
