import { describe, expect, it } from 'vitest'
import { globPattern, regexPattern } from '../../../src/convert/octodns/patterns.ts'
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
