/** Zones by name, by glob, and by the path of a file. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/definition/config/load-config.ts'
import { loadDefinitions } from '../../../src/definition/load/load-definitions.ts'
import { folderWith } from '../files.ts'

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
  [
    'a file that a rule excludes',
    ['zones/old/x.example.yaml'],
    'zone-unknown: no definition of the config is in zones/old/x.example.yaml, or includes it',
  ],
  ['a file that does not exist', ['zones/none.yaml'], 'zone-unknown: zones/none.yaml cannot be read'],
  ['a path that no system can have', [`zones/${'a'.repeat(5000)}/x.yaml`], `zone-unknown: zones/${'a'.repeat(5000)}/x.yaml cannot be read`],
  ['a name with a null byte', ['a.example\0b.example'], 'zone-name: "a.example\\u0000b.example." has a space or control character'],
])('reports: %s, and selects nothing else', async (_, args, error) => expect(await load(args)).toEqual({ zones: [], errors: [error] }))

test('errors in other files do not concern a path or a glob of names', async () => {
  const more = { 'zones/bad.test.yaml': 'www: {type: A, value: nonsense}\n' }
  expect((await load(['zones/team'], more)).errors).toEqual([])
  expect((await load(['*.example'], more)).errors).toEqual([])
  expect((await load(['zones/*'], more)).errors).toHaveLength(1)
})
