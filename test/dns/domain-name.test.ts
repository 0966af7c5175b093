import { describe, expect, test } from 'vitest'
import {
  compareNames,
  type DomainName,
  displayName,
  isAtOrBelow,
  isBelow,
  isWildcard,
  labelsOf,
  nameFromLabels,
  nameOctets,
  parentOf,
  parseDomainName,
  ROOT,
  relativeName,
  sortKey,
} from '../../src/dns/domain-name.ts'
import { fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { name } from '../support/records.ts'

const ORIGIN = name('example.com.')
const LABEL_63 = 'a'.repeat(63)
/** 255 octets: three labels of 63, one of 61. */
const LONGEST = `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(61)}.`

describe('parseDomainName', () => {
  test.each([
    // The longest name that fits, and one octet more: the relative name, a dot, and `example.com.`.
    [`${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(49)}`, true],
    [`${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(50)}`, false],
    [LABEL_63, true],
    [`${LABEL_63}a`, false],
    [`a..b`, false],
    [`.a`, false],
  ])('the relative name %s', (text, isName) => {
    const parsed = parseDomainName(text, ORIGIN)
    expect(parsed).toEqual(isName ? { ok: true, value: `${text}.example.com.` } : expect.objectContaining({ ok: false }))
    // Capitals disable the fast path, with the same result.
    const long = parseDomainName(text.toUpperCase(), ORIGIN)
    expect(long.ok).toBe(isName)
    if (long.ok && parsed.ok) expect(long.value).toBe(parsed.value)
  })

  test.each([
    ['www', 'www.example.com.'],
    ['WWW.Example.ORG.', 'www.example.org.'],
    ['@', 'example.com.'],
    ['.', '.'],
    ['\\@', '\\@.example.com.'],
    ['*.a', '*.a.example.com.'],
    ['_sip._tcp', '_sip._tcp.example.com.'],
    ['0/26.2.0.192.in-addr.arpa.', '0/26.2.0.192.in-addr.arpa.'],
    ['a\\.b', 'a\\.b.example.com.'],
    ['a\\046b', 'a\\.b.example.com.'],
    ['a.b\\.', 'a.b\\..example.com.'],
    ['\\065\\066', 'ab.example.com.'],
    ['\\000\\032\\255.', '\\000\\032\\255.'],
    ['\\a\\-', 'a-.example.com.'],
    ['\\\\', '\\\\.example.com.'],
    ['$', '\\$.example.com.'],
    ["a!#%&'*+,/:<=>?[]^`{|}~b.", "a!#%&'*+,/:<=>?[]^`{|}~b."],
    // RFC 4343: only ASCII letters have no case.
    ['\\192\\224.', '\\192\\224.'],
    ['bücher', 'xn--bcher-kva.example.com.'],
    ['BÜCHER.example.', 'xn--bcher-kva.example.'],
    ['_Ü.', 'xn--_-eha.'],
    ['XN--BCHER-KVA.', 'xn--bcher-kva.'],
    [`${LABEL_63}.`, `${LABEL_63}.`],
    [LONGEST, LONGEST],
  ])('%s is %s', (text, expected) => {
    expect(parseDomainName(text, ORIGIN)).toEqual({ ok: true, value: expected })
    expect(parseDomainName(expected)).toEqual({ ok: true, value: expected })
  })

  test.each([
    ['', 'empty'],
    ['..', 'two dots in a row'],
    ['.a', 'begins with a dot'],
    ['a..b', 'two dots in a row'],
    [`${LABEL_63}a.`, '64 octets'],
    [`a${LONGEST}`, 'octets'],
    [`${'\\097'.repeat(64)}.`, '64 octets'],
    [`${LONGEST.slice(0, -1)}`, 'octets'],
    ['x'.repeat(2000), '2000 characters'],
    ['a b', 'space'],
    ['a\tb', 'control character'],
    ['a\u007f', 'control'],
    ['a\\', 'backslash'],
    ['a\\25', 'escape'],
    ['a\\256', 'escape'],
    ['a\\é', 'escapes'],
    // A URL host parser would drop part of these labels or read them as addresses.
    ['ü/x', 'internationalised'],
    ['ü%41', 'internationalised'],
    ['１２３', 'internationalised'],
    ['ü\\065', 'internationalised'],
    ['ü\\.a', 'internationalised'],
    ['ü。a', 'internationalised'],
    ['\u202eabc', 'internationalised'],
  ])('%s is refused: %s', (text, message) => {
    expect(parseDomainName(text, ORIGIN)).toEqual({ ok: false, message: expect.stringContaining(message) })
  })

  test.each(['www', '@'])('%s needs an origin', (text) => expect(parseDomainName(text).ok).toBe(false))

  test('the origin limits the length of a relative name', () => {
    const origin = name(LONGEST.slice(2))
    expect(parseDomainName('', origin).ok).toBe(false)
    expect(parseDomainName('aa', origin).ok).toBe(false)
    expect(parseDomainName('a', name(LONGEST.slice(4))).ok).toBe(true)
  })
})

describe('labels', () => {
  test.each(['.', 'a.', 'a\\.b.c.', '\\000\\255.\\\\.', '*.example.com.'])('%s is split into its labels', (text) => {
    expect(nameFromLabels(labelsOf(name(text)))).toBe(text)
  })

  test.each([
    ['.', 1],
    ['a.', 3],
    ['a\\.b.c.', 7],
    ['\\000.', 3],
    [LONGEST, 255],
  ])('%s takes %d octets', (text, octets) => expect(nameOctets(name(text))).toBe(octets))

  test.each([
    ['a.b.', 'b.'],
    ['a\\.b.c.', 'c.'],
    ['\\046.c.', 'c.'],
    ['a\\000.c.', 'c.'],
    ['a.', '.'],
    ['.', '.'],
  ])('the parent of %s is %s', (child, parent) => expect(parentOf(name(child))).toBe(parent))

  test('a wildcard is a label that is only an asterisk', () => {
    expect(['*.a.', '*a.', 'a.*.'].map((text) => isWildcard(name(text)))).toEqual([true, false, false])
  })
})

describe('ancestors and descendants', () => {
  test.each([
    ['a.example.com.', 'example.com.', true, true],
    ['example.com.', 'example.com.', true, false],
    ['notexample.com.', 'example.com.', false, false],
    ['a\\.example.com.', 'example.com.', false, false],
    ['a\\\\.example.com.', 'example.com.', true, true],
    ['com.', 'example.com.', false, false],
    ['a.', '.', true, true],
    ['.', '.', true, false],
  ])('%s under %s: at or below %s, below %s', (child, ancestor, atOrBelow, below) => {
    expect([isAtOrBelow(name(child), name(ancestor)), isBelow(name(child), name(ancestor))]).toEqual([atOrBelow, below])
  })

  test.each([
    ['a.b.example.com.', 'example.com.', 'a.b'],
    ['example.com.', 'example.com.', ''],
    ['a.', '.', 'a'],
  ])('%s relative to %s is %s', (child, origin, relative) => expect(relativeName(name(child), name(origin))).toBe(relative))

  test('a name outside the origin has no relative form', () => expect(() => relativeName(name('a.example.org.'), ORIGIN)).toThrow('not in'))
})

test('sorts names canonically (RFC 4034 section 6.1)', () => {
  const order = [
    ...'example. a.example. yljkjljk.a.example. z.a.example. zabc.a.example. z.example. \\001.z.example. *.z.example.'.split(' '),
    '\\200.z.example.',
  ]
  const names = order.map((text) => name(text))
  expect([...names].reverse().sort(compareNames)).toEqual(names)
  expect(compareNames(ROOT, names[0] as DomainName)).toBeLessThan(0)
})

test('sort keys sort like the names', () => {
  const label = fc.constantFrom('a', 'ab', 'b', '*', '-', '_x', '\\000', '\\.', '\\255')
  const names = fc.array(label, { maxLength: 4 }).map((labels) => name(labels.length === 0 ? '.' : `${labels.join('.')}.`))
  forAll(rounds(2000), names, names, (a, b) => {
    const [left, right] = [sortKey(a), sortKey(b)]
    expect(Math.sign(compareNames(a, b))).toBe(left < right ? -1 : left > right ? 1 : 0)
  })
})

test('A-labels are shown in Unicode', () => {
  expect(displayName(name('xn--bcher-kva.example.'))).toBe('bücher.example')
  expect(displayName(name('www.example.'))).toBe('www.example.')
})
