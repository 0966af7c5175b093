import { expect, test } from 'vitest'
import { decodeZoneFile } from '../../../src/dns/zone-file/decode-zone-file.ts'

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

test.each([
  ['a comment', 'a 1 A 192.0.2.1 ; caf\xe9\n', 'a 1 A 192.0.2.1 ; caf\u00e9\n'],
  ['a line that is a comment', '; \xa9 M\xfcller\r\n', '; \u00a9 M\u00fcller\r\n'],
  ['a comment after a quoted semicolon', 'a 1 TXT "x;\\";" \\; ;\xe9\n', 'a 1 TXT "x;\\";" \\; ;\u00e9\n'],
  ['inside parentheses', 'a 1 A ( ; \xe9\n192.0.2.1 ) ; ok\n', 'a 1 A ( ; \u00e9\n192.0.2.1 ) ; ok\n'],
])('Latin-1 in %s', (_, octets, text) => expect(decodeZoneFile(latin1(octets))).toEqual({ ok: true, text }))

test('a comment in UTF-8 stays next to one in Latin-1', () => {
  const octets = Buffer.concat([Buffer.from('; \u00e9\n'), latin1('; \xe9\n'), Buffer.from('b\u00fccher 1 A 192.0.2.1 ; \u20ac')])
  expect(decodeZoneFile(octets)).toEqual({ ok: true, text: '; \u00e9\n; \u00e9\nb\u00fccher 1 A 192.0.2.1 ; \u20ac' })
})

test.each([
  ['in a name', '; ok\nb\xfccher 1 A 192.0.2.1\n', { octet: 0xfc, line: 2, column: 2 }],
  ['in a quoted string', 'a 1 TXT "x ; \xe9" ; \xe9\n', { octet: 0xe9, line: 1, column: 14 }],
  ['after an escaped semicolon', 'a 1 TXT x\\;\xe9\n', { octet: 0xe9, line: 1, column: 12 }],
])('Latin-1 %s is an error', (_, octets, problem) => expect(decodeZoneFile(latin1(octets))).toEqual({ ok: false, problem }))
