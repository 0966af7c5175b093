import type { SchemaError } from '../../../generated/zone-schema.js'
import type { Severity } from '../../dns/diagnostic.ts'
import { quoted } from '../../dns/excerpt.ts'
import { didYouMean, nearestWord } from '../../dns/nearest-word.ts'
import { entryOf, isBroken, isNull, lookUp, nodeAt, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './parse-state.ts'
import { isRecordSetting } from './read-record-settings.ts'

/** A schema error about a name, TTL or value. It is reported only if the reader of that value finds no error itself. */
export interface DeferredError {
  readonly node: YamlNode
  readonly subject: string
  readonly message: string
}

/** The piece of a definition (the settings or a record) that was checked, and how to report its errors. */
export interface SchemaContext {
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

export type Path = readonly string[]

/** Keys whose reader also reports a value of the wrong type. */
const TIMES: ReadonlySet<string> = new Set(['ttl', 'default_ttl', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'])

interface Place {
  readonly node: YamlNode
  readonly path: Path
  /** The path from the subject to the node (`values[1].preference`); empty for the subject itself. */
  readonly part: string
}

/** Reports errors of structure, and returns the other errors. */
export function reportSchemaErrors(
  errors: readonly SchemaError[],
  pathOf: (pointer: string) => string[],
  context: SchemaContext,
): DeferredError[] {
  const { root, invalid } = context
  const deferred: DeferredError[] = []
  const misspelt = misspeltKeys(errors, pathOf, context)
  for (const error of errors) {
    const path = pathOf(error.instancePath)
    const node = nodeAt(root, path)
    // The error of an `if` repeats other errors.
    if (node === undefined || isBroken(node) || error.keyword === 'if') continue
    const place = { node, path, part: partOf(path) }
    if (error.keyword === 'required') {
      invalid.add(node)
      const key = String(error.params['missingProperty'])
      if (!misspelt.has(`${error.instancePath} ${key}`)) reportMissing(key, place, context)
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

function reportMissing(key: string, { node, part }: Place, { subject, problems }: SchemaContext): void {
  if (key === 'value') problems.report('value-missing', node.at, subject, 'the record has neither value nor values')
  else if (key === 'type' && part === '')
    problems.report('schema-missing-key', node.at, subject, 'the record has no type', { hint: 'Write {type: A, value: 192.0.2.1}.' })
  else problems.report('schema-missing-key', node.at, subject, `${part === '' ? '' : `${part}: `}the key ${key} is missing`)
}

function reportUnknown(key: string, { node, path, part }: Place, { subject, keysAt, unknownKey, invalid, problems }: SchemaContext): void {
  const entry = node.kind === 'mapping' ? entryOf(node, key) : undefined
  const keyNode = entry?.key
  if (keyNode === undefined || invalid.has(keyNode)) return
  invalid.add(keyNode)
  const keys = keysAt(path)
  const hint = misplacedHint(key, entry?.value, keyNode, keys) ?? didYouMean(key, keys)
  const allowed = keys.length > 0 ? `The keys allowed here are ${keys.join(', ')}.` : undefined
  const detail = `unknown key ${quoted(key)}${part === '' ? '' : ` in ${part}`}`
  problems.report('schema-unknown-key', keyNode.at, subject, detail, { severity: unknownKey, hint: hint ?? allowed })
}

/** What was meant by a key that is valid elsewhere, or that is part of a value. */
function misplacedHint(key: string, value: YamlNode | undefined, { at }: YamlNode, keys: readonly string[]): string | undefined {
  if (keys.includes('records') && isRecord(value)) return 'Move the record below "records:" and indent it.'
  const provider = keys.find((one) => isRecordSetting(one, key))
  if (provider !== undefined) return `Write it as ${provider}: {${key}: …}.`
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
    problems.report('value-missing', node.at, subject, 'the value is empty', { hint: 'Quote it if it is meant as text.' })
    return
  }
  const hint = part === 'records' ? 'Write each name as a key: www: {type: A, value: 192.0.2.1}.' : typeHint(wanted, node, keysAt(path))
  problems.report('schema-type', node.at, subject, `${part} must be ${wanted}, not ${actualName(node)}`, { hint })
}

function typeHint(wanted: string, node: YamlNode, keys: readonly string[]): string | undefined {
  if (wanted === TYPE_NAMES['boolean'] && isYaml11Boolean(node)) return 'YAML 1.2 reads it as text; write true or false.'
  if (wanted !== TYPE_NAMES['object'] || keys.length === 0) return undefined
  const fields = node.kind === 'scalar' ? node.text.trim().split(/\s+/) : []
  return `Write {${keys.map((key, i) => `${key}: ${fields.length === keys.length ? fields[i] : '…'}`).join(', ')}}.`
}

/** Missing keys that occur misspelt in the same mapping, as `POINTER KEY`: both errors have one cause. */
function misspeltKeys(errors: readonly SchemaError[], pathOf: (pointer: string) => string[], { keysAt }: SchemaContext): Set<string> {
  const misspelt = new Set<string>()
  for (const { keyword, params, instancePath } of errors) {
    if (keyword !== 'additionalProperties') continue
    const intended = nearestWord(String(params['additionalProperty']), keysAt(pathOf(instancePath)))
    if (intended !== null) misspelt.add(`${instancePath} ${intended}`)
  }
  return misspelt
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
  // A type that allows text allows numbers and booleans only as spellings of text.
  const wanted = list.includes('string') ? list.filter((type) => type !== 'number' && type !== 'boolean') : list
  return wanted.map((type) => TYPE_NAMES[type] ?? type).join(' or ')
}

function actualName(node: YamlNode): string {
  if (node.kind !== 'scalar') return node.kind === 'mapping' ? 'a mapping' : 'a list'
  return isNull(node) ? 'empty' : quoted(node.text)
}

const isYaml11Boolean = (node: YamlNode): boolean => node.kind === 'scalar' && /^(?:yes|no|on|off|y|n)$/i.test(node.text)
