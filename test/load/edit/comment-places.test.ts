/** Formatting keeps the positions of comments: a canonical text with comments at any allowed position does not change. */
import { expect, test } from 'vitest'
import { formatDefinition } from '../../../src/definition/print/format-definition.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

/** Lines of a canonical file; `at` lists the possible indentations of a comment below the line. */
const LINES: readonly (readonly [text: string, at: readonly number[]])[] = [
  ['domain: example.com', [0]],
  ['tags:', [2]],
  ['  - one', [2]],
  ['  - two', [2, 0]],
  ['records:', [2]],
  ["  '':", [4]],
  ['    - type: A', [6]],
  ['      values:', [8]],
  ['        - 192.0.2.1', [8]],
  ['        - 192.0.2.2', [8, 6, 4]],
  ['    - type: MX', [6]],
  ['      value: {preference: 10, exchange: mail}', [6, 4, 2]],
  ['  a:', [4, 2]],
  ['  b: &b', [4]],
  ['    type: TXT', [4]],
  ['    value: text', [4, 2]],
  ['  c: *b', [2]],
  ['  d:', [4]],
  ['    type: AAAA', [4]],
  ['    value: 2001:db8::1', [4, 2]],
]

const commented = fc
  .array(fc.record({ behind: fc.boolean(), below: fc.subarray([8, 6, 4, 2, 0]), twice: fc.boolean(), spaced: fc.boolean() }), {
    minLength: LINES.length,
    maxLength: LINES.length,
  })
  .map((choices) =>
    LINES.map(([text, at], line) => {
      const { behind, below, twice, spaced } = choices[line] as (typeof choices)[number]
      const own = below.filter((indent) => at.includes(indent)).flatMap((indent) => (twice ? [indent, indent] : [indent]))
      // Each comment has a blank line above, except at the first entry of a block.
      const blank = spaced && !/:( &b)?$/.test(text) ? '\n' : ''
      const comments = own.map((indent, index) => `${blank}${' '.repeat(indent)}# ${indent} below ${line}, ${index}\n`)
      return `${text}${behind ? ` # behind ${line}` : ''}\n${comments.join('')}`
    }).join(''),
  )

test('a canonical text with comments does not change', () => {
  forAll(rounds(200), commented, (text) => {
    expect(formatDefinition(text)).toEqual({ ok: true, value: text })
  })
})

test.each([
  ['after keys', 'www: #1234\n  type: A\n  values: #beef on\n    - 192.0.2.1\n'],
  ['after the last in brackets', 'www:\n  type: A\n  values:\n    [\n      192.0.2.1, # one\n      192.0.2.2 # two\n    ] # behind\n'],
])('comments %s', (_, text) => expect(formatDefinition(text)).toEqual({ ok: true, value: text }))

test('a comment after the last comma stays with its value', () => {
  const text = 'www:\n  type: A\n  values:\n    [\n      192.0.2.1, # one\n      192.0.2.2, # two\n    ] # behind\n'
  expect(formatDefinition(text)).toEqual({ ok: true, value: text.replace('2.2,', '2.2') })
})
