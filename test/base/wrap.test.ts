import { expect, test } from 'vitest'
import { columnsOf, wrapText } from '../../src/base/wrap.ts'
import { fc, forAll } from '../support/fast-check.ts'

const lines = (...all: readonly string[]): string => all.join('\n')

test.each([
  ['fits', 'ten column', ['ten column']],
  ['prose', 'some words of prose', ['some words', '  of prose']],
  ['an indented line', '  ab cd ef gh', ['  ab cd ef', '    gh']],
  ['a gap', 'ab  cd ef gh ij', ['ab  cd ef', '    gh ij']],
  ['a gap too far to the right', 'abcdef  gh ij', ['abcdef  gh', '  ij']],
  ['the last gap of the first half', '  a  b  cde fg', ['  a  b', '     cde', '     fg']],
  ['a word that is too long', 'ab 0123456789abc b', ['ab', '  0123456789abc', '  b']],
  ['a marker', '- 0123456789abc b', ['- 0123456789abc', '  b']],
  ['a long word first', '0123456789abc b', ['0123456789abc', '  b']],
  ['a line end', 'ab cd ef gh\n\nij', ['ab cd ef', '  gh', '', 'ij']],
  ['wide characters', '日本 語の 文', ['日本 語の', '  文']],
  ['a combining character', 'e\u0301e\u0301e\u0301e\u0301e\u0301 abcd', ['e\u0301e\u0301e\u0301e\u0301e\u0301 abcd']],
  ['a style', '\u001b[1;31mred words on\u001b[22;39m', ['\u001b[1;31mred words\u001b[0m', '  \u001b[1;31mon\u001b[22;39m']],
  ['after a style', '\u001b[2mdim\u001b[22m words of', ['\u001b[2mdim\u001b[22m words', '  of']],
])('ten columns: %s', (_, text, wrapped) => {
  expect(wrapText(text, 10)).toBe(lines(...wrapped))
})

test('lines without indentation continue after `hang` spaces, and kept lines stay whole', () => {
  expect(wrapText('some words of prose', 10, 0)).toBe('some words\nof prose')
  expect(wrapText('some words of prose\n+ some words of prose', 10, 2, /^\+/)).toBe('some words\n  of prose\n+ some words of prose')
})

test('any text: no broken word, and no line longer than the width but a single word', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '日'), minLength: 1, maxLength: 30 })
  const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '  ', '\n', '\n  ')), { minLength: 1, maxLength: 30 })
  forAll(100, text, fc.constantFrom(40, 60, 80), (parts, width) => {
    const given = parts.flat().join('').trimEnd()
    const wrapped = wrapText(given, width)
    expect(wrapped.split(/\s+/)).toEqual(given.split(/\s+/))
    for (const line of wrapped.split('\n')) if (/\S\S\s+\S/.test(line)) expect(columnsOf(line)).toBeLessThanOrEqual(width)
  })
})
