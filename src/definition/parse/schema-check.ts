/** Checks a definition against its schema. */
import { text as SCHEMA } from '../../../generated/zone-schema-text.js'
import type { Severity } from '../../base/diagnostic.ts'
import { groupBy } from '../../base/group-by.ts'
import { createValidator, type SchemaError, TYPE_NAMES } from '../../base/json-schema.ts'
import { didYouMean, nearestWord } from '../../base/nearest-word.ts'
import { excerpt, quoted } from '../../base/text.ts'
import { canonicalLocation } from '../../dns/rdata/location.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { SOA_FIELDS } from '../../dns/soa.ts'
import { INVENTORY_CONDITIONS, INVENTORY_KINDS } from '../../dns/zone-source.ts'
import { resolvePlainScalar, toJsonValue } from '../yaml/plain-scalars.ts'
import { entryOf, isBroken, isNull, lookUp, nodeAt, pointerSteps, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector, Layout } from './parse-state.ts'
import { isRecordSetting } from './read-record-settings.ts'
import { SETTING_KEYS } from './read-settings.ts'
import { SUPPRESSION_KEYS } from './read-suppressions.ts'
import { formKeys, LOCATION_KEYS, RECORD_KEYS, valueForm } from './value-forms.ts'

/** Checks definitions against `schemas/zone.schema.json` piece by piece: the settings, then each record; long lists in parts, so that it can stop. */
const schemaErrors = createValidator(SCHEMA)

/** List items checked per call of the validator. */
const CHUNK = 64

/** Checks the settings of a definition. Reports errors of structure, and returns the other errors. */
export function checkSettings(root: YamlMapping, zone: string, invalid: Set<YamlNode>, problems: DiagnosticCollector): DeferredError[] {
  const settings = { ...root, entries: root.entries.filter(({ key, value }) => key.text !== 'records' || value.kind !== 'mapping') }
  if (reportTooLarge(settings, zone, invalid, problems)) return []
  const records = lookUp(root, 'records')
  const value = toJsonValue(settings) as Record<string, unknown>
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return SETTING_KEYS
    if (path[0] === 'unmanaged') return ['name', 'type', 'target', 'owner', 'preset']
    if (path[0] === 'ignore') return [...SUPPRESSION_KEYS, 'name', 'type']
    if (path[0] === 'sources') return path.includes('quarantine') ? ['reads', 'for'] : ['provider', 'zone', 'name', 'type', 'quarantine']
    if (path[0] === 'soa') return SOA_FIELDS
    if (path[0] === 'include' && path.length < 3) return ['file', 'with']
    return []
  }
  const context: SchemaContext = { root, subject: zone, keysAt, unknownKey: 'error', invalid, problems }
  return inChunks(value, 'domain', ['unmanaged', 'ignore', 'include', 'sources'], problems.isFull, (part, offsets) => {
    const errors = schemaErrors(records?.kind === 'mapping' ? { ...part, records: null } : part)
    return reportSchemaErrors(errors, (pointer) => shiftIndex(pointerSteps(pointer), offsets), context)
  })
}

/** Checks a record of a record map. Reports errors of structure, and returns the other errors. */
export function checkRecord(
  root: YamlMapping,
  subject: string,
  layout: Layout,
  invalid: Set<YamlNode>,
  problems: DiagnosticCollector,
): DeferredError[] {
  if (reportTooLarge(root, subject, invalid, problems)) return []
  const value = toJsonValue(root) as Record<string, unknown>
  const { type } = value
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return RECORD_KEYS
    if (path[0] === 'ignore') return SUPPRESSION_KEYS
    if (path[0] === 'from') return keysOfFrom(path)
    return (path[0] === 'value' || path[0] === 'values') && typeof type === 'string' ? formKeys(valueForm(type)) : []
  }
  // octoDNS ignores unknown keys.
  const context: SchemaContext = { root, subject, keysAt, unknownKey: layout === 'octodns' ? 'warning' : 'error', invalid, problems }
  return inChunks(value, 'type', ['value', 'values'], problems.isFull, (part, offsets) => {
    return reportSchemaErrors(schemaErrors({ record: part }), (pointer) => shiftIndex(pointerSteps(pointer).slice(1), offsets), context)
  })
}

function keysOfFrom(path: Path): readonly string[] {
  if (path.length === 1) return ['provider', ...INVENTORY_KINDS, 'zone', 'name', 'quarantine']
  return path[1] === 'quarantine' ? ['reads', 'for'] : INVENTORY_CONDITIONS
}

/** Maximum number of keys of a mapping and items of a list, records and values excepted: larger ones could have an error in every part. */
const MAX_KEYS = 512
const MAX_ITEMS = 20_000

/** Reports the first collection above these limits, and marks the whole piece as invalid. */
function reportTooLarge(root: YamlMapping, subject: string, invalid: Set<YamlNode>, problems: DiagnosticCollector): boolean {
  const tooLarge = (node: YamlNode): YamlNode | undefined => {
    if (node.kind === 'scalar') return undefined
    if (node.kind === 'mapping' ? node.entries.length > MAX_KEYS : node.items.length > MAX_ITEMS) return node
    return firstOf(node.kind === 'mapping' ? node.entries.map(({ value }) => value) : node.items)
  }
  const firstOf = (nodes: readonly YamlNode[]): YamlNode | undefined => {
    for (const node of nodes) {
      const found = tooLarge(node)
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
    `${size} is too large; at most ${found.kind === 'mapping' ? MAX_KEYS : MAX_ITEMS} are allowed`,
  )
  return true
}

/**
 * Checks an object in parts with at most `CHUNK` items of the lists under `keys`. The first part has all other keys; each further part has
 * only one list and the key `core`, which the schema needs. `offsets` has the index of the first item of each list.
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
  const deferred = check({ ...value, ...heads }, {})
  for (const key of long) {
    const list = value[key] as unknown[]
    for (let i = CHUNK; i < list.length && !isFull(); i += CHUNK) {
      deferred.push(...check({ [core]: value[core], [key]: list.slice(i, i + CHUNK) }, { [key]: i }))
    }
  }
  return deferred
}

function shiftIndex(path: string[], offsets: Readonly<Record<string, number>>): string[] {
  const offset = offsets[path[0] ?? '']
  if (offset !== undefined && path[1] !== undefined) path[1] = String(Number(path[1]) + offset)
  return path
}

/**
 * A fast path: nearly every record of a large definition has one of a few common forms, which the schema is known to accept (a test compares
 * the two). Any other record may be valid as well; then the schema decides.
 */

type Part = 'text' | 'u8' | 'u16'

type Form = 'text' | Readonly<Record<string, Part>>

/** The form of a value per common type: a text, or a mapping with exactly these keys. */
const VALUES: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...['A', 'AAAA', 'ALIAS', 'CNAME', 'DNAME', 'NS', 'PTR', 'SPF', 'TXT'].map((type): [string, Form] => [type, 'text']),
  ['MX', { preference: 'u16', exchange: 'text' }],
  ['SRV', { priority: 'u16', weight: 'u16', port: 'u16', target: 'text' }],
  ['CAA', { flags: 'u8', tag: 'text', value: 'text' }],
])

/** Maximum number of values checked here; the schema check splits longer lists. */
const MAX_VALUES = 64

/** Whether the schema certainly accepts a record: it has a common type, values of its form, and at most a TTL and `auto_ptr`. */
export function isCommonRecord(record: YamlMapping): boolean {
  const { entries } = record
  const type = entryOf(record, 'type')?.value
  const form = type?.kind === 'scalar' ? VALUES.get(type.text) : undefined
  if (form === undefined || entries.length > 6) return false
  let values = 0
  for (const { key, value } of entries) {
    switch (key.text) {
      case 'type':
        break
      case 'ttl':
        if (!isNumber(value, MAX_TTL)) return false
        break
      case 'auto_ptr':
        if (value.kind !== 'scalar' || !value.plain || !/^(?:true|false)$/.test(value.text)) return false
        break
      case 'owner':
        if (
          value.kind !== 'scalar' ||
          value.text.length < 1 ||
          value.text.length > 100 ||
          (value.plain && typeof resolvePlainScalar(value.text) !== 'string')
        )
          return false
        break
      case 'expires':
        if (value.kind !== 'scalar' || !/^\d{4}-\d\d-\d\d$/.test(value.text)) return false
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

/** Whether a node is text, a boolean or a finite number. */
function isText(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || isBroken(node)) return false
  if (!node.plain) return true
  const value = resolvePlainScalar(node.text)
  return value !== null && (typeof value !== 'number' || Number.isFinite(value))
}

const isNumber = (node: YamlNode, largest: number): boolean =>
  node.kind === 'scalar' && node.plain && /^[0-9]{1,10}$/.test(node.text) && Number(node.text) <= largest

/** A schema error about a name, TTL or value. It is reported only if the reader of that value finds no error itself. */
interface DeferredError {
  readonly node: YamlNode
  readonly subject: string
  readonly message: string
}

/** The piece of a definition (the settings or a record) that was checked, and how to report its errors. */
interface SchemaContext {
  readonly root: YamlMapping
  readonly subject: string
  /** The keys allowed in the mapping at a path of the context. */
  readonly keysAt: (path: Path) => readonly string[]
  /** The severity of an unknown key. */
  readonly unknownKey: Severity
  /** Nodes (values and unknown keys) whose problem has been reported. */
  readonly invalid: Set<YamlNode>
  readonly problems: DiagnosticCollector
}

type Path = readonly string[]

/** Keys whose reader also reports a value of the wrong type. */
const TIMES: ReadonlySet<string> = new Set(['ttl', 'default_ttl', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'])

interface Place {
  readonly node: YamlNode
  readonly path: Path
  /** The path from the subject to the node (`values[1].preference`); empty for the subject itself. */
  readonly part: string
  readonly intended: Intended | undefined
}

/** Reports errors of structure, and returns the other errors. */
function reportSchemaErrors(
  errors: readonly SchemaError[],
  pathOf: (pointer: string) => string[],
  context: SchemaContext,
): DeferredError[] {
  const { root, invalid, unknownKey } = context
  const deferred: DeferredError[] = []
  const intended = intendedKeys(errors, pathOf, context)
  for (const error of errors) {
    const path = pathOf(error.instancePath)
    const node = nodeAt(root, path)
    // The error of an `if` repeats other errors.
    if (node === undefined || isBroken(node) || error.keyword === 'if') continue
    const place = { node, path, part: partOf(path), intended: intended.get(error.instancePath) }
    if (error.keyword === 'required') {
      invalid.add(node)
      const key = String(error.params['missingProperty'])
      if (unknownKey === 'warning' || !place.intended?.keys.includes(key)) reportMissing(key, place, context)
    } else if (error.keyword === 'additionalProperties') reportUnknown(String(error.params['additionalProperty']), place, context)
    else if (error.keyword !== 'type' || TIMES.has(path[0] ?? ''))
      deferred.push({ node, subject: context.subject, message: `${place.part} ${error.message ?? 'is not valid'}`.trim() })
    else if (!invalid.has(node)) {
      invalid.add(node)
      reportType(error.params['type'], place, context)
    }
  }
  return deferred
}

function reportMissing(key: string, { node, path, part }: Place, { subject, keysAt, problems }: SchemaContext): void {
  if (key === 'value')
    problems.report('value-missing', node.at, subject, 'the record has neither value nor values', {
      hint: 'Add value: with one value, or values: with a list.',
    })
  else if (key === 'type' && part === '') {
    const type = node.kind === 'mapping' ? node.entries.find((entry) => RDATA_TYPES.has(entry.key.text))?.key.text : undefined
    const hint = `Write {type: ${type ?? 'A'}, value: ${type === undefined || type === 'A' ? '192.0.2.1' : '…'}}.`
    problems.report('schema-missing-key', node.at, subject, 'the record has no type', { hint })
  } else
    problems.report('schema-missing-key', node.at, subject, `${part === '' ? '' : `${part}: `}the key ${key} is missing`, {
      hint: typeHint(TYPE_NAMES['object'] ?? '', node, part === '' ? [] : keysAt(path)),
    })
}

function reportUnknown(key: string, place: Place, { subject, keysAt, unknownKey, invalid, problems }: SchemaContext): void {
  const { node, path, part, intended } = place
  const entry = node.kind === 'mapping' ? entryOf(node, key) : undefined
  const keyNode = entry?.key
  if (keyNode === undefined || invalid.has(keyNode)) return
  invalid.add(keyNode)
  const keys = keysAt(path)
  // The missing type is reported.
  if (keys === RECORD_KEYS && RDATA_TYPES.has(key) && nodeAt(node, ['type']) === undefined) return
  const hint = misplacedHint(key, entry?.value, keyNode, keys) ?? didYouMean(key, keys) ?? intended?.hint
  const allowed = keys.length > 0 ? `The keys allowed here are ${keys.join(', ')}.` : undefined
  const detail = `unknown key ${quoted(key)}${part === '' ? '' : ` in ${part}`}`
  problems.report('schema-unknown-key', keyNode.at, subject, detail, { severity: unknownKey, hint: hint ?? allowed })
}

/** What was meant by a key that is valid elsewhere, or that is part of a value. */
function misplacedHint(key: string, value: YamlNode | undefined, { at }: YamlNode, keys: readonly string[]): string | undefined {
  if (keys.includes('records') && isRecord(value)) return 'Move the record below "records:" and indent it.'
  const provider = keys.find((one) => isRecordSetting(one, key))
  if (provider !== undefined) {
    const first = key === 'comment' ? 'Write a YAML comment on the line above, such as # web; for Cloudflare only,' : 'Write it as'
    return `${first} ${provider}: {${key}: …}.`
  }
  if (keys.includes(/^(\w+):\S/.exec(key)?.[1] ?? '')) return 'Write a space after the colon.'
  if (value === undefined || !isNull(value) || value.at.line !== at.line || keys.includes('records')) return undefined
  return 'A comma in { } begins a new key: quote a text that contains one.'
}

/** Whether a node looks like a record or a list of records. */
const isRecord = (node: YamlNode | undefined): boolean =>
  node?.kind === 'sequence' ? isRecord(node.items[0]) : node?.kind === 'mapping' && lookUp(node, 'type') !== undefined

function reportType(types: unknown, { node, path, part }: Place, { subject, keysAt, problems }: SchemaContext): void {
  const wanted = typeNames(types)
  if (isNull(node) && (path[0] === 'value' || path[0] === 'values') && path.length < 3) {
    problems.report('value-missing', node.at, subject, 'the value is empty', {
      hint: / (?:TXT|SPF)$/.test(subject) ? 'Quote it if it is meant as text.' : 'Write a value, or remove the record.',
    })
    return
  }
  if (subject.endsWith(' SOA')) {
    const hint = 'Remove the record; soa_email: hostmaster@example.com sets the mail address of the SOA.'
    return void problems.report('schema-type', node.at, subject, 'a definition has no SOA record: its settings define it', { hint })
  }
  const hint = part === 'records' ? 'Write each name as a key: www: {type: A, value: 192.0.2.1}.' : typeHint(wanted, node, keysAt(path))
  problems.report('schema-type', node.at, subject, `${part} must be ${wanted}, not ${actualName(node)}`, { hint })
}

function typeHint(wanted: string, node: YamlNode, keys: readonly string[]): string | undefined {
  if (wanted === TYPE_NAMES['boolean'] && isYaml11Boolean(node)) return 'YAML 1.2 reads it as text; write true or false.'
  if (wanted !== TYPE_NAMES['object'] || keys.length === 0) return undefined
  // The node may have some of the keys, or words as in a zone file, without the first or the last ones.
  const text = node.kind === 'scalar' ? node.text.trim() : ''
  const words = keys === LOCATION_KEYS ? locationWords(text) : text.split(/\s+/)
  const skipped = /^[0-9]/.test(text) ? 0 : keys.length - words.length
  const forms = keys.map((key, i) => {
    const given = nodeAt(node, [key]) ?? nodeAt(node, [key === 'preference' ? 'priority' : key])
    const own = given?.kind === 'scalar' ? (given.plain ? excerpt(given.text, 60) : quoted(given.text)) : words[i - skipped]
    return `${key}: ${(words.length <= keys.length && own) || (key === 'preference' ? '10' : '…')}`
  })
  return `Write {${forms.join(', ')}}${keys === LOCATION_KEYS ? ', the last four in metres' : ''}.`
}

/** The fields of a location as in a zone file, in which the altitude may be missing; empty if it is none. */
function locationWords(text: string): string[] {
  const data = [text, `${text} 0`]
    .map((one) => canonicalLocation(one.split(/\s+/).map((word) => ({ text: word, quoted: false }))))
    .find(({ ok }) => ok)
  return data?.ok ? data.value.split(' ').map((word) => (/[NSEW]/.test(word) ? word : String(Number.parseFloat(word)))) : []
}

/** The missing keys of a mapping that its unknown keys stand for: both errors have one cause. */
interface Intended {
  readonly keys: readonly string[]
  readonly hint?: string
}

/** By pointer the keys nearest to unknown ones, or the only missing key in place of the only unknown one. */
function intendedKeys(
  errors: readonly SchemaError[],
  pathOf: (pointer: string) => string[],
  { keysAt }: SchemaContext,
): Map<string, Intended> {
  const intended = new Map<string, Intended>()
  for (const [pointer, own] of groupBy(errors, ({ instancePath }) => instancePath)) {
    const unknown = own.filter(({ keyword }) => keyword === 'additionalProperties')
    const missing = own.flatMap(({ params }) => params['missingProperty'] ?? []).map(String)
    const path = pathOf(pointer)
    const keys = unknown.flatMap(({ params }) => nearestWord(String(params['additionalProperty']), keysAt(path)) ?? [])
    const isOnly = path.length > 0 && unknown.length === 1 && missing.length === 1 && keys.length === 0
    intended.set(pointer, isOnly ? { keys: missing, hint: `Did you mean "${missing[0]}"?` } : { keys })
  }
  return intended
}

const partOf = (path: Path): string =>
  path.map((segment, i) => (/^[0-9]+$/.test(segment) && i > 0 ? `[${segment}]` : `${i > 0 ? '.' : ''}${segment}`)).join('')

function typeNames(types: unknown): string {
  const list = (Array.isArray(types) ? types : [types]).filter((type) => type !== 'null') as string[]
  // A type that allows text allows numbers and booleans only as spellings of text.
  const wanted = list.includes('string') ? list.filter((type) => type !== 'number' && type !== 'boolean') : list
  return wanted.map((type) => TYPE_NAMES[type] ?? type).join(' or ')
}

function actualName(node: YamlNode): string {
  if (node.kind !== 'scalar') return node.kind === 'mapping' ? 'keys with values' : 'a list'
  return isNull(node) ? 'empty' : quoted(node.text)
}

const isYaml11Boolean = (node: YamlNode): boolean => node.kind === 'scalar' && /^(?:yes|no|on|off|y|n)$/i.test(node.text)
