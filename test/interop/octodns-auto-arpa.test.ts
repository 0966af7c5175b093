/** octoDNS's `auto_arpa` becomes `auto_ptr` if both add the same PTR records, as octoDNS itself judges. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'
import { describeWithOctodns, linesOfLoaded, loadSourcesWithOctodns, recordsIn } from './octodns-judge.ts'

const config = (settings: string, reverse = '[auto-arpa]', more = ''): string => `manager: {auto_arpa: ${settings}}
providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: zones, enforce_order: false}
  ns: {class: octodns_bind.Rfc2136Provider, host: 192.0.2.53}
${more}zones:
  example.com.: {sources: [config], targets: [ns]}
  2.0.192.in-addr.arpa.: {sources: ${reverse}, targets: [ns]}
  8.b.d.0.1.0.0.2.ip6.arpa.: {sources: [auto-arpa], targets: [ns]}
`

const FORWARD = `'':
  - {type: A, ttl: 60, values: [192.0.2.1, 198.51.100.1]}
  - {type: AAAA, ttl: 600, value: '2001:db8::1'}
'*': {type: A, ttl: 60, value: 192.0.2.1}
www: {type: A, ttl: 300, value: 192.0.2.2}
`

type Scene = { settings?: string; reverse?: string; more?: string; forward?: string; files?: Readonly<Record<string, string>> }

/** A folder with an octoDNS configuration and its import. */
async function importing({ settings = '{inherit_ttl: true}', reverse, more, forward = FORWARD, files = {} }: Scene) {
  const cwd = folderWith({
    'zonewright.yaml': 'providers: {}\n',
    'p.yaml': config(settings, reverse, more),
    'zones/example.com.yaml': forward,
    ...files,
  })
  const { status, stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out'], { cwd })
  return { cwd, status, stderr, made: () => readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8') }
}

const WRITTEN = { 'zones/2.0.192.in-addr.arpa.yaml': "'9': {type: PTR, ttl: 60, value: host.example.net.}\n" }

describe('auto_arpa of an imported configuration', () => {
  it('becomes auto_ptr, and reverse zones without files get an empty definition', async () => {
    const { cwd, status, stderr, made } = await importing({})
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('import-lossy')])
    expect(made()).toContain('    auto_ptr: true\n')
    expect(readFileSync(join(cwd, 'out/zones/2.0.192.in-addr.arpa.yaml'), 'utf8')).toBe('domain: 2.0.192.in-addr.arpa\nrecords: {}\n')
    expect((await recordsIn(join(cwd, 'out'))).filter((line) => line.includes('PTR'))).toHaveLength(3)
  })

  it('reports that the TTLs differ', async () => {
    const { cwd, status, stderr } = await importing({ settings: 'true' })
    expect(status).toBe(0)
    expect(stderr).toContain('the TTL 3600 of PTR records (manager.auto_arpa)')
    expect(stderr).toContain('the first plan gives 3 PTR records the TTL of the address')
    expect(await recordsIn(join(cwd, 'out'))).toContain('1.2.0.192.in-addr.arpa. 60 PTR example.com.')
  })

  it.each<[string, Scene]>([
    ['an address has two names', { forward: `${FORWARD}mail: {type: A, ttl: 60, value: 192.0.2.2}\n` }],
    ['a wildcard below the apex has an address', { forward: `${FORWARD}'*.w': {type: A, ttl: 60, value: 192.0.2.3}\n` }],
    ['a record set is not for all targets', { forward: `${FORWARD}x: {type: A, ttl: 60, value: 192.0.2.3, octodns: {excluded: [ns]}}\n` }],
    [
      'the reverse zone has a PTR record for the address',
      {
        reverse: '[config, auto-arpa]',
        files: { 'zones/2.0.192.in-addr.arpa.yaml': "'1': {type: PTR, ttl: 60, value: host.example.net.}\n" },
      },
    ],
    ['it replaces wildcards', { settings: '{wildcard_replacement: any}' }],
    ['a reverse zone has other sources only', { reverse: '[config]', files: WRITTEN }],
    [
      'processors may hide records',
      {
        more: 'processors: {none: {class: octodns.processor.filter.TypeRejectlistFilter, rejectlist: [A]}}\n',
        settings: '{inherit_ttl: true}, processors: [none]',
      },
    ],
  ])('stays unconverted if %s', async (_, scene) => {
    const { status, stderr } = await importing(scene)
    expect([status, stderr]).toEqual([1, expect.stringContaining('a definition cannot express manager.auto_arpa')])
  })
})

describeWithOctodns('octoDNS adds the same PTR records', () => {
  it.each<[string, Scene]>([
    ['reverse zones without files', {}],
    ['a reverse zone with a file', { reverse: '[config, auto-arpa]', files: WRITTEN }],
    [
      'a TTL that all addresses have',
      { settings: '{ttl: 60}', forward: `a: {type: A, ttl: 60, value: 192.0.2.1}\nb: {type: A, ttl: 60, value: 192.0.2.2}\n` },
    ],
  ])('%s', async (_, scene) => {
    const { cwd, status } = await importing(scene)
    expect(status).toBe(0)
    const theirs = (await loadSourcesWithOctodns('p.yaml', cwd)).flatMap(linesOfLoaded).sort()
    expect(theirs.some((line) => line.includes(' PTR '))).toBe(true)
    expect(await recordsIn(join(cwd, 'out'))).toEqual(theirs)
  })
})
