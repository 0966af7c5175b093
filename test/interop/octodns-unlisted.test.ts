/**
 * Zones whose files octoDNS finds only if its configuration names them, because they have one label or a slash: exported and imported with the
 * records.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addFiles, folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { describeWithOctodns, linesOfLoaded, loadSourcesWithOctodns, recordsIn } from './octodns-judge.ts'

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

async function exported(): Promise<{ cwd: string; stderr: string }> {
  const cwd = folderWith(OURS)
  const { stderr } = expectEnd(await cli(['export', 'octodns', '-o', 'config'], { cwd }), 0)
  addFiles(cwd, { 'named.yaml': NAMED, 'all.yaml': configOf(['*']) })
  return { cwd, stderr }
}

describe('zones that octoDNS does not list', () => {
  it('are exported, each with a warning', async () => {
    const { stderr } = await exported()
    expect(stderr.match(/(?<=warning\[file-format\] ).*(?= only if)/g)?.sort()).toEqual([
      '0/26.2.0.192.in-addr.arpa.: octoDNS finds 0/26.2.0.192.in-addr.arpa.yaml',
      'internal.: octoDNS finds internal.yaml',
    ])
  })

  it('are imported with a configuration that names them', async () => {
    const { cwd } = await exported()
    const { status, stderr } = await cli(['import', 'octodns', 'named.yaml', '-o', 'out'], { cwd })
    expect([status, stderr.match(/(?:error|warning)\[.*/g)]).toEqual([0, null])
    expect(await recordsIn(join(cwd, 'out'))).toEqual(RECORDS)
  })

  it('are not imported with a configuration for all zones', async () => {
    const { cwd } = await exported()
    expect((await cli(['import', 'octodns', 'all.yaml', '-o', 'out'], { cwd })).status).toBe(0)
    expect(await recordsIn(join(cwd, 'out'))).toEqual([RECORDS[1]])
  })

  it('are imported from a directory if they are named', async () => {
    const { cwd } = await exported()
    for (const zone of ['internal', '0/26.2.0.192.in-addr.arpa', 'example.com'])
      expect((await cli(['import', 'octodns', 'config', zone, '-o', 'out/zones'], { cwd })).status).toBe(0)
    addFiles(cwd, { 'out/zonewright.yaml': 'providers: {}\n' })
    expect(await recordsIn(join(cwd, 'out'))).toEqual(RECORDS)
  })

  it('are reported as dropped if they are not named, like other YAML files', async () => {
    const { cwd } = await exported()
    addFiles(cwd, {
      'config/shared.yaml': '<<: !include parts.yaml\n',
      'config/parts.yaml': 'a: [{type: A, value: 192.0.2.1}]\n',
      'config/notes.yaml': 'a: 1\n',
    })
    const { stderr } = expectEnd(await cli(['import', 'octodns', 'config', '-o', 'out/zones'], { cwd }), 1)
    expect(stderr.match(/\[import-lossy\].*(?=, which is no zone)/g)).toEqual([
      '[import-lossy] a definition cannot express the records of config/internal.yaml',
      '[import-lossy] a definition cannot express the records of config/parts.yaml',
    ])
    expect(stderr.match(/warning\[file-format\].*(?= is skipped)/g)).toHaveLength(2)
    expect((await cli(['import', 'octodns', 'config', '-o', 'out/zones', '--lossy'], { cwd })).status).toBe(0)
  })
})

describeWithOctodns('octoDNS finds zones that it does not list where they are named', () => {
  it('are loaded by octoDNS', async () => {
    const { cwd } = await exported()
    expect((await loadSourcesWithOctodns('named.yaml', cwd)).flatMap(linesOfLoaded).sort()).toEqual(RECORDS)
    expect((await loadSourcesWithOctodns('all.yaml', cwd)).flatMap(linesOfLoaded)).toEqual([RECORDS[1]])
  })
})
