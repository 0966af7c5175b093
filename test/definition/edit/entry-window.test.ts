/** Editing a large file with a partial parse gives the same result as with a full parse. */
import { describe, expect, it } from 'vitest'
import { editRrset, type RrsetEdit } from '../../../src/definition/edit/edit-rrset.ts'
import { entryWindow } from '../../../src/definition/edit/entry-window.ts'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import { readValidTree } from '../../../src/definition/yaml/editable-yaml.ts'
import type { YamlNode } from '../../../src/definition/yaml/yaml-node.ts'
import { parseDomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { type Random, rounds, seededRandom } from '../../support/random.ts'

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

/** An entry in a random layout with the given indentation. */
function entry(name: string, indent: string, random: Random): string[] {
  const key = random.chance(0.2) ? `'${name}'` : name === '' ? "''" : name
  const address = (): string => `192.0.2.${random.below(250)}`
  const forms: (() => string[])[] = [
    () => [`${key}: {type: A, value: ${address()}}${random.chance(0.3) ? ' # behind' : ''}`],
    () => [`${key}:`, '  type: A', `  value: ${address()}`],
    () => [`${key}:   # head`, '  type: A', '  values:', `  - ${address()}`, '  # inside', '  - 198.51.100.1'],
    () => [
      `${key}:`,
      `  - {type: A, value: ${address()}}`,
      '    # between',
      '  - type: TXT',
      '    value: |-',
      `      ${name || 'apex'}: {type: A}`,
      '      # text',
    ],
    () => [`${key}: [{type: A, value: ${address()}},`, '   {type: TXT, value: "x: y"}]'],
  ]
  const above = random.chance(0.2) ? ['# above'] : random.chance(0.1) ? ['', '# apart', ''] : []
  const below = random.chance(0.1) ? ['    # tail'] : random.chance(0.1) ? ['# at the margin', ''] : []
  return [...above, ...random.pick(forms)(), ...below].map((line) => (line === '' ? line : indent + line))
}

function definition(random: Random): { text: string; layout: 'settings' | 'octodns' } {
  const layout = random.chance(0.5) ? 'settings' : 'octodns'
  const names = ['', ...Array.from({ length: 120 + random.below(30) }, (_, index) => `n${index}`)]
  const ordered = random.chance(0.5) ? names : random.shuffle(names)
  const indent = layout === 'octodns' ? '' : random.pick(['  ', '    '])
  const lines = ordered.flatMap((name) => entry(name, indent, random))
  const head = layout === 'octodns' ? ['---'] : ['# head', 'domain:   example.com', 'records:']
  const foot = layout === 'octodns' || random.chance(0.5) ? ['# foot'] : ['# foot', 'tags:   [a]']
  const end = random.pick(['\n', '\r\n'])
  return { text: [...head, ...lines, ...foot].join(end) + (random.chance(0.8) ? end : ''), layout }
}

function anyEdit(text: string, random: Random): RrsetEdit {
  const { zone } = parseDefinition(text, { file: 'x.yaml', zoneName: ZONE })
  expect(zone).not.toBeNull()
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  const owner = random.pick(['', 'n0', 'n1', 'n60', 'n118', 'n119', `n${random.below(160)}`, 'a', 'n60a', 'zz', '*'])
  const name = nameOf(owner === '' ? 'example.com.' : `${owner}.example.com.`)
  const own = zone?.records.filter((record) => record.name === name && record.type === 'A') ?? []
  const kept = own.filter(() => random.chance(0.5)).map(({ at }) => (starts[at.line - 1] ?? 0) + at.column - 1)
  const added = random.chance(0.6) || own.length === 0 ? ['203.0.113.7'] : []
  const exists = own.length > 0
  return { name, type: 'A', kept: new Set(kept), added, ttl: random.chance(0.3) ? (60 as Ttl) : undefined, exists, removesOwner: false }
}

it.each(Array.from({ length: rounds(8) }, (_, index) => index))('any definition and edit, seed %i', (seed) => {
  const random = seededRandom(seed)
  const { text, layout } = definition(random)
  const tree = treeOf(text)
  for (let turn = 0; turn < 4; turn += 1) {
    const edit = anyEdit(text, random)
    expect(entryWindow(text, tree, { name: edit.name, zone: ZONE, layout })?.text.length).toBeLessThan(text.length / 4)
    expect(editRrset(text, ZONE, layout, edit, tree)).toEqual(editRrset(text, ZONE, layout, edit))
  }
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
    const edit: RrsetEdit = {
      name: nameOf('n070.example.com.'),
      type: 'A',
      kept: new Set(),
      added: ['192.0.2.2'],
      exists: true,
      removesOwner: false,
    }
    expect(editRrset(text, ZONE, 'octodns', edit, treeOf(text))).toEqual({
      ok: true,
      value: text.replace('n070: {type: A, value: 192.0.2.1}', 'n070: {type: A, value: 192.0.2.2}'),
    })
  })
})
