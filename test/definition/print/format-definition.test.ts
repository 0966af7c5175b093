import { describe, expect, test } from 'vitest'
import { formatDefinition } from '../../../src/definition/print/format-definition.ts'
import { CORPUS } from '../../convert/octodns/corpus.ts'
import { parse, recordLines } from '../parse.ts'

const format = (text: string): string => {
  const formatted = formatDefinition(text)
  return formatted.ok ? formatted.value : `! ${formatted.message}`
}

/** A text and its formatted form; no second text if it is canonical. */
const CASES: [name: string, text: string, formatted?: string][] = [
  ['an empty file', ''],
  ['comments alone', '# a\n'],
  ['names in natural order, the apex first', 'b: {}\na10: {}\na2: {}\n"": {}\n', "'': {}\na2: {}\na10: {}\nb: {}\n"],
  ['octoDNS keys in natural order', 'a: {value: 192.0.2.1, type: A, ttl: 5}\n', 'a: {ttl: 5, type: A, value: 192.0.2.1}\n'],
  ['octoDNS order', 'a: {type: MX, value: {preference: 1, exchange: b.}}\n', 'a: {type: MX, value: {exchange: b., preference: 1}}\n'],
  [
    'settings and records in reading order',
    'records:\n  a: {value: {exchange: b, preference: 1}, ttl: 5, type: MX}\ntags: [b, a]\ndomain: example.com\n',
    'domain: example.com\ntags: [b, a]\nrecords:\n  a: {type: MX, ttl: 5, value: {preference: 1, exchange: b}}\n',
  ],
  ['two spaces, lists indented', 'a:\n-   type: A\n    values:\n    - 192.0.2.1\n', 'a:\n  - type: A\n    values:\n      - 192.0.2.1\n'],
  [
    'keys that get quotes',
    'domain: example.com\nrecords:\n  010: {}\n  1.10: {}\n  null: {}\n  no: {}\n  1e2: {}\n',
    "domain: example.com\nrecords:\n  '1.10': {}\n  '1e2': {}\n  '010': {}\n  'no': {}\n  'null': {}\n",
  ],
  ['names that octoDNS reads otherwise', '1.10: {}\n010: {}\nno: {}\nnull: {}\n~: {}\n'],
  ['names that octoDNS reads as they are', 'true: {}\n1e2: {}\n12: {}\n', "'1e2': {}\n'12': {}\n'true': {}\n"],
  ['unneeded quotes are removed', '"a": {"type": "A", \'value\': "192.0.2.1"}\n', 'a: {type: A, value: 192.0.2.1}\n'],
  ['needed quotes stay', 'a: {type: TXT, value: "b: c"}\n', "a: {type: TXT, value: 'b: c'}\n"],
  ['text that looks like a number gets quotes', 'a: {type: TXT, value: 1.10}\n', "a: {type: TXT, value: '1.10'}\n"],
  ['quoted text stays quoted', 'a: {type: TXT, value: "10"}\n', "a: {type: TXT, value: '10'}\n"],
  ['numbers', 'a: {type: MX, value: {exchange: b., preference: 10}}\n'],
  [
    'IPs',
    'a: {type: A, value: "1.2.3.4"}\nb: {type: AAAA, value: "a::1"}\n',
    'a: {type: A, value: 1.2.3.4}\nb: {type: AAAA, value: a::1}\n',
  ],
  // PyYAML: "expected the node content, but found ':'".
  [
    'text that another reader takes for flow style',
    'a: {type: AAAA, value: "::1"}\nb: {type: TXT, value: "a?b"}\n',
    "a: {type: AAAA, value: '::1'}\nb: {type: TXT, value: 'a?b'}\n",
  ],
  ['the document marker stays', '---\na: {}\n'],
  ['long text is not folded', `a: {type: TXT, value: ${'x y '.repeat(100)}z}\n`],
  ['long text with line breaks is not folded', `a:\n  type: TXT\n  value: "x\\n\\n  ${'x y '.repeat(100)}z\\n"\n`],
  ['folded text becomes one line', 'a:\n  type: TXT\n  value: b\n    c\n', 'a:\n  type: TXT\n  value: b c\n'],
  [
    'comments move with their entries',
    '# file\n\n# b\nb: {} # b too\n\n# a\na:\n  # type\n  type: A # A\n  value: 192.0.2.1\n# end\n',
    '# file\n\n# a\na:\n  # type\n  type: A # A\n  value: 192.0.2.1\n\n# b\nb: {} # b too\n\n# end\n',
  ],
  [
    'a comment after a key stays there',
    'records: # all\n  b: # on b\n    - type: A\n      values: # some\n        - 192.0.2.1\n  a: # on a\n\n    # in a\n    type: A\ndomain: a.example\n',
    'domain: a.example\nrecords: # all\n  a: # on a\n\n    # in a\n    type: A\n  b: # on b\n    - type: A\n      values: # some\n        - 192.0.2.1\n',
  ],
  [
    'comments at the end of a block stay in it',
    'b:\n  type: A\n  values:\n    - 192.0.2.1\n    # of values\n  # of b\na: {}\n',
    'a: {}\nb:\n  type: A\n  values:\n    - 192.0.2.1\n    # of values\n  # of b\n',
  ],
  [
    'comments at the end of several blocks',
    'a:\n  - type: A\n    values:\n      - 192.0.2.1\n      # of values\n    # of the record\n  # of a\n# of all\n',
  ],
  [
    'a comment above an entry moves with it, even after deeper comments',
    'records:\n  b:\n    type: A\n      # deeper\n    # of b\n\n  # on a\n  a: {}\n',
    'records:\n  # on a\n  a: {}\n\n  b:\n    type: A\n    # deeper\n    # of b\n',
  ],
  ['a comment below a value stays below it', 'a:\n  value: b\n      # below\n  type: A\n', 'a:\n  # below\n  type: A\n  value: b\n'],
  ['a comment below an empty entry', 'b:\n  # of b\na:\n', 'a:\nb:\n  # of b\n'],
  ['a comment after a key with an anchor', 'b: &x # on b\n  type: A\na: *x\n', 'a: &x\n  type: A\nb: *x # on b\n'],
  [
    'characters that some parsers refuse',
    'a: {type: TXT, value: "\\x7f \\x85 \\u2028 \\x01 \\uFEFF \\e"}\n',
    'a: {type: TXT, value: "\\x7f \\x85 \\u2028 \\x01 \\ufeff \\e"}\n',
  ],
  ['private-use characters are kept', '# \ue000\ue0000085\na: {type: TXT, value: "\\x85\ue000\ue0000041"}\n'],
  ['a comment after an anchor', 'a: &x # on a\n  # in a\n  type: A\nb: *x\n'],
  [
    'the modeline is first',
    '# yaml-language-server: $schema=a\ntags: []\n# name\ndomain: example.com\n',
    '# yaml-language-server: $schema=a\n# name\ndomain: example.com\ntags: []\n',
  ],
  ['an anchor', 'b: {type: A, value: &x 1.2.3.4}\na: {type: A, value: *x}\n', 'a: {type: A, value: &x 1.2.3.4}\nb: {type: A, value: *x}\n'],
  ['merges are first', 'a:\n  ttl: 5\n  <<: {type: A}\n', 'a:\n  <<: {type: A}\n  ttl: 5\n'],
  ['includes stay', 'b: !include b.yaml\na: !include a.yaml\n', 'a: !include a.yaml\nb: !include b.yaml\n'],
  ['explicit keys become plain keys', "? ''\n: {type: A, value: 192.0.2.1}\n", "'': {type: A, value: 192.0.2.1}\n"],
  ['empty values stay empty', 'a: {type: A, value: ~}\nb:\n'],
  ['Windows line ends', 'b: {}\r\na: {}\r\n', 'a: {}\nb: {}\n'],
]

describe('layout', () => {
  test.each(CASES)('%s', (_, text, formatted = text) => {
    expect(format(text)).toBe(formatted)
    expect(format(formatted)).toBe(formatted)
  })

  test.each([
    ['a: [', 'line 1: the bracket [ that opens here is not closed'],
    ['a: 1\na: 2\n', 'line 2: the key "a" is given twice'],
    ['a: 1\n---\nb: 1\n', 'line 2: the file has 2 YAML documents'],
    ['a: *b\n', 'line 1: the alias *b has no anchor &b'],
  ])('%j does not change', (text, message) => expect(format(text)).toContain(`! ${message}`))
})

describe('the corpus', () => {
  const files = CORPUS.flatMap(({ id, files }) => files.map(({ file, text }) => [`${id} ${file}`, text] as const))
  const isLarge = ([, text]: (typeof files)[number]): boolean => text.length > 8000
  const title = '%s keeps its meaning, and the layout is canonical'
  const check = (_: string, text: string): void => {
    const formatted = format(text)
    expect(formatted).not.toMatch(/^!/)
    expect(format(formatted)).toBe(formatted)
    expect(recordLines(parse(formatted)).sort()).toEqual(recordLines(parse(text)).sort())
  }
  test.each(files.filter((file) => !isLarge(file)))(title, check)
  test.each(files.filter(isLarge))(title, { tags: ['long'] }, check)
})

test('formats a large file within a time limit', { tags: ['long'] }, () => {
  const text = Array.from({ length: 5000 }, (_, i) => `h${5000 - i}:\n  type: A\n  ttl: 300\n  value: 192.0.2.${i % 250}\n`).join('')
  expect(format(text).startsWith('h1:\n')).toBe(true)
})
