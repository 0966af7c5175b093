import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { wireTypeCode } from '../../../src/dns/record-type.ts'
import { answerQuestion, type NamedRrset } from '../../../src/service/nameserver/answer.ts'
import { buildZoneData } from '../../../src/service/nameserver/zone-data.ts'
import { RICH_ZONES, records } from './rich-zones.ts'

const ZONES = new Map(RICH_ZONES.map((zone) => [zone.name, buildZoneData(zone.name, zone.serial, zone.records)]))

const text = (section: readonly NamedRrset[]): string[] =>
  section.flatMap(({ name, rrset }) => rrset.data.map((data) => `${name} ${rrset.ttl} ${rrset.type} ${data}`))

const ask = (name: string, type: string) => answerQuestion(ZONES, name as DomainName, wireTypeCode(type))
const SOA = 'example.test. 300 SOA ns1.example.test. hostmaster.example.test. 7 14400 3600 1209600 300'

test.each([
  ['example.test.', ['example.test. 3600 SOA ns1.example.test. hostmaster.example.test. 7 14400 3600 1209600 300']],
  ['www.example.test.', ['www.example.test. 300 CNAME web.example.test.']],
  ['x.wild.example.test.', ['x.wild.example.test. 300 A 192.0.2.7']],
  ['b.c.example.test.', []],
])('ANY returns one RRset (RFC 8482 section 4.1): %s', (name, answers) => expect(text(ask(name, 'ANY').answers)).toEqual(answers))

test('negative answers carry the lower of the TTL and the MINIMUM of the SOA (RFC 2308 section 3)', () => {
  expect(text(ask('nothing.example.test.', 'A').authorities)).toEqual([SOA])
  expect(text(ask('nothing.other.test.', 'A').authorities)[0]).toMatch(/^other\.test\. 30 SOA/)
})

test('the parent answers for the DS of a child zone (RFC 4035 section 3.1.4.1)', () => {
  expect(ask('hosted.example.test.', 'DS')).toMatchObject({ rcode: 0, authoritative: true, answers: [] })
  expect(text(ask('hosted.example.test.', 'DS').authorities)).toEqual([SOA])
  expect(text(ask('other.test.', 'DS').authorities)[0]).toMatch(/^other\.test\. 30 SOA/)
})

test('glue is separate from optional addresses', () => {
  const referral = ask('x.glued.example.test.', 'A')
  expect(text(referral.glue)).toEqual(['ns.glued.example.test. 3600 A 192.0.2.101', 'ns.glued.example.test. 3600 AAAA 2001:db8::101'])
  expect(text(referral.additionals)).toEqual(['ns1.example.test. 3600 A 192.0.2.53', 'ns1.example.test. 3600 AAAA 2001:db8::53'])
})

test('a DNAME substitution that is too long gives YXDOMAIN (RFC 6672 section 2.2)', () => {
  const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.`
  const zone = 'long.test.' as DomainName
  const data = buildZoneData(zone, 1, records(`long.test. 60 SOA . . 1 2 3 4 5\nd.long.test. 60 DNAME ${long}`))
  const question = `${'x'.repeat(63)}.d.long.test.` as DomainName
  expect(answerQuestion(new Map([[zone, data]]), question, 1)).toMatchObject({ rcode: 6, answers: [{ rrset: { type: 'DNAME' } }] })
})

test('a DNAME that points below itself is followed once', () => {
  const zone = 'deep.test.' as DomainName
  const data = buildZoneData(zone, 1, records('deep.test. 60 SOA . . 1 2 3 4 5\nd.deep.test. 60 DNAME e.d.deep.test.'))
  expect(text(answerQuestion(new Map([[zone, data]]), 'x.d.deep.test.' as DomainName, 1).answers)).toEqual([
    'd.deep.test. 60 DNAME e.d.deep.test.',
    'x.d.deep.test. 60 CNAME x.e.d.deep.test.',
  ])
})

test('a long chain of aliases is truncated', () => {
  const zone = 'chain.test.' as DomainName
  const lines = Array.from({ length: 100 }, (_, i) => `c${i}.chain.test. 60 CNAME c${i + 1}.chain.test.`)
  const data = buildZoneData(zone, 1, records(['chain.test. 60 SOA . . 1 2 3 4 5', ...lines].join('\n')))
  expect(answerQuestion(new Map([[zone, data]]), 'c0.chain.test.' as DomainName, 1).answers.length).toBeLessThan(20)
})

describe('a zone', () => {
  const zone = 'z.test.' as DomainName
  const build = (lines: string) => buildZoneData(zone, 1, records(`z.test. 60 SOA . . 1 2 3 4 5\n${lines}`))

  test('keeps record order, drops duplicates and records outside the zone, and has one TTL per RRset', () => {
    const data = build(
      'z.test. 60 A 192.0.2.9\nz.test. 30 A 192.0.2.1\nz.test. 90 A 192.0.2.9\nout.test. 60 A 192.0.2.1\nz.test. 60 ALIAS example.com.',
    )
    expect(data.apex.rrsets.slice(1)).toMatchObject([{ type: 'A', ttl: 30, data: ['192.0.2.9', '192.0.2.1'] }])
    expect([...data.nodes()].map(({ name }) => name)).toEqual(['z.test.'])
  })

  test('keeps the TTL of each signature', () => {
    const signature = (type: string) => `${type} 13 2 60 20300101000000 20250101000000 1 z.test. AAAA`
    const lines = ['z.test. 90 MX 1 .', `z.test. 90 RRSIG ${signature('MX')}`, `z.test. 30 RRSIG ${signature('TXT')}`, 'z.test. 30 TXT "x"']
    const { answers } = answerQuestion(new Map([[zone, build(lines.join('\n'))]]), zone, wireTypeCode('RRSIG'))
    expect(text(answers)).toEqual([`z.test. 90 RRSIG ${signature('MX')}`, `z.test. 30 RRSIG ${signature('TXT')}`])
  })

  test('without one SOA at its apex is refused', () => {
    expect(() => buildZoneData(zone, 1, [])).toThrow(RangeError)
    expect(() => build('z.test. 60 SOA . . 2 2 3 4 5')).toThrow(RangeError)
  })

  test('may have 12,000 records', () => {
    const many = records(
      `z.test. 60 SOA . . 1 2 3 4 5\n${Array.from({ length: 12000 }, (_, i) => `h${i}.sub.z.test. 60 A 192.0.2.${i % 256}`).join('\n')}`,
    )
    expect([...buildZoneData(zone, 1, many).nodes()].length).toBeGreaterThanOrEqual(12_000)
  })
})
