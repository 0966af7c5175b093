/** Zones by name, by glob, and by the path of a file. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatDiagnostic } from '../../src/base/diagnostic.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { folderWith } from '../definition/files.ts'

const zone = (name: string, rest = '') => `domain: ${name}\nsoa_email: a@example.com\n${rest}records:\n  www: {type: A, value: 192.0.2.1}\n`

const FILES = {
  'zonewright.yaml': "providers: {lab: {type: rfc2136, server: 192.0.2.53}}\nzones: [{files: ['zones/**', '!zones/old/**']}]\n",
  'zones/a.example.yaml': zone('a.example', 'include: [../shared/mail.yaml]\n'),
  'zones/team/b.example.yaml': zone('b.example', 'include: [../../shared/mail.yaml]\n'),
  'zones/team/other.yaml': zone('c.test'),
  'zones/team/d.test.zone': '$ORIGIN d.test.\n$TTL 300\nwww A 192.0.2.1\n',
  'zones/team/e.test./www.yaml': 'www: {type: A, value: 192.0.2.1}\n',
  'zones/old/x.example.yaml': zone('x.example'),
  'shared/mail.yaml': 'mail: {type: A, value: 192.0.2.2}\n',
  'README.md': 'text\n',
}

async function load(args: readonly string[], more: Readonly<Record<string, string>> = {}, below = '') {
  const folder = folderWith({ ...FILES, ...more })
  const { config } = await loadConfig({ cwd: join(folder, below) })
  if (config === null) throw new Error('no config')
  const { zones, diagnostics } = await loadDefinitions(config, { zones: args })
  return {
    zones: zones.map((one) => one.zone.name).sort(),
    errors: diagnostics.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`),
  }
}

describe('selects', () => {
  test.each([
    ['a name', ['A.Example'], ['a.example.']],
    ['a glob of names', ['*.example'], ['a.example.', 'b.example.']],
    ['a file', ['zones/team/other.yaml'], ['c.test.']],
    ['a file in the folder', ['./zones/a.example.yaml'], ['a.example.']],
    ['a zone file', ['zones/team/d.test.zone'], ['d.test.']],
    ['a part of a split zone', ['zones/team/e.test./www.yaml'], ['e.test.']],
    ['a folder by its name', ['zones'], ['a.example.', 'b.example.', 'c.test.', 'd.test.', 'e.test.']],
    ['a folder', ['zones/team'], ['b.example.', 'c.test.', 'd.test.', 'e.test.']],
    ['a glob of files', ['zones/team/*.yaml'], ['b.example.', 'c.test.']],
    ['a glob of folders', ['zones/**/*.{zone,db}'], ['d.test.']],
    ['a fragment, by the zones that include it', ['shared/mail.yaml'], ['a.example.', 'b.example.']],
    ['all of them', ['shared/mail.yaml', 'c.*', 'zones/team/d.test.zone', 'a.example'], ['a.example.', 'b.example.', 'c.test.', 'd.test.']],
    ['everything without arguments', [], ['a.example.', 'b.example.', 'c.test.', 'd.test.', 'e.test.']],
  ])('%s', async (_, args, expected) => expect(await load(args)).toEqual({ zones: expected, errors: [] }))

  test('paths and globs from the working directory', async () => {
    expect(await load(['other.yaml', 'd.test.*'], {}, 'zones/team')).toEqual({ zones: ['c.test.', 'd.test.'], errors: [] })
  })

  test('a zone, not the file of the same name, with the final dot', async () => {
    const more = { 'zones/example.zone': 'www A 192.0.2.1\n', 'zones/p.yaml': zone('example.zone') }
    expect((await load(['example.zone.'], more, 'zones')).zones).toEqual(['example.zone.'])
    expect((await load(['example.zone'], more, 'zones')).zones).toEqual(['example.'])
  })
})

test.each([
  ['a glob without a match', ['*.nowhere'], 'zone-unknown: no zone and no definition matches "*.nowhere"'],
  ['a file of no zone', ['./README.md'], 'zone-unknown: no definition of the config is in README.md, or includes it'],
  ['excluded', ['zones/old/x.example.yaml'], 'zone-unknown: no definition of the config is in zones/old/x.example.yaml, or includes it'],
  ['a file that does not exist', ['zones/none.yaml'], 'zone-unknown: zones/none.yaml cannot be read'],
  ['a path that no system can have', [`zones/${'a'.repeat(5000)}/x.yaml`], `zone-unknown: zones/${'a'.repeat(5000)}/x.yaml cannot be read`],
  ['a name with a null byte', ['a.example\0b.example'], 'zone-name: "a.example\\u0000b.example." has a control character'],
])('reports: %s, and selects nothing else', async (_, args, error) => expect(await load(args)).toEqual({ zones: [], errors: [error] }))

test('errors in other files do not concern a path or a glob of names', async () => {
  const more = { 'zones/bad.test.yaml': 'www: {type: A, value: nonsense}\n' }
  expect((await load(['zones/team'], more)).errors).toEqual([])
  expect((await load(['*.example'], more)).errors).toEqual([])
  expect((await load(['zones/*'], more)).errors).toHaveLength(1)
})

const ZONE = 'www: {type: A, value: 192.0.2.1}\n'
const NAMED = `domain: example.org\nrecords: {${ZONE.trim()}}\n`
const config = (...rules: string[]): string =>
  `providers: {cloud: {type: cloud, preset: linode, token: env:LINODE_TOKEN}}\nzones:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`

type Files = Readonly<Record<string, string>>

async function warnings(rules: readonly string[], files: Files, options: { zones?: string[] } = {}): Promise<string[]> {
  const folder = folderWith({ 'zonewright.yaml': config(...rules), ...files })
  const { config: read } = await loadConfig({ cwd: folder })
  if (read === null) throw new Error('the config is invalid')
  const { diagnostics } = await loadDefinitions(read, options)
  return diagnostics.filter(({ code }) => code === 'definition-unmatched').map(formatDiagnostic)
}

const warning = (count: string, places: string): string =>
  `warning[definition-unmatched] ${count} no rule under "zones" in the config, so ${count.startsWith('1 ') ? 'it is' : 'they are'} left alone: ${places}`

const A = { 'zones/a.example.yaml': ZONE }

test.each<readonly [string, readonly string[], Files, string[]]>([
  ['beside', ['{files: zones/a.example.yaml}'], { ...A, 'zones/b.test.yaml': ZONE }, [warning('1 definition has', 'zones/b.test.yaml')]],
  [
    'many files, of which three are listed',
    ['{files: zones/a.example.yaml}'],
    { ...A, ...Object.fromEntries(['b', 'c', 'd', 'e', 'f'].map((one) => [`zones/${one}.example.yaml`, ZONE])) },
    [warning('5 definitions have', 'zones/b.example.yaml, zones/c.example.yaml, zones/d.example.yaml and 2 more')],
  ],
  [
    'another format, a folder below, a folder of split files, and a zone that the file names',
    ['{files: zones/*.yaml}'],
    {
      ...A,
      'zones/b.example.zone': '$ORIGIN b.example.\n@ 60 IN NS ns.example.\n',
      'zones/more/c.example.yaml': ZONE,
      'zones/d.example./d.yaml': ZONE,
      'zones/more/other.yaml': NAMED,
    },
    [warning('4 definitions have', 'zones/b.example.zone, zones/d.example., zones/more/c.example.yaml and 1 more')],
  ],
  [
    'a zone for which the rules of its file do not apply',
    ['{files: zones/*, zone: "*.example"}'],
    { ...A, 'zones/b.example.org.yaml': ZONE },
    [warning('1 definition has', 'zones/b.example.org.yaml')],
  ],
  ['nothing if every file is matched', ['{files: zones/*.yaml}'], { ...A, 'zones/b.example.yaml': ZONE }, []],
  ['nothing that is excluded', ['{files: [zones/*.yaml, "!zones/b.*"]}'], { ...A, 'zones/b.example.yaml': ZONE }, []],
  ['nothing that is disabled', ['{files: zones/a.*}', '{files: zones/b.*, enabled: false}'], { ...A, 'zones/b.example.yaml': ZONE }, []],
  [
    'no included file, no other YAML file, no hidden one',
    ['{files: zones/a.example.yaml}'],
    {
      'zones/a.example.yaml': 'domain: a.example\ninclude: [web.example.yaml]\nrecords: {}\n',
      'zones/web.example.yaml': ZONE,
      'zones/fragment.yaml': ZONE,
      'zones/values.production.yaml': 'image: {type: docker}\n',
      'zones/.old.example.yaml': ZONE,
      'zones/cache.db': 'not a zone',
    },
    [],
  ],
  ['nothing below the folder of the config', ['{files: a.example.yaml}'], { 'a.example.yaml': ZONE, 'old/b.example.yaml': ZONE }, []],
])('a definition that no rule matches is a warning: %s', async (_, rules, files, expected) => {
  expect(await warnings(rules, files)).toEqual(expected)
})

test('with named zones, files of other zones without settings may be included ones and are not reported', async () => {
  const files = { ...A, 'zones/b.example.yaml': ZONE, 'zones/c.example.yaml': NAMED }
  expect(await warnings(['{files: zones/a.example.yaml}'], files, { zones: ['a.example'] })).toEqual([
    warning('1 definition has', 'zones/c.example.yaml'),
  ])
  expect(await warnings(['{files: zones/a.example.yaml}'], files, { zones: ['b.example'] })).toEqual([
    warning('2 definitions have', 'zones/b.example.yaml and zones/c.example.yaml'),
  ])
})
