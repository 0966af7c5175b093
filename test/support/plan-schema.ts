import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/plan.schema.json'), 'utf8'))
const OPTIONS = { allErrors: true, discriminator: true, allowUnionTypes: true, validateFormats: false, strictRequired: false }
const validate = new Ajv2020(OPTIONS).compile(schema)

/** The errors of a document by `schemas/plan.schema.json`, from another validator than the program's. */
export function planSchemaErrors(document: unknown): string[] {
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
