import { describe, expect, test } from 'vitest'
import { rdataFields } from '../../../src/dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'
import { checkZoneDigest, verifyZoneDigest } from '../../../src/dns/zone-file/zone-digest.ts'
import { CORPUS, type CorpusZone, originOf, parseCorpusZone } from './corpus.ts'
import { ORIGIN, parse } from './zone-text.ts'

const DIGESTS = CORPUS.filter(({ id }) => id.includes('zonemd/'))

/** Whether the suites expect the digest to verify; the zone with repeated digests, from a test of ldns, does not. */
const verifies = ({ id, suite }: CorpusZone): boolean => !suite.includes('failure') && !id.includes('repeated')

/** Too short digests are already refused as rdata (RFC 8976 section 2.2.4). */
const REFUSED = ['zonemd/31-too-small-digest.zone', 'zonemd/32-truncated-digest.zone']

describe('digests of zones of other projects', () => {
  test.each(DIGESTS)('$id', (zone) => {
    const { records } = parseCorpusZone(zone)
    const { kind } = verifyZoneDigest(records, originOf(zone))
    expect(kind).toBe(REFUSED.includes(zone.id) ? 'absent' : verifies(zone) ? 'verified' : 'mismatch')
  })

  test('some zones verify and some do not', () => {
    expect(DIGESTS.filter(verifies).length).toBeGreaterThan(12)
    expect(DIGESTS.filter((zone) => !verifies(zone)).length).toBeGreaterThan(4)
  })

  test.each(DIGESTS.filter((zone) => verifies(zone) && !REFUSED.includes(zone.id)))('$id: detects any change', (zone) => {
    const apex = originOf(zone)
    const { records } = parseCorpusZone(zone)
    const kindOf = (changed: readonly ResourceRecord[]): string => verifyZoneDigest(changed, apex).kind
    const server = records.find(({ type }) => type === 'NS') as ResourceRecord
    expect(kindOf(records.filter((record) => record.type !== 'NS' || record.data !== server.data))).toBe('mismatch')
    expect(kindOf([...records, { ...server, type: 'TXT', data: '"more"' }])).toBe('mismatch')
    expect(kindOf(records.map((record) => (record === server ? { ...record, ttl: null } : record)))).toBe('mismatch')
    // Order, duplicates and records outside the zone do not matter.
    expect(kindOf([...records, ...records].reverse())).toBe('verified')
    expect(kindOf([...records, ...parse('www.example.net. 1 A 192.0.2.1').records])).toBe('verified')
  })
})

const zone = (zonemd: string): string =>
  `$TTL 300\n@ SOA ns1.example.net. hostmaster 7 2h 15m 2w 5m\n@ NS ns1.example.net.\nwww A 192.0.2.1\n${zonemd}`

test.each([
  ['for another serial', `@ ZONEMD 6 1 1 ${'00'.repeat(48)}`, 'it is for serial 6; the zone has 7'],
  ['with an unknown scheme', `@ ZONEMD 7 9 1 ${'00'.repeat(48)}`, 'its scheme, 9, is not known'],
  ['with an unknown hash algorithm', `@ ZONEMD 7 1 9 ${'00'.repeat(48)}`, 'its hash algorithm, 9, is not known'],
  ['of another zone', `@ ZONEMD 7 1 1 ${'00'.repeat(48)}`, 'the digest of the records is '],
])('warns of a digest %s, at its position', (_, zonemd, message) => {
  const [found, ...others] = checkZoneDigest(parse(zone(zonemd)).records, ORIGIN)
  expect(others).toEqual([])
  expect(found).toMatchObject({ severity: 'warning', code: 'zonemd-mismatch', at: { file: 'zone', line: 5, column: 1 } })
  expect(found?.message).toContain(message)
})

test('a zone without an SOA record, or with two, has no digest', () => {
  const zonemd = `@ 300 ZONEMD 7 1 1 ${'00'.repeat(48)}\n`
  expect(checkZoneDigest(parse(zonemd).records, ORIGIN)[0]?.message).toContain('no SOA record')
  const two = `${zone(zonemd)}@ SOA ns1.example.net. hostmaster 8 2h 15m 2w 5m\n`
  expect(checkZoneDigest(parse(two).records, ORIGIN)[0]?.message).toContain('several SOA records')
})

test('a digest computed here verifies', () => {
  for (const [number, octets] of [
    [1, 48],
    [2, 64],
  ] as const) {
    const [other] = checkZoneDigest(parse(zone(`@ ZONEMD 7 1 ${number} ${'00'.repeat(octets)}`)).records, ORIGIN)
    const digest = other?.message.split(' ').at(-1)
    const { records } = parse(zone(`@ ZONEMD 7 1 ${number} ${digest}`))
    expect(verifyZoneDigest(records, ORIGIN)).toEqual({ kind: 'verified', by: records.at(-1) })
    expect(rdataFields(records.at(-1)?.data ?? '')[3]).toBe(digest)
  }
})
