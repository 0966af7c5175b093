/**
 * Writes `generated/definition.d.ts`, the types of `zonewright/definition`: a function per record type from the rdata table, settings from the schema of definitions,
 * and the helpers of `scripts/definition-helpers.d.ts`.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { composeZoneSchema, loadTable } from './compose-schemas.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** The file with the types. */
export const DEFINITION_TYPES = join(root, 'generated/definition.d.ts')

/** Kinds of fields that are numbers. */
const NUMBERS = new Set(['u8', 'u16', 'u32', 'seconds', 'algorithm', 'certificate-type'])

const GENERIC = 'Generic'

export async function writeDefinitionTypes() {
  const { RDATA_TYPES, valueForm } = await loadTable()
  const schema = await composeZoneSchema()
  const { definitions } = schema
  const typeOf = typeOfSchema(definitions)
  const helpers = readFileSync(join(root, 'scripts/definition-helpers.d.ts'), 'utf8')
  const { domain, records, ...settings } = definitions.settings.properties
  const { type, value, values, geo, dynamic, healthcheck, ...options } = definitions.record.properties
  const functions = [...RDATA_TYPES.keys()].filter((name) => name !== 'SOA').map((name) => functionOf(name, valueForm(name), definitions))
  const text = [
    helpers.trimEnd(),
    `/** The settings of a zone, as in YAML. */\nexport interface ZoneSettings {\n${members(settings, typeOf)}\n}`,
    `/** The keys of a record, as in YAML, beside its type and values. */\nexport interface RecordOptions {\n${members(options, typeOf)}\n}`,
    ...functions,
  ].join('\n\n')
  const temporary = `${DEFINITION_TYPES}.${process.pid}.tmp`
  writeFileSync(temporary, `${text}\n`)
  renameSync(temporary, DEFINITION_TYPES)
}

function functionOf(type, form, definitions) {
  const title = definitions[`${type}_value`]?.description
  const value = `${type.replaceAll('-', '_')}Value`
  return [
    `/** ${title ?? `A value of ${type}.`} */\nexport type ${value} = ${valueType(form)}`,
    `/** ${type} records. ${title ?? ''} */\nexport declare function ${type.replaceAll('-', '_')}(name: string, value: OneOrMore<${value}>, options?: RecordOptions): RecordSet`,
  ].join('\n\n')
}

function valueType(form) {
  if (form.shape === 'generic') return GENERIC
  if (form.shape === 'scalar') return NUMBERS.has(form.kind) ? 'string | number' : 'string'
  if (form.shape === 'location') return 'Location'
  if (form.shape === 'service') return 'Service'
  if (form.shape !== 'mapping') return 'string'
  const keys = form.fields.map(({ key, kind, defaultValue }) => {
    const own = NUMBERS.has(kind) ? 'number | string' : kind === 'hex' || kind === 'base64' ? 'string | readonly string[]' : 'string'
    return `${key}${defaultValue === null ? '' : '?'}: ${own}`
  })
  return `${GENERIC} | { ${keys.join('; ')} }`
}

const members = (properties, typeOf) =>
  Object.entries(properties)
    .map(([key, schema]) => `${comment(schema)}  ${/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key)}?: ${typeOf(schema)} | undefined`)
    .join('\n')

const comment = ({ description }) => (description === undefined ? '' : `  /** ${description.replaceAll('*/', '* /')} */\n`)

/** The TypeScript type of a schema. What it cannot say is `unknown`, and `validate` checks it. */
function typeOfSchema(definitions) {
  const typeOf = (schema, depth = 0) => {
    if (depth > 6) return 'unknown'
    if (schema.$ref !== undefined) return typeOf(definitions[schema.$ref.split('/').at(-1)], depth + 1)
    if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
    const kinds = [schema.type ?? []].flat()
    if (kinds.length === 0) return 'unknown'
    return [...new Set(kinds.map((kind) => ofKind(kind, schema, depth)))].join(' | ')
  }
  const ofKind = (kind, schema, depth) => {
    if (kind === 'integer' || kind === 'number') return 'number'
    if (kind === 'array') return `readonly (${typeOf(schema.items ?? {}, depth + 1)})[]`
    if (kind !== 'object') return kind
    if (schema.properties === undefined) return '{ readonly [key: string]: unknown }'
    const required = new Set(schema.required ?? [])
    const keys = Object.entries(schema.properties).map(
      ([key, one]) => `${JSON.stringify(key)}${required.has(key) ? '' : '?'}: ${typeOf(one, depth + 1)}`,
    )
    return `{ ${keys.join('; ')} }`
  }
  return typeOf
}
