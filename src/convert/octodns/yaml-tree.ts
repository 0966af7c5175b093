import { compareNatural } from '../../definition/print/natural-order.ts'
import type { YamlMap, YamlValue } from '../../definition/print/octodns-value.ts'
import { printText } from './print-scalar.ts'

/** A mapping as lines of block YAML, each with `indent`, its keys in the order that `enforce_order` asks for at every depth. */
export function printMap(map: YamlMap, indent: string): string {
  let text = ''
  for (const key of Object.keys(map).sort(compareNatural)) text += `${indent}${printText(key)}:${printBelow(map[key] ?? null, indent)}`
  return text
}

/** What follows a key: a scalar on its line, or a collection on the lines below. Lists stand as octoDNS writes them, not indented. */
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
