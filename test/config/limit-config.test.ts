/** What the config of a pull request may say before the merge. */
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { configureZone, createRuleLookup } from '../../src/config/configured-zone.ts'
import { limitConfig } from '../../src/config/limit-config.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { sshKeyOctets } from '../../src/config/ssh-public-key.ts'
import { DEFAULT_ZONE_OPTIONS } from '../../src/dns/zone.ts'

const CLOUD = "cloud: {type: cloud, base_url: 'https://dns.example/v4', token: 'env:T'}"

function read(lines: string) {
  const { config, diagnostics } = readConfig(`providers: {${CLOUD}}\n${lines}`, { file: 'zonewright.yaml', folder: '/dns', cwd: '/dns' })
  if (config === null) throw new Error(JSON.stringify(diagnostics))
  return config
}

const [A, B] = ['files: zones/*', 'files: [zones/*, more/*]']

test.each<[string, string, string, object, string[]]>([
  ['keeps its owner', `zones: [{${A}}]`, `zones: [{${A}, owner: me}]`, { owner: 'me' }, []],
  ['keeps its defaults', '', 'defaults: {default_ttl: 5m}', { zone: { defaultTtl: { ttl: 300 } } }, []],
  ['cannot lift a limit', '', `zones: [{${A}, allow: [deletes]}]`, { allow: new Set() }, ['allow']],
  [
    'keeps a lifted limit',
    `zones: [{${A}, allow: [deletes]}]`,
    `zones: [{${B}, allow: [deletes]}]`,
    { allow: new Set(['deletes']) },
    ['allow'],
  ],
  ['cannot raise a limit', '', 'safety: {max_delete_percent: 90}', { thresholds: { max_delete_percent: 30 } }, ['safety']],
  ['cannot drop a limit', 'safety: {max_deletes: 3}', '', { thresholds: { max_deletes: 3 } }, ['safety']],
  ['can lower a limit', '', `zones: [{${A}, safety: {max_deletes: 3}}]`, { thresholds: { max_deletes: 3 } }, []],
  ['cannot delete zones', '', `delete_removed: true\nzones: [{${A}, delete_removed: true}]`, {}, ['delete_removed']],
  ['cannot widen a policy', `zones: [{${A}, policy: create-only}]`, `zones: [{${B}, policy: sync}]`, { policy: 'create-only' }, ['policy']],
  [
    'cannot escape a policy by moving its file',
    `zones: [{files: old/*, policy: create-only, unmanaged: [{type: TXT}]}]`,
    `zones: [{files: old/*, policy: create-only, unmanaged: [{type: TXT}]}, {${A}}]`,
    { policy: 'create-only', zone: { unmanaged: [{ type: 'TXT' }] } },
    ['policy', 'unmanaged'],
  ],
  [
    'is not limited by a rule for other zones',
    `zones: [{files: old/*, zone: '*.net', policy: create-only}]`,
    `zones: [{files: old/*, zone: '*.net', policy: create-only}, {${A}, allow: [deletes]}]`,
    { policy: 'sync', allow: new Set() },
    ['policy', 'allow'],
  ],
  ['can narrow a policy', '', `zones: [{${A}, policy: upsert-only}]`, { policy: 'upsert-only' }, []],
  ['cannot manage more', `zones: [{${A}, unmanaged: [{type: TXT}]}]`, '', { zone: { unmanaged: [{ type: 'TXT' }] } }, ['unmanaged']],
  ['can manage less', '', `zones: [{${A}, unmanaged: [{type: TXT}]}]`, { zone: { unmanaged: [{ type: 'TXT' }] } }, []],
  ['names no other server', 'nameservers: [192.0.2.1]', 'nameservers: [192.0.2.2]', { nameservers: ['192.0.2.1'] }, ['nameservers']],
])('%s', (_, base, own, expected, keys) => {
  const baseConfig = read(base)
  const config = limitConfig(read(own), { config: baseConfig, ruleOf: createRuleLookup(baseConfig) })
  const at = { file: 'zones/example.com.yaml', line: 1, column: 1 }
  const zone = { ...DEFAULT_ZONE_OPTIONS, name: 'example.com.' as never, at, settings: {}, records: [] }
  const rule = createRuleLookup(config)('/dns/zones/example.com.yaml', zone)
  expect(rule && configureZone(zone, rule, config, [], [])).toMatchObject(expected)
  expect(rule?.deleteRemoved).toBe(false)
  expect(config.base?.limitedKeys).toEqual(keys)
  expect(config.deleteRemoved).toBe(false)
})

const KEY = `ssh-ed25519 ${sshKeyOctets(Buffer.alloc(32, 1)).toString('base64')}`

test.each<[key: string, text: string, field: keyof Config]>([
  ['nameservers', 'nameservers: [192.0.2.1]', 'nameservers'],
  ['usage', 'usage: {source: used.csv, in_use: 7d}', 'usage'],
  ['quarantine', 'quarantine: {reads: 9}', 'quarantine'],
  ['approvals', `approvals: {needed: 1, keys: {a: '${KEY}'}}`, 'approvals'],
  ['policies', 'policies: mine', 'policies'],
  ['journal', 'journal: mine', 'journal'],
  ['journal', 'journal: {url: "s3://bucket/dns"}', 'journalStore'],
])('the %s of the base: %s', (key, text, field) => {
  for (const [base, own] of [
    [text, ''],
    ['', text],
  ] as const) {
    const baseConfig = read(base)
    const config = limitConfig(read(own), { config: baseConfig, ruleOf: createRuleLookup(baseConfig) })
    expect(config[field]).toBe(baseConfig[field])
    expect(config.base?.limitedKeys).toEqual([key])
  }
})

test('a rule for a new provider is disabled', () => {
  const base = read('')
  const own = readConfig(`providers: {${CLOUD}, new: {type: zonefile, directory: x}}\nzones: [{${A}, targets: [new]}]`, {
    ...base,
    file: 'c',
  }).config
  const config = limitConfig(own as never, { config: base, ruleOf: createRuleLookup(base) })
  expect(config.zoneRules).toMatchObject([{ enabled: false }])
  expect(config.base?.limitedKeys).toEqual(['providers'])
})
