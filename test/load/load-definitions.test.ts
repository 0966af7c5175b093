import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { isError } from '../../src/base/diagnostic.ts'
import { defaultConfig } from '../../src/config/read-config.ts'
import { findDefinitions } from '../../src/load/find-definitions.ts'
import { type LoadOptions, loadDefinitions } from '../../src/load/load-definitions.ts'
import { addFiles, configIn, folderWith, places } from '../definition/files.ts'

const ONE_PROVIDER = 'providers: {cloud: {type: cloud, base_url: http://127.0.0.1:1, token: env:T}}\n'
const TWO_PROVIDERS =
  'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}, lab: {type: cloud, preset: linode, token: env:LAB}}\n'

const zoneOf = (name: string, more = ''): string => `domain: ${name}\n${more}records:\n  www: {type: A, value: 192.0.2.1}\n`

async function load(files: Readonly<Record<string, string>>, options: LoadOptions = {}) {
  const folder = folderWith({ 'zonewright.yaml': ONE_PROVIDER, ...files })
  return loadDefinitions(await configIn(folder), options)
}

it('finds definitions of every kind below zones/', async () => {
  const { zones, diagnostics, files } = await load({
    'zones/example.com.yaml': zoneOf('example.com'),
    'zones/team/a.yml': zoneOf('example.org'),
    'zones/example.net.yaml': "'':\n  type: A\n  value: 192.0.2.1\n",
    'zones/2.0.192.in-addr.arpa.zone': '$TTL 300\n@ IN NS ns.dns.example.\n1 IN PTR www.example.com.\n',
    'zones/db.example.edu': '$TTL 300\n@ SOA ns.dns.example. host\\.master.example.edu. 7 7200 600 86400 300\n  NS ns.dns.example.\n',
    'zones/any.db': '$ORIGIN origin.example.\n$TTL 60\nwww A 192.0.2.9\n',
    'zones/split.example./$split.example.yaml': "'':\n  type: A\n  value: 192.0.2.5\n",
    'zones/split.example./www.yaml': 'www:\n  type: CNAME\n  value: split.example.\n',
    'zones/README.md': '# text\n',
    'zones/.hidden.yaml': 'a: [',
    'zones/.git/config.yaml': 'a: [',
  })
  expect(places(diagnostics)).toEqual([])
  expect(zones.map(({ zone, files: from, targets }) => [zone.name, zone.records.length, from, targets])).toEqual([
    ['2.0.192.in-addr.arpa.', 2, ['zones/2.0.192.in-addr.arpa.zone'], ['cloud']],
    ['origin.example.', 1, ['zones/any.db'], ['cloud']],
    ['example.edu.', 1, ['zones/db.example.edu'], ['cloud']],
    ['example.com.', 1, ['zones/example.com.yaml'], ['cloud']],
    ['example.net.', 1, ['zones/example.net.yaml'], ['cloud']],
    ['split.example.', 2, ['zones/split.example./$split.example.yaml', 'zones/split.example./www.yaml'], ['cloud']],
    ['example.org.', 1, ['zones/team/a.yml'], ['cloud']],
  ])
  expect(files).toHaveLength(8)
  const times = { refresh_sec: 7200, retry_sec: 600, expire_sec: 86400, ttl_sec: 300 }
  expect(zones[2]?.zone.settings).toEqual({ soa_email: 'host.master@example.edu', ...times })
})

it('combines definition, rule and defaults, in this order of precedence', async () => {
  const { zones, diagnostics } = await load({
    'zonewright.yaml': `${TWO_PROVIDERS}zones:
  - {files: zones/lab/*, targets: [lab], policy: upsert-only, allow: [deletes], unsupported: skip, apex_ns: manage, safety: {max_delete_percent: 5}, nameservers: ['192.0.2.53']}
  - {files: zones/**/*.yaml, targets: [cloud]}
defaults: {soa_email: dns@example.com, ttl_sec: 1h, default_ttl: 300, tags: [all]}
safety: {max_delete_percent: 20}
nameservers: [127.0.0.1:5353]
`,
    'zones/a.yaml': zoneOf('a.example', 'soa_email: own@example.com\ntargets: [lab, cloud]\npolicy: create-only\nallow: [updates]\n'),
    'zones/lab/b.yaml': zoneOf('b.example', 'allow: [updates]\n'),
    'zones/lab/c.example.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    'zones/s.yaml': 'domain: s.example\ntype: slave\nmaster_ips: [192.0.2.7]\n',
  })
  expect(places(diagnostics)).toEqual([])
  const [a, b, c, s] = zones
  expect(a).toMatchObject({
    targets: ['lab', 'cloud'],
    policy: 'create-only',
    thresholds: { max_delete_percent: 20, max_update_percent: 30 },
  })
  expect(a?.zone.settings).toEqual({ soa_email: 'own@example.com', ttl_sec: 3600, tags: ['all'] })
  expect([...(a?.allow ?? [])]).toEqual(['updates'])
  expect(a?.nameservers).toEqual(['127.0.0.1:5353'])
  expect(a?.zone.records[0]?.ttl).toBe(300)
  expect(b).toMatchObject({ targets: ['lab'], policy: 'upsert-only', thresholds: { max_delete_percent: 5 } })
  expect(b?.zone).toMatchObject({ unsupported: 'skip', apexNs: 'manage' })
  expect([...(b?.allow ?? [])].sort()).toEqual(['deletes', 'updates'])
  expect(b?.nameservers).toEqual(['192.0.2.53'])
  expect(c?.zone.records[0]?.ttl).toBe(3600)
  expect(s?.zone.settings).toEqual({ type: 'slave', master_ips: ['192.0.2.7'], tags: ['all'] })
})

it('uses the first matching rule', async () => {
  const { zones } = await load({
    'zonewright.yaml': `${TWO_PROVIDERS}zones:
  - {zone: '*.internal.example', targets: [lab]}
  - {zone: off.example, enabled: false}
  - {files: [zones/**, '!zones/old/**'], targets: [cloud]}
`,
    'zones/a.yaml': zoneOf('a.internal.example'),
    'zones/b.yaml': zoneOf('b.example'),
    'zones/off.yaml': zoneOf('off.example'),
    'zones/old/c.yaml': zoneOf('c.example'),
  })
  expect(zones.map(({ zone, targets }) => [zone.name, targets])).toEqual([
    ['a.internal.example.', ['lab']],
    ['b.example.', ['cloud']],
  ])
})

it('uses the zone name of a rule for a single file', async () => {
  const files = { 'dns/web.yaml': 'www: {type: A, value: 192.0.2.1}\n' }
  const config = `${ONE_PROVIDER}zones: [{zone: example.com, files: dns/web.yaml}]\n`
  const { zones, diagnostics } = await load({ 'zonewright.yaml': config, ...files })
  expect(places(diagnostics)).toEqual([])
  expect(zones.map(({ zone }) => zone.name)).toEqual(['example.com.'])
  const other = await load({ 'zonewright.yaml': config, 'dns/web.yaml': zoneOf('example.org') })
  expect(places(other.diagnostics)).toEqual(['dns/web.yaml:1:9 error zone-name'])
  expect(other.zones).toEqual([])
})

it('ignores disabled definitions, even invalid ones', async () => {
  const { zones, diagnostics } = await load({
    'zonewright.yaml': `${ONE_PROVIDER}zones: [{files: zones/off/*, enabled: false}, {files: zones/*}]\n`,
    'zones/off/a.example.yaml': 'a: [',
    'zones/b.yaml': `enabled: false\n${zoneOf('b.example')}`,
    'zones/c.yaml': zoneOf('c.example'),
  })
  expect(places(diagnostics)).toEqual([])
  expect(zones.map(({ zone }) => zone.name)).toEqual(['c.example.'])
})

it('does not load an included file as a zone', async () => {
  const { zones, diagnostics, files } = await load({
    'zones/example.com.yaml': zoneOf('example.com', 'include: [shared/mail.yaml, parts.example.yaml]\n'),
    'zones/shared/mail.yaml': "'': {type: MX, value: {preference: 10, exchange: mail.example.net.}}\n",
    'zones/parts.example.yaml': 'ftp: {type: A, value: 192.0.2.2}\n',
  })
  expect(places(diagnostics)).toEqual([])
  expect(zones.map(({ zone, files: from }) => [zone.name, zone.records.length, from])).toEqual([
    ['example.com.', 3, ['zones/example.com.yaml', 'zones/parts.example.yaml', 'zones/shared/mail.yaml']],
  ])
  expect(files).toEqual(['zones/example.com.yaml', 'zones/parts.example.yaml', 'zones/shared/mail.yaml'])
})

it('reports an error in an included file once', async () => {
  const { diagnostics, zones } = await load({
    'zones/a.example.yaml': zoneOf('a.example', 'include: [shared.yaml]\n'),
    'zones/b.example.yaml': zoneOf('b.example', 'include: [shared.yaml]\n'),
    'zones/shared.yaml': 'x: {type: A, value: 192.0.2.256}\n',
  })
  expect(zones.map(({ valid }) => valid)).toEqual([false, false])
  const problems = diagnostics.filter(({ at }) => at?.file === 'zones/shared.yaml')
  expect(new Set(places(problems))).toEqual(new Set(['zones/shared.yaml:1:21 error value-invalid']))
})

it('refuses includes outside the config folder', async () => {
  const outer = folderWith({
    'secret.yaml': 'x: {type: A, value: 192.0.2.1}\n',
    'fragments/x.yaml': 'x: {type: A, value: 192.0.2.1}\n',
    'project/zonewright.yaml': `${ONE_PROVIDER}zones: [{files: zones/*}]\n`,
    'project/zones/a.yaml': zoneOf('a.example', 'include: [../../secret.yaml]\n'),
    'project/zones/b.yaml': zoneOf('b.example', 'include: [link.txt]\n'),
    'project/zones/c.yaml': zoneOf('c.example', 'include: [../../fragments/x.yaml]\n'),
    'project/zones/d.yaml': zoneOf('d.example', 'include: [/etc/hostname]\n'),
    'project/zones/e.zone': '$INCLUDE ../../secret.yaml\n$ORIGIN e.example.\n',
  })
  symlinkSync('../../secret.yaml', join(outer, 'project/zones/link.txt'))
  const { diagnostics, zones } = await loadDefinitions(await configIn(join(outer, 'project')))
  const invalid = [...new Set(diagnostics.filter(({ severity }) => severity === 'error').map(({ at }) => at?.file))]
  expect(invalid).toEqual(['zones/a.yaml', 'zones/b.yaml', 'zones/c.yaml', 'zones/d.yaml', 'zones/e.zone'])
  expect(zones.filter(({ valid }) => valid)).toEqual([])
})

describe('refuses definitions outside the config folder', () => {
  const files = {
    'other.example.yaml': zoneOf('other.example'),
    'far/far.example.yaml': zoneOf('far.example'),
    'project/zones/a.example.yaml': zoneOf('a.example'),
  }
  const loaded = async (globs: string, link?: (project: string) => void) => {
    const outer = folderWith({ ...files, 'project/zonewright.yaml': `${ONE_PROVIDER}zones:\n  - files: ${globs}\n` })
    const project = join(outer, 'project')
    link?.(project)
    const { zones, diagnostics } = await loadDefinitions(await configIn(project))
    return { zones: zones.map(({ zone }) => zone.name), outside: places(diagnostics.filter(({ code }) => code === 'path-outside')) }
  }
  const refused = { zones: ['a.example.'], outside: ['zonewright.yaml:3:12 error path-outside'] }

  it.each([
    '[../**, zones/*]',
    '[../other.example.yaml, zones/*]',
    '[zones/../../../../../../**/*.yaml, zones/*]',
    '[/etc/**/*.yaml, zones/*]',
    '[../*/far.example.yaml, zones/*]',
  ])('for the globs %s', async (globs) => expect(await loaded(globs)).toEqual(refused))

  it.each([
    ['a file', (project: string) => symlinkSync('../../other.example.yaml', join(project, 'zones/b.example.yaml'))],
    ['a folder', (project: string) => symlinkSync('/etc', join(project, 'zones/etc'))],
    ['a folder of split files', (project: string) => symlinkSync('../../far', join(project, 'zones/far.example.'))],
    [
      'a part of split files',
      (project: string) => {
        mkdirSync(join(project, 'zones/far.example.'))
        symlinkSync('../../../far/far.example.yaml', join(project, 'zones/far.example./www.yaml'))
      },
    ],
  ])('for a link to %s', async (_, link) => expect(await loaded('zones/**/*', link)).toEqual(refused))

  it('but follows links inside the folder, also in cycles', async () => {
    const link = (project: string): void => {
      mkdirSync(join(project, 'more'))
      for (const name of ['x', 'y', 'z']) symlinkSync('..', join(project, 'zones', name))
      symlinkSync('../zones/a.example.yaml', join(project, 'more/b.example.yaml'))
    }
    expect(await loaded('[zones/**/*, more/*]', link)).toMatchObject({ outside: [] })
    expect((await loaded('more/*', link)).zones).toEqual(['a.example.'])
  })

  it('but not a folder that does not exist, of a config that is reached by a link', async () => {
    const link = join(folderWith({}), 'link')
    symlinkSync(folderWith({ 'zonewright.yaml': "zones: [{files: ['zones/*', 'n/*']}]\n", 'zones/a.example.yaml': 'a: {}\n' }), link)
    expect((await findDefinitions(await configIn(link), null)).diagnostics.map(({ code }) => code)).not.toContain('path-outside')
  })

  it('but accepts any path on the command line', async () => {
    const outer = folderWith({ ...files, 'project/zonewright.yaml': ONE_PROVIDER })
    const found = await findDefinitions(await configIn(join(outer, 'project')), [join(outer, 'far')])
    expect(found).toMatchObject({ diagnostics: [], definitions: [{ file: '../far/far.example.yaml' }] })
  })
})

it('refuses two definitions of a zone for one target, and accepts them for two', async () => {
  const rules =
    'zones: [{files: zones/in/*, targets: [lab]}, {files: zones/out/*, targets: [cloud]}, {files: zones/both/*, targets: [lab, cloud]}]\n'
  const split = await load({
    'zonewright.yaml': TWO_PROVIDERS + rules.replace(', {files: zones/both/*, targets: [lab, cloud]}', ''),
    'zones/in/a.yaml': zoneOf('a.example'),
    'zones/out/a.yaml': zoneOf('a.example'),
  })
  expect(places(split.diagnostics)).toEqual([])
  expect(split.zones.map(({ zone, targets, valid }) => [zone.name, targets, valid])).toEqual([
    ['a.example.', ['lab'], true],
    ['a.example.', ['cloud'], true],
  ])
  const twice = await load({
    'zonewright.yaml': TWO_PROVIDERS + rules,
    'zones/in/a.yaml': zoneOf('a.example'),
    'zones/out/b.yaml': zoneOf('b.example'),
    'zones/both/a.yaml': zoneOf('A.Example.'),
  })
  expect(places(twice.diagnostics)).toEqual(['zones/in/a.yaml:1:9 error zone-duplicate'])
  expect(twice.diagnostics[0]?.related?.map(({ at }) => at.file)).toEqual(['zones/both/a.yaml'])
  expect(twice.zones.map(({ zone, valid }) => [zone.name, valid])).toEqual([
    ['a.example.', false],
    ['a.example.', false],
    ['b.example.', true],
  ])
})

it.each(['', '\n\n', '---\n', '# nothing\n', '--- # nothing\n...\n', '\ufeff \n'])(
  'refuses a YAML file without content: %j',
  async (text) => {
    const { diagnostics } = await load({ 'zones/example.com.yaml': text, 'zones/split.example./a.yaml': text })
    expect(places(diagnostics).sort()).toEqual([
      'zones/example.com.yaml:1:1 error definition-empty',
      'zones/split.example./a.yaml:1:1 error definition-empty',
    ])
  },
)

it('accepts an empty mapping, and warns of an empty zone file', async () => {
  const { diagnostics, zones } = await load({
    'zones/example.com.yaml': '{}\n',
    'zones/example.org.yaml': '--- {}\n',
    'zones/example.net.zone': '; nothing\n',
  })
  expect(places(diagnostics)).toEqual(['zones/example.net.zone:1:1 warning definition-empty'])
  expect(zones).toHaveLength(3)
})

it('needs an existing target', async () => {
  const { diagnostics } = await load({
    'zonewright.yaml': TWO_PROVIDERS,
    'zones/a.yaml': zoneOf('a.example'),
    'zones/b.yaml': zoneOf('b.example', 'targets: [cluod]\n'),
  })
  expect(places(diagnostics)).toEqual(['zones/a.yaml:1:9 error target-missing', 'zones/b.yaml:2:11 error provider-unknown'])
})

it('loads definitions without a config', async () => {
  const folder = folderWith({ 'zones/a.yaml': zoneOf('a.example'), 'zones/b.yaml': zoneOf('a.example') })
  const { zones, diagnostics } = await loadDefinitions(defaultConfig({ folder, cwd: folder }))
  expect(zones.map(({ targets }) => targets)).toEqual([[], []])
  expect(places(diagnostics)).toEqual(['zones/b.yaml:1:9 error zone-duplicate'])
})

it('applies the zone rules; lenient makes errors warnings', async () => {
  const { diagnostics } = await load({
    'zones/a.example.yaml': "'': {type: CNAME, value: x.example.}\n",
    'zones/b.example.yaml': "'': {type: CNAME, value: x.example., octodns: {lenient: true}}\n",
  })
  expect(places(diagnostics)).toEqual(['zones/a.example.yaml:1:26 error cname-at-apex', 'zones/b.example.yaml:1:26 warning cname-at-apex'])
})

it('does not report a target as missing if its record has an error', async () => {
  const { diagnostics } = await load({
    'zones/a.yaml': 'domain: a.example\nrecords:\n  www: {type: CNAME, value: web}\n  web: {type: A, value: 192.0.2.300}\n',
  })
  expect(places(diagnostics)).toEqual(['zones/a.yaml:4:25 error value-invalid'])
})

describe('with zone arguments', () => {
  const files = {
    'zones/example.com.yaml': zoneOf('example.com'),
    'zones/b.example.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    'zones/broken.example.yaml': 'www: {type: A, value: 192.0.2.999}\n',
    'zones/c.zone': '$TTL 1h\n$ORIGIN c.example.\nwww A 192.0.2.1\n',
    'zones/flow.yaml': '{domain: flow.example, records: {www: {type: A, value: 192.0.2.1}}}\n',
    'zones/buecher.yaml': zoneOf('bücher.example'),
  }
  test.each<[zones: string[], found: string[], problems: string[]]>([
    [['example.com'], ['example.com.'], []],
    [['Example.COM.', 'b.example'], ['b.example.', 'example.com.'], []],
    [['c.example'], ['c.example.'], []],
    [['flow.example'], ['flow.example.'], []],
    [['xn--bcher-kva.example'], ['xn--bcher-kva.example.'], []],
    [['bücher.example'], ['xn--bcher-kva.example.'], []],
    [['broken.example'], ['broken.example.'], ['zones/broken.example.yaml:1:23 error value-invalid']],
    [['nowhere.example'], [], ['error zone-unknown']],
    [['a..b'], [], ['error zone-name']],
  ])('%j', async (zones, found, problems) => {
    const loaded = await load(files, { zones })
    expect(loaded.zones.map(({ zone }) => zone.name)).toEqual(found)
    expect(places(loaded.diagnostics)).toEqual(problems)
  })

  it('suggests an existing zone', async () => {
    expect((await load(files, { zones: ['exmaple.com'] })).diagnostics[0]?.hint).toContain('example.com.')
  })
})

it('with path arguments accepts files and folders anywhere', async () => {
  const folder = folderWith({
    'zonewright.yaml': `${TWO_PROVIDERS}zones: [{files: zones/*, targets: [lab]}]\n`,
    'zones/a.yaml': zoneOf('a.example'),
    'zones/b.yaml': zoneOf('b.example'),
    'other/c.yaml': zoneOf('c.example', 'targets: [cloud]\n'),
    'notes.txt': 'text',
  })
  const paths = ['zones/a.yaml', 'other', 'notes.txt', 'missing.yaml'].map((path) => join(folder, path))
  const { zones, diagnostics } = await loadDefinitions(await configIn(folder), { paths })
  expect(zones.map(({ zone, targets }) => [zone.name, targets])).toEqual([
    ['c.example.', ['cloud']],
    ['a.example.', ['lab']],
  ])
  expect(places(diagnostics)).toEqual(['error file-format', 'error file-unreadable'])
})

test('many small definitions do not have more repeated records than one may have', { tags: ['long'] }, async () => {
  const files = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((one) => [`zones/${one}.example.zone`, '$TTL 300\n$GENERATE 1-100000 a$ A 192.0.2.1\n']),
  )
  const { zones, diagnostics, described } = await load(files, { lints: false })
  expect(diagnostics.filter(isError)).toMatchObject([{ code: 'file-too-large', message: expect.stringContaining('no further definition') }])
  expect([zones.length, described.isUncertain]).toEqual([5, true])
})

describe('files that are not definitions', () => {
  it('reports missing and binary files', async () => {
    const folder = folderWith({
      'zonewright.yaml': `${ONE_PROVIDER}zones:\n  - files: [zones/gone.yaml, zones/notes.txt]\n  - files: zones/*\n`,
      'zones/notes.txt': 'x',
      'zones/good.yaml': zoneOf('good.example'),
      'zones/not a name.yaml': 'www: {type: A, value: 192.0.2.1}\n',
      'zones/empty.example./README': 'x',
    })
    writeFileSync(join(folder, 'zones/latin.example.yaml'), Buffer.from('caf\xe9: 1\n', 'latin1'))
    writeFileSync(join(folder, 'zones/big.example.yaml'), '')
    truncateSync(join(folder, 'zones/big.example.yaml'), 11 * 1024 * 1024)
    mkdirSync(join(folder, 'zones/folder.yaml'))
    symlinkSync('nowhere', join(folder, 'zones/dangling.example.yaml'))
    symlinkSync('..', join(folder, 'zones/up'))
    const { zones, diagnostics } = await loadDefinitions(await configIn(folder))
    expect(places(diagnostics)).toEqual([
      'zones/big.example.yaml:1:1 error file-too-large',
      'zones/dangling.example.yaml:1:1 error file-unreadable',
      'zones/empty.example.:1:1 error no-definitions',
      'zones/latin.example.yaml:1:1 error file-unreadable',
      'zones/not a name.yaml:1:1 error zone-name',
      'zonewright.yaml:3:12 error file-format',
      'zonewright.yaml:3:12 error file-unreadable',
    ])
    expect(zones.map(({ zone }) => zone.name)).toEqual(['good.example.'])
  })

  it('reports that there are no definitions', async () => {
    const { diagnostics } = await load({})
    expect(places(diagnostics)).toEqual(['error no-definitions'])
  })
})

it('loads thousands of files in seconds', { tags: ['long'] }, async () => {
  const folder = folderWith({ 'zonewright.yaml': ONE_PROVIDER })
  addFiles(
    folder,
    Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`zones/${i % 20}/z${i}.example.yaml`, zoneOf(`z${i}.example`)])),
  )
  const config = await configIn(folder)
  const { zones, diagnostics } = await loadDefinitions(config)
  expect(zones).toHaveLength(2000)
  expect(diagnostics).toEqual([])
  expect((await loadDefinitions(config, { zones: ['z1234.example'] })).zones).toHaveLength(1)
})
