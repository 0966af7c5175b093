import { describe, expect, it, test } from 'vitest'
import { globPattern, nameGlobOf, nameTestOf, regexPattern } from '../../../src/convert/octodns/patterns.ts'
import { compareNatural } from '../../../src/definition/print/natural-order.ts'
import { globTest } from '../../../src/dns/glob.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

describe("globs of octoDNS's dynamic zones", () => {
  it.each([
    ['*.example.com.', ['a.example.com.', '.example.com.', 'a.b.example.com.'], ['example.com.', 'a.example.com']],
    ['?.example.', ['a.example.'], ['.example.', 'ab.example.', 'A.b.example.']],
    ['[a-c]*', ['a', 'cx'], ['d', '', 'A']],
    ['[!a-c]', ['d', ']'], ['a', '']],
    ['[]]', [']'], ['[']],
    ['[!]]', ['a'], [']']],
    ['[a', ['[a'], ['a']],
    ['[a]]', ['a]'], ['a']],
  ])('%s', (glob, matching, others) => {
    const matches = globPattern(glob)
    expect(matching.filter((one) => !matches(one))).toEqual([])
    expect(others.filter(matches)).toEqual([])
  })
})

describe("regular expressions of octoDNS's configuration", () => {
  const piece = fc.constantFrom(...'a b . - \\. \\d \\w [ab] [^a] [a-c.] [b-a] ( (?: ) | ^ $ 1'.split(' '))
  const times = fc.constantFrom('', '', '', '*', '+', '?')
  const expression = fc.array(fc.tuple(piece, times), { maxLength: 10 }).map((parts) => parts.flat().join(''))
  const name = fc.array(fc.constantFrom('a', 'b', 'c', '.', '-', '1'), { maxLength: 8 }).map((parts) => parts.join(''))

  it('match the same as in JavaScript, and are refused if JavaScript refuses them', () => {
    let compared = 0
    forAll(rounds(3000), expression, fc.array(name, { minLength: 1, maxLength: 10 }), (text, names) => {
      const matches = regexPattern(text)
      if (matches === null) return
      compared += 1
      const expected = new RegExp(text)
      for (const one of names) expect([text, one, matches(one)]).toEqual([text, one, expected.test(one)])
    })
    expect(compared).toBeGreaterThan(rounds(3000) / 20)
  })

  it.each(['a(?=b)', '\\1', '(a', 'a)', '(a)*', 'a**', 'a*?', 'a{2}', '[b-a]', 'a^b', '(?i)a', 'x'.repeat(1001)])('%s is refused', (text) =>
    expect(regexPattern(text)).toBeNull(),
  )

  const attacks: readonly (readonly [name: string, text: (size: number) => string])[] = [
    ['optional characters', (size) => `^${'a?'.repeat(size)}${'a'.repeat(size)}b`],
    ['equal alternatives', (size) => `^${'(a|a)'.repeat(size)}b`],
    ['empty alternatives', (size) => `${'(|a)'.repeat(size)}b`],
    ['nested groups', (size) => `${'(a|'.repeat(size)}b${')'.repeat(size)}`],
    ['repeated characters', (size) => `${'a*'.repeat(size)}b`],
    ['repeated sets', (size) => `${'[ab]+.*'.repeat(size)}c$`],
  ]
  it.each(attacks)('take time linear in expression and name: %s', (_, text) => {
    for (const size of [1, 10, 40, 120]) {
      let steps = 0
      const matches = regexPattern(text(size), () => {
        steps += 1
      })
      matches?.('a'.repeat(250))
      expect(steps).toBeGreaterThan(0)
      expect(steps).toBeLessThanOrEqual(2 * (text(size).length + 4) * 251)
    }
  })

  it.each(['*a'.repeat(100), '[ab]*'.repeat(60), '*?'.repeat(100)])('take time linear in glob and name: %s', (glob) => {
    let steps = 0
    globPattern(`${glob}c`, () => {
      steps += 1
    })('a'.repeat(250))
    expect(steps).toBeLessThanOrEqual(2 * (glob.length + 2) * 251)
  })
})

it.each([
  ['www', 'www'],
  ['', ''],
  ['//', '*'],
  ['/^$/', ''],
  ['/^a/', 'a*'],
  ['/a$/', '*a'],
  ['/^_acme.*\\.x$/', '_acme*.x'],
  ['*', null],
  ['*.a', null],
  ['@', null],
  ['WWW', null],
  ['bücher', null],
  ['/a.b/', null],
  ['/a+/', null],
  ['/[ab]/', null],
  ['/a|b/', null],
  ['/A/', null],
  ['/\\d/', null],
  ['/a$b/', null],
  ['/^^a/', null],
])('%j is the glob %j', (pattern, glob) => expect(nameGlobOf(pattern)).toBe(glob))

const name = fc.array(fc.constantFrom('a', 'b', '-', '.', '_x'), { maxLength: 8 }).map((parts) => parts.join(''))
const expression = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(fc.constantFrom('a', 'b', '\\.', '.*', '\\-', '_x', '.', 'a+'), { maxLength: 5 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, parts, end]) => start + parts.join('') + end)

it('become globs that match the same names as the expression', () => {
  forAll(rounds(300), expression, fc.array(name, { minLength: 1, maxLength: 20 }), (text, names) => {
    const glob = nameGlobOf(`/${text}/`)
    const test = nameTestOf([`/${text}/`])
    for (const one of names) {
      const expected = new RegExp(text).test(one)
      if (glob !== null) expect([glob, globTest(glob)(one)]).toEqual([glob, expected])
      if (test !== null) expect(test(one)).toBe(expected)
    }
  })
})

test.each([
  [['', '2', '12', '12.1', '*', 'a', 'a2', 'a10', 'b']],
  [['01', '1', '1a', '2']],
  [['@', 'A', 'Z', '_a', 'a', 'ü', 'z', '\uff21', '\u{1f600}']],
  [['0', '9', '10', '99999999999999999998', '99999999999999999999']],
  [['*.a', '_dmarc', 'a.b', 'a.b.c', 'aa']],
])('%j', (sorted) => {
  const others = [[...sorted].reverse(), [...sorted].sort()]
  for (const other of others) expect(other.toSorted(compareNatural)).toEqual(sorted)
})

test('compares runs of digits as numbers and other runs as text', () => {
  const cut = (text: string): string[] => text.split(/([0-9]+)/).filter((run, i) => run !== '' || (i === 0 && text !== ''))
  const byRuns = (a: string, b: string): number => {
    const [left, right] = [cut(a), cut(b)]
    for (const [i, x] of left.slice(0, right.length).entries()) {
      const y = right[i] as string
      const byNumber = i % 2 === 1 ? Number(x) - Number(y) : 0
      const byText = i % 2 === 0 && x !== y ? (x < y ? -1 : 1) : 0
      if (byNumber + byText !== 0) return byNumber + byText
    }
    return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0)
  }
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '0', '1', '9', '.', '-', '\n', '\x7f', '/', ':'), maxLength: 8 })
  forAll(rounds(5000), text, text, (a, b) => {
    expect(Math.sign(compareNatural(a, b))).toBe(Math.sign(byRuns(a, b)))
  })
})

test('is a total order', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '0', '1', '9', '.', '-', 'é', 'e\u0301', '\ud83d\ude00', '\uffee'),
    maxLength: 6,
  })
  forAll(rounds(2000), text, text, text, (a, b, c) => {
    expect(Math.sign(compareNatural(a, b))).toBe(-Math.sign(compareNatural(b, a)) + 0)
    expect(compareNatural(a, b) === 0).toBe(a === b)
    if (compareNatural(a, b) < 0 && compareNatural(b, c) < 0) expect(compareNatural(a, c)).toBeLessThan(0)
  })
})
