import { describe, expect, test } from 'vitest'
import type { DefinedRecord } from '../../../src/dns/record.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { createZoneFileReader } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { ORIGIN, parse, relativeLines } from './zone-text.ts'

/** A zone file, and its records in order. */
const FILES: readonly (readonly [what: string, text: string, records: string])[] = [
  ['nothing', '', ''],
  ['only comments and blank lines', '; a\n\n  \n\t; b\r\n', ''],
  ['a last line without a line end', 'a 60 IN A 192.0.2.1', 'a 60 A 192.0.2.1'],
  ['a byte order mark', '\uFEFFa 60 IN A 192.0.2.1', 'a 60 A 192.0.2.1'],
  ['lines that end in CR LF', 'a 60 A 192.0.2.1\r\n\r\nb 60 TXT x\r\n', 'a 60 A 192.0.2.1\nb 60 TXT "x"'],
  [
    'TTL before class, class before TTL, either alone, none',
    '$TTL 1\na 60 IN A 192.0.2.1\na IN 61 A 192.0.2.2\na IN A 192.0.2.3\na 62 A 192.0.2.4\na A 192.0.2.5',
    'a 60 A 192.0.2.1\na 61 A 192.0.2.2\na 1 A 192.0.2.3\na 62 A 192.0.2.4\na 1 A 192.0.2.5',
  ],
  ['either case, generic class and type', 'a 60 in a 192.0.2.1\nb 60 CLASS1 TYPE1 \\# 4 C0000202\n', 'a 60 A 192.0.2.1\nb 60 A 192.0.2.2'],
  ['units', '$TTL 1d12h\na A 1.1.1.1\na 1W2D3H4M5S A 1.1.1.2\na 2m A 1.1.1.3', 'a 129600 A 1.1.1.1\na 788645 A 1.1.1.2\na 120 A 1.1.1.3'],
  [
    'owners: relative, absolute, @, inherited, root',
    'a 1 A 192.0.2.1\n 1 A 192.0.2.2\n\tIN 1 A 192.0.2.3\nB.Example.ORG. 1 A 192.0.2.4\n@ 1 A 192.0.2.5\n. 1 NS @',
    'a 1 A 192.0.2.1\na 1 A 192.0.2.2\na 1 A 192.0.2.3\nb.example.org. 1 A 192.0.2.4\n@ 1 A 192.0.2.5\n. 1 NS example.com.',
  ],
  [
    'owners that look like something else',
    '10 1 A 192.0.2.1\nIN 1 A 192.0.2.2\nA 1 A 192.0.2.3\n\\$ORIGIN 1 A 192.0.2.4\n\\@ 1 A 192.0.2.5\n1h A 192.0.2.6',
    '10 1 A 192.0.2.1\nin 1 A 192.0.2.2\na 1 A 192.0.2.3\n\\$origin 1 A 192.0.2.4\n\\@ 1 A 192.0.2.5\n1h 1 A 192.0.2.6',
  ],
  [
    'escapes in names',
    'a\\.b 1 CNAME c\\032d\n\\065 1 A 192.0.2.1\na\\;b 1 A 192.0.2.2\n\\(\\)\\" 1 A 192.0.2.3',
    'a\\.b 1 CNAME c\\032d.example.com.\na 1 A 192.0.2.1\na\\;b 1 A 192.0.2.2\n\\(\\)\\" 1 A 192.0.2.3',
  ],
  ['names in Unicode', 'bücher 1 CNAME straße\n', 'xn--bcher-kva 1 CNAME xn--strae-oqa.example.com.'],
  [
    '$ORIGIN, relative and absolute',
    '$ORIGIN @\n$ORIGIN example.com.\n$ORIGIN sub\na 1 A 192.0.2.1\n$ORIGIN example.org.\na 1 NS b\n$ORIGIN .\nc 1 NS d',
    'a.sub 1 A 192.0.2.1\na.example.org. 1 NS b.example.org.\nc. 1 NS d.',
  ],
  [
    'parentheses: over lines, nested, around one token, around nothing',
    'a 1 ( A\n 192.0.2.1 ) ; c )\nb ( ( 1 ) A ( 192.0.2.2 ) )\nc()1 A 192.0.2.3\n( d\n1 A 192.0.2.4 )',
    'a 1 A 192.0.2.1\nb 1 A 192.0.2.2\nc 1 A 192.0.2.3\nd 1 A 192.0.2.4',
  ],
  ['strings', 'a 1 TXT a "b c" "" d\\ e "f\\"g\\\\;(" \\065\\200 ";"', 'a 1 TXT "a" "b c" "" "d e" "f\\"g\\\\;(" "A\\200" ";"'],
  ['adjacent strings', 'a 1 TXT "a"b"c"d=e="f g"', 'a 1 TXT "a" "b" "c" "d=e=" "f g"'],
  ['non-ASCII and controls in strings', 'a 1 TXT ü "\t\u{1F600}" a\u0001', 'a 1 TXT "\\195\\188" "\\009\\240\\159\\152\\128" "a\\001"'],
  ['quotes in a parameter', 'a 1 HTTPS 1 . alpn="h2,h3" key65000="a b;c"', 'a 1 HTTPS 1 . alpn=h2,h3 key65000="a b;c"'],
  ['a quote that ends a service parameter', 'a 1 HTTPS 1 . alpn="h2"port=1', 'a 1 HTTPS 1 . alpn=h2 port=1'],
  [
    'type mnemonics with service parameters in other fields',
    'https 1 TXT a="b c"\na 1 TXT https a="b c"\nhttps 1 IN svcb 1 . alpn="a b"',
    'https 1 TXT "a=" "b c"\na 1 TXT "https" "a=" "b c"\nhttps 1 SVCB 1 . alpn="a b"',
  ],
  [
    'types without a presentation format',
    'a 1 TYPE65280 \\# 3 01 02FF\na 1 TYPE65280 \\# 0\na 1 NULL \\# 1 00',
    'a 1 TYPE65280 \\# 3 0102ff\na 1 TYPE65280 \\# 0\na 1 NULL \\# 1 00',
  ],
  ['generic forms of known types', 'a 1 MX \\# 5 000a 0161 00\na 1 TXT \\# 1 00', 'a 1 MX 10 a.\na 1 TXT ""'],
  [
    'SOA over lines with units',
    '@ 1 IN SOA ns hostmaster ( 1 ; serial\n 1h 15m\n\t4w 300 )',
    '@ 1 SOA ns.example.com. hostmaster.example.com. 1 3600 900 2419200 300',
  ],
  ['no TTL anywhere', 'a A 192.0.2.1', 'a - A 192.0.2.1'],
  ['last TTL stated, before any SOA', 'a A 192.0.2.1\na 5 A 192.0.2.2\na A 192.0.2.3', 'a - A 192.0.2.1\na 5 A 192.0.2.2\na 5 A 192.0.2.3'],
  ['the SOA minimum', '@ SOA . . 1 2 3 4 77\na A 192.0.2.1', '@ 77 SOA . . 1 2 3 4 77\na 77 A 192.0.2.1'],
]

describe('parseZoneFile', () => {
  test.each(FILES)('%s', (_, text, expected) => {
    const parsed = parse(text)
    expect(parsed.diagnostics).toEqual([])
    expect(relativeLines(parsed.records)).toBe(expected)
  })

  test('the default TTL option applies to records before the first TTL', () => {
    const parsed = parse('a A 192.0.2.1\na 5 A 192.0.2.2\na A 192.0.2.3', { defaultTtl: 60 as Ttl })
    expect(parsed.records.map(({ ttl }) => ttl)).toEqual([60, 5, 5])
  })

  test('the position of a record is that of its first token', () => {
    const { records } = parse('\n; c\na 1 A 192.0.2.1\n   1 A 192.0.2.2\n(\n b 1\n A 192.0.2.3 )\n"c" 1 A 192.0.2.4\n', { file: 'f' })
    expect(records.map(({ at }) => at)).toEqual([
      { file: 'f', line: 3, column: 1 },
      { file: 'f', line: 4, column: 4 },
      { file: 'f', line: 6, column: 2 },
      { file: 'f', line: 8, column: 1 },
    ])
  })

  test('also for a last entry over several lines without a line end', () => {
    expect(parse('(\n a 1 A 192.0.2.1)').records[0]?.at).toEqual({ file: 'zone', line: 2, column: 2 })
  })

  test.each([
    ['the zone given', 'a 1 A 192.0.2.1', { zone: ORIGIN, origin: null }, 'example.com.'],
    ['the origin given', '$ORIGIN a.\n@ 1 SOA . . 1 2 3 4 5', {}, 'example.com.'],
    ['the owner of the SOA record', '$ORIGIN com.\nexample 1 SOA . . 1 2 3 4 5\n$ORIGIN b.', { origin: null }, 'example.com.'],
    ['the first $ORIGIN', '$ORIGIN a.\n$ORIGIN b.', { origin: null }, 'a.'],
    ['nothing', 'a. 1 A 192.0.2.1', { origin: null }, null],
  ] as const)('the apex is %s', (_, text, options, expected) => expect(parse(text, options).origin).toBe(expected))

  test('reads ten thousand records', { tags: ['long'] }, () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `node${i}.test TXT "test string contents to take up space number ${i}"\n`).join(
      '',
    )
    const { records, diagnostics } = parse(`$TTL 3600\n${text}`)
    expect([records.length, diagnostics]).toEqual([10_000, []])
  })
})

describe('createZoneFileReader', () => {
  const text = FILES.map(([, file]) => file.replace(/^\uFEFF/, ''))
    .filter((file) => !file.includes('$ORIGIN') && !file.includes('SOA'))
    .join('\n')
  const whole = parse(text)

  test.each([1, 2, 3, 7, 64, 1000, 100_000])('gives the same records in pieces of %d characters', (size) => {
    const records: DefinedRecord[] = []
    const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, (record) => records.push(record))
    for (let i = 0; i < text.length; i += size) reader.push(text.slice(i, i + size))
    expect(reader.end()).toMatchObject({ origin: ORIGIN, includedFiles: [], diagnostics: [] })
    expect(records).toEqual(whole.records)
  })

  test('errors have the same positions in pieces', () => {
    const invalid = 'a A 1\nb TXT "x\nc ( A\n 192.0.2.300 )\n)\nd TXT "y" (\n'
    const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, () => {})
    for (const c of invalid) reader.push(c)
    expect(reader.end().diagnostics).toEqual(parse(invalid).diagnostics)
  })

  test('refuses an endless line', () => {
    const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, () => {})
    for (let i = 0; i < 64; i += 1) reader.push('x'.repeat(100_000))
    expect(reader.end().diagnostics.map(({ code }) => code)).toEqual(['zonefile-too-large'])
  })

  test('parses an entry in many small pieces in linear time', { tags: ['long'] }, () => {
    let count = 0
    const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, () => {
      count += 1
    })
    reader.push('a 60 A ( ; ')
    for (let i = 0; i < 200_000; i += 1) reader.push('x \n;')
    reader.push('\n192.0.2.1 )\nb 60 A 192.0.2.2')
    expect(reader.end().diagnostics).toEqual([])
    expect(count).toBe(2)
  })
})
