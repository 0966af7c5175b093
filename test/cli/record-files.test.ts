/** Edits of records whose values come from several files, or from files that several zones include. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { edit, type Files } from './record-edits.ts'

const MAIN = `domain: example.com
include: [../shared/f.yaml, ../shared/g.yaml]
records:
  a: {type: A, ttl: 300, value: 192.0.2.1} # own
  z: {type: A, value: 192.0.2.8}
`
const F = `# f
a: {type: A, ttl: 300, merge: true, value: 192.0.2.2} # f
both: {type: A, merge: true, value: 192.0.2.1}
only: {type: A, ttl: 60, merge: true, values: [192.0.2.5, 192.0.2.6]}
plain: {type: A, value: 192.0.2.7}
`
const G = `a: {type: A, ttl: 300, merge: true, value: 192.0.2.3} # g
both: {type: A, merge: true, value: 192.0.2.2}
`
const FILES = { 'zones/example.com.yaml': MAIN, 'shared/f.yaml': F, 'shared/g.yaml': G }
const OWN = '  a: {type: A, ttl: 300, value: 192.0.2.1} # own\n'
const OF_F = 'a: {type: A, ttl: 300, merge: true, value: 192.0.2.2} # f\n'
const OF_G = 'a: {type: A, ttl: 300, merge: true, value: 192.0.2.3} # g\n'

describe('values of several files', () => {
  const main = (gone: string, come: string): Files => ({ 'zones/example.com.yaml': MAIN.replace(gone, () => come) })
  const f = (gone: string, come: string): Files => ({ 'shared/f.yaml': F.replace(gone, () => come) })
  const g = (gone: string, come: string): Files => ({ 'shared/g.yaml': G.replace(gone, () => come) })

  it.each([
    ['removes one where it is defined', 'remove example.com a A 192.0.2.2', f(OF_F, '')],
    ['removes two', 'remove example.com a A 192.0.2.1 192.0.2.3', { ...main(OWN, ''), ...g(OF_G, '') }],
    ['all', 'remove example.com a A', { ...main(OWN, ''), ...f(OF_F, ''), ...g(OF_G, '') }],
    ['removes all values of one file', 'remove example.com a A --file shared/f.yaml', f(OF_F, '')],
    ['adds a value to the definition', 'add example.com a A 192.0.2.9', main('value: 192.0.2.1}', 'values: [192.0.2.1, 192.0.2.9]}')],
    ['adds with the TTL of others', 'add example.com only A 192.0.2.9', main('  z:', '  only: {type: A, ttl: 60, value: 192.0.2.9}\n  z:')],
    ['adds to the file', 'add example.com a A 192.0.2.9 --file shared/g.yaml', g('value: 192.0.2.3}', 'values: [192.0.2.3, 192.0.2.9]}')],
    ['sets other values', 'set example.com a A 192.0.2.9', { ...main('192.0.2.1}', '192.0.2.9}'), ...f(OF_F, ''), ...g(OF_G, '') }],
    ['sets other values in the only file with values', 'set example.com plain A 192.0.2.9', f('192.0.2.7', '192.0.2.9')],
    ['sets fewer values', 'set example.com both A 192.0.2.1', g('both: {type: A, merge: true, value: 192.0.2.2}\n', '')],
    [
      'another TTL in all of them',
      'set example.com a A 192.0.2.2 192.0.2.9 --ttl 1m',
      { ...main('ttl: 300, value: 192.0.2.1', 'ttl: 60, value: 192.0.2.9'), ...f('ttl: 300', 'ttl: 60'), ...g(OF_G, '') },
    ],
    [
      'escapes text that would be a variable in an included file',
      ['add', 'example.com', 'new', 'TXT', `a \${b}`, '--file', 'shared/f.yaml'],
      f('only:', `new: {type: TXT, value: 'a $\${b}'}\nonly:`),
    ],
  ])('%s', async (_, words, changed) => expect(await edit(FILES, words)).toMatchObject({ status: 0, changed }))

  it.each([
    ['add example.com plain A 192.0.2.9', 'is defined in shared/f.yaml (add it there with --file shared/f.yaml'],
    ['set example.com both A 192.0.2.9', 'its values come from several files: shared/f.yaml, shared/g.yaml (name the file'],
    ['remove example.com a A 192.0.2.1 --file shared/f.yaml', 'A: 192.0.2.1 is in zones/example.com.yaml, not in shared/f.yaml'],
    ['add example.com a A 192.0.2.9 --file elsewhere.yaml', 'elsewhere.yaml is not a file of example.com.'],
  ])('refuses an ambiguous edit: %j', async (words, message) => {
    const result = await edit(FILES, words)
    expect(result).toMatchObject({ status: 1, stdout: '', changed: {}, stderr: expect.stringContaining('error[record-elsewhere]') })
    expect(result.stderr).toContain(message)
  })

  it('writes none if one file has an error', async () => {
    const files = { ...FILES, 'shared/g.yaml': G.replace('192.0.2.3', '192.0.2.300') }
    expect(await edit(files, 'remove example.com a A')).toMatchObject({ status: 1, changed: {} })
  })

  it('loses no edit of concurrent edits of different files', { tags: ['long'] }, async () => {
    const paths = Object.keys(FILES)
    const values = Array.from({ length: 9 }, (_, index) => `192.0.2.${100 + index}`)
    const edits = values.map((value, index) => ['add', 'example.com', 'a', 'A', value, '--file', paths[index % 3] as string])
    const cwd = folderWith(FILES)
    const all = [...edits, 'remove example.com both A'.split(' ')]
    for (const result of await Promise.all(all.map((words) => cli(['record', ...words], { cwd }))))
      expect(result).toMatchObject({ status: 0, stderr: '' })
    const texts = paths.map((path) => readFileSync(join(cwd, path), 'utf8'))
    for (const [index, value] of values.entries()) expect(texts[index % 3]).toMatch(new RegExp(`a: .*${value}[,\\]]`))
    expect(texts.join('')).not.toContain('both:')
  })

  it('--dry-run shows all changes and writes nothing', async () => {
    const { stdout, changed } = await edit(FILES, 'remove example.com a A --dry-run')
    expect(changed).toEqual({})
    for (const [path, gone] of Object.entries({ 'zones/example.com.yaml': OWN, 'shared/f.yaml': OF_F, 'shared/g.yaml': OF_G }))
      expect(stdout).toMatch(new RegExp(`--- ${path}\\n[^]*\\n-${gone.replace(/[{}[\].]/g, '.')}`))
  })
})

describe('a file that several zones include', () => {
  const files = {
    ...FILES,
    'zones/example.net.yaml': 'domain: example.net\ninclude: [../shared/f.yaml]\n',
    'zones/example.org.yaml':
      'domain: example.org\ninclude: [../shared/f.yaml]\nrecords:\n  plain: {type: A, value: 192.0.2.8, override: true}\n',
  }
  const words = ['set', 'example.com', 'plain', 'A', '192.0.2.9']

  it.each([[words], [[...words, '--file', 'shared/f.yaml']], [[...words, '--dry-run']]])('does not change: %j', async (some) => {
    expect(await edit(files, some)).toMatchObject({
      status: 1,
      changed: {},
      stderr: expect.stringContaining(
        'error[record-elsewhere] plain.example.com. A: a change of shared/f.yaml would also change other zones: example.net. (change it for all of them with --all-zones',
      ),
    })
  })

  it('changes with --all-zones, which lists the zones', async () => {
    expect(await edit(files, [...words, '--all-zones'])).toMatchObject({
      status: 0,
      changed: { 'shared/f.yaml': F.replace('192.0.2.7', '192.0.2.9') },
      stderr: 'Other zones change too: example.net.\n',
    })
  })

  it('changes without an option if no other zone changes', async () => {
    const own = expectEnd(await edit(files, 'add example.com a A 192.0.2.9'), 0, { err: '' })
    expect(Object.keys(own.changed)).toEqual(['zones/example.com.yaml'])
  })
})

describe('variables', () => {
  const files = {
    'zones/example.com.yaml':
      'domain: example.com\ninclude: [{file: ../shared/v.yaml, with: {ip: 192.0.2.7, h: web}}]\nrecords:\n  x: {type: A, value: 192.0.2.1}\n',
    'shared/v.yaml': `"\${h}": {type: A, value: "\${ip}"}\nb: {type: A, values: ["\${ip}", 192.0.2.9]}\n`,
  }
  it.each([
    ['set example.com web A 192.0.2.1', 'is not written there by its own name'],
    ['remove example.com web A', 'is not written there by its own name'],
    ['set example.com b A 192.0.2.1', 'its value contains a variable: change it under "with"'],
  ])('are not overwritten: %j', async (words, message) => {
    expect(await edit(files, words)).toMatchObject({ status: 1, changed: {}, stderr: expect.stringContaining(message) })
  })

  it('stay if the value beside them changes', async () => {
    expect((await edit(files, 'set example.com b A 192.0.2.7 192.0.2.10')).changed).toEqual({
      'shared/v.yaml': files['shared/v.yaml'].replace('2.9', '2.10'),
    })
  })
})

it('edits a file included by a zone file under its own origin', async () => {
  const files = {
    'zones/example.com.zone': '$TTL 1h\n@ SOA a. b. 1 2 3 4 5\n$INCLUDE hosts.inc\n$INCLUDE sub.inc sub\n',
    'zones/hosts.inc': 'a A 192.0.2.1\nb A 192.0.2.2',
    'zones/sub.inc': 'a A 192.0.2.1 ; c\nb A 192.0.2.2\n  TXT x\n',
  }
  expect(await edit(files, 'remove example.com b.sub A')).toMatchObject({ changed: { 'zones/sub.inc': 'a A 192.0.2.1 ; c\nb TXT x\n' } })
  expect(await edit(files, 'add example.com b A 192.0.2.9')).toMatchObject({
    status: 0,
    changed: { 'zones/hosts.inc': 'a A 192.0.2.1\nb A 192.0.2.2\nb.example.com.\t3600\tIN\tA\t192.0.2.9' },
  })
})

it('edits records that octoDNS merges in their own file', async () => {
  const files = {
    'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1}\n<<: !include more.yaml\n',
    'zones/more.yaml': 'mail: {type: A, value: 192.0.2.1}\nzz: {type: A, value: 192.0.2.1}\n',
  }
  expect(await edit(files, 'add example.com mail A 192.0.2.9')).toMatchObject({
    status: 0,
    changed: { 'zones/more.yaml': files['zones/more.yaml'].replace('value: 192.0.2.1', 'values: [192.0.2.1, 192.0.2.9]') },
  })
})
