/** Validates requests against JSON Schemas and words the errors as the API does. */
import type { ErrorObject } from 'ajv'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import type { RequestProblem } from './request-error.ts'

/** Maximum number of errors reported for one request. */
const MAX_PROBLEMS = 50

/**
 * Converts schema errors to the API's error texts. A property of a schema may carry `x-reason`, the API's text for a value that is
 * not in its enumeration.
 */
export function schemaProblems(errors: readonly ErrorObject[]): RequestProblem[] {
  const problems = new Map<string, RequestProblem>()
  for (const error of errors) {
    const problem = problemOf(error)
    problems.set(`${problem.field} ${problem.reason}`, problem)
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems.values()]
}

/** The limits of a schema. */
type Bounds = Partial<Record<'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'maxItems', number>>

function problemOf(error: ErrorObject): RequestProblem {
  const field = fieldOf(error)
  if (field === null) return { field, reason: 'The request body must be a JSON object' }
  const schema = (error.parentSchema ?? {}) as Bounds
  switch (error.keyword) {
    case 'required':
      return { field, reason: `${field} is required` }
    case 'additionalProperties':
      return { field, reason: 'Unknown field' }
    case 'minLength':
    case 'maxLength':
      // An empty string clears a field, so the shortest value has one character.
      return { field, reason: `Length must be ${Math.max(1, schema.minLength ?? 0)}-${schema.maxLength} characters` }
    case 'maxItems':
      return { field, reason: `At most ${schema.maxItems} ${field.split('.').at(-1)} can be given.` }
    case 'minimum':
    case 'maximum':
      return {
        field,
        reason: schema.maximum === undefined ? `${field} is not valid` : `${field} must be between ${schema.minimum} and ${schema.maximum}`,
      }
    default:
      return { field, reason: (error.parentSchema as { 'x-reason'?: string })?.['x-reason'] ?? `${field} is not valid` }
  }
}

/** The request field of an error, without array indices. Null for the body as a whole. */
function fieldOf({ keyword, params, instancePath }: ErrorObject): string | null {
  if (instancePath === '') {
    if (keyword === 'required') return String(params['missingProperty'])
    if (keyword === 'additionalProperties') return String(params['additionalProperty']).slice(0, 100)
    return null
  }
  const parts = instancePath.slice(1).split('/')
  if (keyword === 'required') parts.push(String(params['missingProperty']))
  if (keyword === 'additionalProperties') parts.push(String(params['additionalProperty']).slice(0, 100))
  return parts.filter((part) => !/^[0-9]+$/.test(part)).join('.')
}

const options = { allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true, verbose: true, validateFormats: false } as const

/** Validates without changing the request: no coercion, no defaults. */
const ajv = new Ajv(options)
ajv.addVocabulary(['x-reason', 'example'])

/** Fastify's validator compiler: returns the validator of one part of a request, which is compiled when it is first used. */
export function compileRequestValidator({ schema, httpPart }: { schema: unknown; httpPart?: string | undefined }): ValidateFunction {
  const validate = compiledAtFirstUse(schema as AnySchema)
  if (httpPart === 'querystring') return withIntegers(validate, schema as QuerySchema)
  return httpPart === 'body' ? withoutOtherFields(validate, schema as ObjectSchema) : validate
}

function compiledAtFirstUse(schema: AnySchema): ValidateFunction {
  let compiled: ValidateFunction | undefined
  const validate = (value: unknown): boolean => {
    compiled ??= ajv.compile(schema)
    const valid = compiled(value) as boolean
    validate.errors = compiled.errors
    return valid
  }
  validate.errors = null as ValidateFunction['errors']
  return validate as unknown as ValidateFunction
}

interface ObjectSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, ObjectSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  readonly items?: ObjectSchema
}

/** The names of the unknown fields that each body had, as dotted paths. */
const ignored = new WeakMap<object, readonly string[]>()

/** Maximum number of ignored fields that are listed for one request. */
const MAX_LISTED = 50

/** The unknown fields that validation has removed from a request body, as dotted paths; the first 50. */
export const ignoredFields = (body: unknown): readonly string[] =>
  (typeof body === 'object' && body !== null ? ignored.get(body) : undefined) ?? []

/** The fields of each body that were null. */
const nulls = new WeakMap<object, ReadonlySet<string>>()

/** Whether a field of a body was null before validation, which removes it if it is optional. */
export const wasNull = (body: object, field: string): boolean => nulls.get(body)?.has(field) ?? false

/** Removes unknown fields before validation, and fields that are null if they mean the same as absent fields. */
function withoutOtherFields(validate: ValidateFunction, schema: ObjectSchema): ValidateFunction {
  const validateBody = (body: unknown): boolean => {
    const unknown = new Set<string>()
    if (typeof body === 'object' && body !== null)
      nulls.set(body, new Set(Object.entries(body).flatMap(([field, value]) => (value === null ? [field] : []))))
    removeFields(body, schema, '', unknown)
    if (unknown.size > 0) ignored.set(body as object, [...unknown])
    const valid = validate(body) as boolean
    validateBody.errors = validate.errors
    return valid
  }
  validateBody.errors = null as ValidateFunction['errors']
  return validateBody as unknown as ValidateFunction
}

/**
 * Removes fields that the schema does not know, unless it refuses them (`additionalProperties: false`), and null fields that are optional
 * without accepting null: client libraries send newer fields, and fields without a value as null. Objects of any content (preferences,
 * script data) stay as they are.
 */
function removeFields(value: unknown, schema: ObjectSchema, path: string, unknown: Set<string>): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) removeFields(item, schema.items, path, unknown)
    return
  }
  const { properties, additionalProperties, required } = schema
  if (typeof value !== 'object' || value === null || properties === undefined || additionalProperties === true) return
  const fields = value as Record<string, unknown>
  for (const [name, field] of Object.entries(fields)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known === undefined) {
      if (additionalProperties === false) continue
      delete fields[name]
      if (field !== null && unknown.size < MAX_LISTED) unknown.add(path + name.slice(0, 100))
    } else if (field !== null) removeFields(field, known, `${path}${name}.`, unknown)
    else if (!acceptsNull(known) && !required?.includes(name)) delete fields[name]
  }
}

/** Whether a property accepts null: also without any restriction. */
const acceptsNull = ({ type, enum: values }: ObjectSchema): boolean =>
  values ? values.includes(null) : type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'))

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
}

/** Converts decimal integers of a query string, where every value is text. `1e1`, `0x1` and ` 1 ` are not integers. */
function withIntegers(validate: ValidateFunction, schema: QuerySchema): ValidateFunction {
  const integers = Object.entries(schema.properties ?? {}).flatMap(([name, { type }]) => (type === 'integer' ? [name] : []))
  const validateQuery = (query: Record<string, unknown>): boolean => {
    for (const name of integers) {
      const text = query[name]
      if (typeof text === 'string' && /^-?[0-9]+$/.test(text)) query[name] = boundedInteger(text)
    }
    const valid = validate(query) as boolean
    validateQuery.errors = validate.errors
    return valid
  }
  validateQuery.errors = null as ValidateFunction['errors']
  return validateQuery as unknown as ValidateFunction
}

/** Clamps to the integers that a double represents exactly. */
const boundedInteger = (text: string): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
