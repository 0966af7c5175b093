import { expect, it } from 'vitest'
import { nameGlobOf, nameTestOf } from '../../../src/convert/octodns/patterns.ts'
import { globTest } from '../../../src/dns/glob.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

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
