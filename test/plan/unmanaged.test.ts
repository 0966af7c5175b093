import { describe, expect, it } from 'vitest'
import { stringToTxtRdata } from '../../src/dns/character-string.ts'
import { globIndex, globTest } from '../../src/dns/glob.ts'
import { unmanagedTest } from '../../src/dns/unmanaged.ts'
import { fc, forAll } from '../support/fast-check.ts'
import { ORIGIN } from '../support/plan.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { name } from '../support/records.ts'

describe('a selector of targets', () => {
  const selects = (target: string, type: string, data: string): boolean =>
    unmanagedTest([{ target }], ORIGIN)({ name: name('x.example.com.'), type, ttl: null, data })
  it.each([
    ['v=spf1*', 'TXT', '"v=spf1 -all"', true],
    ['v=spf1*', 'SPF', '"v=spf1 -all"', true],
    ['V=SPF1 *', 'TXT', '"v=spf1 -all"', true],
    ['v=spf1', 'TXT', '"v=spf1 -all"', false],
    ['"v=spf1*', 'TXT', '"v=spf1 -all"', true],
    ['*two halves*', 'TXT', '"one of two" " halves"', true],
    [`*${'y'.repeat(300)}*`, 'TXT', stringToTxtRdata('y'.repeat(400)), true],
    ['say "hi"', 'TXT', '"say \\"hi\\""', true],
    ['"say \\"hi\\""', 'TXT', '"say \\"hi\\""', true],
    ['grün', 'TXT', stringToTxtRdata('grün'), true],
    ['', 'TXT', '""', true],
    ['0 issue *', 'CAA', '0 issue "ca.example.net"', true],
    ['*ca.example.net', 'CAA', '0 issue "ca.example.net"', false],
    // Rdata that a provider or a saved plan may contain.
    ['a*', 'TXT', '"a', false],
    ['a*', 'TXT', '"a\\9"', false],
    ['"a*', 'TXT', '"a', true],
    ['a*', 'TXT', 'a', true],
  ])('%s of %s %s: %s', (target, type, data, expected) => expect(selects(target, type, data)).toBe(expected))
})

describe('selectors of names', () => {
  it.each([
    [{ name: '@' }, 'example.com.', true],
    [{ name: '' }, 'example.com.', true],
    [{ name: '@' }, 'x.example.com.', false],
    [{ name: 'X' }, 'x.example.com.', true],
    [{ name: '*.y' }, 'x.y.example.com.', true],
    [{ name: '*.y' }, 'a.x.y.example.com.', true],
    [{ name: '*.y' }, 'y.example.com.', false],
    [{ name: '*y' }, 'x.y.example.com.', true],
    [{ name: '*x.y' }, 'x.y.example.com.', true],
    [{ name: 'a*.x.y' }, 'a.x.y.example.com.', true],
    [{ name: 'a*x.y*' }, 'a.x.y.z.example.com.', true],
    [{ name: '*\\.y' }, 'x\\.y.example.com.', true],
    [{ name: '\\*' }, '*.example.com.', true],
    [{ name: '\\*' }, 'x.example.com.', false],
    [{ name: '\\*.y' }, '*.y.example.com.', true],
    [{ name: '\\*.y' }, 'x.y.example.com.', false],
    [{ name: '*\\*.y' }, '*.y.example.com.', true],
    [{ name: '\\*.B\u00fccher' }, 'x.xn--bcher-kva.example.com.', false],
    [{ name: '\\*.B\u00fccher' }, '*.xn--bcher-kva.example.com.', true],
    [{ name: 'b\u00fccher' }, 'xn--bcher-kva.example.com.', true],
    [{ name: 'x*' }, 'x.y.example.com.', true],
    [{ name: '*' }, 'example.com.', true],
    [{ name: 'x', type: 'TXT' }, 'x.example.com.', false],
    [{ type: 'A' }, 'x.example.com.', true],
  ])('%j selects %s A: %s', (selector, owner, expected) => {
    const record = { name: name(owner), type: 'A', ttl: null, data: '192.0.2.1' }
    expect(unmanagedTest([selector], ORIGIN)(record)).toBe(expected)
    expect(unmanagedTest([{ name: 'other' }, { name: 'o*' }, selector], ORIGIN)(record)).toBe(expected)
  })

  it.each([['h%'], ['*.h%'], ['a*.h%'], ['*x.h%'], ['*a%'], ['*%'], ['a%*'], ['a%*b'], ['a*%*b'], ['*b*a%x*c*'], ['*-%.x']])(
    'find records among many selectors: %s',
    (pattern) => {
      const owners = Array.from({ length: 4000 }, (_, index) => pattern.replace('%', `${100_000 + index}`))
      const selects = unmanagedTest(
        owners.map((owner) => ({ name: owner, type: 'TXT' })),
        ORIGIN,
      )
      const found = owners.filter((owner) => selects({ name: name(`${owner}.example.com.`), type: 'TXT', ttl: null, data: '"x"' })).length
      expect(found).toBe(4000)
    },
  )

  it('find the same records as a linear search', () => {
    const random = seededRandom(77)
    const text = (): string => Array.from({ length: random.below(6) }, () => random.pick(['a', 'b', '.', '*'])).join('')
    const globs = Array.from({ length: 200 }, text)
    const index = globIndex<string>()
    for (const glob of globs) index.add(glob, glob)
    for (let round = 0; round < 500; round += 1) {
      const owner = text() + text()
      const near = [...index.near(owner)]
      expect(new Set(near.filter((glob) => globTest(glob)(owner)))).toEqual(new Set(globs.filter((glob) => globTest(glob)(owner))))
      expect(new Set(near).size).toBe(near.length)
    }
  })
})

describe('a glob', () => {
  it('matches like a regular expression', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'aab'.repeat(20), 'aab'.repeat(20)), { maxLength: 6 })
      .map((parts) => parts.join(''))
    forAll(rounds(300), fc.array(text, { minLength: 1, maxLength: 4 }), text, text, (parts, before, after) => {
      const glob = parts.join('*')
      const expression = new RegExp(`^${parts.join('.*')}$`)
      for (const one of [before, parts.join(''), parts.join(before), `${before}${parts.join(after)}`, `${parts.join(before)}${after}`])
        expect(globTest(glob)(one)).toBe(expression.test(one))
    })
  })

  it.each([
    ['a long part that nearly matches at every position', `*${'a'.repeat(100_000)}b${'a'.repeat(100_000)}*`, 'a'.repeat(400_000)],
    ['many parts', `${'*a'.repeat(100_000)}*b`, 'a'.repeat(400_000)],
  ])('takes linear time: %s', (_, glob, text) => expect(globTest(glob)(text)).toBe(false))
})
