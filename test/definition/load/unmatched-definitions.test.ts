import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/definition/config/load-config.ts'
import { loadDefinitions } from '../../../src/definition/load/load-definitions.ts'
import { formatDiagnostic } from '../../../src/dns/diagnostic.ts'
import { folderWith } from '../files.ts'

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
