import { plainScalar } from '../yaml/plain-value.ts'
import { entryOf, isBroken, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/**
 * Nearly every record of a large definition is of one of a few forms that can be told at a glance. What is ordinary here the
 * schema accepts (a test holds the two together); what is not may be right all the same, and the schema decides.
 */

type Part = 'text' | 'u8' | 'u16'

type Form = 'text' | Readonly<Record<string, Part>>

/** For common types the form of a value: one text, or a mapping with exactly these keys. */
const VALUES: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...['A', 'AAAA', 'ALIAS', 'CNAME', 'DNAME', 'NS', 'PTR', 'SPF', 'TXT'].map((type): [string, Form] => [type, 'text']),
  ['MX', { preference: 'u16', exchange: 'text' }],
  ['SRV', { priority: 'u16', weight: 'u16', port: 'u16', target: 'text' }],
  ['CAA', { flags: 'u8', tag: 'text', value: 'text' }],
])

/** The values of one record that are looked at; more of them are the schema's, which cuts such lists into parts. */
const MAX_VALUES = 64

/** Whether a record is one that the schema certainly accepts: a common type, values of its form, at most a TTL beside them. */
export function isOrdinary(record: YamlMapping): boolean {
  const { entries } = record
  const type = entryOf(record, 'type')?.value
  const form = type?.kind === 'scalar' ? VALUES.get(type.text) : undefined
  if (form === undefined || entries.length > 3) return false
  let values = 0
  for (const { key, value } of entries) {
    switch (key.text) {
      case 'type':
        break
      case 'ttl':
        if (!isNumber(value, MAX_TTL)) return false
        break
      case 'value':
      case 'values':
        if (!(value.kind === 'sequence' ? areValues(value.items, form) : isValue(value, form))) return false
        values += 1
        break
      default:
        return false
    }
  }
  return values === 1
}

const MAX_TTL = 2 ** 31 - 1

const LARGEST: Readonly<Record<Exclude<Part, 'text'>, number>> = { u8: 255, u16: 65_535 }

const areValues = (items: readonly YamlNode[], form: Form): boolean =>
  items.length > 0 && items.length <= MAX_VALUES && items.every((item) => isValue(item, form))

function isValue(node: YamlNode, form: Form): boolean {
  if (form === 'text') return isText(node)
  if (node.kind !== 'mapping') return false
  let parts = 0
  for (const key in form) {
    parts += 1
    const part = form[key] as Part
    const value = entryOf(node, key)?.value
    if (value === undefined || !(part === 'text' ? isText(value) : isNumber(value, LARGEST[part]))) return false
  }
  return parts === node.entries.length
}

/** Text that stands for itself, a boolean or a finite number. */
function isText(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || isBroken(node)) return false
  if (!node.plain) return true
  const value = plainScalar(node.text)
  return value !== null && (typeof value !== 'number' || Number.isFinite(value))
}

const isNumber = (node: YamlNode, largest: number): boolean =>
  node.kind === 'scalar' && node.plain && /^[0-9]{1,10}$/.test(node.text) && Number(node.text) <= largest
