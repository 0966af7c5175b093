/** Compiles the schemas of policies (JSON Schema 2020-12). Patterns match in linear time (RE2), since definitions may be written by anybody. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { excerpt } from '../../dns/excerpt.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { pointerSteps } from '../yaml/yaml-node.ts'
import type { SchemaFault } from './check-schema.ts'
import type { SchemaProblem } from './policy-rule.ts'

/** The first problem of a value; null if the schema accepts it. */
export type SchemaTest = (value: unknown) => SchemaProblem | null

export interface SchemaCompiler {
  readonly checkPattern: (pattern: string) => Result<unknown>
  /** Compiles a schema that `schemaFaults` accepts. Returns the faults that it has all the same. */
  readonly compile: (schema: unknown) => { readonly test: SchemaTest; readonly faults: readonly SchemaFault[] }
}

export function createSchemaCompiler(): SchemaCompiler {
  const patterns = new Map<string, RE2JS>()
  const patternOf = (text: string): RE2JS => {
    const pattern = patterns.get(text) ?? RE2JS.compile(RE2JS.translateRegExp(text))
    patterns.set(text, pattern)
    return pattern
  }
  // The validator tells patterns apart by their text.
  const engine = (text: string) => ({ test: (value: string) => patternOf(text).test(value), toString: () => text })
  const ajv = new Ajv2020({
    strict: true,
    // Keywords apply only to values of their type, and `required` and `properties` may be in different places.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(engine, { code: 're2' }) },
  })
  return {
    checkPattern(text) {
      try {
        return ok(patternOf(text))
      } catch (error) {
        return failure(excerpt((error as Error).message, MAX_TEXT))
      }
    },
    compile(schema) {
      const accepted = { test: () => null, faults: [] }
      if (typeof schema !== 'object' || schema === null) return accepted
      if (!ajv.validateSchema(schema)) return { ...accepted, faults: faultsOf(ajv.errors ?? []) }
      try {
        const validate = ajv.compile(schema)
        return { test: (value) => (validate(value) ? null : problemOf(validate.errors ?? [])), faults: [] }
      } catch (error) {
        return { ...accepted, faults: [{ path: [], message: excerpt((error as Error).message, MAX_TEXT) }] }
      }
    },
  }
}

const MAX_TEXT = 200

/** The meta-schema reports an error again for each schema around it. */
const faultsOf = (errors: readonly ErrorObject[]): SchemaFault[] =>
  errors.slice(0, 1).map(({ instancePath, message, params }) => {
    const allowed = params['allowedValues']
    const values = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : ''
    return {
      path: pointerSteps(instancePath),
      message: `${pointerSteps(instancePath).at(-1) ?? 'the schema'} ${message ?? 'is not valid'}${values}`,
    }
  })

/** The last error is that of the outermost keyword; that of an `if` only says which branch was taken. */
function problemOf(errors: readonly ErrorObject[]): SchemaProblem {
  const shown = errors.filter(({ keyword }) => keyword !== 'if')
  const { instancePath = '', keyword, message = '', params = {} } = shown.at(-1) ?? errors.at(-1) ?? {}
  const path = pointerSteps(instancePath)
  return { path, text: excerpt(`${textOf(path)}${requirement(keyword, message, params)}`, MAX_TEXT) }
}

const textOf = (path: readonly string[]): string =>
  path.length === 0 ? '' : `${path.map((step, i) => (/^[0-9]+$/.test(step) ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')} `

function requirement(keyword: string | undefined, message: string, params: Readonly<Record<string, unknown>>): string {
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).map((one) => JSON.stringify(one)).join(', ')}`
  if (keyword === 'false schema') return 'is not allowed'
  return message.replace('NOT', 'not')
}
