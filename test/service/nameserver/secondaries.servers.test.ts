/**
 * BIND, NSD and Knot as secondaries of the service, each at its own address, updated only by NOTIFY: the SOA refresh is hours. The result is the zone that
 * each transfers. transfers/interop.servers.test.ts has random changes, IXFR and keys.
 */
import { beforeAll, expect, test } from 'vitest'
import type { RunningService } from '../../../src/service/index.ts'
import { startBind, startKnot, startNsd, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWithTools } from '../../support/skip.ts'
import { type Client, LOOPBACK, MASTER, startForTest } from '../harness.ts'
import { eventually } from '../transfers/eventually.ts'
import { serialIn, zoneAt } from '../transfers/transferred-zone.ts'

const MAKES = [
  { name: 'NSD', start: startNsd, host: '127.0.0.21' },
  { name: 'Knot', start: startKnot, host: '127.0.0.22' },
  // BIND listens only at addresses that an interface lists.
  { name: 'BIND', start: startBind, host: '127.0.0.1' },
] as const

const AXFR_IPS = MAKES.map(({ host }) => host)
const portOf = ({ dnsAddress }: RunningService): number => dnsAddress?.port ?? 0

describeWithTools(['named', 'knotd', 'nsd', 'dig'], 'secondaries', () => {
  let service: RunningService
  let client: Client
  let peerPort = 0
  let main = 0
  let year = 2026
  const begun = Date.now()

  const createDomain = async (domain: string): Promise<number> =>
    (await client.ok('POST', '/domains', { ...MASTER, domain, axfr_ips: AXFR_IPS })).id
  const change = (settings: object) => client.ok('PUT', `/domains/${main}`, settings)
  let added = 0
  const addRecord = () => {
    added += 1
    return client.ok('POST', `/domains/${main}/records`, { type: 'TXT', target: `text ${added}` })
  }

  /** Our zone; empty if it is not served. */
  const ours = async (zone: string): Promise<string[]> => {
    await service.flush()
    return zoneAt('127.0.0.1', portOf(service), zone)
  }

  /** Expects our zone on every secondary; returns its serial. */
  const inSync = async (zone: string): Promise<number> => {
    const expected = await ours(zone)
    const serial = serialIn(expected)
    for (const { name, host } of MAKES) {
      await waitForZone(peerPort, zone, { host, serial })
      // An old process of NSD may still serve the previous zone for a moment.
      await eventually(async () => expect({ name, zone: await zoneAt(host, peerPort, zone) }).toEqual({ name, zone: expected }))
    }
    return serial
  }

  beforeAll(async () => {
    peerPort = await freePort()
    const clock = () => Date.UTC(year, 5, 1) + Date.now() - begun
    const started = await startForTest({ dns: LOOPBACK, peerPort, clock })
    service = started.service
    client = started.client
    main = await createDomain('main.example')
    // The service has the last two only later.
    const secondaryZones = ['main.example', 'other.example', 'renamed.example'].map((name) => ({ name, primaryPort: portOf(service) }))
    await Promise.all(MAKES.map(({ start, host }) => start({ host, port: peerPort, secondaryZones })))
  })

  test('follow records, zone settings, and a domain created while they run', async () => {
    await inSync('main.example')
    await addRecord()
    await inSync('main.example')
    await change({ soa_email: 'other@example.com', ttl_sec: 3600, refresh_sec: 7200 })
    await createDomain('other.example')
    await inSync('main.example')
    await inSync('other.example')
  })

  test('follow a domain to another name, and back', async () => {
    await change({ domain: 'renamed.example' })
    await inSync('renamed.example')
    await change({ domain: 'main.example' })
    await addRecord()
    await inSync('main.example')
  })

  test('follow a domain that is disabled and enabled again', async () => {
    await change({ status: 'disabled' })
    expect(await ours('main.example')).toEqual([])
    await addRecord()
    await change({ status: 'active' })
    await inSync('main.example')
  })

  test('follow a domain that is deleted and created again, with continuing serials', async () => {
    const before = await inSync('main.example')
    await client.ok('DELETE', `/domains/${main}`)
    expect(await ours('main.example')).toEqual([])
    main = await createDomain('main.example')
    await addRecord()
    expect(await inSync('main.example')).toBeGreaterThan(before)
  })

  test('follow serials across the wraparound', async () => {
    let serial = 0
    // The serial starts with the year: 4294 is near the maximum, 4295 above it. No step exceeds half the serial space.
    for (year of [3500, 4294, 4295]) {
      await addRecord()
      serial = await inSync('main.example')
    }
    expect(serial).toBeLessThan(2_000_000)
  })

  test('that are removed get no NOTIFY and no transfer', async () => {
    await change({ axfr_ips: AXFR_IPS.slice(1) })
    const before = serialIn(await zoneAt('127.0.0.1', peerPort, 'main.example'))
    await addRecord()
    const after = serialIn(await ours('main.example'))
    expect(after).toBeGreaterThan(before)
    for (const { host } of MAKES.slice(1)) await waitForZone(peerPort, 'main.example', { host, serial: after })
    expect(serialIn(await zoneAt(MAKES[0].host, peerPort, 'main.example'))).toBe(before)
  })
})
