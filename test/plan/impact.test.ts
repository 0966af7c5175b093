/** What a plan means to those who use the zone. */
import { expect, test } from 'vitest'
import type { Impact } from '../../src/plan/plan.ts'
import { ANY_DATA, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, name } from '../support/records.ts'

const KEEP = 'keep 300 A 192.0.2.1\nkept 300 A 192.0.2.1'

/** `www` for a name without records, `www A TXT` for a name that loses two types. */
function lostOf(impact: Impact | undefined): string[] {
  return (impact?.stopsAnswering ?? []).map(({ name: lost, types, isGone }) => {
    const relative = lost === ORIGIN ? '@' : lost.slice(0, -ORIGIN.length - 1)
    return isGone ? relative : [relative, ...types].join(' ')
  })
}

const impact = (existing: string, desired: string) =>
  planOf(`${KEEP}\n${existing}`, `${KEEP}\n${desired}`, { capabilities: ANY_DATA }).impact

test.each<[what: string, existing: string, desired: string, lost: string[]]>([
  ['a name loses all records', 'www 300 A 192.0.2.1\nwww 300 TXT "x"', '', ['www']],
  ['a name loses a type', 'www 300 A 192.0.2.1\nwww 300 TXT "x"', 'www 300 TXT "x"', ['www A']],
  ['a value of several goes', 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.2', 'www 300 A 192.0.2.2', []],
  ['data change', 'www 300 A 192.0.2.1', 'www 300 A 192.0.2.2', []],
  ['a name is renamed', 'www 300 A 192.0.2.1', 'web 300 A 192.0.2.1', ['www']],
  ['an address becomes an alias', 'www 300 A 192.0.2.1', 'www 300 CNAME keep', []],
  ['an alias becomes an address', 'www 300 CNAME keep', 'www 300 A 192.0.2.1', []],
  ['an alias becomes a text', 'www 300 CNAME keep', 'www 300 TXT "x"', ['www CNAME']],
  ['a wildcard answers in its place', 'www 300 A 192.0.2.1\n* 300 A 192.0.2.9', '* 300 A 192.0.2.9', []],
  ['a wildcard has another type', 'www 300 A 192.0.2.1\n* 300 TXT "x"', '* 300 TXT "x"', ['www']],
  [
    'a name below it keeps the wildcard from answering (RFC 4592)',
    'www 300 A 192.0.2.1\na.www 300 A 192.0.2.1\n* 300 A 192.0.2.9',
    'a.www 300 A 192.0.2.1\n* 300 A 192.0.2.9',
    ['www'],
  ],
  ['a closer wildcard counts', 'a.b 300 A 192.0.2.1\nb 300 TXT "x"\n* 300 A 192.0.2.9', 'b 300 TXT "x"\n* 300 A 192.0.2.9', ['a.b']],
  ['the wildcard itself goes', '* 300 A 192.0.2.9', '', ['*']],
  ['the name is delegated', 'a.sub 300 A 192.0.2.1', 'sub 300 NS ns.example.net.', []],
  ['a delegation goes', 'sub 300 NS ns.example.net.', '', ['sub']],
  ['an alias of the provider becomes an address', '@ 300 ALIAS keep', '@ 300 A 192.0.2.1', []],
  ['an alias of a policy becomes a text', '_dmarc 300 CNAME d.example.net.', '_dmarc 300 TXT "v=DMARC1; p=none"', []],
  ['an address becomes an alias of nothing', 'www 300 A 192.0.2.1', 'www 300 CNAME gone', ['www A']],
  ['the target of aliases goes', 'a 300 CNAME b\nb 300 CNAME c\nc 300 A 192.0.2.1', 'a 300 CNAME b\nb 300 CNAME c', ['a A', 'b A', 'c']],
  ['a type goes', 'a 300 CNAME c\nc 300 A 192.0.2.1\nc 300 AAAA 2001:db8::1', 'a 300 CNAME c\nc 300 A 192.0.2.1', ['a AAAA', 'c AAAA']],
  ['an alias gets a target without records', 'a 300 CNAME x.example.net.', 'a 300 CNAME gone', ['a CNAME']],
  ['an alias gets a wildcard as its target', 'a 300 CNAME keep\n*.w 300 A 192.0.2.1', 'a 300 CNAME x.w\n*.w 300 A 192.0.2.1', []],
  ['an alias and its target change places', 'a 300 CNAME b\nb 300 A 192.0.2.1', 'b 300 CNAME a\na 300 A 192.0.2.1', []],
  ['aliases make a loop', 'a 300 CNAME b\nb 300 A 192.0.2.1', 'a 300 CNAME b\nb 300 CNAME a', ['a A', 'b A']],
  ['the target of a wildcard goes', '*.apps 300 CNAME lb\nlb 300 A 192.0.2.1', '*.apps 300 CNAME lb', ['*.apps A', 'lb']],
  ['a delegation goes with its glue', 'sub 300 NS ns.sub\nns.sub 300 A 192.0.2.1', '', ['sub', 'ns.sub']],
  ['glue of a delegation that stays goes', 'sub 300 NS ns.sub\nns.sub 300 A 192.0.2.1', 'sub 300 NS ns.sub', []],
  ['a delegation becomes an alias', 'sub 300 NS ns.example.net.', 'sub 300 CNAME keep', ['sub NS']],
  ['an alias of the apex', '@ 300 NS ns.net.\nwww 300 CNAME @\nx 300 A 192.0.2.1', '@ 300 NS ns.net.\nwww 300 CNAME @', ['x']],
  ['records at a delegation that stays go', 'sub 300 NS ns.example.net.\nsub 300 A 192.0.2.1', 'sub 300 NS ns.example.net.', []],
  ['the key of a delegation goes', 'sub 300 NS ns.example.net.\nsub 300 DS 1 8 2 00', 'sub 300 NS ns.example.net.', ['sub DS']],
  ['TTLs rise', 'www 300 A 192.0.2.1', 'www 900 A 192.0.2.1', []],
])('names that stop answering: %s', (_, existing, desired, lost) => expect(lostOf(impact(existing, desired))).toEqual(lost))

test('mail: MX, SPF, DKIM, DMARC, MTA-STS and reports, but no other text', () => {
  const before = '@ 300 MX 10 mail\n@ 300 TXT "v=spf1 -all"\nother 300 TXT "v=spf10"'
  const after =
    '@ 300 MX 20 mail\n@ 300 TXT "v=spf1 mx -all"\nother 300 TXT "x"\ns._domainkey 300 TXT "v=DKIM1; p="\n_dmarc 300 CNAME d.example.net.\n_mta-sts 300 TXT "v=STSv1; id=1"'
  expect(impact(before, after)?.mail.map(({ name: one, type }) => `${one} ${type}`)).toEqual([
    'example.com. MX',
    'example.com. TXT',
    '_dmarc.example.com. CNAME',
    's._domainkey.example.com. TXT',
    '_mta-sts.example.com. TXT',
  ])
})

test('mail: addresses and keys of the servers that the zone names, and a domain that stops to take mail', () => {
  const before = '@ 300 MX 10 mx\nmx 300 A 192.0.2.1\n_25._tcp.mx 300 TLSA 3 1 1 00\nold 300 MX 10 mx.example.net.'
  const after = '@ 300 MX 10 mx\nmx 300 A 192.0.2.2\n_25._tcp.mx 300 TLSA 3 1 1 01\nold 300 MX 0 .'
  expect(impact(before, after)?.mail.map(({ name: one, type }) => `${one} ${type}`)).toEqual([
    'mx.example.com. A',
    '_25._tcp.mx.example.com. TLSA',
    'old.example.com. MX',
  ])
})

test('name servers: delegations, DS, and addresses of the named servers, but no change of a TTL alone', () => {
  const before = 'sub 300 NS ns1\nns1 300 A 192.0.2.1\nold 300 NS ns.example.net.\nold 300 DS 1 8 2 00\nstay 300 NS ns.example.net.'
  const after = 'sub 300 NS ns1\nns1 300 A 192.0.2.2\nstay 600 NS ns.example.net.'
  expect(impact(before, after)?.nameservers.map(({ name: one, type }) => `${one} ${type}`)).toEqual([
    'ns1.example.com. A',
    'old.example.com. DS',
    'old.example.com. NS',
  ])
})

test('all records change: every record set of a zone with several, or the zone is deleted', () => {
  expect(planOf('a 300 A 192.0.2.1\nb 300 A 192.0.2.1', 'a 300 A 192.0.2.2\nb 3600 A 192.0.2.1').impact?.changesAll).toBe(true)
  expect(planOf('a 300 A 192.0.2.1\nb 300 A 192.0.2.1', 'a 300 A 192.0.2.2\nb 300 A 192.0.2.1').impact).toBeUndefined()
  expect(planOf('a 300 A 192.0.2.1', 'a 300 A 192.0.2.2').impact).toBeUndefined()
})

test('the deletion of a zone: all its names stop answering', () => {
  const { impact } = planOf(`${KEEP}\n* 300 TXT "x"`, '', { desired: { ...desiredZone(ORIGIN, ''), absent: true } })
  expect(lostOf(impact)).toEqual(['*', 'keep', 'kept'])
  expect(impact?.changesAll).toBe(true)
})

test('a new zone, and a plan without changes, have none', () => {
  expect(planOf(null, '@ 300 MX 10 mail\nmail 300 A 192.0.2.1').impact).toBeUndefined()
  expect(planOf('@ 300 MX 10 mail\nmail 300 A 192.0.2.1', '@ 300 MX 10 mail\nmail 300 A 192.0.2.1').impact).toBeUndefined()
})

test('records outside the zone, which a target should not hold, are left alone', () => {
  const zone = existingZone(ORIGIN, KEEP)
  const stray = { name: name('www.example.net.'), type: 'A', ttl: null, data: '192.0.2.1' }
  const plan = planOf(null, KEEP, { existing: { ...zone, records: [...zone.records, stray] } })
  expect([plan.changes, plan.impact]).toEqual([[], undefined])
  expect(plan.diagnostics).toMatchObject([{ code: 'record-unplanned', message: expect.stringContaining('is outside the zone') }])
})
