import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { checkZone, findTool } from '../support/tools.ts'
import { filesBelow } from './scene.ts'

const ZONE = `domain: example.com
soa_email: First.Last@example.com
ttl_sec: 300
records:
  '':
    - {type: NS, values: [ns1, ns2.example.net.]}
    - {type: MX, value: {preference: 10, exchange: mail}}
    - {type: TXT, value: 'a, "b"; c \\ é'}
  ns1: {type: A, ttl: 3600, value: 192.0.2.1}
  mail: {type: A, value: 192.0.2.2}
  -odd: {type: TXT, value: =1+1}
  =cmd: {type: CNAME, value: +x.example.net.}
  key: {type: OPENPGPKEY, value: '${Buffer.from([0xfb, 0xef, 0xbe]).toString('base64')}'}
`

const run = (cwd: string, ...args: string[]) => cli(args, { cwd })

it.each(['zonefile', 'octodns', 'dnscontrol', 'json', 'csv'])('export %s reports addresses from an inventory', async (format) => {
  const web = 'domain: example.com\nrecords: {a: {type: A, value: 192.0.2.1}, web: {type: AAAA, from: {instances: {tag: web}}}}\n'
  const cwd = folderWith({ 'zones/example.com.yaml': web })
  const what = expect.stringMatching(/error\[export-lossy\] web\.example\.com\. AAAA: .* values that are read/)
  expect(await run(cwd, 'export', format, '-o', 'out')).toMatchObject({ status: 1, stderr: what })
  expect(Object.keys(filesBelow(cwd))).toEqual(['zones/example.com.yaml'])
  expect((await run(cwd, 'export', format, '-o', 'out', '--lossy')).status).toBe(0)
})

it.each(['zonefile', 'octodns', 'dnscontrol'])('export %s: NS records of the apex that are managed are in the file', async (format) => {
  const exported = async (more: string) =>
    run(
      folderWith({ 'zones/example.com.yaml': `domain: example.com\n${more}\nrecords: {'': {type: NS, ttl: 300, value: ns1.a.test.}}\n` }),
      'export',
      ...[format, '-o', 'out'],
    )
  const managed = await exported('apex_ns: manage')
  expect([managed.status, managed.stderr]).toEqual([0, expect.stringMatching(/warning\[export-lossy\] example\.com\.: .* apex_ns: manage/)])
  const collected = await exported('apex_ns: all-targets')
  expect([collected.status, collected.stderr]).toEqual([1, expect.stringMatching(/error\[export-lossy\] .* apex_ns: all-targets/)])
})

it('export reports disabled definitions', async () => {
  const cwd = folderWith({
    'zonewright.yaml':
      'zones:\n  - {files: zones/off.example.yaml, enabled: false}\n  - {files: zones/*.yaml, zone: [own.example, example.com]}\n',
    'zones/example.com.yaml': ZONE,
    'zones/off.example.yaml': 'domain: off.example\nrecords: {a: {type: A, value: 192.0.2.1}}\n',
    'zones/own.example.yaml': 'domain: own.example\nenabled: false\nrecords: {a: {type: A, value: 192.0.2.1}}\n',
    'zones/other.test.yaml': 'domain: other.test\nrecords: {a: {type: A, value: 192.0.2.1}}\n',
  })
  const { status, stdout, stderr } = await run(cwd, 'export', 'zonefile', '-o', 'out')
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'out/example.com.zone\n' })
  for (const file of ['off.example', 'own.example', 'other.test']) expect(stderr).toContain(`zones/${file}.yaml was not exported`)
  expect((await run(cwd, 'export', 'zonefile', 'example.com', '--dry-run')).stderr).not.toContain('was not exported')
})

it('export reports the policy of a rule, except DNSControl, which supports it', async () => {
  const rules = (policy: string): string => `zones:\n  - {files: zones/*, policy: ${policy}}\n`
  const cwd = folderWith({
    'zonewright.yaml': rules('upsert-only'),
    'zones/example.com.yaml': 'domain: example.com\nrecords: {a: {type: A, value: 192.0.2.1}}\n',
  })
  for (const format of ['zonefile', 'octodns', 'csv']) {
    const what = expect.stringMatching(/error\[export-lossy\] example\.com\.: \w+ cannot express the policy upsert-only/)
    expect(await run(cwd, 'export', format)).toMatchObject({ status: 1, stderr: what })
  }
  expect((await run(cwd, 'export', 'dnscontrol', '-o', 'out')).status).toBe(0)
  expect(readFileSync(join(cwd, 'out/dnsconfig.js'), 'utf8')).toContain('NO_PURGE')
  expect(JSON.parse((await run(cwd, 'export', 'json')).stdout)).toMatchObject({ zones: [{ policy: 'upsert-only' }] })
  writeFileSync(join(cwd, 'zonewright.yaml'), rules('sync'))
  expect((await run(cwd, 'export', 'csv')).status).toBe(0)
})

describe('export zonefile', () => {
  it('warns of a digest that does not match the file', async () => {
    const zone = (digest: string): string =>
      ZONE.replace("  '':\n", `  '':\n    - {type: ZONEMD, value: {serial: 7, scheme: 1, hash_algorithm: 1, digest: '${digest}'}}\n`)
    const cwd = folderWith({ 'zones/example.com.yaml': zone('00'.repeat(48)) })
    const { stderr } = await run(cwd, 'export', 'zonefile', '--serial', '7', '--quiet')
    const [, digest = ''] = /warning\[zonemd-mismatch\] .* the digest of the records is ([0-9a-f]{96})/.exec(stderr) ?? []
    writeFileSync(join(cwd, 'zones/example.com.yaml'), zone(digest))
    const fitting = await run(cwd, 'export', 'zonefile', '--serial', '7', '-o', 'out')
    expect(fitting).toMatchObject({ status: 0, stderr: expect.not.stringContaining('zonemd') })
    expect(await run(cwd, 'validate', 'out/example.com.zone')).toMatchObject({ status: 0, stdout: expect.not.stringContaining('zonemd') })
    const what = expect.stringMatching(/warning\[zonemd-mismatch\] example\.com\. ZONEMD .* for serial 7; the zone has 1/)
    expect(await run(cwd, 'export', 'zonefile')).toMatchObject({ status: 0, stderr: what })
  })

  it('and import give the same zone', async () => {
    const cwd = folderWith({ 'zones/example.com.yaml': ZONE })
    expect(await run(cwd, 'export', 'zonefile', 'example.com', '-o', 'out')).toMatchObject({ status: 0, stdout: 'out/example.com.zone\n' })
    const text = filesBelow(cwd)['out/example.com.zone'] as string
    expect(text).toMatch(/^\$ORIGIN example\.com\.\n\$TTL 300\n@ {5}300 IN SOA|^\$ORIGIN example\.com\.\n\$TTL 300\n@ +IN SOA/)
    expect(text).toContain('ns1 First\\.Last (')
    const back = await run(cwd, 'import', 'zonefile', 'out/example.com.zone', '-o', 'back')
    expect(back).toMatchObject({ status: 0, stdout: 'back/example.com.yaml\n' })
    const again = folderWith({ 'zones/example.com.yaml': filesBelow(cwd)['back/example.com.yaml'] as string })
    expect((await run(again, 'export', 'zonefile')).stdout).toBe(text)
  })

  it('uses the given name servers and serial if the zone has none', async () => {
    const cwd = folderWith({ 'zones/example.com.yaml': 'domain: example.com\nrecords: {www: {type: A, value: 192.0.2.1}}\n' })
    expectEnd(await run(cwd, 'export', 'zonefile'), 0, { err: 'warning[zone-without-ns]' })
    const options = ['--ns', 'ns1.example.net', '--ns', 'ns2.example.net.', '--serial', '2026010101', '--canonical']
    const result = expectEnd(await run(cwd, 'export', '--to', 'zonefile', ...options), 0, { err: '' })
    expect(result.stdout).toBe(`example.com.	86400	IN	SOA	ns1.example.net. hostmaster.example.com. 2026010101 14400 14400 1209600 86400
example.com.	86400	IN	NS	ns1.example.net.
example.com.	86400	IN	NS	ns2.example.net.
www.example.com.	86400	IN	A	192.0.2.1
`)
  })

  describeWithTools(['named-checkzone'], 'a judge', () => {
    it('accepts the exported zone', async () => {
      expect(findTool('named-checkzone')).not.toBeNull()
      const cwd = folderWith({ 'zones/example.com.yaml': ZONE })
      for (const style of [[], ['--canonical']]) {
        const { stdout } = await run(cwd, 'export', 'zonefile', ...style)
        expect(await checkZone('example.com', stdout)).toMatchObject({ status: 0 })
      }
    })
  })
})

const LOSSY = `domain: example.com
type: master
tags: [production]
soa_email: hostmaster@example.com
policy: upsert-only
targets: [cloud]
unmanaged: [{name: x*}]
records:
  '': [{type: NS, value: ns.example.net.}, {type: ALIAS, value: www.example.net.}]
`

describe('a TTL of 0, which some providers read as the default TTL of the zone', () => {
  const PROVIDER = 'type: cloud, base_url: http://127.0.0.1:9/v4, token: env:NOT_THERE'
  const zone = (targets: string): string =>
    `domain: example.com\n${targets}ttl_sec: 1h\nrecords: {www: {type: A, ttl: 0, value: 192.0.2.1}, x: {type: A, value: 192.0.2.2}}\n`

  it.each([
    ['has such a provider', `providers: {a: {${PROVIDER}}}\ndefaults: {default_ttl: 5m}\n`, '', ''],
    ['has two such providers', `providers: {a: {${PROVIDER}}, b: {${PROVIDER}}}\ndefaults: {default_ttl: 5m}\n`, 'targets: [a, b]\n', ''],
    ['has no provider', 'providers: {}\ndefaults: {default_ttl: 5m}\n', '', '0'],
  ])('is converted if the zone %s', async (_, config, targets, ttl) => {
    const cwd = folderWith({ 'zones/example.com.yaml': zone(targets), 'zonewright.yaml': config })
    const table = await run(cwd, 'export', 'csv', '--lossy')
    expect(table.stdout.split('\r\n').slice(1, 3)).toEqual([
      `example.com.,www.example.com.,A,${ttl},192.0.2.1`,
      'example.com.,x.example.com.,A,300,192.0.2.2',
    ])
    const file = await run(cwd, 'export', 'zonefile', '--lossy', '--canonical')
    expect(file.stdout).toContain(`www.example.com.\t${ttl || '3600'}\tIN\tA\t192.0.2.1\n`)
    expect((await run(cwd, 'export', 'octodns', '--lossy')).stdout).toContain(`www:\n  ttl: ${ttl || '3600'}\n`)
  })
})

describe('unsupported features of a format', () => {
  const DROPPED = ['setting tags', 'selectors of unmanaged records', 'policy upsert-only']
  const cwd = folderWith({ 'zones/example.com.yaml': LOSSY })

  it.each([
    ['zonefile', [...DROPPED, 'ALIAS records, which no name server supports']],
    ['csv', DROPPED],
    ['json', []],
  ] as const)('%s reports them, and exports nothing without --lossy', async (format, dropped) => {
    const strict = await run(cwd, 'export', format)
    expect(strict.stderr.match(/error\[export-lossy\] \S+(?: \S+)?: \w+ cannot express /g) ?? []).toHaveLength(dropped.length)
    for (const what of dropped) expect(strict.stderr).toContain(what)
    expect(strict.status).toBe(dropped.length > 0 ? 1 : 0)
    expect(strict.stdout === '').toBe(dropped.length > 0)
    const lossy = expectEnd(await run(cwd, 'export', format, '--lossy'), 0, { out: 'ns.example.net.' })
    // Records do not depend on the targets of a zone.
    for (const { stderr } of [strict, lossy]) expect(stderr.includes('cannot express its targets')).toBe(dropped.length > 0)
    expect(lossy.stderr.match(/warning\[export-lossy\]/g) ?? []).toHaveLength(dropped.length > 0 ? dropped.length + 1 : 0)
  })

  it.each(['zonefile', 'octodns', 'dnscontrol', 'json', 'csv'])('%s reports keys that only octoDNS supports', async (format) => {
    const text = 'www: {type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}\nx: {type: Route53Provider/ALIAS, value: {}}\n'
    const folder = folderWith({ 'zones/example.com.yaml': text })
    expectEnd(await run(folder, 'export', format, '-o', 'out'), 1, {
      err: ['error[export-lossy] www.example.com. A: no target supports "geo"', /error\[export-lossy\] x\.\S+ Route53Provider\/ALIAS: /],
      out: '',
    })
    expect(Object.keys(filesBelow(folder))).toEqual(['zones/example.com.yaml'])
    expectEnd(await run(folder, 'export', format, '-o', 'out', '--lossy'), 0, { err: 'warning[record-extra] www.example.com. A: no' })
  })

  it('a slave zone has no zone file', async () => {
    const slave = folderWith({ 'zones/example.com.yaml': 'domain: example.com\ntype: slave\nmaster_ips: [192.0.2.1]\n' })
    expectEnd(await run(slave, 'export', 'zonefile'), 1, { err: 'a slave zone, whose records come from its masters', out: '' })
  })
})

it('export json matches its schema', async () => {
  const cwd = folderWith({
    'zones/example.com.yaml': LOSSY,
    'zones/example.net.yaml': 'a: {octodns: {excluded: [x]}, type: A, value: 192.0.2.1}\n',
    'zones/example.org.yaml': ZONE.replace('example.com', 'example.org'),
  })
  expect(await run(cwd, 'export', 'json', '-o', 'out/all.json')).toMatchObject({ status: 0, stdout: 'out/all.json\n' })
  const document = JSON.parse(readFileSync(join(cwd, 'out/all.json'), 'utf8'))
  const schema = JSON.parse(readFileSync(new URL('../../schemas/export.schema.json', import.meta.url), 'utf8'))
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema)
  validate(document)
  expect(validate.errors).toBeNull()
  expect(document.zones.map(({ zone }: { zone: string }) => zone)).toEqual(['example.com.', 'example.net.', 'example.org.'])
  expect(document.zones[0]).toMatchObject({ targets: ['cloud'], policy: 'upsert-only', unmanaged: [{ name: 'x*' }] })
  expect(document.zones[1]).toMatchObject({ scopes: [{ name: 'a.example.net.', type: 'A', excluded: ['x'] }] })
})

it('export csv is a table of all records without formulas', async () => {
  const { stdout } = expectEnd(await run(folderWith({ 'zones/example.com.yaml': ZONE }), 'export', 'csv', '--lossy'), 0)
  const rows = stdout.split('\r\n')
  expect(rows).toHaveLength(11)
  for (const row of [
    'zone,name,type,ttl,data',
    'example.com.,\\061cmd.example.com.,CNAME,,\\043x.example.net.',
    'example.com.,\\045odd.example.com.,TXT,,"""=1+1"""',
    'example.com.,key.example.com.,OPENPGPKEY,,\\# 3 fbefbe',
  ])
    expect(rows).toContain(row)
})

describe('destination', () => {
  const files = { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': ZONE.replace('example.com', 'example.net') }

  it.each([
    ['several files on standard output', ['export', 'zonefile'], 'error[usage] standard output takes one file, not 2 files'],
    ['an unknown format', ['export', 'zonefil'], 'error[usage] there is no export format "zonefil" (did you mean "zonefile"?)'],
    ['no format', ['export'], 'error[usage] export needs a format'],
    ['an unknown zone', ['export', 'json', 'example.org'], 'error[zone-unknown]'],
    ['an invalid serial', ['export', 'zonefile', '--serial', '-1'], 'error[usage]'],
    ['an existing file', ['export', 'json', '-o', 'zones/example.com.yaml'], 'error[file-exists] zones/example.com.yaml already exists'],
    ['a file instead of a folder', ['export', 'zonefile', '-o', 'zones/example.com.yaml/x'], 'error[file-unwritable]'],
  ])('refuses %s', async (_, args, message) => {
    const cwd = folderWith(files)
    expect(expectEnd(await run(cwd, ...args), 1, { out: '' }).stderr.toLowerCase()).toContain(message.toLowerCase())
    expect(filesBelow(cwd)).toEqual(files)
  })

  it('lists the files with --dry-run and replaces them with --force', async () => {
    const cwd = folderWith({ ...files, 'out/example.com.zone': 'old' })
    expect((await run(cwd, 'export', 'zonefile', '-o', 'out', '--dry-run')).stdout).toBe('out/example.com.zone\nout/example.net.zone\n')
    expect((await run(cwd, 'export', 'zonefile', '--dry-run')).stdout).toBe('example.com.zone\nexample.net.zone\n')
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out')).toMatchObject({ status: 1, stdout: '' })
    expect(Object.keys(filesBelow(cwd)).filter((path) => path.startsWith('out/'))).toEqual(['out/example.com.zone'])
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out', '--force')).toMatchObject({ status: 0 })
    expect(filesBelow(cwd)['out/example.com.zone']).toMatch(/^\$ORIGIN/)
  })
})

it.each<[string, string, string]>([
  ['CAA', 'sources: [{provider: live, zone: example.net, type: CAA}]', 'CAA'],
  ['any type', 'sources: [{provider: live, zone: example.net}]', 'records-that-are-read-from-live-when-the-zone-is-planned'],
  ['one set', "records: {'': {type: CAA, from: {zone: example.net, provider: live}}}", 'CAA'],
])('export leaves out records of %s that a plan would read only if --lossy names them', async (_, text, name) => {
  const config = 'providers: {live: {type: zonefile, directory: served}}\n'
  const cwd = folderWith({ 'zones/example.com.yaml': `domain: example.com\n${text}\n`, 'zonewright.yaml': config })
  expectEnd(await run(cwd, 'export', 'octodns', '-o', 'out', '--lossy'), 1, { err: `--lossy must name it: --lossy=${name} leaves it out` })
  expectEnd(await run(cwd, 'export', 'octodns', '-o', 'out', '--lossy', `--lossy=${name}`), 0)
})

it('export dnscontrol leaves out a CAA record only if --lossy names it', async () => {
  const records = "'a\\.b': [{type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}, {type: A, value: 192.0.2.1}]"
  const cwd = folderWith({ 'zones/example.com.yaml': `domain: example.com\nrecords: {${records}}\n`, 'zonewright.yaml': 'providers: {}\n' })
  const refused = expectEnd(await run(cwd, 'export', 'dnscontrol', '-o', 'out', '--lossy'), 1, { err: 'others may do more without it' })
  expect(refused.stderr.match(/error\[.*/g)).toEqual([expect.stringMatching(/ CAA: .*--lossy=CAA leaves it out/)])
  expectEnd(await run(cwd, 'export', 'dnscontrol', '-o', 'out', '--lossy', '--lossy=CAA'), 0, { err: 'warning[export-lossy]' })
})
