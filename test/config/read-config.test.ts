import { expect, it, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { PROVIDER_TYPES } from '../../src/providers/registry.ts'
import { expectProblems } from '../definition/parse.ts'

const PLACE = { file: 'zonewright.yaml', folder: '/srv/dns', cwd: '/srv/dns' }
const read = (text: string) => readConfig(text, PLACE)

const short = (text: string): string[] =>
  read(text).diagnostics.map(({ at, severity, code, hint }) => `${at?.line}:${at?.column} ${severity} ${code}${hint ? ` (${hint})` : ''}`)

it('fills in every default for an empty file', () => {
  for (const text of ['', '---\n', '# nothing\n', 'providers:\nzones:\n']) {
    const { config, diagnostics } = read(text)
    expect(diagnostics).toEqual([])
    expect(config).toMatchObject({
      safety: { max_delete_percent: 30, max_update_percent: 30, min_existing: 10 },
      defaults: { settings: {}, ttl: null },
      unsupported: 'error',
      nameservers: null,
      journal: '/srv/dns/.zonewright',
      octodnsDefaultTtl: 3600,
      octodnsSplitExtension: '.',
    })
    expect(config?.zoneRules).toHaveLength(1)
    expect(config?.zoneRules[0]).toMatchObject({ files: ['zones/**/*'], zones: null, targets: null, enabled: true })
  }
})

it('reads every key', () => {
  const { config, diagnostics } = read(`
providers:
  cloud: {type: cloud, base_url: http://127.0.0.1:8080/v4, token: env:ZONEWRIGHT_TOKEN, parallelism: 4}
  lab:
    type: cloud
    preset: linode
    token: file:lab.token
zones:
  - {files: zones/internal/*.yaml, targets: [lab], policy: upsert-only, allow: [deletes, apex-ns]}
  - {files: [zones/**/*.yaml, '!zones/old/*'], zone: ['*.Example.com', bücher.example], targets: [cloud], unsupported: skip, apex_ns: manage, auto_ptr: true}
  - {zone: example.org, files: dns/org.yaml, enabled: false, safety: {max_delete_percent: 5}, nameservers: ['192.0.2.1:53']}
defaults: {soa_email: hostmaster@example.com, ttl_sec: 1h, refresh_sec: 7200, default_ttl: 5m, tags: [dns], group: web}
safety: {max_delete_percent: 10, max_update_percent: 50.5, min_existing: 0}
nameservers: [127.0.0.1:5353]
journal: runs
unsupported: skip
octodns_default_ttl: 60
octodns_split_extension: .sp
programs: {date: 2026-12-31}
`)
  expect(diagnostics).toEqual([])
  if (!config) throw new Error('no config')
  expect([...config.providers.keys()]).toEqual(['cloud', 'lab'])
  expect(config.providers.get('lab')).toMatchObject({ type: 'cloud', settings: { preset: 'linode', token: 'file:lab.token' } })
  expect(config.providers.get('lab')?.placeOf('token')).toMatchObject({ line: 7, column: 12 })
  expect(config.providers.get('lab')?.placeOf('tsig', 'missing')).toMatchObject({ line: 5, column: 5 })
  const unset = {
    ...{ zones: null, zoneName: null, enabled: true, owner: null, targets: null, policy: null, allow: [], unsupported: null, apexNs: null },
    ...{ autoPtr: false, unmanaged: [], internal: false, ignore: [], safety: {}, deleteRemoved: null, nameservers: null },
  }
  expect(config.zoneRules.map(({ at, filesAt: _, ...rule }) => ({ ...rule, line: at?.line }))).toEqual([
    { ...unset, files: ['zones/internal/*.yaml'], targets: ['lab'], policy: 'upsert-only', allow: ['deletes', 'apex-ns'], line: 9 },
    {
      ...unset,
      files: ['zones/**/*.yaml', '!zones/old/*'],
      zones: ['*.example.com', 'xn--bcher-kva.example'],
      ...{ targets: ['cloud'], unsupported: 'skip', apexNs: 'manage', autoPtr: true, line: 10 },
    },
    {
      ...unset,
      ...{ files: ['dns/org.yaml'], zones: ['example.org'], zoneName: 'example.org.', enabled: false },
      ...{ safety: { max_delete_percent: 5 }, nameservers: ['192.0.2.1:53'], line: 11 },
    },
  ])
  expect(config.defaults).toEqual({
    settings: { soa_email: 'hostmaster@example.com', ttl_sec: 3600, refresh_sec: 7200, tags: ['dns'], group: 'web' },
    settingPositions: expect.objectContaining({
      soa_email: expect.objectContaining({ line: 12, column: 23 }),
      ttl_sec: expect.objectContaining({ line: 12, column: 56 }),
    }),
    ttl: 300,
    ttlAt: expect.objectContaining({ line: 12, column: 92 }),
  })
  expect(config.safety).toEqual({ max_delete_percent: 10, max_update_percent: 50.5, min_existing: 0 })
  expect(config).toMatchObject({
    journal: '/srv/dns/runs',
    unsupported: 'skip',
    octodnsDefaultTtl: 60,
    octodnsSplitExtension: '.sp',
    programDate: '2026-12-31',
  })
})

test.each<[name: string, text: string, expected: string[]]>([
  ['an unknown key near a known one', 'zone: []\n', ['1:1 error schema-unknown-key (Did you mean "zones"?)']],
  ['an unknown key in a rule', 'zones:\n  - {file: a.yaml}\n', ['2:6 error schema-unknown-key (Did you mean "files"?)']],
  ['an unknown key unlike any known one', 'safety:\n  everything: true\n', ['2:3 error schema-unknown-key']],
  ['a provider without a type', 'providers:\n  cloud: {token: env:T}\n', ['2:10 error schema-missing-key']],
  ['a misspelt provider type', 'providers:\n  lab: {type: clod}\n', ['2:15 error provider-unknown (Did you mean "cloud"?)']],
  [
    'a provider type that does not exist',
    'providers:\n  lab: {type: bind}\n',
    [`2:15 error provider-unknown (the types are ${[...PROVIDER_TYPES].sort().join(', ')})`],
  ],
  [
    'a list as provider type',
    'providers:\n  lab: {type: [cloud]}\n',
    [`2:15 error provider-unknown (the types are ${[...PROVIDER_TYPES].sort().join(', ')})`],
  ],
  ['missing settings', 'providers:\n  lab:\n    type: cloud\n', ['3:5 error schema-missing-key', '3:5 error schema-missing-key']],
  ['an empty token', "providers:\n  lab: {type: cloud, preset: linode, token: ''}\n", ['2:45 error schema-value']],
  ['a string as provider', 'providers:\n  cloud: env:T\n', ['2:10 error schema-type']],
  ['a list', '- a\n', ['1:1 error schema-type']],
  ['text', 'hello\n', ['1:1 error schema-type']],
  ['a day that does not exist', 'programs: {date: 2026-02-30}\n', ['1:18 error schema-value']],
  ['a number instead of a string', 'octodns_split_extension: 5\n', ['1:26 error schema-type']],
  ['an unknown policy', 'zones:\n  - policy: upsert\n', ['2:13 error schema-value']],
  ['a misspelt policy', 'zones:\n  - policy: snyc\n', ['2:13 error schema-value (Did you mean "sync"?)']],
  ['a percentage above 100', 'safety: {max_delete_percent: 101}\n', ['1:30 error schema-value']],
  ['an unreadable duration', 'defaults: {ttl_sec: 5x}\n', ['1:21 error schema-value']],
  ['too long a duration', 'defaults: {ttl_sec: 99999w}\n', ['1:21 error ttl-invalid']],
  [
    'a provider name with a space',
    'providers: {my cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n',
    ['1:13 error schema-value (use letters, digits, hyphens, underscores and dots)'],
  ],
  [
    'a target that is not a provider',
    'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\nzones:\n  - {files: a.yaml, targets: [cluod]}\n',
    ['3:31 error provider-unknown (Did you mean "cloud"?)'],
  ],
  [
    'invalid name servers',
    "nameservers: ['192.0.2.53:99999', '[2001:db8::53]:5353', ns1.example.com]\nzones: [{nameservers: ['a b', 192.0.2.53]}]\n",
    [
      '1:15 error schema-value (write an address or a name, such as 192.0.2.53, [2001:db8::53]:5353 or ns1.example.com)',
      '2:24 error schema-value (write an address or a name, such as 192.0.2.53, [2001:db8::53]:5353 or ns1.example.com)',
    ],
  ],
  ['an invalid zone name', 'zones:\n  - zone: a..b\n', ['2:11 error zone-name']],
  ['a token in plain text', 'providers:\n  c: {type: cloud, preset: linode, token: abcdef}\n', ['2:43 warning secret-in-config']],
  [
    'a password in a URL',
    'providers:\n  c: {type: cloud, token: env:T, base_url: "https://u:p@host.example/"}\n',
    ['2:44 warning secret-in-config (write env:NAME or file:PATH instead)'],
  ],
  ['an invalid mail address', 'defaults: {soa_email: a@b@example.com}\n', ['1:23 error setting-invalid']],
  ['a mail address too long for an SOA record', `defaults: {soa_email: ${'a'.repeat(64)}@example.com}\n`, ['1:23 error setting-invalid']],
  ['a duplicate key', 'journal: a\njournal: b\n', ['2:1 error yaml-duplicate-key']],
  [
    'several errors at once',
    'zone: 1\nsafety: 3\njournal: []\n',
    ['1:1 error schema-unknown-key (Did you mean "zones"?)', '2:9 error schema-type', '3:10 error schema-type'],
  ],
])('%s', (_, text, expected) => expectProblems(short(text).sort(), expected))

it('never shows a secret', () => {
  const { diagnostics } = read('providers: {c: {type: cloud, token: hunter2hunter2, password: [hunter2hunter2]}}\ntoken: hunter2hunter2\n')
  expect(diagnostics.length).toBeGreaterThan(0)
  expect(JSON.stringify(diagnostics)).not.toContain('hunter2')
})

it('accepts keys that are special in JavaScript', () => {
  expect(read('__proto__: {journal: x}\n').diagnostics.map(({ code }) => code)).toEqual(['schema-unknown-key'])
})

it('returns a config with warnings, but none with errors', () => {
  expect(read('providers: {c: {type: cloud, preset: linode, token: abc}}').config).not.toBeNull()
  expect(read('zones: [{targets: [nowhere]}]').config).toBeNull()
  expect(read('a: [').config).toBeNull()
})
