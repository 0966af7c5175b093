import { describe, expect, test } from 'vitest'
import { exportDnscontrol } from '../../src/convert/dnscontrol/export-dnscontrol.ts'
import { exportCsv, exportJson } from '../../src/convert/export-tables.ts'
import { exportOctodns } from '../../src/convert/octodns/export-octodns.ts'
import { exportZoneFiles } from '../../src/convert/zone-files/export-zone-files.ts'
import { type DefinedRecord, type ResourceRecord, recordKey } from '../../src/dns/record.ts'
import { typeCode } from '../../src/dns/record-type.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../../src/dns/zone.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import { fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { randomRecords } from '../support/random-records.ts'
import { name, records } from '../support/records.ts'
import { recordsOf, SUPPORTED } from './octodns/every-type.ts'

const at = { file: 'a.yaml', line: 1, column: 1 }
const zoneOf = (origin: string, given: readonly DefinedRecord[]): DesiredZone => {
  return { ...DEFAULT_ZONE_OPTIONS, name: name(origin), at, settings: {}, records: given }
}
const OPTIONS = { nameservers: [], serial: 1, style: 'pretty' } as const

/** Parses a table strictly by RFC 4180; throws if it is malformed. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let rest = text
  while (rest !== '') {
    const row: string[] = []
    for (;;) {
      const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest)
      if (match === null) throw new Error(`no cell: ${JSON.stringify(rest.slice(0, 80))}`)
      row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
      rest = rest.slice(match[0].length)
      if (match[3] === '\r\n') break
    }
    rows.push(row)
  }
  return rows
}

const line = ({ name: owner, ttl, type, data }: ResourceRecord): string => `${owner} ${ttl} ${type} ${data}`

/** The records of a table, parsed as zone-file text. */
function recordsOfTable(zones: readonly DesiredZone[]): string[] {
  const [file] = exportCsv(zones, OPTIONS).files
  const [head, ...rows] = cellsOf(file?.text ?? '')
  expect(head).toEqual(['zone', 'name', 'type', 'ttl', 'data'])
  return rows.map((row) => {
    expect(row).toHaveLength(5)
    for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    const [zone = '', owner, type, ttl, data] = row
    const text = `$ORIGIN ${zone}\n${owner} ${ttl} IN ${type} ${data}\n`
    const { records: read, diagnostics } = parseZoneFile(text, { origin: name(zone), file: '' })
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    return [...read].map(line).join()
  })
}

const sorted = (zones: readonly DesiredZone[]): string[] => zones.flatMap((zone) => zone.records.map(line)).sort()

test.each([
  ['json', exportJson, true],
  ['octodns', exportOctodns, true],
  ['csv', exportCsv, false],
  ['zonefile', exportZoneFiles, false],
  ['dnscontrol', exportDnscontrol, false],
])('%s has the settings of records at a provider, or reports them', (_, exporter, isKept) => {
  const [www] = records(name('example.com.'), 'www 300 A 192.0.2.1')
  const given = { ...www, at, providerSettings: { cloudflare: { proxied: true } } } as DefinedRecord
  const { files, dropped } = exporter([zoneOf('example.com.', [given])], { ...OPTIONS, nameservers: [name('ns1.example.net.')] })
  expect(files.some(({ text }) => /"?proxied"?: true/.test(text))).toBe(isKept)
  const reported = dropped.filter(({ what }) => what === 'the settings of this record at cloudflare')
  expect(reported).toEqual(isKept ? [] : [expect.objectContaining({ name: 'www.example.com.', type: 'A', at })])
})

describe('a table', () => {
  test('has every type', () => {
    const zone = zoneOf(
      'example.com.',
      recordsOf(SUPPORTED).filter(({ type }) => typeCode(type) !== null),
    )
    expect(recordsOfTable([zone]).sort()).toEqual(sorted([zone]))
  })

  test('has names and data that begin like formulas', () => {
    const text = [
      ...['=a CNAME +b', '+c MX 10 -d', '-e NS @', '\\@f PTR =g', 'h DHCID +/8=', 'i TXT "=1+1"', 'j NAPTR 1 1 "" "" "" -k'],
      '- RP -l +m',
    ].join('\n')
    const zones = ['-x.example.', '=x.example.', '+x.example.'].map((origin) => zoneOf(origin, records(name(origin), text)))
    expect(recordsOfTable(zones).sort()).toEqual(sorted(zones))
  })

  test('and the JSON document have any records, in a fixed order', () => {
    forAll(rounds(100), randomRecords, fc.nat(), (given, turn) => {
      const distinct = [...new Map(given.map((record) => [recordKey(record), record])).values()]
      const zone = zoneOf('example.com.', distinct)
      const known = distinct.filter(({ type }) => typeCode(type) !== null)
      expect(recordsOfTable([{ ...zone, records: known }]).sort()).toEqual(sorted([{ ...zone, records: known }]))
      const cut = turn % distinct.length
      const turned = { ...zone, records: [...distinct.slice(cut), ...distinct.slice(0, cut)] }
      for (const exporter of [exportCsv, exportJson]) expect(exporter([turned], OPTIONS)).toEqual(exporter([zone], OPTIONS))
      const document = JSON.parse(exportJson([zone], OPTIONS).files[0]?.text ?? '') as { zones: { records: ResourceRecord[] }[] }
      expect(document.zones[0]?.records.map(line).sort()).toEqual(sorted([zone]))
    })
  })
})
