/** `cutover` from the service to Knot DNS, below a parent zone of another BIND, with a clock that the test moves. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { type DnsServer, startBind, startKnot, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { dig } from '../support/tools.ts'
import { TOKEN } from './scene.ts'
import { callService, openServiceScene, type ServiceScene } from './service-scene.ts'

const soa = (serial: number, ...servers: string[]): string =>
  `@ SOA ns1.example.net. hostmaster.example.net. ${serial} 14400 14400 1209600 300\n${servers.map((server) => `@ NS ${server}.example.net.\n`).join('')}`
const parentZone = (serial: number, records: string): string => `$TTL 3600\n${soa(serial, 'ns1')}${records}`
const FORMER = 'example 7200 NS ns1.linode.com.\nexample 7200 NS ns2.linode.com.\n'
const NEW = 'example 7200 NS ns7.example.net.\nexample 7200 NS ns8.example.net.\n'
const DS = `example 600 DS 12345 13 2 ${'ab'.repeat(32)}\n`

const ZONE = `domain: example.test
soa_email: hostmaster@example.net
records:
  '': {type: A, value: 192.0.2.1}
  mail: {type: A, ttl: 300, values: [192.0.2.2, 192.0.2.3]}
  www: {type: CNAME, value: '@'}
`

interface Move {
  readonly scene: ServiceScene
  readonly own: DnsServer
  readonly parent: DnsServer
  /** Runs a command some seconds after the start. */
  at(seconds: number, ...args: string[]): Promise<CliResult>
  cutover(seconds: number, ...args: string[]): Promise<CliResult>
}

async function open(delegation: string): Promise<Move> {
  const own = await startKnot({ zones: [{ name: 'example.test', text: `$TTL 3600\n${soa(1, 'ns7', 'ns8')}` }], key: TEST_KEY })
  const parent = await startBind({ zones: [{ name: 'test', text: parentZone(1, delegation) }] })
  const scene = await openServiceScene({
    files: { 'zones/example.test.yaml': ZONE },
    config: 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n',
  })
  const config = scene.config()
  const lab = `{type: rfc2136, server: '127.0.0.1:${own.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
  scene.write({ 'zonewright.yaml': config.replace(/^providers:\n/, `providers:\n  own: ${lab}\n`) })
  const env = { ZONEWRIGHT_TOKEN: TOKEN, LAB_KEY: TEST_KEY.secret }
  const at: Move['at'] = (seconds, ...args) => {
    const now = () => new Date(Date.UTC(2026, 10, 23) + seconds * 1000)
    return cli([...args, '--no-color'], { cwd: scene.folder, env, now })
  }
  const servers = [
    ['--from-server', `127.0.0.1:${scene.service.dnsAddress?.port}`],
    ['--to-server', `127.0.0.1:${own.port}`],
    ['--parent-server', `127.0.0.1:${parent.port}`],
    ['--apex-ns', 'ns7.example.net', '--apex-ns', 'ns8.example.net'],
  ].flat()
  const cutover: Move['cutover'] = (seconds, ...args) =>
    at(seconds, 'cutover', 'example.test', '--from', 'cloud', '--to', 'own', '--yes', ...servers, ...args)
  expect((await at(0, 'apply', '--yes')).status).toBe(0)
  return { scene, own, parent, at, cutover }
}

const states = ({ scene }: Move): string[] => readdirSync(join(scene.folder, '.zonewright/cutovers'))

describeWithTools(['named', 'knotd', 'dig'], 'cutover', () => {
  test('lowers, waits, copies, compares, waits for the parent, waits for caches and restores', async () => {
    const move = await open(FORMER)
    const { cutover, own, parent } = move
    expectEnd(await cutover(0), 2, { err: ['step 1 of 6, lower', 'Safe to go on after 2026-11-24 00:00:0'] })

    expectEnd(await cutover(80_000), 2, { err: 'waits until caches have forgotten', out: '' })

    expectEnd(await cutover(86_410), 2, {
      err: [
        'Both sides answer alike: 3 record sets queried',
        /- ns1\.linode\.com\.\n {2}- ns2\.linode\.com\.\n {2}\+ ns7\.example\.net\.\n {2}\+ ns8\.example\.net\.\n/,
      ],
    })
    expect(await dig({ port: own.port, name: 'example.test', type: 'A' })).toEqual(['192.0.2.1'])
    expect((await dig({ port: own.port, name: 'example.test', type: 'NS' })).sort()).toEqual(['ns7.example.net.', 'ns8.example.net.'])

    parent.replaceZone('test', parentZone(2, NEW))
    await expect.poll(async () => (await cutover(86_500)).stderr).toContain('The parent delegates example.test. to own')
    expectEnd(await cutover(86_500 + 7100), 2, { err: 'step 5 of 6 (drain) waits' })
    expectEnd(await cutover(86_500 + 7300), 0, { err: 'example.test. has moved to own' })
    expect(states(move)).toEqual([])
    // As after a kill at the very end, when nobody knows whether it is complete.
    expectEnd(await cutover(86_500 + 7400), 0, { err: 'The parent delegates example.test. to own already: nothing is left to move.' })
    expect(await dig({ port: own.port, name: 'example.test', type: 'NS', options: ['+noall', '+answer'] })).toEqual(
      expect.arrayContaining([expect.stringMatching(/\s86400\s+IN\s+NS\s/)]),
    )
  })

  test('DS records at the parent have to go first', async () => {
    const { cutover, parent } = await open(FORMER + DS)
    expect((await cutover(0)).status).toBe(2)
    const signed = expectEnd(await cutover(90_000), 2, { err: 'Now remove the DS records of example.test.' })
    expect(signed.stderr).not.toContain('ns7.example.net')
    parent.replaceZone('test', parentZone(2, FORMER))
    await expect.poll(async () => (await cutover(90_100)).stderr).toMatch(/step 4 of 6 \(delegate\) waits/)
    expect((await cutover(90_100 + 7300)).stderr).toContain('+ ns7.example.net.')
  })

  test('a change of the zone after the copy is copied, and an answer that differs stops the move', async () => {
    const { cutover, own, scene } = await open(FORMER)
    expect((await cutover(0)).status).toBe(2)
    expect((await cutover(90_000)).stderr).toContain('+ ns7.example.net.')
    const { data } = await callService<{ data: { id: number }[] }>(scene, 'GET', '/domains')
    await callService(scene, 'POST', `/domains/${data[0]?.id}/records`, { type: 'A', name: 'new', target: '192.0.2.77' })
    expectEnd(await cutover(90_100), 2, { err: 'it is copied again' })
    expect(await dig({ port: own.port, name: 'new.example.test', type: 'A' })).toEqual(['192.0.2.77'])
  })

  test('an answer that differs stops the move, and --abort restores the TTLs', async () => {
    const { cutover, at, own } = await open(FORMER)
    expect((await cutover(0)).status).toBe(2)
    const elsewhere = await startBind({
      zones: [{ name: 'example.test', text: `$TTL 60\n${soa(1, 'ns1')}@ A 192.0.2.1\nwww A 192.0.2.66\n` }],
    })
    expectEnd(await cutover(90_000, '--to-server', `127.0.0.1:${elsewhere.port}`), 2, {
      err: [`www CNAME at 127.0.0.1 port ${elsewhere.port}: no records; at cloud: CNAME`, 'nothing moves before all are alike'],
    })
    expect(await dig({ port: own.port, name: 'www.example.test', type: 'CNAME' })).toEqual(['example.test.'])
    expectEnd(await cutover(90_001, '--abort'), 0, { err: 'the TTLs at cloud are as before' })
    expect((await at(90_002, 'plan', '--detailed-exitcode')).status).toBe(0)
  })

  test('name servers that the environment does not allow are not asked', async () => {
    const { scene, own, parent } = await open(FORMER)
    const { dnsAddress } = scene.service
    // The service names its servers in the rendered zone, which follows the records in its own time.
    const served = { port: dnsAddress?.port as number, name: 'example.test', type: 'NS' }
    await expect.poll(() => dig(served)).not.toEqual([])
    const env = {
      ZONEWRIGHT_TOKEN: TOKEN,
      LAB_KEY: TEST_KEY.secret,
      ZONEWRIGHT_ALLOWED_HOSTS: `${new URL(scene.proxy.origin).host},127.0.0.1:${own.port},127.0.0.1:${parent.port},127.0.0.1:${dnsAddress?.port}`,
    }
    const args = ['cutover', 'example.test', '--from', 'cloud', '--to', 'own', '--yes', '--no-color']
    expectEnd(await cli(args, { cwd: scene.folder, env }), 1, { err: /host-not-allowed\] example\.test\.: ns1\.zonewright\.test/ })
    const named = await cli([...args, '--parent-server', '127.0.0.1:9'], { cwd: scene.folder, env })
    expect([named.status, named.stderr]).toEqual([1, expect.stringContaining('host-not-allowed] --parent-server')])
  })

  test('nothing is lowered if no name server of the previous provider can be asked', async () => {
    const { scene, at, parent } = await open(FORMER)
    const args = ['cutover', 'example.test', '--from', 'cloud', '--to', 'own', '--yes', '--parent-server', `127.0.0.1:${parent.port}`]
    expectEnd(await at(0, ...args, '--from-server', '127.0.0.1:1'), 1, {
      err: /nameserver-failed\] example\.test\.: .*127\.0\.0\.1 port 1.*--from-server/,
    })
    expect(scene.proxy.requests.filter(({ method }) => method === 'PUT')).toEqual([])
  })

  test('wrong names and addresses are errors before anything is asked', async () => {
    const { at } = await open(FORMER)
    expectEnd(await at(0, 'cutover', 'example.test'), 1, { err: 'name both providers with --from and --to' })
    const address = await at(0, 'cutover', 'example.test', '--from', 'cloud', '--to', 'own', '--parent-server', 'http://x')
    expect([address.status, address.stderr]).toEqual([1, expect.stringContaining('--parent-server "http://x" is not an address')])
    const none = await at(0, 'cutover', 'example.test', '--abort', '--from', 'cloud', '--to', 'own')
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('no cutover of example.test. is in progress')])
  })
})
