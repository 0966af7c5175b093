import type { SchemaError } from '../../../generated/zone-schema.js'
import type { Severity } from '../../dns/diagnostic.ts'
import { didYouMean, nearestWord } from '../../dns/nearest-word.ts'
import { entryOf, isBroken, isNull, lookUp, nodeAt, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, quoted } from './parse-state.ts'

/**
 * Definitions are checked with `schemas/zone.schema.json` piece by piece: the settings, then each record. The validator joins
 * the errors of parts by copying them, so that a whole file of faults would cost the square of its length.
 */

/** What the schema says about content that readers of names, TTLs and rdata judge in words of their own; told only if they do not. */
export interface DeferredError {
  readonly node: YamlNode
  readonly subject: string
  readonly message: string
}

/** Where the faults of a piece go, and how they are told. */
export interface SchemaContext {
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

export type Path = readonly string[]

/** Keys whose reader also tells what is wrong with a value of another type. */
const TIMES: ReadonlySet<string> = new Set(['ttl', 'default_ttl', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'])

interface Place {
  readonly node: YamlNode
  readonly path: Path
  /** The way from the subject to the node (`values[1].preference`); empty for the subject itself. */
  readonly part: string
}

/** Reports faults of structure; gives back the others. */
export function reportSchemaErrors(
  errors: readonly SchemaError[],
  pathOf: (pointer: string) => string[],
  piece: SchemaContext,
): DeferredError[] {
  const { root, invalid } = piece
  const left: DeferredError[] = []
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

function reportMissing(key: string, { node, part }: Place, { subject, problems }: SchemaContext): void {
  if (key === 'value') problems.report('value-missing', node.at, subject, 'the record has neither value nor values')
  else problems.report('schema-missing-key', node.at, subject, `${part === '' ? '' : `${part}: `}${key} is missing`)
}

function reportUnknown(key: string, { node, path, part }: Place, { subject, keysAt, unknownKey, invalid, problems }: SchemaContext): void {
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

function reportType(types: unknown, { node, path, part }: Place, { subject, keysAt, problems }: SchemaContext): void {
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
function misspeltKeys(errors: readonly SchemaError[], pathOf: (pointer: string) => string[], { keysAt }: SchemaContext): Set<string> {
  const slips = new Set<string>()
  for (const { keyword, params, instancePath } of errors) {
    if (keyword !== 'additionalProperties') continue
    const meant = nearestWord(String(params['additionalProperty']), keysAt(pathOf(instancePath)))
    if (meant !== null) slips.add(`${instancePath} ${meant}`)
  }
  return slips
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
