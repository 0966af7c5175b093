import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../schemas/plan.schema.json'), 'utf8'))
const validate = new Ajv2020({
  allErrors: true,
  discriminator: true,
  allowUnionTypes: true,
  validateFormats: false,
  strictRequired: false,
}).compile(schema)

/** How a document breaks `schemas/plan.schema.json`, by a validator that users may have, not the one that the program was built with. */
export function planSchemaErrors(document: unknown): string[] {
  validate(document)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
