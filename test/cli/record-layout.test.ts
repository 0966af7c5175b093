/** Edits of files in common layouts: only the necessary text changes. */
import { describe, expect, it } from 'vitest'
import { commentsOf } from '../../src/definition/yaml/comments.ts'
import { edit, type Words } from './record-edits.ts'

const FILE = 'zones/example.com.yaml'

/** Name and arguments of the edit, the replaced text and its replacement. */
type Edit = readonly [name: string, words: Words, removed: string, added: string]

const checkAll = (text: string, edits: readonly Edit[]): void => {
  it.each(edits)('%s', async (_, words, removed, added) => {
    expect(text.split(removed)).toHaveLength(2)
    expect(await edit({ [FILE]: text }, words)).toMatchObject({ status: 0, changed: { [FILE]: text.replace(removed, () => added) } })
  })
}

describe('a file written by octoDNS', () => {
  const TEXT = `---
# head

? ''
: - type: A
    value: 192.0.2.1
www:
  octodns:
    healthcheck: {host:   x}
  ttl: 60
  type: A
  values:
  - 192.0.2.1   # one

  # the second
  - 192.0.2.2
mail:
- type: MX
  values:
  - exchange: a.example.net.
    preference: 10
  - exchange: b.example.net.
    priority: 20
- type: TXT
  value: >-
    v=spf1 include:example.net
    -all
`
  const VALUES = '  - 192.0.2.1   # one\n\n  # the second\n  - 192.0.2.2\n'
  const MX = '  - exchange: b.example.net.\n    priority: 20\n'
  checkAll(TEXT, [
    ['an additional value', 'add example.com www A 192.0.2.9', VALUES, `${VALUES}  - 192.0.2.9\n`],
    ['the first value', 'remove example.com www A 192.0.2.1', VALUES, '  # the second\n  - 192.0.2.2\n'],
    ['the last value', 'remove example.com www A 192.0.2.2', VALUES, '  - 192.0.2.1   # one\n'],
    ['several fields', ['add', 'example.com', 'mail', 'MX', '30 c.test.'], MX, `${MX}  - exchange: c.test.\n    preference: 30\n`],
    ['one of them', ['remove', 'example.com', 'mail', 'MX', '20 b.example.net.'], MX, ''],
    ['a type at a name with a question mark', 'add example.com @ TXT x', '\nwww:', '\n  - type: TXT\n    value: x\nwww:'],
    ['a type beside a folded text', 'add example.com mail A 192.0.2.7', '    -all\n', '    -all\n- type: A\n  value: 192.0.2.7\n'],
    ['all records of a name with a question mark', 'remove example.com @ A', "? ''\n: - type: A\n    value: 192.0.2.1\n", ''],
    ['a name beside it', 'add example.com a A 192.0.2.7', '\nwww:', '\na:\n  type: A\n  value: 192.0.2.7\nwww:'],
  ])
})

describe('a file with aliases', () => {
  const TEXT = `domain: example.com
records:
  a: &web {type: A, values: [192.0.2.1, 192.0.2.2]}
  b: *web
  c: {<<: *web, ttl: 60}
  d:
    - <<: *web
      ttl: 60
    - {type: TXT, value: x}
`
  checkAll(TEXT, [
    ['removes an alias', 'remove example.com b A', '  b: *web\n', ''],
    ['removes an entry with a merge', 'remove example.com c A', '  c: {<<: *web, ttl: 60}\n', ''],
    ['beside an alias', 'add example.com b AAAA 2001:db8::1', '  b: *web\n', '  b:\n    - *web\n    - {type: AAAA, value: 2001:db8::1}\n'],
    [
      'a type beside an anchor',
      'add example.com a AAAA 2001:db8::1',
      '  a: &web {type: A, values: [192.0.2.1, 192.0.2.2]}\n',
      '  a:\n    - &web {type: A, values: [192.0.2.1, 192.0.2.2]}\n    - {type: AAAA, value: 2001:db8::1}\n',
    ],
    ['a type beside an entry with a merge', 'remove example.com d TXT', '    - {type: TXT, value: x}\n', ''],
  ])

  it.each([
    ['remove example.com a A', 'other entries of the file depend on it'],
    ['set example.com a A 192.0.2.9', 'has an anchor and is used elsewhere'],
    ['set example.com c A 192.0.2.9', 'is an alias, an included file or not a record'],
    ['remove example.com d A', 'is an alias, an included file or not a record'],
  ])('does not change: %j', async (words, message) => {
    expect(await edit({ [FILE]: TEXT }, words)).toMatchObject({ status: 1, changed: {}, stderr: expect.stringContaining(message) })
  })
})

describe('a file in flow style, with quotes', () => {
  const TEXT = `domain: example.com
records: {"b\\u00fccher": {type: A, value: "192.0.2.1"}, # c
  null:   {"type": "A", 'value': 192.0.2.2}} # end
tags:   [a,  b]
`
  checkAll(TEXT, [
    ['a value', ['set', 'example.com', 'b\u00fccher', 'A', '192.0.2.9'], '"192.0.2.1"', '192.0.2.9'],
    ['an additional value', 'add example.com null A 192.0.2.9', "'value': 192.0.2.2}", "'values': [192.0.2.2, 192.0.2.9]}"],
  ])
})

describe('comments', () => {
  const BELOW = 'www:\n  type: A\n  value: 192.0.2.1\n  # below\nzz: {type: A, value: 192.0.2.7}\n'
  const LAST = `n: [ # head
  {type: A, value: 192.0.2.1},
  {type: TXT, value: a},  # behind the comma
  # last
  ] # behind
`
  const STACKED = `www:
# a
-   ttl: 60
    values:\t# b

      #one
      # two
      - {preference:  1,  exchange: a.}
    type: MX
- value: 192.0.2.1
  type: A
`.replaceAll('\n', '\r\n')

  const MX_OF = (value: string): string => `www:\n  type: MX\n  value: ${value} # one\n`
  const A_OF = (value: string): string => `www: # head\n  # type\n  type: A\n  value: ${value}\n`
  const OTHER_MX = ['set', 'example.com', 'www', 'MX', '1 b.', '2 c.']

  it.each([
    ['of hexadecimal digits', 'www: #2024a\n  # x\n  type: A\n  values: #1234\n  - 192.0.2.1\n', 'add example.com www AAAA ::1'],
    ['of the only value, replaced by two', A_OF('192.0.2.1 # one'), 'set example.com www A 192.0.2.8 192.0.2.9'],
    ['of the only value, with several fields', MX_OF('{preference: 1, exchange: a.}'), OTHER_MX],
    ['of the only value, in flow style', 'www: {type: MX, value: {preference: 1, exchange: a.}} # one\n', OTHER_MX],
    ['above the only value', A_OF('\n    # one\n    192.0.2.1'), 'set example.com www A 192.0.2.9'],
    ['below the last value', BELOW, 'add example.com www AAAA ::1'],
    ['below the last of several values', BELOW, 'add example.com www A 192.0.2.2'],
    ['after the last comma', LAST, 'add example.com n A 192.0.2.2'],
    ['after the last comma, another type', LAST, 'add example.com n AAAA ::1'],
    ['on consecutive lines in a file with carriage returns', STACKED, 'set example.com www A 192.0.2.1 192.0.2.2'],
  ])('%s are kept exactly once', async (_, text, words) => {
    const { status, changed } = await edit({ [FILE]: text }, words)
    const after = changed[FILE] ?? ''
    expect(status).toBe(0)
    expect(commentsOf(after).sort()).toEqual(commentsOf(text).sort())
    expect(after).not.toContain('\r\r')
  })
})
