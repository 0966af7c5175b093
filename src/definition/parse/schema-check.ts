import { validate } from '../../../generated/zone-schema.js'
import { INVENTORY_CONDITIONS, INVENTORY_KINDS } from '../../dns/inventory.ts'
import { resolvePlainScalar, toJsonValue } from '../yaml/plain-scalars.ts'
import { entryOf, isBroken, lookUp, pointerSteps, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector, Layout } from './parse-state.ts'
import { SETTING_KEYS } from './read-settings.ts'
import { type DeferredError, type Path, reportSchemaErrors, type SchemaContext } from './schema-diagnostics.ts'
import { formKeys, RECORD_KEYS, valueForm } from './value-forms.ts'

/** Items of a list that are checked at once. */
const CHUNK = 64

/** Checks all of a definition with settings but its records. */
export function checkSettings(root: YamlMapping, zone: string, invalid: Set<YamlNode>, problems: DiagnosticCollector): DeferredError[] {
  const settings = { ...root, entries: root.entries.filter(({ key, value }) => key.text !== 'records' || value.kind !== 'mapping') }
  if (reportOverfull(settings, zone, invalid, problems)) return []
  const records = lookUp(root, 'records')
  const value = toJsonValue(settings) as Record<string, unknown>
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return SETTING_KEYS
    if (path[0] === 'unmanaged') return ['name', 'type', 'target']
    if (path[0] === 'include' && path.length < 3) return ['file', 'with']
    return []
  }
  const piece: SchemaContext = { root, subject: zone, keysAt, unknownKey: 'error', invalid, problems }
  return inChunks(value, 'domain', ['unmanaged', 'include'], problems.isFull, (part, offsets) => {
    if (validate(records?.kind === 'mapping' ? { ...part, records: null } : part)) return []
    return reportSchemaErrors(validate.errors ?? [], (pointer) => shifted(pointerSteps(pointer), offsets), piece)
  })
}

/** Checks one record of a record map. */
export function checkRecord(
  root: YamlMapping,
  subject: string,
  layout: Layout,
  invalid: Set<YamlNode>,
  problems: DiagnosticCollector,
): DeferredError[] {
  if (reportOverfull(root, subject, invalid, problems)) return []
  const value = toJsonValue(root) as Record<string, unknown>
  const { type } = value
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return RECORD_KEYS
    if (path[0] === 'from') return path.length === 1 ? ['provider', ...INVENTORY_KINDS] : INVENTORY_CONDITIONS
    return (path[0] === 'value' || path[0] === 'values') && typeof type === 'string' ? formKeys(valueForm(type)) : []
  }
  // octoDNS passes over keys it does not know, so a file of its layout stays valid.
  const piece: SchemaContext = { root, subject, keysAt, unknownKey: layout === 'octodns' ? 'warning' : 'error', invalid, problems }
  return inChunks(value, 'type', ['value', 'values'], problems.isFull, (part, offsets) => {
    if (validate({ record: part })) return []
    return reportSchemaErrors(validate.errors ?? [], (pointer) => shifted(pointerSteps(pointer).slice(1), offsets), piece)
  })
}

/** Keys a mapping and items a list can have, records and their values apart. What is larger could be at fault in every part. */
const MAX_KEYS = 512
const MAX_ITEMS = 20_000

/** Reports the first collection that is larger than any can be; its root is then left unread. */
function reportOverfull(root: YamlMapping, subject: string, invalid: Set<YamlNode>, problems: DiagnosticCollector): boolean {
  const overfull = (node: YamlNode): YamlNode | undefined => {
    if (node.kind === 'scalar') return undefined
    if (node.kind === 'mapping' ? node.entries.length > MAX_KEYS : node.items.length > MAX_ITEMS) return node
    return firstOf(node.kind === 'mapping' ? node.entries.map(({ value }) => value) : node.items)
  }
  const firstOf = (nodes: readonly YamlNode[]): YamlNode | undefined => {
    for (const node of nodes) {
      const found = overfull(node)
      if (found) return found
    }
    return undefined
  }
  const parts = root.entries.flatMap(({ key, value }) =>
    value.kind === 'sequence' && (key.text === 'value' || key.text === 'values') ? value.items : [value],
  )
  const found = root.entries.length > MAX_KEYS ? root : firstOf(parts)
  if (found === undefined || found.kind === 'scalar') return false
  for (const { value } of root.entries) invalid.add(value)
  const size = found.kind === 'mapping' ? `a mapping with ${found.entries.length} keys` : `a list of ${found.items.length} items`
  problems.report(
    'schema-value',
    found.at,
    subject,
    `${size} cannot stand here; ${found.kind === 'mapping' ? MAX_KEYS : MAX_ITEMS} are allowed`,
  )
  return true
}

/**
 * Hands an object over in parts whose lists under the keys are short, with the index each list was cut at. The first part has
 * everything else in it; of the others nothing but what the list needs: the key `core`.
 */
function inChunks(
  value: Record<string, unknown>,
  core: string,
  keys: readonly string[],
  isFull: () => boolean,
  check: (part: Record<string, unknown>, offsets: Readonly<Record<string, number>>) => DeferredError[],
): DeferredError[] {
  const long = keys.filter((key) => Array.isArray(value[key]) && (value[key] as unknown[]).length > CHUNK)
  if (long.length === 0) return check(value, {})
  const heads = Object.fromEntries(long.map((key) => [key, (value[key] as unknown[]).slice(0, CHUNK)]))
  const left = check({ ...value, ...heads }, {})
  for (const key of long) {
    const list = value[key] as unknown[]
    for (let i = CHUNK; i < list.length && !isFull(); i += CHUNK) {
      left.push(...check({ [core]: value[core], [key]: list.slice(i, i + CHUNK) }, { [key]: i }))
    }
  }
  return left
}

function shifted(path: string[], offsets: Readonly<Record<string, number>>): string[] {
  const offset = offsets[path[0] ?? '']
  if (offset !== undefined && path[1] !== undefined) path[1] = String(Number(path[1]) + offset)
  return path
}

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
export function isCommonRecord(record: YamlMapping): boolean {
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
  const value = resolvePlainScalar(node.text)
  return value !== null && (typeof value !== 'number' || Number.isFinite(value))
}

const isNumber = (node: YamlNode, largest: number): boolean =>
  node.kind === 'scalar' && node.plain && /^[0-9]{1,10}$/.test(node.text) && Number(node.text) <= largest
