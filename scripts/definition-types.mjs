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

/** The page with all functions. */
const REFERENCE = join(root, 'docs/programs/reference.md')

export async function writeDefinitionTypes() {
  const { RDATA_TYPES, valueForm } = await loadTable()
  const schema = await composeZoneSchema()
  const { definitions } = schema
  const typeOf = typeOfSchema(definitions)
  const helpers = readFileSync(join(root, 'scripts/definition-helpers.d.ts'), 'utf8').replace(/^\/\/ biome-ignore.*\n/gm, '')
  const { domain, records, ...settings } = definitions.settings.properties
  const { type, value, values, geo, dynamic, healthcheck, ...options } = definitions.record.properties
  const functions = [...RDATA_TYPES.keys()].filter((name) => name !== 'SOA').map((name) => functionOf(name, valueForm(name), definitions))
  const text = [
    helpers.trimEnd(),
    `/** The settings of a zone, as in YAML. */\nexport interface ZoneSettings {\n${members(settings, typeOf)}\n}`,
    `/** The keys of a record, as in YAML, beside its type and values. */\nexport interface RecordOptions {\n${members(options, typeOf)}\n}`,
    ...functions,
  ].join('\n\n')
  replace(DEFINITION_TYPES, `${text}\n`)
  return text
}

function replace(path, text) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}

/** The reference page of these types. */
export function referenceOf(text) {
  const parts = text.split(/\n(?=\/\*\*)/).map((part) => part.trim())
  const helpers = parts.filter((part) => /export declare (?:function|const) [a-z]/.test(part))
  const types = parts.flatMap((part) => {
    const [, doc = '', name, value] = /^\/\*\* (.*?) \*\/\nexport type ([A-Z0-9_]+)Value = (.*)$/s.exec(part) ?? []
    return name === undefined ? [] : `| \`${name}\` | ${doc} | \`${value.replaceAll('|', '\\|')}\` |`
  })
  const interfaces = parts.filter((part) =>
    /export (?:interface|type) (?:Location|Service|Generic|ZoneSettings|RecordOptions|OneOrMore)\b/.test(part),
  )
  const block = (list) => `\`\`\`ts\n${list.join('\n\n').replaceAll('export declare ', '').replaceAll('export ', '')}\n\`\`\``
  return `# Functions of programs

\`zonewright/definition\` has these functions. This page is generated from its types.

## Zones and helpers

${block(helpers)}

## Record types

Each function takes a name, a value or a list of values, and options: \`A('www', ['192.0.2.1', '192.0.2.2'], { ttl: 300 })\`.

| function | records | a value |
| --- | --- | --- |
${types.join('\n')}

## Settings and options

${block(interfaces)}
`
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

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  replace(REFERENCE, referenceOf(await writeDefinitionTypes()))
