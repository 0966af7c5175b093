import { expect, test } from 'vitest'
import {
  octetsToTxtRdata,
  quoteString,
  splitIntoStrings,
  stringToTxtRdata,
  txtRdataToOctets,
  unescapeString,
} from '../../src/dns/character-string.ts'
import { anyCharacter, fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'

const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'))

test.each([
  ['', '""'],
  ['plain text; (of a kind)', '"plain text; (of a kind)"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\u0000\t\u007f\u0080\u00ff', '"\\000\\009\\127\\128\\255"'],
])('%j is printed as %s', (text, printed) => {
  expect(quoteString(latin1(text))).toBe(printed)
  expect(unescapeString(printed.slice(1, -1))).toEqual({ ok: true, value: Buffer.from(text, 'latin1') })
})

test.each([
  ['a\\bc', 'abc'],
  ['\\;\\"\\ ', ';" '],
  ['\\065\\0661', 'AB1'],
  ['ü\\255', 'Ã¼ÿ'],
  ['\\ü', 'Ã¼'],
])('%s is read as %j', (text, read) => {
  const octets = unescapeString(text)
  expect(octets.ok && Buffer.from(octets.value).toString('latin1')).toBe(read)
})

test.each(['a\\', '\\1', '\\12', '\\12a', '\\256', '\\999'])('%s is refused', (text) => expect(unescapeString(text).ok).toBe(false))

test('text is encoded as UTF-8', () => {
  const printable = fc.string({ unit: fc.constantFrom('a', 'Z', ' ', ';', '~'), minLength: 250, maxLength: 260 })
  forAll(rounds(100), fc.oneof(fc.string({ unit: anyCharacter, maxLength: 300 }), printable), (text) => {
    expect(stringToTxtRdata(text)).toBe(octetsToTxtRdata(Buffer.from(text, 'utf8')))
  })
})

test('any octets survive printing and parsing', () => {
  forAll(100, fc.uint8Array({ maxLength: 700 }), (octets) => {
    const data = octetsToTxtRdata(octets)
    expect(Uint8Array.from(txtRdataToOctets(data))).toEqual(octets)
    expect(data).toMatch(/^[ -~]+$/)
  })
})

test.each([
  [0, [0]],
  [1, [1]],
  [255, [255]],
  [256, [255, 1]],
  [511, [255, 255, 1]],
])('%d octets are split into %j', (length, lengths) => {
  expect(splitIntoStrings(new Uint8Array(length)).map((chunk) => chunk.length)).toEqual(lengths)
})

test.each(['"a', '"a\\"', '"\\999"'])('throws for text that is not canonical: %s', (data) => {
  expect(() => txtRdataToOctets(data)).toThrow('not canonical')
})
