import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { queryDns } from '../../src/transport/dns-client.ts'
import { eventually } from '../service/transfers/eventually.ts'
import { record, scriptedMaster, serving, soa } from '../service/transfers/scripted-master.ts'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

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
