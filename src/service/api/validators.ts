import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'

const options = { allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true, verbose: true, validateFormats: false } as const

/** For bodies: nothing is coerced, nothing filled in, nothing removed. */
const exact = new Ajv(options)

/** For query strings, where everything comes as text. */
const coercing = new Ajv({ ...options, coerceTypes: true })

for (const ajv of [exact, coercing]) ajv.addVocabulary(['x-reason', 'example'])

/** The validator of one part of a request, as fastify asks for it. */
export const compileValidator = ({ schema, httpPart }: { schema: unknown; httpPart?: string | undefined }): ValidateFunction =>
  (httpPart === 'querystring' ? coercing : exact).compile(schema as AnySchema)
