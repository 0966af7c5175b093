import { expect, it, test } from 'vitest'
import { checkZone, RULES } from '../../../src/checks/rules/rules.ts'
import type { DesiredZone } from '../../../src/dns/zone.ts'
import { desiredZone, name } from '../../support/records.ts'

/** Records, separated by ` | `, and the diagnostics `LINE SEVERITY CODE`, sorted by line. */
type Case = readonly [name: string, records: string | readonly string[], expected: string | readonly string[], zone?: Partial<DesiredZone>]
const ORIGIN = name('example.com.')

const partsOf = (text: string | readonly string[], separator: string): string[] =>
  [text]
    .flat()
    .flatMap((one) => one.split(separator))
    .filter((one) => one !== '')

const zoneOf = (lines: readonly string[], more: Partial<DesiredZone> = {}): DesiredZone => desiredZone(ORIGIN, lines.join('\n'), more)

/** A TXT value with `octets` octets. */
const text = (octets: number): string =>
  [...Array<string>(Math.floor(octets / 250)).fill('x'.repeat(250)), 'y'.repeat(octets % 250)].map((string) => `"${string}"`).join(' ')

const CASES: readonly Case[] = [
  ['an ordinary zone', '@ 300 A 192.0.2.1 | @ 300 MX 10 mail | mail 300 A 192.0.2.2 | www 300 CNAME @', ''],
  ['no records', '', ''],

  ['CNAME beside A', 'www 300 A 192.0.2.1 | www 300 CNAME a.example.net.', '2 error cname-not-alone'],
  ['CNAME beside two types: one error', 'www 300 CNAME a.example.net. | www 300 A 192.0.2.1 | www 300 TXT "x"', '1 error cname-not-alone'],
  ['CNAME beside its signature', 'www 300 CNAME a.example.net. | www 300 TYPE46 \\# 2 0001', ''],
  ['CNAME at the apex', '@ 300 CNAME a.example.net.', '1 error cname-at-apex'],
  ['CNAME and other records at the apex', '@ 300 CNAME a.example.net. | @ 300 A 192.0.2.1', '1 error cname-not-alone'],
  ['two CNAMEs', 'w 300 CNAME a.example.net. | w 300 CNAME b.example.net.', '2 error singleton-multiple'],
  ['CNAME to itself', 'w 300 CNAME w', '1 warning cname-loop'],
  ['a CNAME loop of 3 with a chain into it', 'tail 300 CNAME a | a 300 CNAME b | b 300 CNAME c | c 300 CNAME a', '2 warning cname-loop'],
  ['two CNAME loops', 'a 300 CNAME b | b 300 CNAME a | c 300 CNAME d | d 300 CNAME c', '1 warning cname-loop, 3 warning cname-loop'],
  ['CNAME chain', 'a 300 CNAME b | b 300 CNAME c | c 300 A 192.0.2.1', ''],

  ['the same A twice', 'a 300 A 192.0.2.1 | a 300 A 192.0.2.1', '2 error record-duplicate'],
  ['an address twice with two TTLs', 'a 300 AAAA 2001:db8::1 | a 600 AAAA 2001:DB8:0::1', '2 error record-duplicate, 2 warning ttl-mixed'],
  ['two TXT that differ in case', 'a 300 TXT "x" | a 300 TXT "X"', ''],
  ['two DNAMEs', 'd 300 DNAME a.example. | d 300 DNAME b.example.', '2 error singleton-multiple'],
  ['two ALIAS', '@ 300 ALIAS a.example. | @ 300 ALIAS b.example.', '2 error singleton-multiple'],

  ['mixed TTLs', 'a 300 A 192.0.2.1 | a 600 A 192.0.2.2', '2 warning ttl-mixed'],
  ['a TTL and none', 'a 300 A 192.0.2.1 | a - A 192.0.2.2', '2 warning ttl-mixed'],
  [
    'signatures may have the TTLs of the covered RRsets',
    [
      'a 300 RRSIG A 13 3 300 20300101000000 20290101000000 1 example.com. AAAA',
      'a 600 RRSIG AAAA 13 3 600 20300101000000 20290101000000 1 example.com. AAAA',
    ],
    '',
  ],
  ['TTLs of two types', 'a 300 A 192.0.2.1 | a 600 AAAA 2001:db8::1', ''],

  ['null MX alone', '@ 300 MX 0 .', ''],
  ['null MX beside another MX', '@ 300 MX 10 mail.example.net. | @ 300 MX 0 .', '2 error null-mx-not-alone'],
  ['null SRV beside another', '_sip._tcp 300 SRV 0 0 0 . | _sip._tcp 300 SRV 1 1 5060 sip.example.net.', '1 warning null-srv-not-alone'],

  ['SOA', '@ 300 SOA ns. root. 1 2 3 4 5', '1 error soa-in-definition'],

  [
    'an unmanaged record',
    '_acme-challenge.www 300 TXT "x" | www 300 A 192.0.2.1',
    '1 error unmanaged-collision',
    { unmanaged: [{ name: '_acme-challenge*', type: 'TXT', at: { file: 'f', line: 9, column: 3 } }] },
  ],

  [
    'CAA values that issuers accept',
    [
      '@ 300 CAA 0 issue "ca.example" | @ 300 CAA 0 issue ";"',
      '@ 300 CAA 128 issuewild "ca.example; account=230123; policy=ev" | @ 300 CAA 0 issue "ca.example;"',
      '@ 300 CAA 0 iodef "mailto:security@example.com" | @ 300 CAA 0 iodef "https://example.com/report"',
      '@ 300 CAA 0 issuemail "ca.example"',
    ],
    '',
  ],
  [
    'CAA values that servers serve and no issuer accepts',
    [
      '@ 300 CAA 0 issue "ca.example." | @ 300 CAA 0 issue "https://ca.example"',
      '@ 300 CAA 0 issue "ca.example ; ; a=b" | @ 300 CAA 0 issuewild "ca.example; account"',
      '@ 300 CAA 0 iodef "security@example.com"',
    ],
    [1, 2, 3, 4, 5].map((line) => `${line} warning caa-value-invalid`),
  ],
  ['CAA flags and tags', '@ 300 CAA 1 issue "ca.x" | @ 300 CAA 0 isue "ca.x"', '1 warning caa-flags-reserved, 2 warning caa-tag-unknown'],

  [
    'SRV names',
    ['_sip._tcp 300 SRV 1 1 5060 sip.example.net. | sip 300 SRV 1 1 5060 sip.example.net.', '_sip._tcp.sub 300 SRV 1 1 1 a.example.net.'],
    '2 warning srv-name-invalid',
  ],
  [
    'host names',
    [
      'my_host 300 A 192.0.2.1 | _dmarc 300 TXT "v=DMARC1" | @ 300 MX 10 mail_1.example.net. | *.apps 300 A 192.0.2.1',
      'gc._msdcs 300 A 192.0.2.1 | -x 300 AAAA 2001:db8::1 | xn--bcher-kva 300 A 192.0.2.1',
    ],
    '1 warning host-name-invalid, 3 warning host-name-invalid, 6 warning host-name-invalid',
  ],

  [
    'asterisks that are no wildcard',
    ['a.*.b 300 A 192.0.2.1 | *.*.c 300 TXT "x" | x* 300 A 192.0.2.1 | *x 300 A 192.0.2.1 | * 300 A 192.0.2.1', '*.d 300 A 192.0.2.1'],
    [1, 2, 3, 4].map((line) => `${line} warning wildcard-misplaced`),
  ],
  [
    'names that repeat the zone',
    [
      'www.example.com 300 A 192.0.2.1 | example.com 300 TXT "x" | www.example.com.sub 300 A 192.0.2.1',
      'notexample.com 300 A 192.0.2.1 | www.example.com. 300 A 192.0.2.2',
    ],
    '1 warning name-repeats-zone, 2 warning name-repeats-zone',
  ],
  [
    'text in quotation marks',
    [
      '@ 300 TXT "\\"v=spf1 -all\\"" | a 300 TXT "say \\"x\\"" | b 300 TXT "\\"" | c 300 TXT "\\"x\\" and more"',
      'd 300 TXT "plain" | e 300 TXT "\\"one" "two\\""',
    ],
    '1 warning txt-quoted, 6 warning txt-quoted',
  ],
  [
    'policies that a name may have only once',
    [
      '@ 300 TXT "v=spf1 mx -all" | @ 300 TXT "V=SPF1" " -all" | @ 300 TXT "v=spf10 -all" | @ 300 TXT "v=DMARC1; p=none"',
      '@ 300 TXT "v=DMARC1; p=reject" | _dmarc 300 TXT "v=DMARC1; p=none" | _dmarc 300 TXT "v=DMARC1;p=reject"',
      'a._domainkey 300 TXT "v=DKIM1; p=" | a._domainkey 300 TXT "v=DKIM1; p=A"',
      '_smtp._tls 300 TXT "v=TLSRPTv1; rua=mailto:a@example.com" | sub 300 TXT "v=spf1 -all"',
    ],
    '2 warning policy-multiple, 7 warning policy-multiple',
  ],

  [
    'MX and SRV and NS to a CNAME',
    '@ 300 MX 10 m | _a._tcp 300 SRV 1 1 1 m | sub 300 NS m | m 300 CNAME host.example.net.',
    '1 warning target-is-cname, 2 warning target-is-cname, 3 warning target-is-cname',
  ],
  [
    'SVCB and HTTPS may point to a CNAME, MX may not',
    [
      '@ 300 HTTPS 1 m ipv4hint=192.0.2.1 | _a 300 SVCB 0 m | m 300 CNAME host.example.net. | @ 300 MX 10 m',
      'h 300 HTTPS 1 . | h 300 A 192.0.2.1 | x 300 MX 5 h',
    ],
    '4 warning target-is-cname',
  ],
  [
    'MX to a name that matches a wildcard CNAME',
    ['@ 300 MX 10 m | * 300 CNAME host.example.net. | @ 300 MX 10 a | a 300 A 192.0.2.1 | a 300 MX 10 x.a', 'x.a 300 A 192.0.2.1'],
    '1 warning target-is-cname',
  ],
  ['below a delegation', '@ 300 MX 10 m.sub | sub 300 NS ns.example.net. | m.sub 300 CNAME h.example.net.', '3 warning below-delegation'],
  [
    'targets that are addresses',
    '@ 300 MX 10 192.0.2.1. | sub 300 NS 192.0.2.2. | www 300 CNAME 192.0.2.3. | w 300 CNAME 192.0.2.',
    '1 warning target-is-address, 2 warning target-is-address, 3 warning target-is-address',
  ],
  [
    'targets that are URLs',
    [
      '@ 300 MX 10 https://mail.example.net/. | a 300 CNAME https://www.example.net/path | b 300 CNAME //www.example.net.',
      'c 300 CNAME www.example.net:443. | d 300 CNAME www.example.net/path.',
      '_x._tcp 300 SRV 1 1 1 http://user@www.example.net:80/. | 1 300 CNAME 1.0/25.2.0.192.in-addr.arpa.',
    ],
    [1, 2, 3, 4, 5, 6].map((line) => `${line} warning target-is-url`),
  ],
  [
    'targets that do not exist in the zone',
    '@ 300 MX 10 mial | www 300 CNAME wbe | mail 300 A 192.0.2.1 | ftp 300 CNAME ent | x.ent 300 A 192.0.2.1',
    '1 warning target-nonexistent, 2 warning target-nonexistent, 4 warning target-nonexistent',
  ],
  ['a mail host without addresses', '@ 300 MX 10 mail | mail 300 TXT "x" | www 300 CNAME mail', '1 warning target-nonexistent'],
  [
    'targets that the zone does not answer for, or that a wildcard, an unmanaged record or an ALIAS provides',
    [
      'a 300 CNAME any.wild | *.wild 300 A 192.0.2.1 | b 300 CNAME host.sub | sub 300 NS ns.example.net.',
      'c 300 CNAME host.dn | dn 300 DNAME example.org. | d 300 CNAME dyn-1 | @ 300 MX 5 dyn-2 | e 300 CNAME alias',
    ],
    '',
    {
      unmanaged: [{ name: 'dyn-*' }],
      providerSpecific: [{ name: name('alias.example.com.'), type: 'Route53Provider/ALIAS', at: { file: 'f', line: 1, column: 1 } }],
    },
  ],
  [
    'a wildcard does not match names below a closer encloser (RFC 4592 section 3.3.1)',
    'a 300 CNAME x.host.wild | *.wild 300 A 192.0.2.1 | host.wild 300 A 192.0.2.1',
    '1 warning target-nonexistent',
  ],

  [
    'records below a delegation',
    [
      `sub 300 NS ns1.sub | sub 300 DS 1 8 2 ${'ab'.repeat(32)} | ns1.sub 300 A 192.0.2.1 | www.sub 300 A 192.0.2.2`,
      'sub 300 TXT "x" | sub-not 300 A 192.0.2.3 | deep.sub 300 NS ns.example.net.',
    ],
    '4 warning below-delegation, 5 warning below-delegation, 7 warning below-delegation',
  ],
  ['apex NS records do not delegate', '@ 300 NS ns.example.net. | www 300 A 192.0.2.1', ''],
  ['records below a DNAME', 'd 300 DNAME example.org. | d 300 A 192.0.2.1 | x.d 300 A 192.0.2.1', '3 warning below-dname'],
  ['DNAME at the apex', '@ 300 DNAME example.org. | @ 300 A 192.0.2.1 | x 300 TXT "x"', '3 warning below-dname'],
  ['wildcard NS', '*.x 300 NS ns.example.net.', '1 warning wildcard-ns'],
  [
    'DS without a delegation',
    `sub 300 DS 1 8 2 ${'ab'.repeat(32)} | @ 300 DS 1 8 2 ${'ab'.repeat(32)} | @ 300 NS ns.example.net.`,
    '1 warning ds-without-ns, 2 warning ds-without-ns',
  ],

  ['two records of a singleton type (RFC 9606, 3)', '@ 300 RESINFO qnamemin | @ 300 RESINFO exterr=15', '2 error singleton-multiple'],
  [
    'digests with a length that does not match their type',
    [
      `sub 300 DS 1 8 1 abcd | b 300 CDS 1 8 4 ${'ab'.repeat(32)} | b 300 TLSA 3 1 2 ${'ab'.repeat(32)}`,
      'b 300 SMIMEA 3 1 1 abcd | sub 300 NS ns.example.net. | sub 300 DS 1 8 7 abcd | c 300 CDS 0 0 0 00',
      `c 300 TLSA 3 1 1 ${'ab'.repeat(32)} | c 300 TLSA 3 1 0 abcd`,
    ],
    '1 warning digest-length, 2 warning digest-length, 3 warning digest-length, 4 warning digest-length',
  ],
  [
    'signatures that expire before they begin, compared as serial numbers',
    [
      // From the end of 2105 to 2106-03, which is 1970-01 modulo 2^32 seconds.
      'a 300 A 192.0.2.1 | a 300 RRSIG A 8 3 300 20240101000000 20240201000000 1 example.com. AQID',
      'a 300 RRSIG A 8 3 300 20240201000000 20240101000000 2 example.com. AQID',
      'a 300 RRSIG A 8 3 300 20240101000000 20240101000000 3 example.com. AQID',
      'a 300 RRSIG A 8 3 300 21060301000000 21051201000000 4 example.com. AQID',
      'a 300 RRSIG A 8 3 300 21051201000000 21060301000000 5 example.com. AQID',
      'a 300 SIG A 8 3 300 0 1 6 example.com. AQID',
    ],
    '2 warning signature-times, 6 warning signature-times, 7 warning signature-times',
  ],

  ['TXT that fits', `a 300 TXT ${text(1232)}`, ''],
  ['TXT that needs TCP', `a 300 TXT ${text(1233)}`, '1 warning txt-long'],
  [
    'an RRset larger than a message',
    ['1', '2', '3'].map((tag) => `a 300 TXT ${text(30_000).replace('x', tag)}`),
    '1 error rrset-too-large, 1 warning txt-long, 2 warning txt-long, 3 warning txt-long',
  ],
]

test.each(CASES.map(([what, records, expected, zone]) => ({ what, records, expected, zone })))('$what', ({ records, expected, zone }) => {
  const found = checkZone(zoneOf(partsOf(records, ' | '), zone))
    .map(({ at, severity, code }) => ({ line: at?.line ?? 0, text: `${at?.line} ${severity} ${code}` }))
    .sort((a, b) => a.line - b.line || (a.text < b.text ? -1 : 1))
  expect(found.map((diagnostic) => diagnostic.text)).toEqual(partsOf(expected, ', '))
})

it('has a case for every rule', () => {
  const codes = new Set(CASES.flatMap(([, , expected]) => partsOf(expected, ', ').map((line) => line.split(' ')[2])))
  expect(new Set<unknown>(RULES.map(([, code]) => code))).toEqual(codes)
})

it('reports both positions of a conflict', () => {
  const [problem] = checkZone(zoneOf(['www 300 A 192.0.2.1', 'www 300 CNAME a.example.net.']))
  expect(problem?.related?.map(({ at }) => at.line)).toEqual([1])
})

it('checks 40,000 records', { tags: ['long'] }, () => {
  const lines = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => [
      `h${i} 300 A 192.0.2.${i % 250}`,
      `a${i} 300 CNAME a${i + 1}`,
      `t${i} 300 TXT "x${i}"`,
      `d${i} 300 NS h${i}`,
      `same 300 TXT "${i}"`,
    ]).flat()
  const problems = checkZone(zoneOf(lines(8000)))
  expect(new Set(problems.map(({ code }) => code)).size).toBeGreaterThan(1)
})
