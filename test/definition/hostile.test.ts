import { expect, test } from 'vitest'
import { parse } from './parse.ts'

type MakeText = (length: number) => string

const filled =
  (piece: string, before = '', after = ''): MakeText =>
  (length) =>
    before + piece.repeat(length / piece.length) + after

const numbered =
  (line: (i: number) => string, before = ''): MakeText =>
  (length) =>
    before + Array.from({ length: length / 12 }, (_, i) => line(i)).join('\n')

/** Files that take quadratic time or more in a careless parser. */
const FILES: readonly (readonly [name: string, text: MakeText])[] = [
  ['invalid values', filled('{},', 'a: {type: MX, values: [', ']}')],
  ['invalid records', filled('{},', 'a: [', ']')],
  ['unknown keys', numbered((i) => `  k${i}: 1`, 'a:\n  type: A\n  value: 192.0.2.1\n')],
  ['unknown settings', numbered((i) => `k${i}: 1`, 'domain: example.com\n')],
  ['invalid names', numbered((i) => `a..${i}: {}`)],
  ['selectors', filled('{},', 'domain: example.com\nunmanaged: [', ']')],
  ['tags', filled('[],', 'domain: example.com\ntags: [', ']')],
  ['targeting', filled('[],', 'a: {type: A, value: 192.0.2.1, octodns: {included: [', ']}}')],
  ['a long text', filled('\\\\;', 'a: {type: TXT, value: "', '"}')],
  ['a long name', filled('a.', 'a: {type: CNAME, value: "', '"}')],
  ['a long owner', filled('a.', '', ': 1')],
  ['many words', filled('00 ', 'a: {type: TYPE65280, value: "', '"}')],
  ['many strings', filled('"a" ', "a: {type: RESINFO, value: '", "'}")],
  ['unterminated strings', filled('="', "a: {type: RESINFO, value: '", "'}")],
  ['a repeated key', filled('a:\n ')],
  ['brackets', filled('[')],
  ['anchors', filled('&a ')],
  ['merges of merges', numbered((i) => (i === 0 ? 'k0: &k0 {a: 1}' : `k${i}: &k${i} {<<: *k${i - 1}, b${i}: 1}`).slice(0, 60))],
]

const check = (text: string): void => {
  const { diagnostics } = parse(text)
  expect(diagnostics.length).toBeGreaterThan(0)
  expect(diagnostics.length).toBeLessThanOrEqual(60_000)
  for (const { message } of diagnostics) expect(message.length).toBeLessThan(1000)
}
// A record's rdata has at most 64 KiB, which these two exceed only in a large file.
const isSmall = ([name]: (typeof FILES)[number]): boolean => name !== 'a long text' && name !== 'many strings'
test.each(FILES.filter(isSmall))('%s', (_, text) => check(text(16 * 1024)))
// Quadratic time exceeds the time limit of a test.
test.each(FILES)('%s in 512 KiB', { tags: ['long'] }, (_, text) => check(text(512 * 1024)))
