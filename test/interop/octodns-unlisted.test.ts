/**
 * Zones whose files octoDNS finds only where its configuration names them, of one label or with a slash: out to octoDNS, and back with the same
 * records.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/definition/config/load-config.ts'
import { loadDefinitions } from '../../src/definition/load/load-definitions.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { describeWithOctodns, linesOfLoaded, loadSourcesWithOctodns, recordLine } from './octodns-judge.ts'

const OURS: Readonly<Record<string, string>> = {
  'zones/internal.yaml': 'domain: internal\nrecords: {www: {type: A, ttl: 60, value: 192.0.2.1}}\n',
  'zones/example.com.yaml': 'domain: example.com\nrecords: {www: {type: A, ttl: 60, value: 192.0.2.2}}\n',
  'zones/reverse.yaml': "domain: 0/26.2.0.192.in-addr.arpa\nrecords: {'1': {type: PTR, ttl: 60, value: www.example.com.}}\n",
}

const RECORDS = ['1.0/26.2.0.192.in-addr.arpa. 60 PTR www.example.com.', 'www.example.com. 60 A 192.0.2.2', 'www.internal. 60 A 192.0.2.1']

const configOf = (zones: readonly string[]): string =>
  `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: config}}\nzones:\n${zones
    .map((zone) => `  '${zone}': {sources: [config], targets: []}\n`)
    .join('')}`

const NAMED = configOf(['internal.', 'example.com.', '0/26.2.0.192.in-addr.arpa.'])

function write(files: Readonly<Record<string, string>>, cwd = temporaryDirectory()): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  return cwd
}

async function exported(): Promise<{ cwd: string; stderr: string }> {
  const cwd = write(OURS)
  const { status, stderr } = await cli(['export', 'octodns', '-o', 'config'], { cwd })
  expect(status).toBe(0)
  return { cwd: write({ 'named.yaml': NAMED, 'all.yaml': configOf(['*']) }, cwd), stderr }
}

async function recordsIn(folder: string): Promise<string[]> {
  const { config } = await loadConfig({ cwd: folder })
  if (config === null) throw new Error('no config')
  return (await loadDefinitions(config)).zones.flatMap(({ zone }) => zone.records.map(recordLine)).sort()
}

describe('zones that octoDNS does not list', () => {
  it('go out with a word on that each', async () => {
    const { stderr } = await exported()
    expect(stderr.match(/(?<=warning\[file-format\] ).*(?= only if)/g)?.sort()).toEqual([
      '0/26.2.0.192.in-addr.arpa.: octoDNS finds 0/26.2.0.192.in-addr.arpa.yaml',
      'internal.: octoDNS finds internal.yaml',
    ])
  })

  it('come in by a configuration that names them', async () => {
    const { cwd } = await exported()
    const { status, stderr } = await cli(['import', 'octodns', 'named.yaml', '-o', 'out'], { cwd })
    expect([status, stderr.match(/(?:error|warning)\[.*/g)]).toEqual([0, null])
    expect(await recordsIn(join(cwd, 'out'))).toEqual(RECORDS)
  })

  it('and not by one that asks for all', async () => {
    const { cwd } = await exported()
    expect((await cli(['import', 'octodns', 'all.yaml', '-o', 'out'], { cwd })).status).toBe(0)
    expect(await recordsIn(join(cwd, 'out'))).toEqual([RECORDS[1]])
  })

  it('come in from a directory where they are named', async () => {
    const { cwd } = await exported()
    for (const zone of ['internal', '0/26.2.0.192.in-addr.arpa', 'example.com'])
      expect((await cli(['import', 'octodns', 'config', zone, '-o', 'out/zones'], { cwd })).status).toBe(0)
    write({ 'out/zonewright.yaml': 'providers: {}\n' }, cwd)
    expect(await recordsIn(join(cwd, 'out'))).toEqual(RECORDS)
  })

  it('else the records of such a file are lost, and other YAML files are told', async () => {
    const { cwd } = await exported()
    write(
      {
        'config/shared.yaml': '<<: !include parts.yaml\n',
        'config/parts.yaml': 'a: [{type: A, value: 192.0.2.1}]\n',
        'config/notes.yaml': 'a: 1\n',
      },
      cwd,
    )
    const { status, stderr } = await cli(['import', 'octodns', 'config', '-o', 'out/zones'], { cwd })
    expect(status).toBe(1)
    expect(stderr.match(/\[import-lossy\].*(?=, which is no zone)/g)).toEqual([
      '[import-lossy] a definition cannot express the records of config/internal.yaml',
      '[import-lossy] a definition cannot express the records of config/parts.yaml',
    ])
    expect(stderr.match(/warning\[file-format\].*(?= is skipped)/g)).toHaveLength(2)
    expect((await cli(['import', 'octodns', 'config', '-o', 'out/zones', '--lossy'], { cwd })).status).toBe(0)
  })
})

describeWithOctodns('octoDNS finds zones that it does not list where they are named', () => {
  it('and them alone', { timeout: 60_000 }, async () => {
    const { cwd } = await exported()
    expect((await loadSourcesWithOctodns('named.yaml', cwd)).flatMap(linesOfLoaded).sort()).toEqual(RECORDS)
    expect((await loadSourcesWithOctodns('all.yaml', cwd)).flatMap(linesOfLoaded)).toEqual([RECORDS[1]])
  })
})
