/** Prints YAML as octoDNS requires it. */

import { isUnambiguousText } from '../yaml/plain-scalars.ts'
import { compareNatural } from './natural-order.ts'
import type { YamlMap, YamlValue } from './octodns-value.ts'

/** Prints a mapping as block YAML with `indent`, its keys in the order that octoDNS's `enforce_order` requires at every depth. */
export function printMap(map: YamlMap, indent: string): string {
  let text = ''
  for (const key of Object.keys(map).sort(compareNatural)) text += `${indent}${printText(key)}:${printBelow(map[key] ?? null, indent)}`
  return text
}

/** Prints what follows a key: a scalar on its line, or a collection on the lines below. Lists are not indented, as octoDNS writes them. */
function printBelow(value: YamlValue, indent: string): string {
  if (value === null) return ' null\n'
  if (typeof value === 'string') return ` ${printText(value)}\n`
  if (typeof value !== 'object') return ` ${value}\n`
  if (isList(value)) return value.length === 0 ? ' []\n' : `\n${value.map((item) => printItem(item, indent)).join('')}`
  return Object.keys(value).length === 0 ? ' {}\n' : `\n${printMap(value, `${indent}  `)}`
}

function printItem(item: YamlValue, indent: string): string {
  if (item === null || typeof item !== 'object' || isList(item) || Object.keys(item).length === 0)
    return `${indent}-${printBelow(item, `${indent}  `)}`
  return `${indent}- ${printMap(item, `${indent}  `).slice(indent.length + 2)}`
}

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value)

/** Text that every reader accepts without quotes, in block and flow style. */
const PLAIN = /^[A-Za-z0-9_/.=~](?:[A-Za-z0-9_/.=~+@$-]|:(?=[A-Za-z0-9])| (?=[A-Za-z0-9_/.=~+@$-]))*$/

/** Printable text that is safe between single quotes. */
const QUOTABLE = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

/** Prints text as a one-line YAML scalar that readers of YAML 1.1 (PyYAML, which octoDNS uses) and 1.2 both read as that text. */
export function printText(text: string): string {
  if (PLAIN.test(text) && isUnambiguousText(text)) return text
  return QUOTABLE.test(text) ? `'${text.replaceAll("'", "''")}'` : doubleQuoted(text)
}

function doubleQuoted(text: string): string {
  let printed = ''
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (character === '"' || character === '\\') printed += `\\${character}`
    else if (code >= 0x20 && code <= 0x7e) printed += character
    else if (code <= 0xff) printed += `\\x${hex(code, 2)}`
    else printed += code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
  }
  return `"${printed}"`
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
