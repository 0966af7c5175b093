/** What `render` prints, read as YAML, is the zone that the program made, so that both have one plan. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { openScene, type Scene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'
import { zoneData } from './zone-data.ts'

const CONFIG = `zones: [{files: "zones/*.{yaml,ts}"}]\ndefaults: {soa_email: hostmaster@example.com}\nquarantine: {reads: 5, for: 1h}\n`

async function load({ folder }: Scene): Promise<object[]> {
  const { config } = await loadConfig({ cwd: folder })
  if (config === null) throw new Error('no config')
  const { zones } = await loadDefinitions(config, { lints: false })
  return zones.map(({ zone, targets, policy, allow, valid }) => zoneData({ ...zone, targets, policy, allow: [...allow], valid }))
}

test.each([
  [
    "{ owner: 'web', expires: '2030-01-01' }",
    "A('www', '192.0.2.1', { ttl: 300, owner: 'dns' }),\n  MX('@', { preference: 10, exchange: 'www' })",
  ],
  ["{ absent: true, allow: ['delete-zone', 'in-use:www.example.com'] }", ''],
  ["{ unsupported: 'skip', apex_ns: 'manage', policy: 'upsert-only', default_ttl: '5m' }", "NS('@', 'ns1.example.net.')"],
  ['{ auto_ptr: true }', "A('a', '192.0.2.1'), A('b', '192.0.2.2', { auto_ptr: false })"],
  [
    "{ ignore: [{ code: 'target-takeover', reason: 'x', name: '*-b', type: 'CNAME' }] }",
    "A('a', '10.0.0.1', { ignore: [{ code: 'address-private', reason: 'y' }] })",
  ],
  ["{ unmanaged: [{ name: 'x*', type: 'A' }, { preset: 'acme' }] }", "A('a', '192.0.2.1', { octodns: { excluded: ['cloud'] } })"],
  [
    '{}',
    "A('a', '192.0.2.1'), record('a', 'Route53Provider/ALIAS', { name: 'b' }), record('b', 'Route53Provider/ALIAS', { name: 'b' }, { octodns: { ignored: true } })",
  ],
  [
    "{ sources: [{ provider: 'cloud', zone: 'x.example', name: '*.apps', type: 'A', quarantine: { reads: 2, for: '10m' } }, { provider: 'cloud', zone: 'y.example' }] }",
    '',
  ],
  [
    '{ default_ttl: 300 }',
    "A('a', undefined, { from: { instances: { tag: 'web', region: 'us-east' } }, owner: 'web' }),\n  A('a', '192.0.2.1', { ttl: 60 }),\n  TXT('c', undefined, { from: { provider: 'cloud', zone: 'x.example', name: 'y' } })",
  ],
  [
    '{}',
    "A('a', undefined, { from: { loadbalancers: { label: 'w' }, quarantine: { reads: 1 } } }), ...['b', 'c', 'd'].map((name) => A(name, '192.0.2.1', { ttl: 60 }))",
  ],
])('of a zone with %s and %s', async (settings, records) => {
  const program = `import { A, MX, NS, TXT, record, zone } from 'zonewright/definition'\nzone('example.com', ${settings}, [\n  ${records}\n])\n`
  const scene = openScene({ files: { 'zones/example.ts': program }, config: CONFIG })
  const { stdout } = expectEnd(await scene.run('render'), 0)
  expect(stdout).toMatch(/^# zones\/example\.ts:2\ndomain: example\.com\n/)
  const made = await load(scene)
  expect(made).toHaveLength(1)
  expect(await load(openScene({ files: { 'zones/example.com.yaml': stdout }, config: CONFIG }))).toEqual(made)
})
