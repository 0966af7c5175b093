import { expect, it, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { queryDns } from '../../src/transport/dns-client.ts'
import { eventually } from '../service/transfers/eventually.ts'
import { record, scriptedMaster, serving, soa } from '../service/transfers/scripted-master.ts'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene } from './scene.ts'
import { openServiceScene } from './service-scene.ts'
import { folderOf, run } from './zone-file-folder.ts'

const zone = (times: string): string =>
  `@ 300 SOA ns1.example.net. h.example.com. 7 ${times}\n@ 300 NS ns1.example.net.\nwww 300 A 192.0.2.1\n`

const PROVIDER = '{type: cloud, base_url: "http://127.0.0.1:9/v4", token: env:TOKEN}'
const CONFIG = `providers: {cloud: ${PROVIDER}, other: ${PROVIDER}}\nzones:\n  - {files: zones/other/*, targets: [other]}\n  - {files: zones/*, targets: [cloud]}\n`

it('import warns once, with the number of zones, that the target does not support fields of the SOA record', async () => {
  const [a, b] = [zone('0 3600 9 300'), zone('7200 3600 1209600 300')]
  const cwd = folderOf({ 'zonewright.yaml': CONFIG, 'in/a.example.zone': a, 'in/b.example.zone': b })
  const { stderr } = expectEnd(await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones'), 0)
  expect(stderr.match(/warning/g)).toEqual(['warning'])
  expect(stderr).toContain('warning[setting-unsupported] 2 zones: cloud does not support the primary, the serial and a time of 0')
  expect((await run(cwd, 'import', 'zonefile', 'in', 'b.example', '-o', 'zones/other')).stderr).toContain('1 zone: other does not support')
  expect((await run(cwd, 'import', 'zonefile', 'in', '-o', 'elsewhere')).stderr).not.toContain('warning')
})

it.each([
  ['a zone file', { 'zones/example.com.zone': zone('0 3600 1209600 0') }],
  [
    'a definition',
    {
      'zones/example.com.yaml':
        'domain: example.com\nsoa_email: h@example.com\nretry_sec: 3600\nexpire_sec: 1209600\nsoa: {primary: ns1.example.net., serial: 7, refresh: 0, minimum: 0}\nrecords: {www: {type: A, ttl: 300, value: 192.0.2.1}}\n',
    },
  ],
])('a plan for the cloud stores the shortest time for 0, says so, and is empty afterwards: %s', async (_, files) => {
  const scene = openScene({ files })
  const applied = expectEnd(await scene.run('apply', '--yes'), 0, { out: /refresh_sec +300/ })
  expect(applied.stdout + applied.stderr).toContain('cloud stores refresh_sec 300 for example.com., not 0')
  expect(applied.stdout).not.toMatch(/primary|serial/)
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0, stdout: expect.stringContaining('No changes') })
})

it('a time in soa replaces the default of the config', async () => {
  const cwd = folderOf({
    'zonewright.yaml': `providers: {cloud: ${PROVIDER}}\ndefaults: {refresh_sec: 3600, retry_sec: 3600}\n`,
    'zones/example.com.yaml': 'domain: example.com\nsoa: {refresh: 0}\nrecords: {www: {type: A, value: 192.0.2.1}}\n',
  })
  const { stdout } = await run(cwd, 'export', 'json')
  expect(JSON.parse(stdout).zones[0]).toMatchObject({ soa: { refresh: 0 }, settings: { retry_sec: 3600 } })
  expect(JSON.parse(stdout).zones[0].settings).not.toHaveProperty('refresh_sec')
})

it.each([
  ['{primary: ns1.example.net}', 'error[setting-invalid] example.com.: soa.primary: "ns1.example.net" is ambiguous'],
  ['{serial: -1}', 'soa.serial'],
  ['{serial: 4294967296}', 'soa.serial: 4294967296 is more than 4294967295'],
  ['{serial: 010}', 'soa.serial: 010 begins with a zero'],
  ['{refresh: 1x}', 'soa.refresh: "1x" is not a number of seconds'],
  ['{ttl: 2147483648}', 'soa.ttl: 2147483648 is more than 2147483647'],
  ['{mbox: a.}', 'mbox'],
  ['[ns1]', 'soa'],
])('soa: %s is an error', async (soa, message) => {
  const cwd = folderOf({ 'example.com.yaml': `domain: example.com\nsoa: ${soa}\nrecords: {www: {type: A, value: 192.0.2.1}}\n` })
  expect(expectEnd(await run(cwd, 'validate', 'example.com.yaml'), 1, { out: message }).stdout.match(/error\[/g)).toHaveLength(1)
})

it('fmt puts the fields in order', async () => {
  const cwd = folderOf({ 'example.com.yaml': 'domain: example.com\nsoa: {serial: 1, primary: ns1}\nttl_sec: 300\nrecords: {}\n' })
  expect(await run(cwd, 'fmt', 'example.com.yaml')).toMatchObject({ status: 0 })
  expect((await run(cwd, 'fmt', '--check', 'example.com.yaml')).stdout).toBe('')
})

const slave = (more = ''): string => `domain: example.test\ntype: slave\nmaster_ips: [127.0.0.1]\n${more}`

test('is planned, applied and verified only by its settings', async () => {
  const apex = [soa(7), record('example.test.', 'NS', 'ns1.example.net.')] as const
  const peerPort = await scriptedMaster(serving([...apex, record('www.example.test.', 'A', '192.0.2.1'), record('x.test.', 'TXT', '"x"')]))
  const scene = await openServiceScene({ files: { 'zones/example.test.yaml': slave() }, peerPort })
  const [zone] = JSON.parse((await scene.run('plan', '--format', 'json')).stdout).zones
  expect(zone.calls).toEqual({ create: 1, update: 0, delete: 0, total: 1 })
  expect(zone.changes).toMatchObject([{ subject: 'domain', action: 'create' }])
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  // Transferred records are not differences from the definition.
  await eventually(async () => {
    const server = { host: '127.0.0.1', port: scene.service.dnsAddress?.port ?? 0 }
    expect((await queryDns(server, { name: 'www.example.test.' as DomainName, type: 'A' })).answers).toMatchObject([{ data: '192.0.2.1' }])
  })
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  expect(await scene.run('verify')).toMatchObject({ status: 0, stderr: '' })

  scene.write({ 'zones/example.test.yaml': slave('axfr_ips: [192.0.2.1]\n') })
  const { stdout } = expectEnd(await scene.run('plan', '--format', 'json', '--detailed-exitcode'), 2)
  expect(JSON.parse(stdout).zones[0].changes).toMatchObject([{ subject: 'domain', action: 'update', fields: ['axfr_ips'] }])
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
})

test('with records in its definition, or without masters, is refused before any call', async () => {
  const records = slave('records:\n  www: {type: A, value: 192.0.2.1}\n')
  const scene = openScene({ files: { 'zones/example.test.yaml': records } })
  expect(await scene.run('plan')).toMatchObject({ status: 1, stderr: expect.stringContaining('a slave zone cannot define records') })
  scene.write({ 'zones/example.test.yaml': 'domain: example.test\ntype: slave\n' })
  expect(await scene.run('plan')).toMatchObject({ status: 1, stderr: expect.stringContaining('needs master_ips') })
  expect(scene.memory.writes()).toEqual([])
})

test('cannot become a master, nor a master a slave', async () => {
  const scene = await openLiveScene({ files: { 'zones/example.test.yaml': slave() } })
  scene.write({ 'zones/example.test.yaml': 'domain: example.test\ntype: master\nsoa_email: a@example.test\nrecords: {}\n' })
  expect(await scene.run('plan')).toMatchObject({ status: 1, stderr: expect.stringContaining('setting-invalid') })
})
