import { expect, test } from 'vitest'
import { compareNatural } from '../../../src/definition/print/natural-order.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

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
