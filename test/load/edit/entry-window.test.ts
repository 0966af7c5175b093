/** Editing with a partial parse gives the same result as with a full parse, for every YAML form of an entry. ZONEWRIGHT_TEST_ROUNDS runs more cases. */
import { describe, expect, it } from 'vitest'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import type { Layout } from '../../../src/definition/parse/parse-state.ts'
import { readValidTree } from '../../../src/definition/yaml/editable-yaml.ts'
import type { YamlNode } from '../../../src/definition/yaml/yaml-node.ts'
import { parseDomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { editRrset, entryWindow, type RrsetEdit } from '../../../src/load/edit/edit-rrset.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

const NAMES = 120

const nameOf = (text: string) => {
  const name = parseDomainName(text)
  if (!name.ok) throw new Error(name.message)
  return name.value
}

const ZONE = nameOf('example.com.')

function treeOf(text: string): YamlNode {
  const tree = readValidTree(text)
  if (!tree.ok) throw new Error(tree.message)
  return tree.value
}

/** The YAML forms of an entry. */
const forms = (n: string): string[][] => [
  [`${n}: {type: A, value: 192.0.2.1}`],
  [`${n}: {type: A, value: 192.0.2.1} # c`],
  [`${n}: &a${n} {type: A, value: 192.0.2.1}`],
  [`${n}: !!map &y${n} {type: A, value: 192.0.2.1}`],
  [`${n}: {type: A, value: &v${n} 192.0.2.1}`],
  [`${n}:`, `  <<: &m${n} {type: A}`, '  value: 192.0.2.1'],
  [`${n}:`, '  type: A', '  values:', '  - 192.0.2.1', '  - 192.0.2.2'],
  [
    `${n}:`,
    '- type: A',
    '  value: 192.0.2.1',
    '- type: TXT',
    '  value: |',
    '    n60: {type: A, value: 192.0.2.9}',
    '    n61: x',
    '',
    '    # no comment',
  ],
  [`${n}:`, '  - type: TXT', '    value: >+', '      n3:', '', '      z', '', ''],
  [`${n}:`, '  - type: TXT', '    value: |2', '        indented', '      n60: y'],
  [`${n}: {type: TXT, value: "a`, `    n60: {b}`, `    c"}`],
  [`${n}: {type: TXT, value: 'a`, ``, `    # c'}`],
  [`${n}: {type: A, # inner`, `    value: 192.0.2.1`, `   }`],
  [`? ${n}`, `: {type: A, value: 192.0.2.1}`],
  [`? ${n} # k`, `# m`, `: {type: A, value: 192.0.2.1}`],
  [`"${n}"\t:\t{type: A, value: 192.0.2.1}\t# tab`],
  [`'${n}': {"type":A,"value":192.0.2.1}`],
  [`${n}: # head`, '  # under', '  type: A', '  value: 192.0.2.1', '  # tail', '# margin'],
  [`${n}: !!map {type: A, value: 192.0.2.1}`],
  [`!!str ${n}: {type: A, value: 192.0.2.1}`],
  [`&k${n} ${n}: {type: A, value: 192.0.2.1}`],
  [`# above`, '', `${n}:`, '', '  type: A', '', '  value: 192.0.2.1', ''],
  [`${n}: {type: A, value: 192.0.2.1}`, '  # deep', '', '      # deeper', '# out'],
  ['\t# tab comment', `${n}: {type: A, value: 192.0.2.1}`],
  [`${n}: {type: TXT, value: "é \u2028 x"}`],
  [`${n}:`, '  type: A', '  value: !include x.yaml'],
  [`${n.toUpperCase()}: {type: A, value: 192.0.2.1}`],
  [`${n}.: {type: A, value: 192.0.2.1}`],
  [`${n}:   `, '  {type: A,', 'value: 192.0.2.1}'],
]

const HEADS = [['---'], [], ['---', '# x'], ['# h', '', '--- # doc'], ['# h'], ['---   ']]
const FEET = [[], ['# foot'], ['...'], ['', '   # deep', '# out'], ['...', '# after'], ['   ', ''], ['']]
const form = fc.nat(forms('n').length - 1)

const anyCase = fc.record({
  picks: fc.array(fc.record({ at: fc.nat(NAMES - 1), form }), { maxLength: 8 }),
  near: fc.array(fc.record({ by: fc.integer({ min: -2, max: 2 }), form }), { maxLength: 4 }),
  layout: fc.constantFrom<Layout>('settings', 'octodns'),
  indent: fc.constantFrom('  ', '    ', ' '),
  end: fc.constantFrom('\n', '\n', '\r\n'),
  hasEnd: fc.boolean(),
  head: fc.constantFrom(...HEADS),
  foot: fc.constantFrom(...FEET),
  owner: fc.constantFrom('n60', 'n0', 'n119', 'n60a', '', 'zz', 'n1', 'N60', '*', 'n118'),
  keeps: fc.boolean(),
  adds: fc.boolean(),
  ttl: fc.constantFrom(undefined, 60 as Ttl),
  /** The names are in order, or in steps of this size. */
  step: fc.constantFrom(1, 1, 7, 119),
})

type Case = typeof anyCase extends fc.Arbitrary<infer T> ? T : never

function textOf({ picks, near, layout, indent, end, hasEnd, head, foot, owner, step }: Case): string {
  const middle = Number(/\d+/.exec(owner)?.[0] ?? 60)
  const formOf = new Map([...picks.map(({ at, form }) => [at, form] as const), ...near.map(({ by, form }) => [middle + by, form] as const)])
  const margin = layout === 'octodns' ? '' : indent
  const order = Array.from({ length: NAMES }, (_, index) => (index * step) % NAMES)
  const entries = order.map((index) => forms(`n${index}`)[formOf.get(index) ?? 0] ?? [])
  const settings = layout === 'octodns' ? [] : ['domain: example.com', 'records:']
  const lines = entries.flat().map((line) => (line === '' ? line : margin + line))
  return [...head, ...settings, ...lines, ...foot].join(end) + (hasEnd ? end : '')
}

it('edits entries in any form', () => {
  let windows = 0
  forAll(rounds(40), anyCase, (drawn) => {
    const text = textOf(drawn)
    const tree = readValidTree(text)
    if (!tree.ok) return
    const { zone } = parseDefinition(text, { file: 'x.yaml', zoneName: ZONE })
    const name = nameOf(drawn.owner === '' ? 'example.com.' : `${drawn.owner}.example.com.`)
    const own = zone?.records.filter((record) => record.name === name && record.type === 'A') ?? []
    const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
    const kept = drawn.keeps ? own.slice(0, 1).map(({ at }) => (starts[at.line - 1] ?? 0) + at.column - 1) : []
    const added = drawn.adds ? ['203.0.113.7'] : []
    const removesOwner = kept.length + added.length === 0 && (zone?.records.every((one) => one.name !== name || one.type === 'A') ?? false)
    const edit: RrsetEdit = { name, type: 'A', kept: new Set(kept), added, ttl: drawn.ttl, exists: own.length > 0, removesOwner }
    const window = entryWindow(text, tree.value, { name, zone: ZONE, layout: drawn.layout })
    if (window !== null) windows += 1
    expect(window?.text.length ?? 0).toBeLessThan(text.length / 2)
    const whole = editRrset(text, ZONE, drawn.layout, edit)
    // An entry that a second parser reads differently is not parsed partially.
    if (!whole.ok && /second YAML parser|two YAML parsers/.test(whole.message)) return
    expect(editRrset(text, ZONE, drawn.layout, edit, tree.value)).toEqual(whole)
  })
  expect(windows).toBeGreaterThan(rounds(40) / 20)
})

describe('files that are parsed fully', () => {
  const many = (line: (index: number) => string): string => Array.from({ length: 150 }, (_, index) => line(index)).join('')
  it.each([
    ['few names', 'a: {type: A, value: 192.0.2.1}\n'],
    ['flow style', `{${many((index) => `n${index}: {type: A, value: 192.0.2.1}, `)}}\n`],
    ['names with two indentations', `{${many((index) => `n${index}: {type: A, value: 192.0.2.1},\n${' '.repeat(index % 3)}`)}}\n`],
    ['merged names', `<<: {a: {type: A, value: 192.0.2.1}}\n${many((index) => `n${index}: {type: A, value: 192.0.2.1}\n`)}`],
    ['different line ends', many((index) => `n${index}: {type: A, value: 192.0.2.1}${index === 70 ? '\r' : ''}\n`)],
  ])('%s', (_, text) => {
    expect(entryWindow(text, treeOf(text), { name: nameOf('n3.example.com.'), zone: ZONE, layout: 'octodns' })).toBeNull()
  })

  it('an alias whose anchor is outside the parsed part', () => {
    const text = `a: &a {type: A, value: 192.0.2.1}\n${many((index) => `n${String(index).padStart(3, '0')}: {type: A, value: 192.0.2.1}\n`)}x: *a\n`
    const name = nameOf('n070.example.com.')
    const edit: RrsetEdit = { name, type: 'A', kept: new Set(), added: ['192.0.2.2'], exists: true, removesOwner: false }
    expect(editRrset(text, ZONE, 'octodns', edit, treeOf(text))).toEqual({
      ok: true,
      value: text.replace('n070: {type: A, value: 192.0.2.1}', 'n070: {type: A, value: 192.0.2.2}'),
    })
  })
})
