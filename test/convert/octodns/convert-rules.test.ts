import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatDiagnostic } from '../../../src/base/diagnostic.ts'
import { loadDefinitions } from '../../../src/load/load-definitions.ts'
import { addFiles, configIn, folderWith } from '../../definition/files.ts'
import { type CliResult, cli } from '../../support/cli.ts'

const ZONE = 'www: {type: A, value: 192.0.2.1}\n'
const YAML = 'octodns.provider.yaml.YamlProvider'
const PROVIDERS = `providers:
  config: {class: ${YAML}, directory: ./config}
  linode: {class: octodns_linode.LinodeProvider, token: env/A}
  second: {class: octodns_linode.LinodeProvider, token: env/B}
`
const PARTS = `providers:\n  parts: {class: ${YAML}, directory: ./parts, split_extension: .zone, disable_zonefile: true}\n`
const zones = (...names: string[]): Record<string, string> => Object.fromEntries(names.map((name) => [`config/${name}.yaml`, ZONE]))

/** Imports a config beside another one, so that the new one is with its files. */
async function imported(config: string, files: Readonly<Record<string, string>>, ...args: string[]): Promise<CliResult & { out: string }> {
  const cwd = folderWith({ 'zonewright.yaml': 'providers: {}\n', 'p.yaml': config, ...files })
  const result = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', ...args], { cwd })
  return { ...result, out: join(cwd, 'out') }
}

/** The zones of a converted folder with their targets. */
async function targetsIn(out: string): Promise<string[]> {
  const { zones: loaded, diagnostics } = await loadDefinitions(await configIn(out))
  expect(diagnostics.map(formatDiagnostic)).toEqual([])
  return loaded.map(({ zone, targets, policy }) => `${zone.name} ${targets.join(',')} ${policy}`).sort()
}

const rulesIn = (out: string): string[][] =>
  readFileSync(join(out, 'zonewright.yaml'), 'utf8')
    .split('  - files:\n')
    .slice(1)
    .map((rule) => [...rule.matchAll(/^ {6}- '?(.*?)'?$/gm)].map(([, glob]) => glob as string))

test.each<[name: string, entries: string, files: Record<string, string>, rules: string[][], targets: string[], future: string[]]>([
  [
    'of which other entries are exceptions',
    "  '*': {sources: [config], targets: [linode]}\n  b.example.: {sources: [config], targets: [second]}\n",
    zones('a.example', 'b.example'),
    [['config/b.example.yaml'], ['config/*.*.yaml', '!config/b.example.yaml']],
    ['a.example. linode sync', 'b.example. second sync'],
    ['new.example. linode sync'],
  ],
  [
    'even if no zone is left for it today',
    "  '*': {sources: [config], targets: [linode]}\n  b.example.: {sources: [config], targets: [second]}\n",
    zones('b.example'),
    [['config/b.example.yaml'], ['config/*.*.yaml', '!config/b.example.yaml']],
    ['b.example. second sync'],
    ['new.example. linode sync'],
  ],
  [
    'without exceptions for entries with the same options',
    "  '*': {sources: [config], targets: [linode]}\n  b.example.: {sources: [config], targets: [linode]}\n",
    zones('a.example', 'b.example'),
    [['config/*.*.yaml']],
    ['a.example. linode sync', 'b.example. linode sync'],
    ['new.example. linode sync'],
  ],
  [
    'with a glob, and a second entry for the rest',
    "  '*1': {sources: [config], targets: [second], glob: '*.internal.example.'}\n  '*2': {sources: [config], targets: [linode]}\n",
    zones('a.example', 'a.internal.example'),
    [['config/*.internal.example.yaml'], ['config/*.*.yaml']],
    ['a.example. linode sync', 'a.internal.example. second sync'],
    ['new.example. linode sync', 'new.internal.example. second sync'],
  ],
  [
    'with a regular expression that a glob can replace',
    "  '*': {sources: [config], targets: [linode], regex: '^.*\\.example\\.$'}\n",
    { ...zones('a.example'), 'config/a.test.yaml': ZONE },
    [['config/*.example.yaml']],
    ['a.example. linode sync'],
    ['new.example. linode sync'],
  ],
  [
    'in two folders, one of split files',
    "  '*': {sources: [config, parts], targets: [linode]}\n",
    { 'config/a.example.yaml': ZONE, 'parts/a.example.zone/x.yaml': 'x: {type: A, value: 192.0.2.2}\n' },
    [['config/*.*.yaml', 'parts/*.zone', '!parts/a.example.zone']],
    ['a.example. linode sync'],
    ['new.example. linode sync'],
  ],
  [
    'without the copy of an alias',
    "  '*': {sources: [config], targets: [linode]}\n  copy.example.: {alias: a.example., delete_pcent_threshold: 0.5}\n",
    zones('a.example'),
    [['config/copy.example.yaml'], ['config/*.*.yaml', '!config/copy.example.yaml']],
    ['a.example. linode sync', 'copy.example. linode sync'],
    ['new.example. linode sync'],
  ],
])('%s', async (_, entries, files, rules, targets, future) => {
  const providers = entries.includes('parts') ? PROVIDERS.replace('providers:\n', PARTS) : PROVIDERS
  const { status, stderr, out } = await imported(`${providers}zones:\n${entries}`, files)
  expect([status, stderr.match(/^.*(?:error|warning)\[(?!.*which no zone uses).*$/gm)]).toEqual([0, null])
  expect(rulesIn(out)).toEqual(rules)
  expect(await targetsIn(out)).toEqual(targets)
  addFiles(out, Object.fromEntries(future.map((line) => [`config/${line.split('. ')[0]}.yaml`, ZONE])))
  expect(await targetsIn(out)).toEqual([...targets, ...future].sort())
})

test('zones whose processors give them other options are exceptions', async () => {
  const config = `${PROVIDERS}processors:
  mine: {class: octodns.processor.filter.NameAllowlistFilter, allowlist: [www]}
zones: {'*': {sources: [config], targets: [linode], processors: [mine]}}
`
  const files = { ...zones('a.example', 'b.example'), 'config/c.example.yaml': `${ZONE}x: {type: A, value: 192.0.2.2}\n` }
  const { out } = await imported(config, files, '--lossy')
  expect(rulesIn(out)).toEqual([['config/c.example.yaml'], ['config/*.*.yaml', '!config/c.example.yaml']])
  expect(await targetsIn(out)).toEqual(['a.example. linode upsert-only', 'b.example. linode upsert-only', 'c.example. linode create-only'])
})

test('a source that finds no zones gets no rule', async () => {
  const none = PARTS.replace('split_extension: .zone', 'shared_filename: all.yaml')
  const config = `${PROVIDERS.replace('providers:\n', none)}zones: {'a.example.': {sources: [parts], targets: [linode]}, '*': {sources: [parts], targets: [linode]}}\n`
  const { status, stderr, out } = await imported(config, { 'parts/all.yaml': ZONE }, '--lossy')
  expect([status, stderr]).toEqual([0, expect.stringContaining('read back and compared')])
  expect(rulesIn(out)).toEqual([['parts/a.example.yaml']])
  expect(await targetsIn(out)).toEqual(['a.example. linode sync'])
})

test('an import of some zones lists their files', async () => {
  const { out } = await imported(`${PROVIDERS}zones: {'*': {sources: [config]}}\n`, zones('a.example', 'b.example'), 'b.example')
  expect(rulesIn(out)).toEqual([['config/b.example.yaml']])
})
