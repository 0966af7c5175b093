import { expect, test } from 'vitest'
import type { Diagnostic } from '../../../src/base/diagnostic.ts'
import type { DefinedRecord } from '../../../src/dns/record.ts'
import { createZoneFileReader, parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import type { ReadZoneInclude } from '../../../src/dns/zone-file/scope.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { line as lineOf, ORIGIN, parse } from './zone-text.ts'

/** The same text with a comment after each line. */
const parseWithComments = (text: string): ReturnType<typeof parse> => parse(text.replace(/^(.*)$/gm, `$1 ;${'\u00e9'}`))

/** Expects the same records and problems with comments, and from a stream. The text must not end a line within quotes or parentheses. */
const expectSameReadings = (text: string): void => {
  const { records, diagnostics } = parse(text)
  const commented = parseWithComments(text)
  expect({ records, problems: diagnostics }).toEqual({ records: commented.records, problems: commented.diagnostics })
  expect(readStream(text, 40)).toEqual({ records, problems: diagnostics })
}

/** Reads the text in pieces of `size` characters. */
function readStream(text: string, size: number): { records: readonly DefinedRecord[]; problems: readonly Diagnostic[] } {
  const records: DefinedRecord[] = []
  const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, (record) => records.push(record))
  for (let i = 0; i < text.length; i += size) reader.push(text.slice(i, i + size))
  return { records, problems: reader.end().diagnostics }
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  owner: [...'www WWW.Sub @ * _a/b a. x..y - IN 300'.split(' '), '', 'n'.repeat(63), 'n'.repeat(64), `${'m.'.repeat(121)}m`, '\\065', '.'],
  ttl: ['', '', '300', '0', '2147483647', '2147483648', '99999999999', '1h', '03', '300 300'],
  class: ['', 'IN', 'in', 'CH', 'IN IN', 'CLASS1'],
  blank: [' ', '\t', '  ', ' \t '],
  data: [
    ...['A 192.0.2.1', 'a 192.0.2.255', 'A 192.0.2.256', 'A 192.0.2.01', 'A 192.0.2', 'A 192.0.2.1.', 'A 192.0.2.1 x', 'A'],
    ...['AAAA 2001:db8::1', 'AAAA ::', 'AAAA ::1', 'AAAA 1::', 'AAAA 2001:DB8::1', 'AAAA 2001:db8:0:0:0:0:0:1', 'AAAA ::ffff:1:2'],
    'AAAA ::ffff:192.0.2.1',
    ...['AAAA 1:2:3:4:5:6:7:8', 'AAAA 1:2:3:4:5:6:7::', 'AAAA ::2:3:4:5:6:7:8', 'AAAA 1:0:0:2:0:0:0:3', 'AAAA 01::', 'AAAA 1:2'],
    ...['AAAA 1::2::3', 'AAAA :::', 'AAAA 12345::'],
    ...['NS ns1', 'NS NS1.Example.NET.', 'ns @', 'CNAME a..b', 'CNAME .', 'PTR a b', 'DNAME x', 'CNAME', 'CNAME a;b', 'CNAME a(b'],
    'CNAME a"b"',
    ...['MX 10 mail', 'MX 010 mail', 'MX 10  mail', 'MX 65535 MAIL.', 'MX 65536 mail', 'MX 0 .', 'MX 10 @', 'MX ten mail', 'MX 1 '],
    ...['SRV 1 2 3 host', 'SRV 1 2 3 Host.Example.ORG.', 'SRV 1 2 host', 'SRV 1 2 3 @'],
    ...['TXT "a"', 'TXT "a" "b"', 'TXT "a"  "b"', 'TXT "a""b"', 'TXT a b', 'TXT ""', 'TXT "a;(b)"', 'TXT "\\"" ', 'TXT "\\065"'],
    ...['TXT "a" b', `TXT "${'x'.repeat(255)}"`, `TXT "${'x'.repeat(256)}"`, 'TXT "a\tb"'],
    ...['CAA 0 issue "ca.example.net"', 'CAA 0 ISSUE "x"', 'CAA 256 issue "x"', 'CAA 0 issue x', 'CAA 0 is-sue "x"'],
    ...[`CAA 0 issue "${'x'.repeat(300)}"`, 'CAA 0 issue ""'],
    ...['SOA ns1 h 1 2 3 4 5', 'HINFO "a" "b"', 'TYPE1 \\# 4 c0000201', 'A \\# 4 c0000201', 'NONSENSE x', 'TOOLONGFORATYPE x', ''],
    '$TTL 5',
  ],
  end: ['', '', '', ' ', '\t ', '\r', ' ;x', ';x', ' )'],
}

const any = (name: string): fc.Arbitrary<string> => fc.constantFrom(...(FIELDS[name] as readonly string[]))
const line = fc
  .tuple(any('owner'), any('blank'), any('ttl'), any('blank'), any('class'), any('blank'), any('data'), any('end'), fc.boolean())
  .map(([owner, a, ttl, b, inClass, c, data, end, isTtlFirst]) =>
    [owner, a, isTtlFirst ? ttl : inClass, b, isTtlFirst ? inClass : ttl, c, data, end].join(''),
  )

test('each field', () => {
  for (const data of FIELDS['data'] as readonly string[])
    for (const end of FIELDS['end'] as readonly string[]) expectSameReadings(`www 300 IN ${data}${end}\n`)
  for (const owner of FIELDS['owner'] as readonly string[])
    expectSameReadings(`before 1 IN A 192.0.2.1\n${owner} 300 A 192.0.2.1\n 5 TXT "x"\n`)
})

test('any combination of fields', () => {
  const directive = fc.constantFrom('$TTL 60', '$ORIGIN sub', '$ORIGIN .', '$ORIGIN example.com.', '', '; x', '   ', '\t;x')
  const lines = fc.array(fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: directive }), { minLength: 1, maxLength: 12 })
  forAll(rounds(1000), lines, (parts) => expectSameReadings(`${parts.join('\n')}\n`))
})

test('repeated equal pieces each give their records', () => {
  const piece = Array.from({ length: 1000 }, (_, i) => `h${i} 1 A 192.0.2.${i % 256}\n`).join('')
  const records: DefinedRecord[] = []
  const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone' }, (record) => records.push(record))
  // A new string each time, with equal contents.
  for (let i = 0; i < 3; i += 1) reader.push(Buffer.from(piece).toString())
  expect(reader.end().diagnostics).toEqual([])
  expect(records).toEqual(parse(piece.repeat(3)).records)
})

test('positions and inherited owners stay right after $ORIGIN and $INCLUDE', () => {
  const include: ReadZoneInclude = (path) => ({ ok: true, value: { file: path, text: 'in 5 A 192.0.2.5\n 6 TXT "x"\n' } })
  const part = (i: number): string =>
    [
      `$ORIGIN z${i}.example.com.`,
      ...['Host 1 A 192.0.2.1', ' 2 AAAA 2001:DB8:0::1', ' 2 AAAA 2001:DB8:0::1', '\\097 3 TXT (', '"a" )', '\t4 MX 10 @'],
      ...['$INCLUDE f', ' 7 NS ns', '$ORIGIN example.com.'],
    ].join('\n')
  const parsed = parseZoneFile(`${Array.from({ length: 300 }, (_, i) => part(i)).join('\n')}\n`, { origin: ORIGIN, file: 'zone', include })
  expect(parsed.diagnostics).toEqual([])
  const records = [...parsed.records]
  expect(parsed.records.length).toBe(2400)
  expect(records).toHaveLength(2400)
  expect([...parsed.records]).toEqual(records)
  expect(records.slice(-8).map((record) => `${lineOf(record)} ${record.at.file}:${record.at.line}:${record.at.column}`)).toEqual([
    'host.z299.example.com. 1 A 192.0.2.1 zone:2992:1',
    'host.z299.example.com. 2 AAAA 2001:db8::1 zone:2993:2',
    'host.z299.example.com. 2 AAAA 2001:db8::1 zone:2994:2',
    'a.z299.example.com. 3 TXT "a" zone:2995:1',
    'a.z299.example.com. 4 MX 10 z299.example.com. zone:2997:2',
    'in.z299.example.com. 5 A 192.0.2.5 f:1:1',
    'in.z299.example.com. 6 TXT "x" f:2:2',
    'a.z299.example.com. 7 NS ns.z299.example.com. zone:2999:2',
  ])
})

test('line numbers stay right across very long lines', () => {
  const parts = Array.from({ length: 3000 }, (_, i) =>
    i % 500 === 250 ? `t${i} 1 TXT ${'"x" '.repeat(6000)}` : `h${i} 1 A 192.0.2.${i % 256}`,
  )
  const { records, diagnostics } = parse(`${parts.join('\n')}\n`)
  expect(diagnostics).toEqual([])
  expect(records.map(({ at }) => at.line)).toEqual(parts.map((_, i) => i + 1))
  expect(records.map(({ name }) => name)).toEqual(parts.map((part) => `${part.split(' ')[0]}.${ORIGIN}`))
})
