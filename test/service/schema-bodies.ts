/** Bodies generated from the JSON Schema of an operation, valid and invalid. */
import { fc } from '../support/fast-check.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas are read at arbitrary places
export type Schema = any
export type Body = Readonly<Record<string, unknown>>
const TEXT = '^[^\\u0000\\ud800-\\udfff]*$'

/** Values that a schema accepts; texts and lists are short, unless their length is at a limit. */
export function valuesOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  if (schema === true || schema === undefined) return fc.jsonValue({ maxDepth: 1 })
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const alternatives: readonly Schema[] = schema.anyOf ?? schema.oneOf ?? []
  if (alternatives.length > 0) return fc.oneof(...alternatives.map((one) => valuesOf(one, depth)))
  const types: readonly string[] = [schema.type ?? 'object'].flat()
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, depth)))
}

function valuesOfType(type: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.oneof(fc.integer(rangeOf(schema, 100_000)), fc.constantFrom(...limitsOf(schema, 0)))
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true })
    case 'string':
      return textOf(schema)
    case 'array':
      return fc.array(valuesOf(schema.items, depth + 1), { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 3, 3) })
    default:
      return objectOf(schema, depth)
  }
}

/** Any Unicode character except NUL; the library's own generator takes seconds to build. */
const CHARACTER = fc
  .oneof(fc.integer({ min: 1, max: 0x7f }), fc.integer({ min: 0x80, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))

const ASCII = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code))

function textOf({ minLength = 0, maxLength = 100, pattern = TEXT }: Schema): fc.Arbitrary<string> {
  if (pattern !== TEXT) return fc.stringMatching(new RegExp(pattern))
  const short = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 24)) }
  const written = fc.oneof(fc.string({ unit: ASCII, ...short }), fc.string({ unit: CHARACTER, ...short }))
  const longest = maxLength <= 300 ? [fc.constant('x'.repeat(maxLength))] : []
  return fc
    .oneof(written, ...longest)
    .filter((text) => new RegExp(TEXT).test(text) && [...text].length <= maxLength && [...text].length >= minLength)
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, depth: number): fc.Arbitrary<Body> {
  const declared = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valuesOf(property, depth + 1)])),
    { requiredKeys: required },
  ) as fc.Arbitrary<Body>
  if (additionalProperties === false || depth > 2) return declared
  return fc
    .tuple(fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }), declared)
    .map(([more, own]) => ({ ...more, ...own }))
}

const rangeOf = ({ minimum = -1000, maximum = 100_000 }: Schema, most: number) => ({
  min: minimum,
  max: Math.max(minimum, Math.min(maximum, most)),
})

const limitsOf = ({ minimum, maximum }: Schema, other: number): number[] => [minimum ?? other, maximum ?? other]

/** A valid body with some fields replaced by values that their schemas accept. */
export function variedOf(schema: Schema, good: Body, fixed: readonly string[] = []): fc.Arbitrary<Body> {
  const fields = Object.entries<Schema>(schema.properties ?? {}).filter(([name]) => !fixed.includes(name))
  if (fields.length === 0) return schema.additionalProperties === false ? fc.constant(good) : (valuesOf(schema) as fc.Arbitrary<Body>)
  const change = fc.oneof(...fields.map(([name, property]) => valuesOf(property).map((value) => ({ [name]: value }))))
  return fc.array(change, { maxLength: 3 }).map((changes) => Object.assign({}, good, ...changes) as Body)
}

/** An invalid body, and the field with the error; null for the body as a whole. */
export type InvalidBody = { readonly body: unknown; readonly field: string | null }

/** Bodies with one schema error: a missing or unknown field, a wrong type, or a value beyond a limit. */
export function invalidBodiesOf(schema: Schema, good: Body): fc.Arbitrary<InvalidBody> {
  const required: readonly string[] = schema.required ?? []
  const kinds: fc.Arbitrary<InvalidBody>[] = [fc.constantFrom<unknown>([], 'text', 1, null, [good]).map((body) => ({ body, field: null }))]
  if (required.length > 0) {
    kinds.push(
      fc
        .constantFrom(...required)
        .map((field) => ({ body: Object.fromEntries(Object.entries(good).filter(([name]) => name !== field)), field })),
    )
  }
  if (schema.additionalProperties === false) {
    const unknown = fc.string({ minLength: 1, maxLength: 12 }).map((name) => `?${name}`)
    // Null means that the field is absent.
    const value = fc.jsonValue({ maxDepth: 1 }).filter((one) => one !== null)
    kinds.push(fc.tuple(unknown, value).map(([field, value]) => ({ body: { ...good, [field]: value }, field })))
  }
  const wrong = Object.entries<Schema>(schema.properties ?? {}).flatMap(([field, property]) =>
    wrongValues(property, required.includes(field)).map((value) => ({ body: { ...good, [field]: value }, field })),
  )
  if (wrong.length > 0) kinds.push(fc.constantFrom(...wrong))
  return fc.oneof(...kinds)
}

/** Values that a schema must refuse, if it restricts values. An optional field that is null is absent. */
function wrongValues(schema: Schema, required: boolean): unknown[] {
  const types: readonly string[] = [schema.type ?? []].flat()
  if (schema.enum) return ['no such value', 1e9].filter((value) => !schema.enum.includes(value))
  if (types.length === 0) return []
  const samples: readonly (readonly [string, unknown])[] = [
    ['string', 'text'],
    ['integer', 3],
    ['boolean', true],
    ['array', []],
    ['object', {}],
    ...(required ? [['null', null] as const] : []),
  ]
  const others = samples
    .filter(([type]) => !types.includes(type) && !(type === 'integer' && types.includes('number')))
    .map(([, value]) => value)
  const beyond: unknown[] = []
  if (schema.maxLength !== undefined && schema.maxLength < 100_000) beyond.push('x'.repeat(schema.maxLength + 1))
  if (schema.minLength > 0) beyond.push('')
  if (schema.maximum !== undefined) beyond.push(schema.maximum + 1)
  if (schema.minimum !== undefined) beyond.push(schema.minimum - 1)
  return [...others, ...beyond]
}
