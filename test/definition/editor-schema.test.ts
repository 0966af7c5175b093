/** The schemas in `schemas/`, with which editors check files: they find the common mistakes, and nothing in what the program accepts. */
import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { parseIpv4, parseIpv6 } from '../../src/dns/ip-address.ts'
import { parseTtl } from '../../src/dns/ttl.ts'
import { rounds, seededRandom } from '../support/random.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
// `patternErrorMessage` is a keyword of editors.
const [zone, config] = ['zone', 'config'].map((name) =>
  new Ajv({ strict: false, allErrors: true, verbose: true, validateFormats: false }).compile(
    JSON.parse(read(`schemas/${name}.schema.json`)),
  ),
)

/** What an editor shows at each place. */
function shown(validate: typeof zone, text: string): string[] {
  if (validate === undefined || validate(parse(text))) return []
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if')
  return errors.map(({ instancePath, parentSchema, message }) => `${instancePath} ${parentSchema?.['patternErrorMessage'] ?? message}`)
}

const records = (text: string): string => `domain: example.com\nrecords:\n  x: ${text}\n`

test.each([
  [records('{type: A, value: 192.0.2.300}'), '/records/x/value An A record needs an IPv4 address, such as 192.0.2.1.'],
  [records("{type: A, values: [192.0.2.1, '2001:db8::1']}"), '/records/x/values/1 An A record needs an IPv4 address'],
  [records("{type: AAAA, value: '2001:db8:::1'}"), '/records/x/value An AAAA record needs an IPv6 address, such as 2001:db8::1.'],
  [records('{type: A, ttl: 5 min, value: 192.0.2.1}'), '/records/x/ttl A time is seconds, or numbers with s, m, h, d or w: 300, 1h,'],
  ['domain: example.com\ndefault_ttl: 1y\n', '/default_ttl A time is seconds'],
  [records('{type: CNAME, value: www.example.net}'), '/records/x/value A name with dots ends in a dot: www.example.com. One label'],
  [records('{type: MX, value: {preference: 10, exchange: mail.example.net}}'), '/records/x/value/exchange A name with dots ends in a dot'],
  [records('{type: MX, value: {preference: 70000, exchange: mail}}'), '/records/x/value/preference must be <= 65535'],
  [records('{type: MX, value: 10 mail}'), '/records/x/value must be object'],
  [records('{type: AA, value: 192.0.2.1}'), '/records/x/type must be equal to one of the allowed values'],
  [records('{type: A, valu: 192.0.2.1}'), '/records/x must NOT have additional properties'],
  [records('{type: A}'), "/records/x must have required property 'value'"],
  ['domain: example.com\npolicy: synch\n', '/policy must be equal to one of the allowed values'],
  ['domain: https://example.com/\n', '/domain Write the name of the zone alone: example.com.'],
  ['domain: example.com\nsoa_email: hostmaster.example.com\n', '/soa_email Write a mail address: hostmaster@example.com.'],
  ['domain: example.com\naxfr_ips: [192.0.2]\n', '/axfr_ips/0 Write an IP address: 192.0.2.53 or 2001:db8::53.'],
  [records('{type: A, value: 192.0.2.1, expires: 31.12.2026}'), '/records/x/expires Write a day as YEAR-MONTH-DAY: 2026-12-31.'],
])('editors find the mistake in %j', (text, message) => {
  expect(shown(zone, text)).toEqual(expect.arrayContaining([expect.stringContaining(message)]))
})

test('of the config', () => {
  expect(shown(config, 'journal: {lease: 60x}')).toEqual([expect.stringContaining('/journal/lease A time is seconds')])
  for (const path of ['examples/zonewright.yaml']) expect(shown(config, read(path))).toEqual([])
})

test('editors find nothing in definitions without an error', () => {
  const folders = ['zones', 'examples', 'test/scenarios', 'test/corpora']
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  let compared = 0
  for (const file of files.filter((path) => path.endsWith('.yaml'))) {
    const text = read(file)
    const { zone: parsed, diagnostics } = parseDefinition(text, { file })
    if (parsed === null || diagnostics.some(({ severity, code }) => severity === 'error' || /^target-|^schema-/.test(code))) continue
    compared += 1
    expect([file, shown(zone, text)]).toEqual([file, []])
  }
  expect(compared).toBeGreaterThan(100)
})

test('what an included file completes is not checked, nor data in the generic form', () => {
  const texts = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as an included file has it
    '{type: CNAME, ttl: "${ttl}", value: "www.${zone}"}',
    "{type: A, value: '\\# 4 C0000201'}",
  ]
  for (const text of texts) expect(shown(zone, records(text))).toEqual([])
})

test('editors and parsers accept the same addresses, times and names', () => {
  const random = seededRandom(40)
  const isShown = (record: Record<string, unknown>): boolean => zone?.({ domain: 'example.com', records: { x: record } }) === false
  const part = (parts: readonly string[], most: number): string =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(parts)).join('')
  const counts = { accepted: 0, refused: 0 }
  const compare = (isValid: boolean, record: Record<string, unknown>): void => {
    counts[isValid ? 'accepted' : 'refused'] += 1
    expect([record, isShown(record)]).toEqual([record, !isValid])
  }
  for (let round = 0; round < rounds(3000); round += 1) {
    const ipv4 = Array.from({ length: random.pick([4, 4, 4, 3, 5]) }, () => random.pick(['0', '1', '25', '199', '255', '256', '01'])).join(
      '.',
    )
    compare(parseIpv4(ipv4).ok, { type: 'A', value: ipv4 })
    const ipv6 = part(['0', 'db8', 'FFFF', ':', ':', ':', '::', '1:', '2:', ':3', '12345', '192.0.2.1'], 12)
    compare(parseIpv6(ipv6).ok, { type: 'AAAA', value: ipv6 })
    const ttl = part(['1', '30', 's', 'm', 'H', 'd', 'w', 'y', ' '], 4)
    // The parser also knows the largest TTL.
    if (parseTtl(ttl).ok || !/^[0-9smhdw]+$/i.test(ttl)) compare(parseTtl(ttl).ok, { type: 'A', value: '192.0.2.1', ttl })
    const name = part(['a', 'b-c', '.', '\\.', '\\046'], 5)
    const { diagnostics } = parseDefinition(records(`{type: CNAME, value: '${name}'}`), { file: 'x' })
    if (diagnostics.every(({ code }) => code === 'target-ambiguous')) compare(diagnostics.length === 0, { type: 'CNAME', value: name })
  }
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(rounds(2000))
})
