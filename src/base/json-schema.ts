/**
 * A validator of JSON Schema draft 7 that is built while it checks. A generated validator of the config or of definitions is a script of 200 KiB, which Node would
 * parse at each start; their schemas as JSON have a tenth of that. Has the keywords that these schemas need, and reports what ajv reports with `allErrors`, in its order.
 */
import { agreeing } from './english.ts'

/** One violation of a schema. */
export interface SchemaError {
  /** JSON pointer (RFC 6901) to the value. */
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The schema that has the keyword. */
  readonly parentSchema?: Schema
  /** The invalid key, if the error is about a key. */
  readonly propertyName?: string
}

type Schema = Readonly<Record<string, unknown>>

/** Returns whether a value obeys a schema, and adds its errors. With null as errors it ends at the first one. */
type Check = (value: unknown, path: string, errors: SchemaError[] | null) => boolean

/** Creates a function that returns all errors of a value. The schema is parsed and its parts are prepared when a value needs them. */
export function createValidator(text: string): (value: unknown) => readonly SchemaError[] {
  let check: Check | null = null
  return (value) => {
    check ??= checkOf(JSON.parse(text) as Schema)
    if (check(value, '', null)) return []
    const errors: SchemaError[] = []
    check(value, '', errors)
    return errors
  }
}

function checkOf(root: Schema): Check {
  const definitions = new Map<string, Check>()
  const referred = (pointer: string): Check => {
    const known = definitions.get(pointer)
    if (known !== undefined) return known
    const target = pointer
      .slice(2)
      .split('/')
      .reduce<unknown>((schema, key) => (schema as Schema)[key], root)
    const check = prepared(target as Schema, { place: '#', referred })
    definitions.set(pointer, check)
    return check
  }
  return prepared(root, { place: '#', referred })
}

/** The place of a schema in its document or in its definition, as ajv counts, and the definitions that it may refer to. */
interface Context {
  readonly place: string
  readonly referred: (pointer: string) => Check
}

/** The check of a schema, created when a value needs it. */
function prepared(schema: Schema, context: Context): Check {
  let check: Check | null = null
  return (value, path, errors) => {
    check ??= checkOfSchema(schema, context)
    return check(value, path, errors)
  }
}

/** The types of a schema as messages name them. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'keys with values',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
}

const IS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** What a keyword needs: its schema and the place of that, and a function that adds an error. */
interface Keyword extends Context {
  readonly schema: Schema
  readonly fail: (path: string, errors: SchemaError[] | null, message: string, params?: Schema) => false
}

function checkOfSchema(schema: Schema, context: Context): Check {
  const keywordOf = (keyword: string): Keyword => ({
    ...context,
    schema,
    fail(path, errors, message, params = {}) {
      errors?.push({ instancePath: path, schemaPath: `${context.place}/${keyword}`, keyword, params, message, parentSchema: schema })
      return false
    },
  })
  const types = [schema['type'] ?? []].flat() as string[]
  const { fail } = keywordOf('type')
  const failType = (path: string, errors: SchemaError[] | null): false =>
    fail(path, errors, `must be ${types.join(',')}`, { type: schema['type'] })
  const groups = GROUPS.map(([type, keywords]) => {
    const used = Object.keys(keywords).filter((keyword) => schema[keyword] !== undefined)
    return {
      type,
      check: every(used.map((keyword) => (keywords[keyword] as KeywordCheck)(schema[keyword] as never, keywordOf(keyword)))),
      used,
    }
  }).filter(({ used }) => used.length > 0)
  // A value of another type than the only one is reported in the place of the keywords of that type.
  const only = types.length === 1 && groups.some(({ type }) => type === types[0]) ? types[0] : null
  const tests = types.map((type) => IS_TYPE[type] as (value: unknown) => boolean)
  const checks = groups.map(({ type, check }): Check => {
    const isType = type === null ? null : (IS_TYPE[type] as (value: unknown) => boolean)
    if (isType === null) return check
    return (value, path, errors) => (isType(value) ? check(value, path, errors) : type !== only || failType(path, errors))
  })
  if (types.length > 0 && only === null)
    checks.unshift((value, path, errors) => tests.some((isType) => isType(value)) || failType(path, errors))
  return every(checks)
}

function every(checks: readonly Check[]): Check {
  const [first, ...more] = checks
  if (first === undefined) return () => true
  if (more.length === 0) return first
  return (value, path, errors) => {
    let isValid = true
    for (const check of checks) {
      if (check(value, path, errors)) continue
      if (errors === null) return false
      isValid = false
    }
    return isValid
  }
}

const part = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}/${key}` : `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

// biome-ignore lint/suspicious/noExplicitAny: each keyword has a setting of its own type
type KeywordCheck = (setting: any, keyword: Keyword) => Check

const below = (schema: Schema, { place, referred }: Keyword, ...steps: readonly (string | number)[]): Check =>
  prepared(schema, { place: [place, ...steps].join('/'), referred })

/** Checks of any value. */
const GENERAL: Readonly<Record<string, KeywordCheck>> = {
  $ref: (pointer: string, { referred }) => referred(pointer),
  const:
    (constant: unknown, { fail }) =>
    (value, path, errors) =>
      value === constant || fail(path, errors, 'must be equal to constant', { allowedValue: constant }),
  enum: (allowed: readonly unknown[], { fail }) => {
    const known = new Set(allowed)
    return (value, path, errors) =>
      known.has(value) || fail(path, errors, 'must be equal to one of the allowed values', { allowedValues: allowed })
  },
  not: (schema: Schema, keyword) => {
    const check = below(schema, keyword, 'not')
    return (value, path, errors) => !check(value, path, null) || keyword.fail(path, errors, 'must NOT be valid')
  },
  anyOf: (schemas: readonly Schema[], keyword) => {
    const checks = schemas.map((schema, i) => below(schema, keyword, 'anyOf', i))
    return (value, path, errors) => {
      if (checks.some((check) => check(value, path, null))) return true
      if (errors !== null) for (const check of checks) check(value, path, errors)
      return keyword.fail(path, errors, 'must match a schema in anyOf')
    }
  },
  oneOf: (schemas: readonly Schema[], keyword) => {
    const checks = schemas.map((schema, i) => below(schema, keyword, 'oneOf', i))
    return (value, path, errors) => {
      const passing = checks.flatMap((check, i) => (check(value, path, null) ? [i] : []))
      if (passing.length === 1) return true
      if (errors !== null) for (const check of checks) check(value, path, errors)
      const params = { passingSchemas: passing.length === 0 ? null : passing }
      return keyword.fail(path, errors, 'must match exactly one schema in oneOf', params)
    }
  },
  allOf: (schemas: readonly Schema[], keyword) => every(schemas.map((schema, i) => below(schema, keyword, 'allOf', i))),
  if: (condition: Schema, keyword) => {
    const check = below(condition, keyword, 'if')
    const [yes, no] = (['then', 'else'] as const).map((clause) => {
      const schema = keyword.schema[clause]
      return schema === undefined ? null : ([clause, below(schema as Schema, keyword, clause)] as const)
    })
    return (value, path, errors) => {
      const [clause, consequence] = (check(value, path, null) ? yes : no) ?? []
      if (consequence === undefined || consequence(value, path, errors)) return true
      return keyword.fail(path, errors, `must match "${clause}" schema`, { failingKeyword: clause })
    }
  },
}

const limitOf =
  (sign: string, isWithin: (value: number, limit: number) => boolean): KeywordCheck =>
  (limit: number, { fail }) =>
  (value, path, errors) =>
    isWithin(value as number, limit) || fail(path, errors, `must be ${sign} ${limit}`, { comparison: sign, limit })

const OF_NUMBERS: Readonly<Record<string, KeywordCheck>> = {
  maximum: limitOf('<=', (value, limit) => value <= limit),
  minimum: limitOf('>=', (value, limit) => value >= limit),
  exclusiveMinimum: limitOf('>', (value, limit) => value > limit),
}

const sizeOf =
  (isMost: boolean, what: string, size: (value: never) => number): KeywordCheck =>
  (limit: number, { fail }) =>
  (value, path, errors) => {
    const found = size(value as never)
    const isValid = isMost ? found <= limit : found >= limit
    return isValid || fail(path, errors, `must NOT have ${isMost ? 'more' : 'fewer'} than ${limit} ${what}`, { limit })
  }

/** The number of code points. */
const lengthOf = (text: string): number => [...text].length

const OF_STRINGS: Readonly<Record<string, KeywordCheck>> = {
  maxLength: sizeOf(true, 'characters', lengthOf),
  minLength: sizeOf(false, 'characters', lengthOf),
  pattern: (pattern: string, { fail }) => {
    const expression = new RegExp(pattern, 'u')
    return (value, path, errors) => expression.test(value as string) || fail(path, errors, `must match pattern "${pattern}"`, { pattern })
  },
}

const OF_ARRAYS: Readonly<Record<string, KeywordCheck>> = {
  maxItems: sizeOf(true, 'items', (items: readonly unknown[]) => items.length),
  minItems: sizeOf(false, 'items', (items: readonly unknown[]) => items.length),
  items: (schema: Schema, keyword) => {
    const check = below(schema, keyword, 'items')
    return (value, path, errors) => {
      let isValid = true
      for (const [i, item] of (value as readonly unknown[]).entries())
        isValid = check(item, errors === null ? path : part(path, i), errors) && isValid
      return isValid
    }
  },
}

const keysOf = (value: Schema): number => Object.keys(value).length

/** For each key that is there, the keys that must be there too. */
const dependencies: KeywordCheck =
  (setting: Readonly<Record<string, readonly string[]>>, { fail }) =>
  (value, path, errors) => {
    let isValid = true
    for (const [property, needed] of Object.entries(setting)) {
      if ((value as Schema)[property] === undefined) continue
      for (const missingProperty of needed) {
        if ((value as Schema)[missingProperty] !== undefined) continue
        const [depsCount, deps] = [needed.length, needed.join(', ')]
        const message = `must have ${agreeing(depsCount, 'property', 'properties')} ${deps} when property ${property} is present`
        isValid = fail(path, errors, message, { property, missingProperty, depsCount, deps })
      }
    }
    return isValid
  }

const OF_OBJECTS: Readonly<Record<string, KeywordCheck>> = {
  maxProperties: sizeOf(true, 'properties', keysOf),
  minProperties: sizeOf(false, 'properties', keysOf),
  required:
    (keys: readonly string[], { fail }) =>
    (value, path, errors) => {
      let isValid = true
      for (const missingProperty of keys) {
        if ((value as Schema)[missingProperty] !== undefined) continue
        isValid = fail(path, errors, `must have required property '${missingProperty}'`, { missingProperty })
      }
      return isValid
    },
  propertyNames: (schema: Schema, keyword) => {
    const check = below(schema, keyword, 'propertyNames')
    return (value, path, errors) => {
      let isValid = true
      for (const propertyName of Object.keys(value as Schema)) {
        const found: SchemaError[] | null = errors && []
        if (check(propertyName, path, found)) continue
        errors?.push(...(found ?? []).map((error) => ({ ...error, propertyName })))
        isValid = keyword.fail(path, errors, 'property name must be valid', { propertyName })
      }
      return isValid
    }
  },
  additionalProperties: (schema: Schema | false, keyword) => {
    const known = new Set(Object.keys((keyword.schema['properties'] as Schema | undefined) ?? {}))
    const check = schema === false ? null : below(schema, keyword, 'additionalProperties')
    return (value, path, errors) => {
      let isValid = true
      for (const additionalProperty of Object.keys(value as Schema)) {
        if (known.has(additionalProperty)) continue
        const isAllowed =
          check === null
            ? keyword.fail(path, errors, 'must NOT have additional properties', { additionalProperty })
            : check((value as Schema)[additionalProperty], errors === null ? path : part(path, additionalProperty), errors)
        isValid = isAllowed && isValid
      }
      return isValid
    }
  },
  dependencies,
  properties: (schemas: Readonly<Record<string, Schema>>, keyword) => {
    const checks = Object.entries(schemas).map(([key, schema]) => [key, below(schema, keyword, 'properties', key)] as const)
    return (value, path, errors) => {
      let isValid = true
      for (const [key, check] of checks) {
        const own = (value as Schema)[key]
        if (own !== undefined) isValid = check(own, errors === null ? path : part(path, key), errors) && isValid
      }
      return isValid
    }
  },
  dependentRequired: dependencies,
}

/** The keywords by the type of the values that they concern, in the order in which ajv reports. */
const GROUPS: readonly (readonly [type: string | null, keywords: Readonly<Record<string, KeywordCheck>>])[] = [
  [null, GENERAL],
  ['number', OF_NUMBERS],
  ['string', OF_STRINGS],
  ['array', OF_ARRAYS],
  ['object', OF_OBJECTS],
]
