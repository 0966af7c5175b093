import { describe, expect, test } from 'vitest'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import { compareNatural } from '../../../src/definition/print/natural-order.ts'
import { printOctodnsZone } from '../../../src/definition/print/octodns-zone.ts'
import { readYaml } from '../../../src/definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../../src/definition/yaml/yaml-node.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord } from '../../../src/dns/record.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { randomRecords } from '../../support/random-records.ts'
import { recordsOf, SUPPORTED, UNSUPPORTED, ZONE } from './every-type.ts'

const print = (records: readonly DefinedRecord[], rrsetTargets: Parameters<typeof printOctodnsZone>[0]['rrsetTargets'] = []) =>
  printOctodnsZone({ name: ZONE, records, rrsetTargets, defaultTtl: null })

const lines = (records: readonly DefinedRecord[]): string[] =>
  records.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data}`).sort()

const readBack = (text: string): DefinedRecord[] => {
  const { zone, diagnostics } = parseDefinition(text, { file: 'example.com.yaml', zoneName: ZONE })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return [...(zone?.records ?? [])]
}

const expectSorted = (node: YamlNode): void => {
  if (node.kind === 'sequence') for (const item of node.items) expectSorted(item)
  if (node.kind !== 'mapping') return
  const keys = node.entries.map(({ key }) => key.text)
  expect(keys).toEqual([...keys].sort(compareNatural))
  for (const { value } of node.entries) expectSorted(value)
}

describe('a zone printed for octoDNS', () => {
  const records = recordsOf(SUPPORTED)
  const printed = print(records)

  test('has every type that octoDNS supports, without loss', () => {
    expect(printed.dropped).toEqual([])
    expect(lines(readBack(printed.text))).toEqual(lines(records))
  })

  test('has its keys in natural order at every depth', () => {
    const { root } = readYaml(printed.text, { file: '' })
    if (root === null) throw new Error('no YAML')
    expectSorted(root)
  })

  test('does not change when it is read and printed again', () => expect(print(readBack(printed.text)).text).toBe(printed.text))

  test('looks like what octoDNS writes', () => {
    const text = print(
      recordsOf('@ MX 10 mail\n@ A 192.0.2.1\nwww CNAME @\nx TXT "a;b"\nx A 192.0.2.1\nx A 192.0.2.2\n1 A 192.0.2.1\nsip SRV 1 2 3 a'),
    ).text
    expect(text).toBe(`---
'':
- ttl: 300
  type: A
  value: 192.0.2.1
- ttl: 300
  type: MX
  value:
    exchange: mail.example.com.
    preference: 10
'1':
  ttl: 300
  type: A
  value: 192.0.2.1
sip:
  octodns:
    lenient: true
  ttl: 300
  type: SRV
  value:
    port: 3
    priority: 1
    target: a.example.com.
    weight: 2
www:
  ttl: 300
  type: CNAME
  value: example.com.
x:
- ttl: 300
  type: A
  values:
  - 192.0.2.1
  - 192.0.2.2
- ttl: 300
  type: TXT
  value: 'a\\;b'
`)
    expect(print([]).text).toBe('---\n{}\n')
  })

  test('states the targets of an RRset', () => {
    const scope = { name: `www.${ZONE}` as typeof ZONE, type: 'A', ignored: true, included: ['a'], excluded: ['b', 'c'] }
    const { text } = print(recordsOf('www A 192.0.2.1'), [scope])
    expect(parseDefinition(text, { file: 'example.com.yaml', zoneName: ZONE }).zone?.rrsetTargets).toEqual([scope])
  })

  test.each(UNSUPPORTED)('reports a record that octoDNS cannot express: %s', (text, what) => {
    const { dropped } = print(recordsOf(text))
    expect(dropped.map((item) => item.what)).toEqual([expect.stringMatching(what)])
    expect(dropped[0]).toMatchObject({ zone: ZONE, name: expect.stringContaining('example.com.'), at: { file: 'a.zone' } })
  })

  test('marks records that belong to another zone as lenient, but not its delegation', () => {
    const lines = [
      ...['sub NS ns.sub', `sub DS 1 13 2 ${'ab'.repeat(32)}`, 'sub TXT a', 'ns.sub A 192.0.2.1', 'notsub A 192.0.2.1'],
      '@ A 192.0.2.1',
    ]
    const managed = new Set([ZONE, 'com.', 'sub.example.com.'] as DomainName[])
    const lenient = lines.filter((line) => {
      const printed = printOctodnsZone({ name: ZONE, records: recordsOf(line), rrsetTargets: [], defaultTtl: 60, managed })
      return printed.text.includes('lenient: true')
    })
    expect(lenient).toEqual(['sub TXT a', 'ns.sub A 192.0.2.1'])
  })

  test("gives records without a TTL the zone's TTL, and reports them if it is unknown", () => {
    const bare = recordsOf('www A 192.0.2.1').map((record) => ({ ...record, ttl: null }))
    expect(printOctodnsZone({ name: ZONE, records: bare, rrsetTargets: [], defaultTtl: 60 }).text).toContain('ttl: 60\n')
    expect(print(bare)).toMatchObject({
      text: expect.not.stringContaining('ttl'),
      dropped: [{ type: 'A', what: expect.stringContaining('default') }],
    })
  })
})

test('any record is unchanged after printing and reading, or reported', () => {
  let whole = 0
  forAll(rounds(200), randomRecords, (generated) => {
    const records = [...new Map(generated.map((r) => [`${r.name} ${r.type} ${r.data}`, { ...r, ttl: 300 as Ttl }])).values()]
    const { text, dropped } = print(records)
    const named = new Set(dropped.map(({ name, type }) => `${name} ${type}`))
    const isNamed = ({ name, type }: DefinedRecord): boolean => named.has(`${name} ${type}`)
    const { zone } = parseDefinition(text, { file: 'example.com.yaml', zoneName: ZONE })
    expect(lines((zone?.records ?? []).filter((record) => !isNamed(record)))).toEqual(lines(records.filter((record) => !isNamed(record))))
    if (dropped.length === 0) whole += 1
  })
  expect(whole).toBeGreaterThan(rounds(200) / 10)
})
