/** The schemas of the config and of definitions, as the program reads them: beside ajv it finds the same errors in the same order. */
import { readFileSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'
import next from 'ajv/dist/vocabularies/next.js'
import { expect, test } from 'vitest'
import { text as config } from '../../generated/config-schema-text.js'
import { text as zone } from '../../generated/zone-schema-text.js'
import { createValidator, type SchemaError } from '../../src/base/json-schema.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'

interface Schema {
  readonly [keyword: string]: unknown
  readonly definitions: Readonly<Record<string, Schema>>
}

const LONG = ['😀'.repeat(70), 'x'.repeat(3000)]
const SCALARS = [
  '',
  'a',
  'ä~/😀',
  'A',
  'MX',
  'zone.yaml',
  '1h',
  '192.0.2.1',
  'env:TOKEN',
  'true',
  ...LONG,
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  300,
  1e10,
]
const KEYS = ['type', 'value', 'values', 'name', 'ttl', 'octodns', 'a/b~c', 'a b', '']

/** A value that mostly obeys a schema. */
function sampleOf(schema: Schema, root: Schema, random: Random, depth = 0): unknown {
  const of = (part: unknown): unknown => sampleOf(part as Schema, root, random, depth + 1)
  const list = (length: number, item: (i: number) => unknown): unknown[] => Array.from({ length }, (_, i) => item(i))
  if (depth > 9 || random.chance(0.04)) return random.pick([...SCALARS, [], {}, [''], { a: 1 }])
  if (typeof schema['$ref'] === 'string') return of(root.definitions[schema['$ref'].slice('#/definitions/'.length)])
  if ('const' in schema && random.chance(0.9)) return schema['const']
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'])
  const alternatives = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (schema[keyword] ?? []) as Schema[])
  const parts = [...alternatives, ...['if', 'then', 'else'].flatMap((keyword) => (schema[keyword] ?? []) as Schema)]
  const type = random.pick([schema['type'] ?? (schema['properties'] || parts.length > 0 ? 'object' : 'string')].flat())
  if (type === 'object') {
    const further = parts
      .filter(() => random.chance(0.6))
      .map(of)
      .filter((value) => typeof value === 'object' && !Array.isArray(value))
    const own = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>).filter(([key]) =>
      random.chance(((schema['required'] ?? []) as string[]).includes(key) ? 0.95 : 0.25),
    )
    const isTooMany = 'maxProperties' in schema && random.chance(0.3)
    const count = isTooMany ? Number(schema['maxProperties']) + 1 : random.below(4)
    const others = list(count, (i) => [
      count > 4 ? `k${i}` : random.pick(KEYS),
      schema['additionalProperties'] ? of(schema['additionalProperties']) : 1,
    ])
    return Object.assign(
      {},
      ...further,
      Object.fromEntries(own.map(([key, value]) => [key, of(value)])),
      Object.fromEntries(isTooMany || random.chance(0.3) ? (others as [string, unknown][]) : []),
    )
  }
  if (type === 'array')
    return list(random.chance(0.02) ? Number(schema['maxItems'] ?? 0) + 1 : random.below(4), () =>
      schema['items'] ? of(schema['items']) : 1,
    )
  if (type === 'boolean') return random.chance(0.5)
  if (type === 'null') return null
  if (type === 'string') return random.pick(SCALARS.filter((one) => typeof one === 'string'))
  return random.pick([0, 1, -1, 1.5, 300, 65_536, 2 ** 31, Number(schema['maximum'] ?? 7), Number(schema['minimum'] ?? 7) - 1])
}

/** An error as a line. Of the schema that has the keyword only the keys, since it may be large. */
const shown = (error: SchemaError | ErrorObject): string => {
  const { instancePath, schemaPath, keyword, params, message, propertyName, parentSchema = {} } = error
  return JSON.stringify([instancePath, schemaPath, keyword, params, message, propertyName, Object.keys(parentSchema)])
}

const parsed = (text: string): Schema => JSON.parse(text) as Schema

test.each([
  ['config', parsed(config)],
  ['zone', parsed(zone)],
])('%s: any part of the schema finds in any value what ajv finds', (_, root) => {
  const ajv = new Ajv({ allErrors: true, verbose: true, inlineRefs: false, validateFormats: false, strict: false }).addVocabulary(
    next as never,
  )
  const random = seededRandom(36)
  const found = new Set<string>()
  let valid = 0
  for (const part of [
    root,
    ...Object.keys(root.definitions).map((name) => ({ $ref: `#/definitions/${name}`, definitions: root.definitions })),
  ]) {
    const { $id: _id, ...schema } = part as Schema
    const validate = ajv.compile(schema)
    const errorsOf = createValidator(JSON.stringify(schema))
    for (let round = 0; round < Math.max(1, rounds(1)) * (part === root ? 200 : 30); round += 1) {
      const value = sampleOf(schema as Schema, root, random)
      const errors = validate(value) ? [] : (validate.errors ?? [])
      const expected = errors.map(shown).join('\n')
      expect(errorsOf(value).map(shown).join('\n'), JSON.stringify(value)).toBe(expected)
      valid += errors.length === 0 ? 1 : 0
      for (const { keyword } of errors) found.add(keyword)
    }
  }
  // Every keyword was broken, and much was valid.
  expect([...found].sort()).toEqual(keywordsOf(root))
  expect(valid).toBeGreaterThan(200)
})

const NEVER_REPORTED = new Set(['$ref', 'allOf', 'then', 'else', 'items', 'properties'])
const ANNOTATIONS = new Set(['$schema', '$id', 'definitions', 'default', 'format'])
const BY_NAME = new Set(['properties', 'definitions'])

/** The keywords that a schema can report, sorted: not those of a condition. */
function keywordsOf(root: Schema): string[] {
  const keywords = new Set<string>()
  const visit = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [keyword, setting] of Object.entries(schema)) {
      keywords.add(keyword)
      if (BY_NAME.has(keyword)) for (const one of Object.values(setting as object)) visit(one)
      else if (['allOf', 'anyOf', 'oneOf'].includes(keyword)) for (const one of setting as unknown[]) visit(one)
      else if (['items', 'then', 'else', 'propertyNames', 'additionalProperties'].includes(keyword)) visit(setting)
    }
  }
  visit(root)
  return [...keywords].filter((keyword) => !NEVER_REPORTED.has(keyword) && !ANNOTATIONS.has(keyword)).sort()
}

test('the texts are the composed schemas without their descriptions', () => {
  for (const [name, text] of Object.entries({ config, zone })) {
    const composed = readFileSync(new URL(`../../generated/${name}.schema.json`, import.meta.url), 'utf8')
    const isDescription = (key: string, value: unknown): boolean =>
      key === 'examples' ? Array.isArray(value) : (key === 'title' || key === 'description') && typeof value === 'string'
    expect(JSON.parse(text)).toEqual(JSON.parse(composed, (key, value: unknown) => (isDescription(key, value) ? undefined : value)))
  }
})
