import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readYaml } from '../../../src/definition/yaml/read-yaml.ts'
import { readSimpleYaml } from '../../../src/definition/yaml/simple-yaml.ts'
import { fc } from '../../support/fast-check.ts'

const file = 'a.yaml'

/** What the parser for all of YAML makes of a text. The other one reads no tab. */
const read = (text: string) => readYaml(`${text}\n#\t`, { file })

/** Returns whether the text is simple. */
function compare(text: string): boolean {
  const root = readSimpleYaml(text, file)
  if (root !== null) expect({ root, diagnostics: [] }, text).toEqual(read(text))
  return root !== null
}

it('reads the files of others as the other parser does', () => {
  const folder = join(import.meta.dirname, '../..')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name))
  const simple = names.filter((name) => compare(readFileSync(join(folder, name), 'utf8')))
  expect(simple.length).toBeGreaterThan(names.length / 2)
})

it.each([
  'a:\n  b: c\n  d:\n  - e\n  - f: g\n    h: "i j"\n',
  "---\n# x\n'': {type: A, value: 192.0.2.1} # y\n'*':\n  - {type: TXT, values: ['a b', \"c\"]}\n",
  'a b :  c:d #e\nf:\ng: -1\n<<: {h: [1, {}, []]}',
])('reads %j', (text) => {
  expect(compare(text)).toBe(true)
})

it.each([
  'a: b: c',
  'a: b\n  c',
  'a: *b',
  'a: &b c',
  'a: !b c',
  'a: |\n  b',
  'a: "b\\n"',
  "a: 'b''c'",
  'a: b\na: c',
  '- a\n -b',
  '{a: b}',
  'a: {b}',
  'a: [b: c]',
  'a: b\n---\nc: d',
  'a:\tb',
  'a: [b',
  '',
  'a',
])('leaves %j to the other parser', (text) => {
  expect(readSimpleYaml(text, file)).toBeNull()
})

it('reads random lines as the other parser does', () => {
  const piece = fc.constantFrom(
    'a',
    'b1',
    ' ',
    ' ',
    '  ',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    ': ',
    ':',
    '-',
    '- ',
    '#',
    ' #',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    ', ',
    ',',
    '---',
    '...',
    '?',
    '<<',
    '~',
    '|',
    '>',
    '&a',
    '*a',
    '!a',
    '%',
    'é',
    '\\',
    '{a: b}',
    '[a, "b"]',
    'a: b\n',
    'c:\n',
    "'d': e",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => void compare(pieces.join(''))),
    { numRuns: 20_000 },
  )
})
