import { type SchemaError, validate } from '../../../generated/zone-schema.js'
import type { Severity } from '../../dns/diagnostic.ts'
import { INVENTORY_CONDITIONS, INVENTORY_KINDS } from '../../dns/inventory.ts'
import { nearestWord } from '../../dns/nearest-word.ts'
import { plainValue } from '../yaml/plain-value.ts'
import { entryOf, isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, quoted } from './collect-diagnostics.ts'
import { RECORD_KEYS, SETTING_KEYS } from './keys.ts'
import type { Layout } from './parse-state.ts'
import { didYouMean } from './suggest.ts'
import { formKeys, valueForm } from './value-forms.ts'

/**
 * Definitions are checked with `schemas/zone.schema.json` piece by piece: the settings, then each record. The validator joins
 * the errors of parts by copying them, so that a whole file of faults would cost the square of its length.
 */

/** What the schema says about content that readers of names, TTLs and rdata judge in words of their own; told only if they do not. */
export interface UnreportedProblem {
  readonly node: YamlNode
  readonly subject: string
  readonly message: string
}

/** Where the faults of a piece go, and how they are told. */
interface Piece {
  readonly root: YamlMapping
  readonly subject: string
  /** The keys that can stand in the mapping at a path of the piece. */
  readonly keysAt: (path: Path) => readonly string[]
  /** How bad a key is that has no meaning. */
  readonly unknownKey: Severity
  /** Nodes (values, and keys that cannot stand where they do) whose fault has been reported. */
  readonly invalid: Set<YamlNode>
  readonly problems: DiagnosticCollector
}

type Path = readonly string[]

/** Keys whose reader also tells what is wrong with a value of another type. */
const TIMES: ReadonlySet<string> = new Set(['ttl', 'default_ttl', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'])

/** Items of a list that are checked at once. */
const CHUNK = 64

/** Checks all of a definition with settings but its records. */
export function checkSettings(root: YamlMapping, zone: string, invalid: Set<YamlNode>, problems: DiagnosticCollector): UnreportedProblem[] {
  const settings = { ...root, entries: root.entries.filter(({ key, value }) => key.text !== 'records' || value.kind !== 'mapping') }
  if (reportOverfull(settings, zone, invalid, problems)) return []
  const records = lookUp(root, 'records')
  const value = plainValue(settings) as Record<string, unknown>
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return SETTING_KEYS
    if (path[0] === 'unmanaged') return ['name', 'type', 'target']
    if (path[0] === 'include' && path.length < 3) return ['file', 'with']
    return []
  }
  const piece: Piece = { root, subject: zone, keysAt, unknownKey: 'error', invalid, problems }
  return inChunks(value, 'domain', ['unmanaged', 'include'], problems.isFull, (part, offsets) => {
    if (validate(records?.kind === 'mapping' ? { ...part, records: null } : part)) return []
    return translate(validate.errors ?? [], (pointer) => shifted(segmentsOf(pointer), offsets), piece)
  })
}

/** Checks one record of a record map. */
export function checkRecord(
  root: YamlMapping,
  subject: string,
  layout: Layout,
  invalid: Set<YamlNode>,
  problems: DiagnosticCollector,
): UnreportedProblem[] {
  if (reportOverfull(root, subject, invalid, problems)) return []
  const value = plainValue(root) as Record<string, unknown>
  const { type } = value
  const keysAt = (path: Path): readonly string[] => {
    if (path.length === 0) return RECORD_KEYS
    if (path[0] === 'from') return path.length === 1 ? ['provider', ...INVENTORY_KINDS] : INVENTORY_CONDITIONS
    return (path[0] === 'value' || path[0] === 'values') && typeof type === 'string' ? formKeys(valueForm(type)) : []
  }
  // octoDNS passes over keys it does not know, so a file of its layout stays valid.
  const piece: Piece = { root, subject, keysAt, unknownKey: layout === 'octodns' ? 'warning' : 'error', invalid, problems }
  return inChunks(value, 'type', ['value', 'values'], problems.isFull, (part, offsets) => {
    if (validate({ record: part })) return []
    return translate(validate.errors ?? [], (pointer) => shifted(segmentsOf(pointer).slice(1), offsets), piece)
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
  check: (part: Record<string, unknown>, offsets: Readonly<Record<string, number>>) => UnreportedProblem[],
): UnreportedProblem[] {
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

interface Place {
  readonly node: YamlNode
  readonly path: Path
  /** The way from the subject to the node (`values[1].preference`); empty for the subject itself. */
  readonly part: string
}

/** Reports faults of structure; gives back the others. */
function translate(errors: readonly SchemaError[], pathOf: (pointer: string) => string[], piece: Piece): UnreportedProblem[] {
  const { root, invalid } = piece
  const left: UnreportedProblem[] = []
  const slips = misspeltKeys(errors, pathOf, piece)
  for (const error of errors) {
    const path = pathOf(error.instancePath)
    const node = nodeAt(root, path)
    // An `if` leads to other errors, which stand beside it.
    if (node === undefined || isBroken(node) || error.keyword === 'if') continue
    const place = { node, path, part: partOf(path) }
    if (error.keyword === 'required') {
      invalid.add(node)
      const key = String(error.params['missingProperty'])
      if (!slips.has(`${error.instancePath} ${key}`)) reportMissing(key, place, piece)
    } else if (error.keyword === 'additionalProperties') reportUnknown(String(error.params['additionalProperty']), place, piece)
    else if (error.keyword !== 'type' || TIMES.has(path[0] ?? ''))
      left.push({ node, subject: piece.subject, message: `${place.part} ${error.message ?? 'is not valid'}`.trim() })
    else if (!invalid.has(node)) {
      invalid.add(node)
      reportType(error.params['type'], place, piece)
    }
  }
  return left
}

function reportMissing(key: string, { node, part }: Place, { subject, problems }: Piece): void {
  if (key === 'value') problems.report('value-missing', node.at, subject, 'the record has neither value nor values')
  else problems.report('schema-missing-key', node.at, subject, `${part === '' ? '' : `${part}: `}${key} is missing`)
}

function reportUnknown(key: string, { node, path, part }: Place, { subject, keysAt, unknownKey, invalid, problems }: Piece): void {
  const entry = node.kind === 'mapping' ? entryOf(node, key) : undefined
  const keyNode = entry?.key
  if (keyNode === undefined || invalid.has(keyNode)) return
  invalid.add(keyNode)
  const keys = keysAt(path)
  const isMisplaced = keys.includes('records') && isRecord(entry?.value)
  const hint = isMisplaced
    ? 'A record stands below "records:", further in.'
    : (didYouMean(key, keys) ?? (keys.length > 0 ? `Known here: ${keys.join(', ')}.` : undefined))
  const detail = `the key ${quoted(key)} has no meaning ${part === '' ? 'here' : `in ${part}`}`
  problems.report('schema-unknown-key', keyNode.at, subject, detail, { severity: unknownKey, hint })
}

/** Whether a node is laid out as a record, or a list of them. */
const isRecord = (node: YamlNode | undefined): boolean =>
  node?.kind === 'sequence' ? isRecord(node.items[0]) : node?.kind === 'mapping' && lookUp(node, 'type') !== undefined

function reportType(types: unknown, { node, path, part }: Place, { subject, keysAt, problems }: Piece): void {
  const wanted = typeNames(types)
  if (isNull(node) && (path[0] === 'value' || path[0] === 'values') && path.length < 3) {
    problems.report('value-missing', node.at, subject, 'the value is empty', { hint: 'Quote it if it is meant as text.' })
    return
  }
  const hint = typeHint(wanted, node, keysAt(path))
  problems.report('schema-type', node.at, subject, `${part} must be ${wanted}, not ${actualName(node)}`, { hint })
}

function typeHint(wanted: string, node: YamlNode, keys: readonly string[]): string | undefined {
  if (wanted === TYPE_NAMES['boolean'] && isYaml11Boolean(node)) return 'YAML 1.2 takes it for text; write true or false.'
  return wanted === TYPE_NAMES['object'] && keys.length > 0 ? `Write {${keys.map((key) => `${key}: …`).join(', ')}}.` : undefined
}

/** Missing keys whose misspelt form stands in the same mapping, as `POINTER KEY`: one slip is one fault. */
function misspeltKeys(errors: readonly SchemaError[], pathOf: (pointer: string) => string[], { keysAt }: Piece): Set<string> {
  const slips = new Set<string>()
  for (const { keyword, params, instancePath } of errors) {
    if (keyword !== 'additionalProperties') continue
    const meant = nearestWord(String(params['additionalProperty']), keysAt(pathOf(instancePath)))
    if (meant !== null) slips.add(`${instancePath} ${meant}`)
  }
  return slips
}

/** The segments of a JSON pointer (RFC 6901). */
function segmentsOf(pointer: string): string[] {
  if (pointer === '') return []
  const segments = pointer.slice(1).split('/')
  return pointer.includes('~') ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')) : segments
}

function nodeAt(root: YamlNode, path: Path): YamlNode | undefined {
  let node: YamlNode | undefined = root
  for (const segment of path) {
    if (node?.kind === 'sequence') node = node.items[Number(segment)]
    else node = node?.kind === 'mapping' ? lookUp(node, segment) : undefined
  }
  return node
}

const partOf = (path: Path): string =>
  path.map((segment, i) => (/^[0-9]+$/.test(segment) && i > 0 ? `[${segment}]` : `${i > 0 ? '.' : ''}${segment}`)).join('')

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
}

function typeNames(types: unknown): string {
  const list = (Array.isArray(types) ? types : [types]).filter((type) => type !== 'null') as string[]
  // Text that may look like a number or a boolean is text.
  const wanted = list.includes('string') ? list.filter((type) => type !== 'number' && type !== 'boolean') : list
  return wanted.map((type) => TYPE_NAMES[type] ?? type).join(' or ')
}

function actualName(node: YamlNode): string {
  if (node.kind !== 'scalar') return node.kind === 'mapping' ? 'a mapping' : 'a list'
  return isNull(node) ? 'empty' : quoted(node.text)
}

const isYaml11Boolean = (node: YamlNode): boolean => node.kind === 'scalar' && /^(?:yes|no|on|off|y|n)$/i.test(node.text)
