/**
 * Writes the derived schemas: `zone.schema.json` from `src/definition/zone.schema.json` and the rdata table, and `config.schema.json` from
 * `src/config/config.schema.json` and the settings of every provider, `src/providers/TYPE/settings.schema.json`.
 * Those in `schemas/` are for editors, which load one file and nothing else: they also check addresses, times and names. Those in `generated/` are for the
 * program, whose parsers check these with better messages.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
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

/** The schema of definitions, for the program. */
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
  record.allOf.push(...rows.map(([name, of]) => ruleOf(of, name)))
  return schema
}

/** The values of some types have the form that `name` defines. */
const ruleOf = (types, name) => ({
  if: { type: 'object', required: ['type'], properties: { type: types.length === 1 ? { const: types[0] } : { enum: types } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { value: ref(name), values: ref(name) } },
})

/** The rdata table and the YAML forms, compiled from TypeScript. */
export async function loadTable() {
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

/** The schema of the config, for the program. The definitions for the settings of a provider type are called `provider-TYPE`. */
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

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = `${octet}(?:\\.${octet}){3}`

/** An IPv6 address (RFC 4291 section 2.2): eight groups, or `::` for at least one of them; the last two may be an IPv4 address. */
function ipv6Pattern() {
  const group = '[0-9A-Fa-f]{1,4}'
  const groups = (least, most) => `(?:${group}:){${least},${most}}`
  const shortened = Array.from({ length: 8 }, (_, before) => {
    const start = before === 0 ? ':' : groups(before, before)
    const end = before === 7 ? '' : `(?:${groups(0, 6 - before)}${group})?`
    return [`${start}:${end}`, ...(before < 6 ? [`${start}:${groups(0, 5 - before)}${IPV4}`] : [])]
  })
  return [`${groups(7, 7)}${group}`, `${groups(6, 6)}${IPV4}`, ...shortened.flat()].join('|')
}

/** A text for editors. What an included file completes (`${name}`) and data in the generic form (RFC 3597) are not checked. */
const checkedText = (pattern, patternErrorMessage) => ({ pattern: `^(?:${pattern})$|\\$\\{|^\\\\#\\s`, patternErrorMessage })

const TIME = checkedText('[0-9]{1,15}|(?:[0-9]{1,10}[smhdwSMHDW])+', 'A time is seconds, or numbers with s, m, h, d or w: 300, 1h, 1h30m.')
const ADDRESSES = {
  A: checkedText(IPV4, 'An A record needs an IPv4 address, such as 192.0.2.1.'),
  AAAA: checkedText(ipv6Pattern(), 'An AAAA record needs an IPv6 address, such as 2001:db8::1.'),
}

/** Completes the schema of definitions with checks of texts. */
function zoneSchemaForEditors(schema) {
  const { definitions } = schema
  const settings = definitions.settings.properties
  for (const time of [
    definitions.ttl,
    definitions.time,
    definitions.soaTime,
    settings.soa.properties.ttl,
    definitions.quarantine.properties.for,
  ])
    Object.assign(time, TIME)
  Object.assign(definitions.date, { patternErrorMessage: 'Write a day as YEAR-MONTH-DAY: 2026-12-31.' })
  // One label, whose dots are escaped, or a name with the final dot.
  const name = checkedText(
    '(?:[^.\\\\]|\\\\.)*|.*\\.',
    'A name with dots ends in a dot: www.example.com. One label is a name in the zone, @ is the zone itself.',
  )
  Object.assign(definitions.target, name)
  Object.assign(settings.domain, checkedText('(?!.*://)\\S+', 'Write the name of the zone alone: example.com.'))
  Object.assign(settings.soa_email, checkedText('[^@\\s]+@[^@\\s]+\\.[^@\\s]+', 'Write a mail address: hostmaster@example.com.'))
  const address = checkedText(`${IPV4}|${ipv6Pattern()}`, 'Write an IP address: 192.0.2.53 or 2001:db8::53.')
  for (const key of ['master_ips', 'axfr_ips']) settings[key].items = { type: 'string', ...address }
  const rule = definitions.record.allOf.find((one) => one.if.properties?.type.enum?.includes('A'))
  rule.if.properties.type.enum = rule.if.properties.type.enum.filter((type) => !(type in ADDRESSES))
  for (const [type, text] of Object.entries(ADDRESSES)) {
    definitions[`${type}_values`] = oneOrMore({ type: 'string', ...text })
    definitions.record.allOf.push(ruleOf([type], `${type}_values`))
  }
  return schema
}

/** Completes the schema of the config with checks of texts. */
function configSchemaForEditors(schema) {
  Object.assign(schema.definitions.duration, TIME)
  return schema
}

/** Writes the schemas that changed. */
export async function composeSchemas() {
  const [zone, config] = COMPOSED
  mkdirSync(join(root, 'generated'), { recursive: true })
  write(join('generated', basename(zone)), await composeZoneSchema())
  write(join('generated', basename(config)), composeConfigSchema())
  write(zone, zoneSchemaForEditors(await composeZoneSchema()))
  write(config, configSchemaForEditors(composeConfigSchema()))
}

function write(name, schema) {
  const path = join(root, name)
  const text = `${JSON.stringify(schema, null, 2)}\n`
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
