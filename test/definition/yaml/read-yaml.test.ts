import { describe, expect, test } from 'vitest'
import { MAX_ALIASED_NODES } from '../../../src/definition/yaml/build-tree.ts'
import { toJsonValue } from '../../../src/definition/yaml/plain-scalars.ts'
import { readYaml, type YamlDocument } from '../../../src/definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../../src/definition/yaml/yaml-node.ts'

const read = (text: string): YamlDocument => readYaml(text, { file: 'a.yaml' })

/** A tree in flow style: plain scalars bare, others in double quotes. */
const short = (node: YamlNode | null): string => {
  if (node === null) return ''
  if (node.kind === 'scalar') return node.plain ? node.text : JSON.stringify(node.text)
  if (node.kind === 'sequence') return `[${node.items.map(short).join(', ')}]`
  return `{${node.entries.map(({ key, value }) => `${short(key)}: ${short(value)}`).join(', ')}}`
}

const problems = ({ diagnostics }: YamlDocument): string[] =>
  diagnostics.map(({ at, code, message }) => `${at?.line}:${at?.column} ${code} ${message}`)

describe('trees', () => {
  const CASES: readonly (readonly [text: string, tree: string])[] = [
    ['', ''],
    ['---\n', ''],
    ['# c\n', ''],
    ['a: 1\n', '{a: 1}'],
    ['\ufeffa: 1\r\nb: 2\r\n', '{a: 1, b: 2}'],
    ['1.10: 010\nnull: ~\n~: \ntrue: yes\n', '{1.10: 010, null: ~, ~: , true: yes}'],
    [`'a': "b\\x41"\n"c": 'it''s'\n`, `{"a": "bA", "c": "it's"}`],
    ["? ''\n: [x]\n", '{"": [x]}'],
    ['a: |\n  b\n  c\nd: >-\n  e\n  f\n', '{a: "b\\nc\\n", d: "e f"}'],
    ['a: b\n  c\n', '{a: b c}'],
    ['a: &x [1, 2]\nb: *x\n', '{a: [1, 2], b: [1, 2]}'],
    ['a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n', '{a: {b: 1, c: 2}, d: {b: 1, c: 3}}'],
    ['a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne: {<<: [*x, *y]}\n', '{a: {b: 1}, c: {b: 2, d: 3}, e: {b: 1, d: 3}}'],
    ['"<<": a\n', '{"<<": a}'],
    ['a: !!str 1\nb: !!int "2"\nc: ! 3\n', '{a: "1", b: 2, c: "3"}'],
    ['a: !<tag:yaml.org,2002:str> 1\n', '{a: "1"}'],
    ['__proto__: {a: 1}\nconstructor: 2\n', '{__proto__: {a: 1}, constructor: 2}'],
  ]

  test.each(CASES)('%j', (text, tree) => {
    const document = read(text)
    expect(problems(document)).toEqual([])
    expect(short(document.root)).toBe(tree)
  })
})

describe('positions', () => {
  test('are those of the first character, including quotes and block indicators', () => {
    const text = `a: "x"\nb: |2- # c\n   t\n"c": [1, {d: 'e'}]\nf:\n  - g\n  - ? h\n    : i\nj:\n`
    const places: string[] = []
    const visit = (node: YamlNode): void => {
      places.push(`${node.at.line}:${node.at.column}`)
      if (node.kind === 'sequence') node.items.forEach(visit)
      if (node.kind === 'mapping') {
        for (const { key, value } of node.entries) {
          visit(key)
          visit(value)
        }
      }
    }
    const { root } = read(text)
    if (root) visit(root)
    expect(places.join(' ')).toBe('1:1 1:1 1:4 2:1 2:4 4:1 4:6 4:7 4:10 4:11 4:14 5:1 6:3 6:5 7:5 7:7 8:7 9:1 9:1')
  })

  test('columns count UTF-16 code units after a byte order mark', () => {
    const { root } = read('\ufeff😀: b\n')
    expect(root?.kind === 'mapping' && root.entries[0]?.value.at).toEqual({ file: 'a.yaml', line: 1, column: 5 })
  })
})

describe('errors', () => {
  const CASES: readonly (readonly [text: string, ...problems: string[]])[] = [
    ['a: 1\nb: 2\na: 3\n', '3:1 yaml-duplicate-key the key "a" is given twice'],
    ['{a: 1, "a": 2}', '1:8 yaml-duplicate-key the key "a" is given twice'],
    ['a: 1\n---\nb: 2\n', '2:1 yaml-unsupported the file has 2 YAML documents; only one is allowed'],
    ['# c\n---\na: 1\n---\n---\n', '4:1 yaml-unsupported the file has 3 YAML documents; only one is allowed'],
    ['[a]: 1\n', '1:1 yaml-unsupported a key must be text, not a list or other keys'],
    ['a: !foo 1\n', '1:9 yaml-unsupported the tag !foo is not supported'],
    ['a: !!binary aGk=\n', '1:13 yaml-unsupported the tag !!binary is not supported'],
    ['a: !!set {b, c}\n', '1:10 yaml-unsupported the tag !!set is not supported'],
    ['%TAG !e! tag:example.com,2000:\n---\na: 1\n', '1:1 yaml-unsupported %TAG directives are not supported'],
    ['a: *b\n', '1:4 yaml-syntax the alias *b has no anchor &b above it'],
    ['a: &a [*a]\n', '1:8 yaml-unsupported the alias *a refers to a node that contains it'],
    ['<<: 1\n', '1:5 yaml-unsupported << can only merge keys with values, or a list of them'],
    ['a: !include b.yaml\n', '1:13 yaml-unsupported !include b.yaml is not possible here: only one file is read'],
    ['a:\n\tb: 1\n', '2:1 yaml-syntax YAML cannot be indented with tabs'],
    ['a: @\n', '1:4 yaml-syntax a value that begins with @ must be quoted'],
    ['a: b: c\n', '1:5 yaml-syntax a value without quotes cannot contain a colon and a space'],
    ["a: 'b\n", '1:4 yaml-syntax the quoted string that begins here is not closed'],
    ['a: [1,\n', '1:4 yaml-syntax the bracket [ that opens here is not closed'],
    ['a: {b: @}\n', '1:8 yaml-syntax a value that begins with @ must be quoted'],
    ['a: {b: [%x]}\n', '1:9 yaml-syntax a value that begins with % must be quoted'],
    ['a: {b: c: d}\n', '1:9 yaml-syntax a value without quotes cannot contain a colon and a space'],
    ['a: {b: "c}\nd: 1\n', '1:8 yaml-syntax the quoted string that begins here is not closed'],
    ['a: {b: c #d}\ne: 1\n', '1:4 yaml-syntax the bracket { that opens here is not closed'],
    ['a: [b, c}\nd: 1\n', '1:4 yaml-syntax the bracket [ that opens here is not closed'],
    ['r:\n  a: {v: "b}\n  c: {v: "d"}\n', '2:10 yaml-syntax the quoted string that begins here is not closed'],
    ['r: {\n  a: "b,\n  c: "d" }\n', '2:6 yaml-syntax the quoted string that begins here has no closing quote on its line'],
    ['r:\n  a: "b\n  c: d\n', '2:6 yaml-syntax the quoted string that begins here is not closed'],
    ["a: it's\nb: # don't\n  c\nd: |\n  it's\ne: 'f\ng: h\n", '6:4 yaml-syntax the quoted string that begins here is not closed'],
    ["a: ['x', \"y\", !t 'z]\nb: c\n", '1:18 yaml-syntax the quoted string that begins here is not closed'],
    ["a: 'it's'\n", '1:7 yaml-syntax the quote ends the quoted string, but more text follows'],
    ['a: "say "hi""\n', '1:9 yaml-syntax the quote ends the quoted string, but more text follows'],
    ['a:\n  - {b: 1}\n c: {d: 2}\n', '3:2 yaml-syntax the indentation of the line does not match the lines above'],
    ['a:\n  b:\n    type: A\n   value: 1\n', '4:4 yaml-syntax the indentation of the line does not match the lines above'],
    ['a:\n  type:A\n  value: 1\n', '3:8 yaml-syntax a space is missing after the colon of a key'],
    ['a: "b\\q"\nc: "d"\n', '1:7 yaml-syntax a backslash in double quotes begins an escape, and YAML does not have this one'],
    ['a: "\\xq0"\n', '1:7 yaml-syntax a backslash in double quotes begins an escape, and YAML does not have this one'],
    ['a:\n  *b: 1\n', '2:7 yaml-syntax a name or value that begins with * must be quoted'],
    ['a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n', '2:1 yaml-syntax the file has an unresolved merge conflict'],
    ['<<<<<<< HEAD\nb: 2\n||||||| base\n=======\n>>>>>>> other\n', '1:1 yaml-syntax the file has an unresolved merge conflict'],
    [`${'['.repeat(60)}1${']'.repeat(60)}`, '1:24 yaml-too-deep keys and lists are nested more than 24 deep'],
  ]

  test.each(CASES)('%j', (text, ...expected) => expect(problems(read(text))).toEqual(expected))

  test('explains a wildcard without quotes', () => {
    expect(read('*: {type: A}\n').diagnostics[0]?.hint).toContain("'*'")
    expect(read('a: 1\n*.dev: {type: A}\n').diagnostics[0]?.hint).toContain('*.dev')
  })
})

describe('limits', () => {
  test('refuses a large file before it parses it', () => {
    const text = '['.repeat(50 * 1024 * 1024)
    expect(problems(read(text))).toEqual(['1:1 file-too-large the file has 52428800 characters; at most 10485760 are allowed'])
    expect(readYaml('a: 1', { file: 'a', maxLength: 3 }).diagnostics[0]?.code).toBe('file-too-large')
  })

  test('limits the expansion of aliases', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 12; i += 1) lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`)
    expect(read(lines.join('\n')).diagnostics.map(({ code }) => code)).toEqual(['yaml-too-many-aliases'])
  })

  test('accepts aliases of many records', () => {
    const text = `v: &v [192.0.2.1, 192.0.2.2]\n${Array.from({ length: 12_000 }, (_, i) => `h${i}: {type: A, values: *v}`).join('\n')}`
    expect(3 * 12_000).toBeLessThan(MAX_ALIASED_NODES)
    expect(problems(read(text))).toEqual([])
  })

  test('compares the keys of a mapping in linear time', { tags: ['long'] }, () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`).join('\n')
    expect(problems(read(text))).toEqual([])
  })
})

test.each([
  ['~', null],
  ['', null],
  ['null', null],
  ['true', true],
  ['FALSE', false],
  ['12', 12],
  ['-012', -12],
  ['0x1f', 31],
  ['0o17', 15],
  ['1.50', 1.5],
  ['.5', 0.5],
  ['1e3', 1000],
  ['-.inf', Number.NEGATIVE_INFINITY],
  ['yes', 'yes'],
  ['1_000', '1_000'],
  ['192.0.2.1', '192.0.2.1'],
  ['nothing', 'nothing'],
  ['1:30', '1:30'],
])('the plain scalar %j is the value %j', (text, value) => {
  expect(toJsonValue({ kind: 'scalar', at: { file: '', line: 1, column: 1 }, text, plain: true })).toBe(value)
  expect(toJsonValue({ kind: 'scalar', at: { file: '', line: 1, column: 1 }, text, plain: false })).toBe(text)
})
