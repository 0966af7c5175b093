import { Ajv, type ValidateFunction } from 'ajv'
import DOMAIN_CREATE from '../../../schemas/service/domain-create.json' with { type: 'json' }
import SEED from '../../../schemas/service/seed.json' with { type: 'json' }
import { ACCOUNT_PARTS, USER_PARTS } from './parts.ts'

/** What checks the form of a seed: its schema with those of its parts. */
export function compileSeedSchema(): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, allowUnionTypes: true, validateFormats: false })
  ajv.addVocabulary(['x-reason', 'example'])
  ajv.addSchema(DOMAIN_CREATE, 'domain-create.json')
  for (const { key, schema } of [...ACCOUNT_PARTS, ...USER_PARTS]) ajv.addSchema(schema, `seed-${key.replaceAll('_', '-')}.json`)
  return ajv.compile(SEED)
}
