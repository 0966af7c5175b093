/** Compiles the schemas of policies (JSON Schema 2020-12). Patterns match in linear time (RE2), since definitions may be written by anybody. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { failure, ok, type Result } from '../../base/result.ts'
import { excerpt } from '../../base/text.ts'
import { pointerSteps } from '../../definition/yaml/yaml-node.ts'
import type { SchemaFault } from './check-schema.ts'
import type { SchemaProblem } from './policy-rule.ts'

export interface CompiledSchema {
  readonly accepts: (value: unknown) => boolean
  /** The first problem of a value; null if the schema accepts it. */
  readonly problemOf: (value: unknown) => SchemaProblem | null
}

export const ACCEPTS_ALL: CompiledSchema = { accepts: () => true, problemOf: () => null }

const ACCEPTS_NONE: CompiledSchema = { accepts: () => false, problemOf: () => ({ path: [], text: 'is not allowed' }) }

export interface SchemaCompiler {
  readonly checkPattern: (pattern: string) => Result<unknown>
  /** Compiles a schema that the meta-schema and `schemaFaults` accept. Returns the faults that it has all the same. */
  readonly compile: (schema: object | boolean) => { readonly schema: CompiledSchema; readonly faults: readonly SchemaFault[] }
}

export function createSchemaCompiler(): SchemaCompiler {
  const patterns = new Map<string, RE2JS>()
  const patternOf = (text: string): RE2JS => {
    const pattern = patterns.get(text) ?? RE2JS.compile(RE2JS.translateRegExp(text))
    patterns.set(text, pattern)
    return pattern
  }
  // The validator tells patterns apart by their text.
  const engine = (text: string) => ({ test: remembered((value) => patternOf(text).test(value)), toString: () => text })
  const ajv = new Ajv2020({
    strict: true,
    // Keywords apply only to values of their type, and `required` and `properties` may be in different places.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    addUsedSchema: false,
    // The layout of policy files includes the meta-schema, compiled with the program.
    meta: false,
    validateSchema: false,
    logger: false,
    code: { regExp: Object.assign(engine, { code: 're2' }) },
  })
  return {
    checkPattern(text) {
      try {
        const size = patternOf(text).programSize()
        return size > MAX_PROGRAM ? failure(`it has ${size} steps, with its repetitions; at most ${MAX_PROGRAM} are allowed`) : ok(text)
      } catch (error) {
        return failure(excerpt((error as Error).message, MAX_TEXT))
      }
    },
    compile(schema) {
      if (typeof schema === 'boolean') return { schema: schema ? ACCEPTS_ALL : ACCEPTS_NONE, faults: [] }
      try {
        const accepts = ajv.compile(schema)
        return { schema: { accepts, problemOf: (value) => (accepts(value) ? null : problemOf(accepts.errors ?? [], schema)) }, faults: [] }
      } catch (error) {
        return { schema: ACCEPTS_ALL, faults: [{ path: [], message: excerpt((error as Error).message, MAX_TEXT) }] }
      }
    },
  }
}

const MAX_TEXT = 200

/** Maximum size of a compiled pattern: the time of a match is linear in it, and a repetition such as `{1,1000}` counts as often as it repeats. */
const MAX_PROGRAM = 10_000

/** Values of an enumeration in a message. */
const MAX_ALLOWED = 20

/** Texts whose result is remembered, and their longest length: many zones have the same names and values. */
const MAX_REMEMBERED = 2000
const MAX_REMEMBERED_LENGTH = 100

function remembered(test: (value: string) => boolean): (value: string) => boolean {
  const results = new Map<string, boolean>()
  return (value) => {
    const known = results.get(value)
    if (known !== undefined) return known
    const result = test(value)
    if (value.length <= MAX_REMEMBERED_LENGTH && results.size < MAX_REMEMBERED) results.set(value, result)
    return result
  }
}

/** The last error is that of the outermost keyword; that of an `if` only says which branch was taken. */
function problemOf(errors: readonly ErrorObject[], schema: object): SchemaProblem {
  const shown = errors.filter(({ keyword }) => keyword !== 'if')
  const { instancePath = '', keyword, message = '', params = {}, schemaPath = '' } = shown.at(-1) ?? errors.at(-1) ?? {}
  const path = pointerSteps(instancePath)
  const text = keyword === 'not' ? refusal(partAt(schema, pointerSteps(schemaPath.slice(1)))) : requirement(keyword, message, params)
  return { path, text: excerpt(`${textOf(path)}${text}`, MAX_TEXT) }
}

/** A part of a schema; undefined if it has none there. */
const partAt = (schema: unknown, steps: readonly string[]): unknown =>
  steps.reduce((part, step) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[step], schema)

/** What a `not` refuses. */
function refusal(refused: unknown): string {
  const [[keyword, value] = [], ...more] = Object.entries(refused ?? {})
  if (more.length > 0) return NOT_AS_DESCRIBED
  if (keyword === 'pattern') return `must not match pattern "${value}"`
  if (keyword === 'const') return requirement(keyword, '', { allowedValue: value }).replace('must', 'must not')
  if (keyword === 'enum') return requirement(keyword, '', { allowedValues: value }).replace('must', 'must not')
  if (keyword === 'contains') return 'must not contain the described items'
  return NOT_AS_DESCRIBED
}

const NOT_AS_DESCRIBED = 'must not be as described'

const textOf = (path: readonly string[]): string =>
  path.length === 0 ? '' : `${path.map((step, i) => (/^[0-9]+$/.test(step) ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')} `

function requirement(keyword: string | undefined, message: string, params: Readonly<Record<string, unknown>>): string {
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`
  if (keyword === 'enum') {
    const allowed = (params['allowedValues'] as unknown[]).slice(0, MAX_ALLOWED).map((one) => JSON.stringify(one))
    return `must be one of ${allowed.join(', ')}${(params['allowedValues'] as unknown[]).length > MAX_ALLOWED ? ', …' : ''}`
  }
  if (keyword === 'contains') return matches(params)
  if (keyword === 'false schema') return 'is not allowed'
  if (keyword === 'type') return `must be of the type ${[params['type']].flat().join(' or ')}`
  return message.replace('NOT', 'not')
}

/** `must contain at least 1 of the described items`. */
function matches({ minContains, maxContains }: Readonly<Record<string, unknown>>): string {
  const atLeast = `must contain at least ${minContains} of the described items`
  return maxContains === undefined ? atLeast : `${atLeast}, and at most ${maxContains}`
}
