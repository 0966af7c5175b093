import { expect, test } from 'vitest'
import { ROOT } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import { lines, ORIGIN, parse } from './zone-text.ts'

const SOURCE = `
$TTL 300
www 60 A 192.0.2.2
www AAAA 2001:db8::1
@ MX 10 mail
@ MX 20 mail.example.org.
@ NS ns1
@ NS ns.example.net.
@ 3600 SOA ns1 hostmaster 2024010101 7200 900 1209600 300
*.wild CNAME @
\\@.odd\\.label TXT "a b" c
_443._tcp.www TLSA 3 1 1 00ff
dkim TXT ${'"'}${'k'.repeat(200)}${'"'} ${'"'}${'p'.repeat(50)}${'"'}
svc HTTPS 1 . alpn="h2,h3" port=8443
old NULL \\# 1 00
new TYPE65280 \\# 2 0102
list APL
sub.zone.example.com. NS ns1.sub.zone
`

const { records } = parse(SOURCE)

test('canonical: one record per line, sorted, all names absolute', () => {
  expect(printZoneFile(records, { origin: ORIGIN, style: 'canonical' })).toBe(
    [
      'example.com.\t3600\tIN\tSOA\tns1.example.com. hostmaster.example.com. 2024010101 7200 900 1209600 300',
      'example.com.\t300\tIN\tNS\tns.example.net.',
      'example.com.\t300\tIN\tNS\tns1.example.com.',
      'example.com.\t300\tIN\tMX\t10 mail.example.com.',
      'example.com.\t300\tIN\tMX\t20 mail.example.org.',
      `dkim.example.com.\t300\tIN\tTXT\t"${'k'.repeat(200)}" "${'p'.repeat(50)}"`,
      'list.example.com.\t300\tIN\tAPL\t',
      'new.example.com.\t300\tIN\tTYPE65280\t\\# 2 0102',
      '\\@.odd\\.label.example.com.\t300\tIN\tTXT\t"a b" "c"',
      'old.example.com.\t300\tIN\tTYPE10\t\\# 1 00',
      'svc.example.com.\t300\tIN\tHTTPS\t1 . alpn=h2,h3 port=8443',
      '*.wild.example.com.\t300\tIN\tCNAME\texample.com.',
      'www.example.com.\t60\tIN\tA\t192.0.2.2',
      'www.example.com.\t300\tIN\tAAAA\t2001:db8::1',
      '_443._tcp.www.example.com.\t300\tIN\tTLSA\t3 1 1 00ff',
      'sub.zone.example.com.\t300\tIN\tNS\tns1.sub.zone.example.com.',
      '',
    ].join('\n'),
  )
})

test('pretty: relative names in columns, each owner once, the most common TTL as $TTL', () => {
  const wanted = records.filter(({ type }) => type !== 'TXT' && type !== 'TLSA')
  expect(printZoneFile(wanted, { origin: ORIGIN, style: 'pretty' })).toBe(`\
$ORIGIN example.com.
$TTL 300
@        3600 IN SOA       ns1 hostmaster (
                           2024010101 ; serial
                           7200       ; refresh
                           900        ; retry
                           1209600    ; expire
                           300        ; minimum
                           )
              IN NS        ns.example.net.
              IN NS        ns1
              IN MX        10 mail
              IN MX        20 mail.example.org.
list          IN APL
new           IN TYPE65280 \\# 2 0102
old           IN TYPE10    \\# 1 00
svc           IN HTTPS     1 . alpn=h2,h3 port=8443
*.wild        IN CNAME     @
www        60 IN A         192.0.2.2
              IN AAAA      2001:db8::1
sub.zone      IN NS        ns1.sub.zone
`)
})

test.each(['canonical', 'pretty'] as const)('parsing the %s text gives the same records, and printing them the same text', (style) => {
  const text = printZoneFile(records, { origin: ORIGIN, style })
  const again = parse(text, { origin: style === 'pretty' ? null : ORIGIN })
  expect(again.diagnostics).toEqual([])
  expect(lines(again.records).sort()).toEqual(lines(records).sort())
  expect(printZoneFile(again.records, { origin: ORIGIN, style })).toBe(text)
})

test.each(['canonical', 'pretty'] as const)('records without a TTL keep none, %s', (style) => {
  const bare = parse('b A 192.0.2.1\na MX 10 b\n@ 60 SOA . . 1 2 3 4 5\n@ 60 NS b').records
  const text = printZoneFile(bare, { origin: ORIGIN, style })
  expect(lines(parse(text).records).sort()).toEqual(lines(bare).sort())
})

test.each(['canonical', 'pretty'] as const)('records without a TTL get the default TTL, %s', (style) => {
  const bare = parse('b A 192.0.2.1\n@ 60 NS b').records
  const text = printZoneFile(bare, { origin: ORIGIN, style, defaultTtl: 77 as Ttl })
  expect(lines(parse(text).records)).toEqual(['example.com. 60 NS b.example.com.', 'b.example.com. 77 A 192.0.2.1'])
})

test('the root zone, and a zone without an origin', () => {
  const root = parse('. 1 NS a.\na. 1 A 192.0.2.1\na.b. 1 CNAME .', { origin: ROOT }).records
  expect(printZoneFile(root, { origin: ROOT, style: 'pretty' })).toBe(
    '$ORIGIN .\n$TTL 1\n@   IN NS    a\na   IN A     192.0.2.1\na.b IN CNAME @\n',
  )
  expect(printZoneFile(root, { origin: null, style: 'pretty' })).toBe(
    '$TTL 1\n.    IN NS    a.\na.   IN A     192.0.2.1\na.b. IN CNAME .\n',
  )
  expect(printZoneFile([], { origin: null, style: 'canonical' })).toBe('')
})

test('long owners do not widen the column', () => {
  const owner = 'a'.repeat(50)
  const text = printZoneFile(parse(`${owner} 1 A 192.0.2.1\nb 1 A 192.0.2.2`).records, { origin: ORIGIN, style: 'pretty' })
  expect(text).toBe(`$ORIGIN example.com.\n$TTL 1\n${owner} IN A 192.0.2.1\nb IN A 192.0.2.2\n`)
})

test('a TTL of 0 and the TTL of a signature are printed with each record', () => {
  const text = 'a 0 A 192.0.2.1\nb 0 A 192.0.2.1\nc 60 A 192.0.2.1\nc 60 RRSIG A 8 2 300 20380101000000 20240101000000 5 @ AQID'
  for (const defaultTtl of [undefined, 0 as Ttl]) {
    expect(printZoneFile(parse(text).records, { origin: ORIGIN, style: 'pretty', defaultTtl })).toBe(
      '$ORIGIN example.com.\n$TTL 60\na  0 IN A     192.0.2.1\nb  0 IN A     192.0.2.1\nc    IN A     192.0.2.1\n  60 IN RRSIG A 8 2 300 20380101000000 20240101000000 5 @ AQID\n',
    )
  }
  const zeros = printZoneFile(parse('a 0 A 192.0.2.1').records, { origin: ORIGIN, style: 'pretty' })
  expect(zeros).toBe('$ORIGIN example.com.\na 0 IN A 192.0.2.1\n')
})

test('names in the rdata of types without their own fields are printed in the form that every reader accepts', () => {
  const given = parse('a 1 IPSECKEY 10 3 2 x\\\\.y. AQID\na 1 AMTRELAY 10 0 3 x\\\\.\na 1 HIP 2 20 AQID r.\n').records
  for (const style of ['canonical', 'pretty'] as const) {
    const text = printZoneFile(given, { origin: ORIGIN, style })
    expect(text).toContain(' x\\092.\n')
    expect(text).toMatch(/IPSECKEY\s+\\# 12 0a030202785c01790001\w+\n/)
    expect(lines(parse(text).records).sort()).toEqual(lines(given).sort())
  }
})

test('the records of an RRset are sorted by their octets', () => {
  const set = parse('a 1 A 192.0.2.10\na 1 A 192.0.2.9\na 1 MX 10 b\na 1 MX 9 long-name\na 1 TXT "bb"\na 1 TXT "ab"\na 1 TXT "c"').records
  const data = printZoneFile(set, { origin: ORIGIN, style: 'canonical' })
    .trim()
    .split('\n')
    .map((text) => text.split('\t')[4])
  expect(data).toEqual(['192.0.2.9', '192.0.2.10', '9 long-name.example.com.', '10 b.example.com.', '"c"', '"ab"', '"bb"'])
})

test.each(['canonical', 'pretty'] as const)('types that the reader does not know are printed in the generic form, %s', (style) => {
  const given = parse(
    'a 1 DSYNC CDS NOTIFY 5300 b\na 1 A 192.0.2.1\na 1 A6 \\# 17 0020010db8000000000000000000000001\na 1 NULL \\# 0\na 1 APL',
  ).records
  const text = printZoneFile(given, { origin: ORIGIN, style, genericTypes: new Set(['DSYNC', 'APL']) })
  expect(text).toMatch(/\bTYPE66\s+\\# 20 003b0114b4016207/)
  expect(text).toMatch(/\bTYPE42\s+\\# 0/)
  // Obsolete types are printed in the generic form for every reader.
  expect(text).toMatch(/\bTYPE38\s+\\# 17 0020010db8/)
  expect(text).toMatch(/\bTYPE10\s+\\# 0/)
  expect(text).toMatch(/\bA\s+192\.0\.2\.1/)
  expect(lines(parse(text).records).sort()).toEqual(lines(given).sort())
})
