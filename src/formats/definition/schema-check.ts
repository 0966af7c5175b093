import { type SchemaError, validate } from '../../../generated/zone-schema.js'
import type { Severity } from '../../model/diagnostic.ts'
import type { DomainName } from '../../model/domain-name.ts'
import { nearestWord } from '../../model/nearest-word.ts'
import { plainValue } from '../yaml/plain-value.ts'
import { isBroken, isNull, type YamlNode } from '../yaml/yaml-node.ts'
import { allowedKeys, describePlace, isInsideRecord, type Path, type PathContext } from './definition-path.ts'
import { type Faults, quoted } from './faults.ts'
import type { Layout } from './reading.ts'
import { didYouMean } from './suggest.ts'

/** What the schema says about a definition. */
export interface SchemaCheck {
  /** Nodes (values, and keys that cannot stand where they do) whose fault has been reported. */
  readonly faulty: ReadonlySet<YamlNode>
  /** Faults that the readers of names, TTLs and rdata will report in words of their own; told only if they do not. */
  readonly left: readonly LeftFault[]
}

export interface LeftFault {
  readonly node: YamlNode
  readonly subject: string
  readonly message: string
}

/** The file under check. */
export interface SchemaTarget {
  readonly zone: DomainName
  readonly layout: Layout
  /** Whether settings stand at the root; a fragment is a record map in either layout. */
  readonly hasSettings: boolean
}

/** Keywords that only lead to others, whose errors stand beside. */
const WRAPPERS: ReadonlySet<string> = new Set(['if'])

/** Checks a definition or fragment with `schemas/zone.schema.json`. Faults of structure are reported at the key or value at fault. */
export function checkSchema(root: YamlNode, { zone, layout, hasSettings }: SchemaTarget, faults: Faults): SchemaCheck {
  const faulty = new Set<YamlNode>()
  const left: LeftFault[] = []
  if (validate(plainValue(root))) return { faulty, left }
  const errors = (validate.errors ?? []).filter((error) => !WRAPPERS.has(error.keyword))
  const context: PathContext = { zone, hasSettings, find: nodeFinder(root) }
  const slips = misspeltKeys(errors, context)
  for (const error of errors) {
    const path = segmentsOf(error.instancePath)
    const node = context.find(path)
    if (node === undefined || isBroken(node)) continue
    const place = { ...describePlace(path, context), node }
    if (error.keyword === 'required') {
      faulty.add(node)
      const key = String(error.params['missingProperty'])
      if (!slips.has(`${error.instancePath} ${key}`)) reportMissing(key, place, faults)
    } else if (error.keyword === 'additionalProperties') {
      const key = String(error.params['additionalProperty'])
      const keyNode = node.kind === 'mapping' ? node.entries.find((entry) => entry.key.text === key)?.key : undefined
      if (keyNode === undefined) continue
      faulty.add(keyNode)
      // octoDNS passes over keys it does not know, so a file of its layout stays valid.
      const severity = layout === 'octodns' && isInsideRecord(path, context) ? 'warning' : 'error'
      reportUnknown({ ...place, node: keyNode }, key, allowedKeys(path, context), severity, faults)
    } else if (error.keyword === 'type') {
      if (!faulty.has(node)) reportType(error.params['type'], path, place, faults)
      faulty.add(node)
    } else left.push({ node, subject: place.subject, message: `${place.part} ${error.message ?? 'is not valid'}`.trim() })
  }
  return { faulty, left }
}

interface Place {
  readonly subject: string
  /** The way from the subject to the node; empty for the subject itself. */
  readonly part: string
  readonly node: YamlNode
}

function reportMissing(key: string, { subject, part, node }: Place, faults: Faults): void {
  if (key === 'value') faults.report('value-missing', node.at, subject, 'the record has neither value nor values')
  else faults.report('schema-missing-key', node.at, subject, `${part === '' ? '' : `${part}: `}${key} is missing`)
}

function reportUnknown({ subject, part, node }: Place, key: string, keys: readonly string[], severity: Severity, faults: Faults): void {
  const hint = didYouMean(key, keys) ?? (keys.length > 0 ? `Known here: ${keys.join(', ')}.` : undefined)
  const detail = `the key ${quoted(key)} has no meaning ${part === '' ? 'here' : `in ${part}`}`
  faults.report('schema-unknown-key', node.at, subject, detail, { severity, hint })
}

function reportType(types: unknown, path: Path, { subject, part, node }: Place, faults: Faults): void {
  const isValue = path.at(-1) === 'value' || path.at(-2) === 'values' || path.at(-2) === 'value'
  if (isValue && isNull(node)) {
    faults.report('value-missing', node.at, subject, 'the value is empty', { hint: 'Quote it if it is meant as text.' })
    return
  }
  const wanted = typeNames(types)
  const hint = isYaml11Boolean(node) && wanted === 'true or false' ? 'YAML 1.2 takes it for text; write true or false.' : undefined
  const whose = part === '' ? (path.length === 0 ? 'the file' : 'the record') : part
  faults.report('schema-type', node.at, subject, `${whose} must be ${wanted}, not ${actualName(node)}`, { hint })
}

/** Missing keys whose misspelt form stands in the same mapping, as `PATH KEY`: one slip is one fault. */
function misspeltKeys(errors: readonly SchemaError[], context: PathContext): Set<string> {
  const slips = new Set<string>()
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties') continue
    const meant = nearestWord(String(error.params['additionalProperty']), allowedKeys(segmentsOf(error.instancePath), context))
    if (meant !== null) slips.add(`${error.instancePath} ${meant}`)
  }
  return slips
}

/** The segments of a JSON pointer (RFC 6901). */
const segmentsOf = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Finds nodes by path; large mappings are indexed once. */
function nodeFinder(root: YamlNode): PathContext['find'] {
  const indexes = new Map<YamlNode, Map<string, YamlNode>>()
  const child = (node: YamlNode, segment: string): YamlNode | undefined => {
    if (node.kind === 'scalar') return undefined
    if (node.kind === 'sequence') return node.items[Number(segment)]
    let index = indexes.get(node)
    if (index === undefined) {
      index = new Map(node.entries.map((entry) => [entry.key.text, entry.value]))
      indexes.set(node, index)
    }
    return index.get(segment)
  }
  return (path) => {
    let node: YamlNode | undefined = root
    for (const segment of path) node = node && child(node, segment)
    return node
  }
}

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
