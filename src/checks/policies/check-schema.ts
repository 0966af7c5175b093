/**
 * Checks the schema of a policy before it is compiled. JSON Schema ignores what it does not know, so a misspelt keyword or property would be a rule that
 * nothing breaks. A schema can be as expensive as its author wants, so what takes more than linear time is refused.
 */
import { didYouMean } from '../../base/nearest-word.ts'
import { failure, type Result } from '../../base/result.ts'
import { isObject, quoted } from '../../base/text.ts'
import type { PathStep } from '../../definition/yaml/yaml-node.ts'
import type { Shape } from './policy-documents.ts'

/** Maximum number of subschemas of a rule, each counted as often as `$ref` leads to it. */
const MAX_SUBSCHEMAS = 5000

/** Maximum characters of a pattern. */
const MAX_PATTERN = 1000

export interface SchemaFault {
  /** The steps from the schema to the fault. */
  readonly path: readonly PathStep[]
  readonly message: string
  readonly hint?: string | undefined
}

/** What a keyword has: subschemas for the same value, for its items or properties, or no subschemas. */
type Keyword = 'same' | 'same-list' | 'same-map' | 'item' | 'item-list' | 'properties' | 'other' | 'other-map' | 'definitions' | 'none'

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ...(['not', 'if', 'then', 'else'] as const).map((key): [string, Keyword] => [key, 'same']),
  ...(['allOf', 'anyOf', 'oneOf'] as const).map((key): [string, Keyword] => [key, 'same-list']),
  ['dependentSchemas', 'same-map'],
  ...(['items', 'contains', 'unevaluatedItems'] as const).map((key): [string, Keyword] => [key, 'item']),
  ['prefixItems', 'item-list'],
  ['properties', 'properties'],
  ...(['additionalProperties', 'unevaluatedProperties', 'propertyNames'] as const).map((key): [string, Keyword] => [key, 'other']),
  ['patternProperties', 'other-map'],
  ['$defs', 'definitions'],
  ...['$ref', '$comment', 'title', 'description', 'type', 'enum', 'const', 'required', 'dependentRequired'].map(none),
  ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'pattern'].map(none),
  ...['minItems', 'maxItems', 'minContains', 'maxContains', 'minProperties', 'maxProperties'].map(none),
])

function none(key: string): [string, Keyword] {
  return [key, 'none']
}

const LOCAL = '$ref leads only to #/$defs/NAME of the same schema'

const NO_EFFECT = 'it has no effect'

const NO_LOOK_AROUND = 'patterns have no look-around and no back-references; combine schemas with not and allOf'

/** Keywords that policies cannot have, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  uniqueItems: 'it takes quadratic time; record sets and values are distinct anyway',
  format: 'use pattern instead',
  $schema: 'every policy is written in JSON Schema 2020-12',
  $id: LOCAL,
  $anchor: LOCAL,
  $dynamicRef: LOCAL,
  $dynamicAnchor: LOCAL,
  $recursiveRef: LOCAL,
  ...Object.fromEntries(['default', 'examples', 'deprecated', 'readOnly', 'writeOnly'].map((key) => [key, NO_EFFECT])),
  ...Object.fromEntries(['contentEncoding', 'contentMediaType', 'contentSchema', '$vocabulary'].map((key) => [key, NO_EFFECT])),
  // Earlier drafts
  definitions: 'write $defs, as JSON Schema 2020-12 has it',
  dependencies: 'write dependentRequired or dependentSchemas, as JSON Schema 2020-12 has them',
  additionalItems: 'write prefixItems and items, as JSON Schema 2020-12 has them',
}

/** The faults of a schema that is applied to documents of a shape. `checkPattern` refuses patterns that cannot be used. */
export function schemaFaults(schema: unknown, shape: Shape, checkPattern: (pattern: string) => Result<unknown>): SchemaFault[] {
  const faults = new Map<string, SchemaFault>()
  let subschemas = 0
  const report = (path: readonly PathStep[], message: string, hint?: string): void => {
    faults.set(`${path.join('/')} ${message}`, { path, message, hint })
  }
  const walk = (value: unknown, path: readonly PathStep[], place: Shape, references: readonly string[]): void => {
    subschemas += 1
    if (subschemas === MAX_SUBSCHEMAS + 1)
      report([], `the schema has more than ${MAX_SUBSCHEMAS} subschemas, counted as often as $ref leads to them`)
    if (subschemas > MAX_SUBSCHEMAS || typeof value === 'boolean') return
    if (isObject(value)) for (const [key, part] of Object.entries(value)) keyword(key, part, [...path, key], place, references)
    else report(path, 'a schema is a mapping, true or false')
  }
  const keyword = (key: string, value: unknown, path: readonly PathStep[], place: Shape, references: readonly string[]): void => {
    const kind = KEYWORDS.get(key)
    if (kind === undefined) {
      const why = Object.hasOwn(REFUSED, key) ? REFUSED[key] : undefined
      const message = why === undefined ? `JSON Schema has no keyword "${key}"` : `policies cannot use "${key}"`
      report(path, message, why ?? didYouMean(key, KEYWORDS.keys()))
      return
    }
    for (const [part, steps, inner] of partsOf(kind, value, place, report, path)) walk(part, [...path, ...steps], inner, references)
    if (key === '$ref') follow(value, path, place, references)
    else if (key === 'required') for (const name of listOf(value)) checkName(name, path, place, report)
    else if (key === 'pattern') pattern(value, path)
    else if (key === 'patternProperties' && isObject(value)) for (const one of Object.keys(value)) pattern(one, [...path, one])
  }
  const follow = (target: unknown, path: readonly PathStep[], place: Shape, references: readonly string[]): void => {
    const name = /^#\/\$defs\/([^/]+)$/.exec(String(target))?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~')
    const definitions = isObject(schema) && isObject(schema['$defs']) ? schema['$defs'] : {}
    if (name === undefined) report(path, `$ref cannot lead to ${quoted(String(target))}`, LOCAL)
    else if (!Object.hasOwn(definitions, name)) report(path, `$defs has no "${name}"`, didYouMean(name, Object.keys(definitions)))
    else if (references.includes(name)) report(path, `"${name}" refers to itself`)
    else walk(definitions[name], ['$defs', name], place, [...references, name])
  }
  const pattern = (text: unknown, path: readonly PathStep[]): void => {
    if (typeof text !== 'string') return
    const tooLong = failure(`it has ${text.length} characters; at most ${MAX_PATTERN} are allowed`)
    const checked = text.length > MAX_PATTERN ? tooLong : checkPattern(text)
    const hint = /\(\?|\\[1-9k]/.test(text) ? NO_LOOK_AROUND : undefined
    if (!checked.ok) report(path, `the pattern cannot be used: ${checked.message}`, hint)
  }
  walk(schema, [], shape, [])
  return [...faults.values()]
}

type Report = (path: readonly PathStep[], message: string, hint?: string) => void

/** The subschemas of a keyword: each with the steps to it and what it is applied to. */
function partsOf(kind: Keyword, value: unknown, shape: Shape, report: Report, path: readonly PathStep[]): [unknown, PathStep[], Shape][] {
  const entries = isObject(value) ? Object.entries(value) : []
  switch (kind) {
    case 'same':
      return [[value, [], shape]]
    case 'same-list':
      return listOf(value).map((one, i) => [one, [i], shape])
    case 'same-map':
      return entries.map(([key, one]) => [one, [key], shape])
    case 'item':
      return [[value, [], itemsOf(shape, report, path)]]
    case 'item-list':
      return listOf(value).map((one, i) => [one, [i], itemsOf(shape, report, path)])
    case 'properties':
      return entries.map(([key, one]) => [one, [key], checkName(key, [...path, key], shape, report)])
    case 'other':
      return [[value, [], 'any']]
    case 'other-map':
    case 'definitions':
      return entries.map(([key, one]) => [one, [key], 'any'])
    case 'none':
      return []
  }
}

/** The shape of a property. Reports a name that the documents do not have. */
function checkName(name: unknown, path: readonly PathStep[], shape: Shape, report: Report): Shape {
  if (shape === 'any' || typeof name !== 'string') return 'any'
  if ('items' in shape) {
    report(path, `a list has no property "${name}"`, 'for its items, use items or contains')
    return 'any'
  }
  const found = Object.hasOwn(shape.keys, name) ? shape.keys[name] : undefined
  if (found !== undefined) return found
  const names = Object.keys(shape.keys)
  const known = names.length === 0 ? 'it is a plain value without properties' : `the properties are ${names.join(', ')}`
  report(path, `the documents have no property "${name}" here`, didYouMean(name, names) ?? known)
  return 'any'
}

function itemsOf(shape: Shape, report: Report, path: readonly PathStep[]): Shape {
  if (shape === 'any') return 'any'
  if ('items' in shape) return shape.items
  report(path, 'the documents have no list here', 'use properties')
  return 'any'
}

/** The first key of a value that documents of a shape do not have, with the steps to it; null if there is none. */
export function unknownKey(value: unknown, shape: Shape): SchemaFault | null {
  let found: SchemaFault | null = null
  const report: Report = (path, message, hint) => {
    found ??= { path, message, hint }
  }
  const walk = (one: unknown, path: readonly PathStep[], place: Shape): void => {
    if (place === 'any') return
    if (Array.isArray(one)) {
      const items = itemsOf(place, report, path)
      for (const [i, item] of one.entries()) walk(item, [...path, i], items)
    } else if (isObject(one))
      for (const [key, part] of Object.entries(one)) walk(part, [...path, key], checkName(key, [...path, key], place, report))
  }
  walk(value, [], shape)
  return found
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
