import { describe, expect, it } from 'vitest'
import { formatDefinition } from '../../../src/definition/print/format-definition.ts'
import { printDefinition } from '../../../src/definition/print/print-definition.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'
import { CORPUS, parseCorpusZone } from '../../dns/zone-file/corpus.ts'
import { forAll } from '../../support/fast-check.ts'
import { ORIGIN } from '../../support/plan.ts'
import { rounds } from '../../support/random.ts'
import { randomRecords } from '../../support/random-records.ts'
import { parse } from '../parse.ts'

const lines = (records: readonly ResourceRecord[]): string[] =>
  records.map(({ name, ttl, type, data }) => `${name} ${ttl ?? '-'} ${type} ${data}`).sort()

/** Expects that a printed definition parses to the same records and is already formatted. */
function expectPrinted(name: DomainName, records: readonly ResourceRecord[]): string {
  const text = printDefinition({ name, settings: {}, records })
  const parsed = parse(text, { zoneName: null })
  expect(parsed.diagnostics).toEqual([])
  expect(parsed.zone?.name).toBe(name)
  expect(lines(parsed.zone?.records ?? [])).toEqual(lines(records))
  return text
}

describe('parsing a printed definition gives the same records', () => {
  const zones = CORPUS.filter((zone) => zone.expect === 'accept')
    .map((zone) => ({ id: zone.id, ...parseCorpusZone(zone) }))
    .filter(({ records, origin }) => origin !== null && origin !== '.' && records.length > 0 && records.length < 5000)

  const expectZones = (chosen: typeof zones, count: number, typeCount: number): void => {
    expect(chosen.length).toBeGreaterThanOrEqual(count)
    const types = new Set<string>()
    for (const { origin, records } of chosen) {
      const text = expectPrinted(origin as DomainName, records)
      for (const { type } of records) types.add(type)
      if (text.length < 20_000) expect(formatDefinition(text)).toEqual({ ok: true, value: text })
    }
    expect(types.size).toBeGreaterThan(typeCount)
  }
  it('for every small zone of the corpus, already formatted', () => {
    const small = zones.filter(({ records }) => records.length <= 60)
    expectZones(small, 50, 20)
  })
  it('for every zone of the corpus, already formatted', { tags: ['long'] }, () => expectZones(zones, 60, 60))

  it('for any records', () => {
    forAll(rounds(300), randomRecords, (records) => {
      expectPrinted(ORIGIN, records)
    })
  })
})

describe('a printed definition', () => {
  const record = (line: string): ResourceRecord => {
    const [name = '', ttl = '', type = '', ...data] = line.split(' ')
    return { name, ttl: ttl === '-' ? null : Number(ttl), type, data: data.join(' ') } as ResourceRecord
  }

  it('looks handwritten', () => {
    const records = [
      'www.example.com. 300 A 192.0.2.2',
      'www.example.com. 300 A 192.0.2.1',
      'example.com. 300 MX 10 mail.example.com.',
      'example.com. 3600 TXT "v=spf1 -all"',
      'a.b.example.com. 300 CNAME example.com.',
      'no.example.com. 60 TXT "true"',
    ].map(record)
    const text = printDefinition({
      name: 'example.com.' as DomainName,
      settings: { soa_email: 'hostmaster@example.com', tags: ['a', 'no'], description: 'it: is #1' },
      records,
      unmanaged: [{ name: '_acme-challenge*', type: 'TXT' }, { owner: 'external-dns' }, { preset: 'dhcp' }],
      comments: [
        { name: null, text: 'Head.\n\nMore\u2028more' },
        { name: 'www.example.com.' as DomainName, text: 'The site.' },
        { name: 'gone.example.com.' as DomainName, text: 'Nothing of it is left.' },
      ],
    })
    expect(text).toBe(`# Head.
#
# More
# more
domain: example.com
description: 'it: is #1'
tags: [a, 'no']
soa_email: hostmaster@example.com
default_ttl: 300
unmanaged: [{name: _acme-challenge*, type: TXT}, {owner: external-dns}, {preset: dhcp}]
records:
  '':
    - {type: MX, value: {preference: 10, exchange: mail}}
    - {type: TXT, ttl: 3600, value: v=spf1 -all}
  a.b: {type: CNAME, value: '@'}
  'no': {type: TXT, ttl: 60, value: 'true'}
  # The site.
  www: {type: A, values: [192.0.2.1, 192.0.2.2]}

# Nothing of it is left.
`)
    expect(formatDefinition(text)).toEqual({ ok: true, value: text.replace('[{name', '[{name') })
  })

  it('states every TTL if one record has none', () => {
    const records = ['a 60', 'b 60', 'c 60', 'd -'].map((one) => record(`${one.replace(' ', '.example.com. ')} A 192.0.2.1`))
    expectPrinted('example.com.' as DomainName, records)
  })

  it('is printed quickly with 12,000 records', { tags: ['long'] }, () => {
    const records = Array.from({ length: 12_000 }, (_, i) => record(`h${i}.example.com. 300 MX 10 m${i}.example.com.`))
    expect(printDefinition({ name: 'example.com.' as DomainName, settings: {}, records }).length).toBeGreaterThan(600_000)
  })
})
