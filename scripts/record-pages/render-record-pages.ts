/** docs/records/: how each record type is written and which providers support it, from the rdata table, the printers, the capabilities and `notes.ts`. */
import { type FormField, LOCATION_KEYS, SERVICE_KEYS, valueForm } from '../../src/definition/parse/value-forms.ts'
import { OCTODNS_TYPES } from '../../src/definition/print/octodns-value.ts'
import { printOctodnsZone } from '../../src/definition/print/octodns-zone.ts'
import { printDefinition } from '../../src/definition/print/print-definition.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type FieldKind, GENERIC_ONLY_TYPES, RDATA_TYPES } from '../../src/dns/rdata/rdata-types.ts'
import type { DesiredZone } from '../../src/dns/zone.ts'
import { zoneFileDefinition } from '../../src/load/zone-file-definition.ts'
import type { Capabilities } from '../../src/plan/capabilities.ts'
import { refusedTypes } from '../../src/report/describe-capabilities.ts'
import { RECORD_NOTES, type RecordNotes } from './notes.ts'

type Providers = readonly (readonly [type: string, capabilities: Capabilities])[]

const ZONE = 'example.com.' as DomainName

/** The pages by file name. Throws if a type has no notes, or notes no type. */
export function renderRecordPages(providers: Providers): ReadonlyMap<string, string> {
  const types = [...RDATA_TYPES.keys()]
  const missing = types.filter((type) => RECORD_NOTES[type] === undefined)
  const unknown = Object.keys(RECORD_NOTES).filter((type) => !RDATA_TYPES.has(type))
  if (missing.length + unknown.length > 0) throw new Error(`scripts/record-pages/notes.ts: ${[...missing, ...unknown].join(' ')}`)
  // The common types come first.
  const listed = Object.keys(RECORD_NOTES)
  return new Map([
    ['README.md', indexPage(listed, providers)],
    ...listed.map((type): [string, string] => [`${type}.md`, recordPage(type, RECORD_NOTES[type] as RecordNotes, providers)]),
  ])
}

const indexPage = (types: readonly string[], providers: Providers): string => `# Record types

${table(
  ['type', 'what it says', 'providers'],
  types.map((type) => [`[${type}](${type}.md)`, RECORD_NOTES[type]?.title ?? '', String(holders(type, providers).length)]),
)}
${[...GENERIC_ONLY_TYPES.keys()].join(', ')} and every type with a number only (\`TYPE65400\`) are written as octets: \`value: \\# 3 0a0b0c\` (RFC 3597).

These pages are written by \`npm run update-record-pages\` from the tables that the program uses, and a test checks them.
`

function recordPage(type: string, { title, source, examples, remarks = [] }: RecordNotes, providers: Providers): string {
  const isDefinable = examples.length > 0
  return [
    `# ${type}: ${title}\n\nDefined in ${source}. [All record types](README.md)\n`,
    ...(isDefinable ? [exampleSections(type, examples), ...fieldSection(type)] : []),
    ...(remarks.length === 0 ? [] : [`## Notes\n\n${remarks.map((remark) => `- ${remark}\n`).join('')}`]),
    ...(isDefinable ? [`## Providers\n\n${holdersText(holders(type, providers), providers)}\n`] : []),
  ].join('\n')
}

function holdersText(held: readonly string[], providers: Providers): string {
  if (held.length === providers.length) return 'All [providers](../providers.md) support it.'
  return held.length === 0 ? 'None.' : held.map((one) => `[${one}](../providers.md#${one})`).join(', ')
}

function exampleSections(type: string, examples: readonly string[]): string {
  const zone = exampleZone(type, examples)
  const own = fence('yaml', printDefinition({ name: zone.name, settings: {}, records: zone.records }))
  const octodns = OCTODNS_TYPES.has(type)
    ? `\nIn octoDNS's layout:\n\n${fence('yaml', printOctodnsZone({ ...zone, defaultTtl: null }).text)}`
    : ''
  const command = `\nBy a command:\n\n${fence('sh', commandOf(examples[0] as string))}`
  return `## Example\n\n${own}${octodns}\nIn a zone file:\n\n${fence('', `${examples.join('\n')}\n`)}${command}`
}

/** The command that adds the record of a line of a zone file. */
function commandOf(line: string): string {
  const [, owner = '', ttl = '', type = '', data = ''] = /^(\S+) (\d+) IN (\S+) (.+)$/.exec(line) ?? []
  // A single string of TXT may be bare.
  const [, text = data] = (type === 'TXT' && /^"([^"\\]*)"$/.exec(data)) || []
  const value = /^[\w.:-]+$/.test(text) ? text : `'${text}'`
  return `zonewright record add example.com ${owner} ${type} ${value} --ttl ${ttl}\n`
}

/** The zone of examples. Throws if they have an error. */
function exampleZone(type: string, examples: readonly string[]): DesiredZone {
  const { zone, diagnostics } = zoneFileDefinition(`${examples.join('\n')}\n`, ZONE, { file: type })
  const [error] = diagnostics.filter(({ severity }) => severity === 'error')
  if (zone === null || error !== undefined) throw new Error(`the example of ${type}: ${error?.message}`)
  return zone
}

/** The keys of a value that is a mapping. */
function fieldSection(type: string): string[] {
  const form = valueForm(type)
  if (form.shape === 'location') return [`## Keys of a value\n\n${LOCATION_KEYS.map((key) => `\`${key}\``).join(', ')}\n`]
  if (form.shape === 'service') return [`## Keys of a value\n\n${SERVICE_KEYS.map((key) => `\`${key}\``).join(', ')} (optional)\n`]
  if (form.shape !== 'mapping') return []
  return [`## Keys of a value\n\n${table(['key', 'what it is', 'if absent'], form.fields.map(fieldRow))}`]
}

const fieldRow = ({ key, alias, kind, defaultValue }: FormField): string[] => [
  alias === null ? `\`${key}\`` : `\`${key}\` (octoDNS also: \`${alias}\`)`,
  KINDS[kind] ?? 'text',
  defaultValue === null ? 'an error' : defaultValue === '' ? 'empty' : `\`${defaultValue}\``,
]

const KINDS: Partial<Readonly<Record<FieldKind, string>>> = {
  u8: 'number from 0 to 255',
  u16: 'number from 0 to 65535',
  u32: 'number from 0 to 4294967295',
  seconds: 'seconds, or a time such as `1h`',
  time: 'time in UTC: `YYYYMMDDHHmmSS`',
  name: 'name',
  ipv4: 'IPv4 address',
  hex: 'hexadecimal',
  base64: 'base64',
  'optional-base64': 'base64',
  'base64-or-dash': 'base64, or `-`',
  algorithm: 'DNSSEC algorithm: number or mnemonic',
  'certificate-type': 'type of certificate: number or mnemonic',
  'dsync-scheme': 'scheme: number or mnemonic',
  type: 'record type',
  types: 'record types',
  tag: 'lower-case letters and digits',
  salt: 'hexadecimal, or `-`',
  hash: 'base32hex',
  locator64: 'four groups of hexadecimal digits',
  script: 'script',
}

/** The providers that support a type at some name. */
const holders = (type: string, providers: Providers): string[] =>
  providers.flatMap(([name, capabilities]) => {
    const isHeld = capabilities.types?.has(type) ?? !refusedTypes(capabilities).some(({ types, atApex }) => !atApex && types.includes(type))
    return isHeld ? [name] : []
  })

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\`\`\`\n`

const cell = (text: string): string => text.replaceAll('|', '\\|')

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${[header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')}\n`
