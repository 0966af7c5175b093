/**
 * Writes the schemas for editors that are derived: `schemas/zone.schema.json` from `src/definition/zone.schema.json` and the rdata table, and
 * `schemas/config.schema.json` from `src/config/config.schema.json` and the settings of every provider, `src/providers/TYPE/settings.schema.json`.
 * Editors load one file, so it must contain everything.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { COMPOSED } from './release/contents.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

/** What a value of a type is. Editors and `validate` check the values of these types by schema; the parsers check those of the others alone. */
const TITLES = {
  CAA: 'Certification authorities that may issue certificates.',
  CDNSKEY: 'DNSKEY that the parent should use (RFC 7344).',
  CDS: 'DS that the parent should publish (RFC 7344).',
  CERT: 'Certificate.',
  DNSKEY: 'DNSSEC public key.',
  HINFO: 'Host information.',
  MX: 'Mail exchange.',
  NAPTR: 'Naming authority pointer.',
  RP: 'Responsible person.',
  SMIMEA: 'S/MIME certificate association.',
  SOA: 'Start of authority. A definition cannot have one: its settings define it.',
  SRV: 'Location of a service.',
  SSHFP: 'SSH host key fingerprint.',
  TLSA: 'TLS certificate association.',
  URI: 'URI of a service.',
  LUA: 'A script that PowerDNS runs for each answer; only PowerDNS has it.',
  URLFWD: 'Web redirect; only some providers have it.',
}

/** Types whose values share a definition: those of one text or name, and those whose form the base has. */
const SHARED = {
  texts: ['A', 'AAAA', 'DHCID', 'OPENPGPKEY'],
  TXT_values: ['SPF', 'TXT'],
  targets: ['ALIAS', 'CNAME', 'DNAME', 'NS', 'PTR'],
  DS_values: ['DS'],
  LOC_values: ['LOC'],
  SVCB_values: ['HTTPS', 'SVCB'],
}

/** What most zones have. */
const COMMON = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'PTR', 'ALIAS', 'HTTPS', 'SVCB']

const ref = (name) => ({ $ref: `#/definitions/${name}` })
const number = (maximum) => ({ type: ['integer', 'string'], ...(maximum !== undefined && { minimum: 0, maximum }) })
const NUMBER = number()
const FIELDS = {
  u8: number(255),
  u16: number(65_535),
  u32: number(4_294_967_295),
  seconds: ref('time'),
  name: ref('target'),
  hex: ref('textOrList'),
  base64: ref('textOrList'),
  algorithm: NUMBER,
  'certificate-type': NUMBER,
}

/** The schema of a value that is a mapping with a key per field. */
function mappingSchema(type, fields) {
  const properties = fields.flatMap(({ key, alias, kind }) => {
    const schema = FIELDS[kind] ?? ref('text')
    if (alias === null) return [[key, schema]]
    return [
      [key, schema],
      [alias, kind === 'name' ? schema : { description: `octoDNS's other name for ${key}.`, ...schema }],
    ]
  })
  const aliased = fields.filter(({ alias }) => alias !== null)
  const required = fields.filter(({ alias, defaultValue }) => alias === null && defaultValue === null).map(({ key }) => key)
  return {
    title: type,
    description: TITLES[type],
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(aliased.length > 0 && {
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      allOf: aliased.map(({ key, alias }) => ({ if: { not: { required: [alias] } }, then: { required: [key] } })),
    }),
    additionalProperties: false,
  }
}

/** One value of a schema or a list of them. */
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const oneOrMore = (value) => ({ if: { type: 'array' }, then: { type: 'array', minItems: 1, items: value }, else: value })

/** The schema of definitions. */
export async function composeZoneSchema() {
  const { RDATA_TYPES, GENERIC_ONLY_TYPES, valueForm } = await loadTable()
  const schema = readJson('src/definition/zone.schema.json')
  const { definitions } = schema
  const { record } = definitions
  const types = Object.keys(TITLES)
  const names = [...types, ...Object.values(SHARED).flat()]
  const others = [...RDATA_TYPES.keys(), ...GENERIC_ONLY_TYPES.keys()].filter((type) => !names.includes(type))
  // Editors offer them in this order.
  record.properties.type.anyOf.unshift({ enum: [...new Set([...COMMON, ...names.toSorted(), ...others])] })
  for (const type of types) definitions[`${type}_value`] = mappingSchema(type, valueForm(type).fields)
  for (const name of ['TXT', 'DS', 'LOC', 'SVCB', ...types]) {
    const value = name === 'TXT' ? ref('TXT_value') : { if: ref('generic'), else: ref(`${name}_value`) }
    definitions[`${name}_values`] = oneOrMore(value)
  }
  for (const name of ['texts', 'targets']) definitions[name] = oneOrMore(ref(name.slice(0, -1)))
  const rows = [...Object.entries(SHARED), ...types.map((type) => [`${type}_values`, [type]])]
  for (const [name, of] of rows) {
    record.allOf.push({
      if: { type: 'object', required: ['type'], properties: { type: of.length === 1 ? { const: of[0] } : { enum: of } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { value: ref(name), values: ref(name) } },
    })
  }
  return schema
}

/** The rdata table and the YAML forms, compiled from TypeScript. */
async function loadTable() {
  const { outputFiles } = await build({
    stdin: {
      contents:
        "export { RDATA_TYPES, GENERIC_ONLY_TYPES } from './dns/rdata/rdata-types.ts'; export { valueForm } from './definition/parse/value-forms.ts'",
      resolveDir: join(root, 'src'),
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}

/** The schema of the config. The definitions for the settings of a provider type are called `provider-TYPE`. */
export function composeConfigSchema() {
  const schema = readJson('src/config/config.schema.json')
  const settingsOf = (type) => `src/providers/${type}/settings.schema.json`
  const types = readdirSync(join(root, 'src/providers'))
    .filter((name) => existsSync(join(root, settingsOf(name))))
    .sort()
  const { provider } = schema.definitions
  Object.assign(provider.properties.type, {
    if: { type: 'string', pattern: '^npm:' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'string', pattern: '^npm:[a-z0-9][a-z0-9-]{0,99}$' },
    else: { enum: types },
  })
  provider.allOf = types.map((type) => ({
    if: { type: 'object', required: ['type'], properties: { type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: ref(`provider-${type}`),
  }))
  for (const type of types) schema.definitions[`provider-${type}`] = readJson(settingsOf(type))
  return schema
}

/** Writes both schemas if they changed. */
export async function composeSchemas() {
  const [zone, config] = COMPOSED
  write(zone, await composeZoneSchema())
  write(config, composeConfigSchema())
}

function write(name, schema) {
  const path = join(root, name)
  const text = `${JSON.stringify(schema, null, 2)}\n`
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
