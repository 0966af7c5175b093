import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'

const options = { allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true, verbose: true, validateFormats: false } as const

/** Nothing is coerced, nothing filled in, nothing removed. */
const ajv = new Ajv(options)
ajv.addVocabulary(['x-reason', 'example'])

/** The validator of one part of a request, as fastify asks for it. */
export function compileValidator({ schema, httpPart }: { schema: unknown; httpPart?: string | undefined }): ValidateFunction {
  const validate = ajv.compile(schema as AnySchema)
  return httpPart === 'querystring' ? withIntegers(validate, schema as QuerySchema) : validate
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
}

/** In a query string everything comes as text: integers are read from decimal digits alone, since `1e1`, `0x1` and ` 1 ` are none to a client. */
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

/** A number with more digits than are exact is as good as the last that is. */
const boundedInteger = (text: string): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
