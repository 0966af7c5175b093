import { expect, test } from 'vitest'
import { lines, parse, problems, relativeLines } from './zone-text.ts'

/** Text with errors, the position of each error, and the remaining records. */
const CASES: [what: string, text: string, problems: string, records?: string][] = [
  [
    'reports every error',
    'a 1 A 1.2.3\nb 1 AAAA ::g\nc 1 A 192.0.2.1\nd 1 NOPE x\n',
    '1:7 value-invalid, 2:10 value-invalid, 4:5 type-unknown',
    'c 1 A 192.0.2.1',
  ],
  ['a wrong token', 'a 1 MX ten mail\nb 1 MX 10 a..b\nc 1 SRV 1 2 70000 t.\n', '1:8 value-invalid, 2:11 value-invalid, 3:13 value-invalid'],
  ['points after the last field for a missing field', 'a 1 MX 10\nb 1 A', '1:10 value-invalid, 2:6 value-invalid'],
  ['an extra field', 'a 1 A 192.0.2.1 192.0.2.2', '1:17 value-invalid'],
  ['no type', 'a\na 1 IN', '1:2 zonefile-syntax, 2:7 zonefile-syntax'],
  ['TTL or class twice', 'a 1 IN 2 A 192.0.2.1\na IN 1 IN A 192.0.2.1', '1:8 zonefile-syntax, 2:8 zonefile-syntax'],
  ['TTLs', 'a 2147483648 A 1.1.1.1\na 2147483647 A 1.1.1.2\na 5y A 1.1.1.3', '1:3 ttl-invalid, 3:3 ttl-invalid', 'a 2147483647 A 1.1.1.2'],
  ['other classes', 'a 1 CH TXT x\na HS 1 A 192.0.2.1\na CLASS3 A 192.0.2.1', '1:5 zonefile-class, 2:3 zonefile-class, 3:3 zonefile-class'],
  ['meta-types', 'a 1 TYPE41 \\# 0\na 1 TYPE255 \\# 0\na 1 ANY x', '1:5 type-unknown, 2:5 type-unknown, 3:5 zonefile-class'],
  ['an invalid owner, and lines that inherit it', 'a..b 1 A 1.1.1.1\n 1 A 1.1.1.2\nc 1 A 1.1.1.3', '1:1 name-invalid', 'c 1 A 1.1.1.3'],
  ['no owner to inherit: the origin', ' 1 A 192.0.2.1\n 1 A 192.0.2.2\n', '1:2 warning name-invalid', '@ 1 A 192.0.2.1\n@ 1 A 192.0.2.2'],
  ['an unterminated quote', 'a 1 TXT "x\nb 1 A 192.0.2.1\nc 1 TXT "y', '1:9 zonefile-syntax, 3:9 zonefile-syntax', 'b 1 A 192.0.2.1'],
  [
    'an unterminated quote of a service parameter, before a backslash',
    'a 1 HTTPS 1 . alpn="h2\\\nb 1 TXT "x"\nc 1 HTTPS 1 . alpn="h2',
    '1:20 zonefile-syntax, 3:20 zonefile-syntax',
    'b 1 TXT "x"',
  ],
  ['an unclosed parenthesis', 'a 1 TXT ( x\nb 1 A 192.0.2.1\n', '1:9 zonefile-syntax', 'b 1 A 192.0.2.1'],
  ['a closing parenthesis', 'a 1 A 192.0.2.1 )\nb 1 A 192.0.2.2', '1:17 zonefile-syntax', 'b 1 A 192.0.2.2'],
  [
    'a carriage return without a line feed, which BIND reads as one',
    'a 1 TXT x\rb 1 A 192.0.2.1\nc 1 A 192.0.2.2\rd 1 A 192.0.2.3\ne 1 TXT "x\ry" ; z\rz\r\r\nf 1 TXT z\r',
    '1:10 zonefile-syntax, 2:16 zonefile-syntax',
    'e 1 TXT "x\\013y"\nf 1 TXT "z"',
  ],
  ['a backslash before CR LF', 'a 1 TXT x\\\r\nb 1 A 192.0.2.1\r\n', '1:9 value-invalid', 'b 1 A 192.0.2.1'],
  ['a position on a later line', 'a 1 SOA . . (\n 1\n x\n 3 4 5 )\nb 1 A x', '3:2 value-invalid, 5:7 value-invalid'],
  ['a lone backslash', 'a\\\nb 1 TXT c\\', '1:1 name-invalid, 1:3 zonefile-syntax, 2:9 value-invalid'],
  ['invalid escapes', 'a\\256 1 A 192.0.2.1\nb 1 TXT \\25x "\\999"', '1:1 name-invalid, 2:9 value-invalid'],
  ['too long names', `${'a'.repeat(64)} 1 A 192.0.2.1\n${'a.'.repeat(130)} 1 A 192.0.2.1`, '1:1 name-invalid, 2:1 name-invalid'],
  [
    'too long strings',
    `a 1 TXT ${'a'.repeat(255)}\nb 1 TXT ${'a'.repeat(256)}\nc 1 TXT ${'\\000'.repeat(256)}`,
    '2:9 value-invalid, 3:9 value-invalid',
    `a 1 TXT "${'a'.repeat(255)}"`,
  ],
  ['too long rdata', `a 1 TXT ${`"${'a'.repeat(255)}" `.repeat(257)}`, '1:9 value-invalid'],
  [
    'directives',
    '$NOPE x\n$ORIGIN\n$ORIGIN a b\n$ORIGIN a..b\n$TTL\n$TTL x\n $TTL 5',
    '1:1 zonefile-directive, 2:8 zonefile-directive, 3:11 zonefile-directive, 4:9 name-invalid, 5:5 zonefile-directive, 6:6 ttl-invalid, 7:2 warning name-invalid, 7:2 type-unknown',
  ],
  [
    'generic rdata',
    'a 1 TYPE65280 \\# 2 00\na 1 TYPE65280 x\na 1 A \\# 3 000000\na 1 MX \\# 4 000ac000\na 1 ALIAS \\# 0',
    '1:15 value-invalid, 2:15 value-invalid, 3:7 value-invalid, 4:8 value-invalid, 5:11 value-invalid',
  ],
  ['compressed names in generic rdata', 'a 1 MINFO \\# 5 0161 00 c000', '1:11 value-invalid'],
  [
    'one warning for TTLs that servers read differently',
    '@ 1 SOA . . 1 2 3 4 77\na A 192.0.2.1\na A 192.0.2.2',
    '2:1 warning zonefile-ttl',
    '@ 1 SOA . . 1 2 3 4 77\na 1 A 192.0.2.1\na 1 A 192.0.2.2',
  ],
  [
    'an SOA without a TTL sets the default TTL to its minimum, as in BIND',
    '@ SOA . . 1 2 3 4 77\na A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1',
    '4:1 warning zonefile-ttl',
    '@ 77 SOA . . 1 2 3 4 77\na 77 A 192.0.2.1\nb 60 A 192.0.2.1\nc 77 A 192.0.2.1',
  ],
  [
    'an SOA with a TTL does not: records inherit the last stated TTL',
    '@ 900 SOA . . 1 2 3 4 77\na A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1',
    '2:1 warning zonefile-ttl',
    '@ 900 SOA . . 1 2 3 4 77\na 900 A 192.0.2.1\nb 60 A 192.0.2.1\nc 60 A 192.0.2.1',
  ],
]

test.each(CASES)('%s', (_, text, found, records = '') => {
  const parsed = parse(text)
  const shown = problems(parsed).map((one) => one.replace(/ error\[(.*)\]/, ' $1').replace(/\[(.*)\]/, ' $1'))
  expect(shown.join(', ')).toBe(found)
  expect(relativeLines(parsed.records)).toBe(records)
})

test('relative names without an origin', () => {
  expect(problems(parse('a 1 A 192.0.2.1\nb. 1 NS @\n$ORIGIN c', { origin: null }))).toEqual([
    '1:1 error[name-invalid]',
    '2:9 error[value-invalid]',
    '3:9 error[zonefile-directive]',
  ])
})

test.each([
  ['example.com', '$ORIGIN example.com.', ['www.example.com.']],
  ['sub.example.com', '$ORIGIN sub.example.com.', ['www.sub.example.com.']],
  ['sub', '$ORIGIN sub.example.com.', ['www.sub.example.com.']],
])('$ORIGIN %s before an absolute one is one error; the records get the name that is meant', (origin, meant, owners) => {
  const { records, diagnostics } = parse(`$ORIGIN ${origin}\n$TTL 300\nwww A 192.0.2.1\n$ORIGIN x\n`)
  expect(records.map(({ name }) => name)).toEqual(owners)
  expect(diagnostics).toMatchObject([
    { code: 'zonefile-directive', at: { line: 1, column: 9 }, hint: `Write it with the final dot: ${meant}` },
  ])
})

test('messages name owner and type', () => {
  const [first] = parse('www 1 MX ten mail').diagnostics
  expect(first?.message).toBe('www.example.com. MX: preference: "ten" is not a whole number')
})

test('stops at maxDiagnostics', () => {
  const parsed = parse('a 1 A x\n'.repeat(1000), { maxDiagnostics: 3 })
  expect(parsed.diagnostics.map(({ code }) => code)).toEqual(['value-invalid', 'value-invalid', 'value-invalid', 'zonefile-too-large'])
})

test('stops at maxRecords', () => {
  const parsed = parse('a 1 A 192.0.2.1\n'.repeat(10), { maxRecords: 4 })
  expect(parsed.records).toHaveLength(4)
  expect(problems(parsed)).toEqual(['5:1 error[zonefile-too-large]'])
})

test('drops records outside the zone with a warning, and keeps a bounded number of warnings', () => {
  const parsed = parse(`a 1 A 192.0.2.1\n${'b.example.org. 1 A 192.0.2.2\n'.repeat(500)}notexample.com. 1 A 192.0.2.3\n`, {
    zone: parse('').origin ?? undefined,
  })
  expect(lines(parsed.records)).toEqual(['a.example.com. 1 A 192.0.2.1'])
  expect(parsed.diagnostics).toHaveLength(200)
  expect(problems(parsed)[0]).toBe('2:1 warning[name-outside-zone]')
})
