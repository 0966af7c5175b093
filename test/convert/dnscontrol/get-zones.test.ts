import { expect, test } from 'vitest'
import { commentedFeatures, readTsv, splitZones } from '../../../src/convert/dnscontrol/get-zones.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../../src/dns/character-string.ts'
import { type DomainName, parseDomainName } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../../../src/dns/record.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { randomRecords } from '../../support/random-records.ts'
import { recordsOf, SUPPORTED, ZONE } from '../octodns/every-type.ts'
import { type PrintedZone, printTsv, printZone } from './print-get-zones.ts'

const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`
const lines = (records: Iterable<ResourceRecord>): string[] => [...records].map(line).sort()

/** Records of example.com moved to a zone of another name, as a provider could have it. */
function zoneOf(records: readonly DefinedRecord[], name: DomainName): PrintedZone {
  const moved = records.map((record) => {
    const owner = parseDomainName(`${record.name.slice(0, -ZONE.length)}${name}`)
    if (!owner.ok) throw new Error(owner.message)
    return { ...record, name: owner.value, ttl: (record.ttl || 300) as Ttl }
  })
  return { name, records: moved.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) }
}

const NAMES = ['example.com.', 'sub.example.com.', 'example.org.', '2.0.192.in-addr.arpa.'] as DomainName[]

/** Whether a list can express the record: it has no line breaks in text, no octets that are not text and no division into strings. */
function isListed({ type, data }: ResourceRecord): boolean {
  if (type !== 'TXT') return true
  const octets = Buffer.from(txtRdataToOctets(data))
  return octetsToTxtRdata(octets) === data && !/[\r\n]/.test(octets.toString()) && Buffer.from(octets.toString()).equals(octets)
}

const zones = fc.array(fc.tuple(randomRecords, fc.constantFrom(...NAMES)), { minLength: 1, maxLength: 4 }).map((parts) => {
  const named = new Map(parts.map(([records, name]) => [name, records]))
  return [...named].map(([name, records]) => zoneOf(records, name))
})

const readZones = (text: string): string[][] =>
  splitZones(text).map((part) => {
    const { records, diagnostics } = parseZoneFile(part.text, { origin: null, file: 'a.zone' })
    expect(diagnostics).toEqual([])
    return lines(records)
  })

test('--format=zone: reads every record, in its zone', () => {
  forAll(rounds(400), zones, (given) => {
    const text = given.map(printZone).join('')
    expect(readZones(text)).toEqual(given.map(({ records }) => lines(records)))
    expect(commentedFeatures(text)).toEqual([])
  })
})

test('--format=tsv: reads every record, in its zone', () => {
  forAll(rounds(400), zones, (given) => {
    const listed = given.map(({ name, records }) => ({ name, records: records.filter(isListed) }))
    // An unquoted text shows that no text is quoted.
    const text = `${listed.map(printTsv).join('')}example.net\t@\t300\tIN\tTXT\tbare\n`
    const { zones: found, dropped, diagnostics } = readTsv(text, 'a.tsv')
    expect([dropped, diagnostics]).toEqual([[], []])
    const expected = listed.filter(({ records }) => records.length > 0).map(({ name, records }) => [name, ...lines(records)])
    const got = found.map(({ name, records }) => [name, ...lines(records)])
    expect(got).toEqual([...expected, ['example.net.', 'example.net. 300 TXT "bare"']])
  })
})

test('both formats have every type', () => {
  const known = recordsOf(SUPPORTED).filter(({ type }) => type !== 'ALIAS')
  const zone = zoneOf(known, ZONE)
  expect(readZones(printZone(zone))).toEqual([lines(zone.records)])
  const listed = { name: ZONE, records: zone.records.filter(isListed).filter(({ name }) => !name.includes('\\')) }
  expect(lines(readTsv(printTsv(listed), 'a.tsv').zones[0]?.records ?? [])).toEqual(lines(listed.records))
})

test('treats the texts of a list as quoted if all of them are', () => {
  const data = (...texts: string[]): string[] =>
    readTsv(texts.map((text) => `example.com\t@\t300\tIN\tTXT\t${text}\n`).join(''), 'a.tsv').zones.flatMap(({ records }) =>
      records.map((one) => one.data),
    )
  expect(data('"a" "b"', '"c;d"')).toEqual(['"a" "b"', '"c;d"'])
  expect(data('"a" "b"', 'c;d')).toEqual(['"\\"a\\" \\"b\\""', '"c;d"'])
})

test.each([
  ['cloudflare_proxy=true'],
  ['cloudflare_proxy=true,cloudflare_cname_flatten=on,cloudflare_comment=a, b,cloudflare_tags=x:y'],
  ['cloudflare_comment=a\tb'],
  ['hedns_dynamic=on,hedns_ddns_key=k'],
])('the column %s is named and no part of a text', (column) => {
  const { zones: found, dropped } = readTsv(`a.example.com\ta\t300\tIN\tTXT\tx y\t${column}\n`, 'a.tsv')
  expect(dropped.map(({ name, what }) => `${name} ${what}`)).toEqual([`a.example.com. ${column}`])
  expect(found[0]?.records.map(({ data }) => data)).toEqual(['"x y"'])
})

test.each<[string, string[]]>([
  [
    '$ORIGIN example.com.\n$TTL 300\nwww IN A 192.0.2.1\n$ORIGIN sub.example.com.\nwww IN A 192.0.2.2\n$ORIGIN deep\nx IN A 192.0.2.3\n$ORIGIN example.com.\ny IN A 192.0.2.4\n',
    ['www.example.com. www.sub.example.com. x.deep.sub.example.com. y.example.com.'],
  ],
  [
    '$ORIGIN example.com.\n$TTL 300\nwww IN A 192.0.2.1\n\n$ORIGIN sub.example.com.\nwww IN A 192.0.2.2\n',
    ['www.example.com. www.sub.example.com.'],
  ],
  [
    '$ORIGIN example.com.\n$TTL 300\nwww IN A 192.0.2.1\n$ORIGIN sub.example.com.\n$TTL 600\nwww IN A 192.0.2.2\n',
    ['www.example.com. www.sub.example.com.'],
  ],
  [
    '$ORIGIN example.com.\r\n$TTL 300\r\nwww IN A 192.0.2.1\r\n\r\n$ORIGIN sub.example.com.\r\n$TTL 300\r\nwww IN A 192.0.2.2\r\n',
    ['www.example.com.', 'www.sub.example.com.'],
  ],
  [
    '$ORIGIN example.com.\n$TTL 300\nwww IN A 192.0.2.1\n$ORIGIN example.org.\nwww 300 IN A 192.0.2.2\n',
    ['www.example.com.', 'www.example.org.'],
  ],
  ['$ORIGIN .\n$TTL 300\nexample.com IN A 192.0.2.1\n$ORIGIN example.com.\nwww IN A 192.0.2.2\n', ['example.com. www.example.com.']],
])('%j has the expected zones', (text, expected) => {
  const found = splitZones(text).map((part) =>
    [...parseZoneFile(part.text, { origin: null, file: 'a.zone' }).records].map(({ name }) => name).join(' '),
  )
  expect(found).toEqual(expected)
})

test('split texts of any content are read as a whole', () => {
  const piece = fc.constantFrom(
    ...['$ORIGIN example.com.', '$ORIGIN a.example.com.', '$ORIGIN b', '$ORIGIN .', '$ORIGIN ..', '$TTL 5', '', 'a A 192.0.2.1'],
    ...[';', '\r'],
  )
  forAll(rounds(1000), fc.array(fc.oneof(piece, fc.string()), { maxLength: 20 }), (given) => {
    const text = given.join('\n')
    const parts = splitZones(text)
    expect(parts.map((part) => part.text).join('\n')).toBe(text)
    for (const { text: own, linesBefore } of parts)
      expect(
        text
          .split('\n')
          .slice(linesBefore, linesBefore + own.split('\n').length)
          .join('\n'),
      ).toBe(own)
    commentedFeatures(text)
  })
})

test('reports records and settings in comments', () => {
  const text = [
    '; generated',
    ';@               IN ALIAS foo.example.net.',
    ';          600   IN R53_ALIAS foo.example.net. atype=A',
    'www              IN A     192.0.2.1 ; CF_PROXY_ON CF_COMMENT="a \\"b\\"" CF_TAGS=x:y',
    'txt              IN TXT   " ; CF_PROXY_ON"',
    'txt              IN TXT   " ; CF_TAGS=x"',
    ';www             IN A',
  ].join('\n')
  expect(commentedFeatures(text)).toEqual([
    { line: 2, type: 'ALIAS', what: 'a record of DNSControl\'s type ALIAS, with the target "foo.example.net."' },
    { line: 3, type: 'R53_ALIAS', what: 'a record of DNSControl\'s type R53_ALIAS, with the target "foo.example.net. atype=A"' },
    { line: 4, type: null, what: 'CF_PROXY_ON CF_COMMENT="a \\"b\\"" CF_TAGS=x:y' },
  ])
})
