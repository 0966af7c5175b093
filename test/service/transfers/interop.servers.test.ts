/**
 * BIND, Knot and NSD as secondaries of the service and as primaries of its slaves, with keys: access, transfer of changes by
 * IXFR, and equality with the zone from AXFR.
 */
import { beforeAll, expect, test } from 'vitest'
import { type DnsServer, startBind, startKnot, startNsd, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { rounds, seededRandom } from '../../support/random.ts'
import { describeWithTools } from '../../support/skip.ts'
import { nsupdate } from '../../support/tools.ts'
import { eventually } from './eventually.ts'
import { type KeyEntry, type Keyed, startKeyed, toolKey } from './keyed-service.ts'
import { serialIn, zoneAt } from './transferred-zone.ts'

const MAKES = [
  { make: 'BIND', tool: 'named', start: startBind, host: '127.0.0.1' },
  { make: 'Knot', tool: 'knotd', start: startKnot, host: '127.0.0.22' },
  { make: 'NSD', tool: 'nsd', start: startNsd, host: '127.0.0.21' },
] as const

const ALICE: KeyEntry = { name: 'alice-1.example', account: 'alice' }
const BOB: KeyEntry = { name: 'bob-1.example', account: 'bob', algorithm: 'hmac-sha512' }

describeWithTools(['named', 'knotd', 'nsd', 'dig'], 'secondaries with the key', () => {
  let keyed: Keyed
  let peerPort = 0
  let domain = 0
  const servers: DnsServer[] = []

  beforeAll(async () => {
    peerPort = await freePort()
    keyed = await startKeyed([ALICE, BOB], { peerPort })
    const settings = { type: 'master', soa_email: 'hostmaster@example.com', axfr_ips: [...MAKES.map(({ host }) => host), '127.0.0.30'] }
    domain = (await keyed.alice.ok('POST', '/domains', { domain: 'main.example', ...settings })).id
    for (let i = 0; i < 150; i += 1) await create({ type: 'A', name: `host-${i}`, target: `192.0.2.${i}`, ttl_sec: 300 })
    await keyed.service.flush()
    const secondaryZones = [{ name: 'main.example', primaryPort: keyed.port, signed: true }]
    const options = { port: peerPort, secondaryZones, key: toolKey(ALICE), signedNotify: true, incremental: true }
    servers.push(...(await Promise.all(MAKES.map(({ start, host }) => start({ ...options, host })))))
    await inSync()
  })

  const records: { readonly id: number; readonly type: string }[] = []
  const create = async (body: object): Promise<void> => {
    const { id, type } = await keyed.alice.ok('POST', `/domains/${domain}/records`, body)
    records.push({ id, type })
  }

  /** Expects our zone on every secondary. */
  const inSync = async (): Promise<void> => {
    await keyed.service.flush()
    const ours = await zoneAt('127.0.0.1', keyed.port, 'main.example', toolKey(ALICE))
    const serial = serialIn(ours)
    for (const { host } of MAKES) await waitForZone(peerPort, 'main.example', { host, serial })
    for (const { make, host } of MAKES) {
      await eventually(async () =>
        expect({ make, zone: await zoneAt(host, peerPort, 'main.example', toolKey(ALICE)) }).toEqual({ make, zone: ours }),
      )
    }
  }

  const answered = (outcome: string): number => keyed.logged('transfer requested').filter((line) => line.outcome === outcome).length

  test('follow random changes by IXFR, with the same result as AXFR', async () => {
    const random = seededRandom(1995)
    // One AXFR each for the first transfer and for this test.
    const before = {
      axfr: keyed.logged('transfer requested').filter(({ outcome, address }) => outcome === 'AXFR' && address !== '127.0.0.1').length,
      ixfr: answered('IXFR'),
    }
    for (let round = 0; round < rounds(12); round += 1) {
      const count = 1 + random.below(8)
      for (let i = 0; i < count; i += 1) await change(random)
      await inSync()
    }
    // Some rounds change nothing.
    expect(answered('IXFR') - before.ixfr).toBeGreaterThanOrEqual(Math.floor(rounds(12) * 3 * 0.97) - 3)
    const axfr = keyed.logged('transfer requested').filter(({ outcome, address }) => outcome === 'AXFR' && address !== '127.0.0.1').length
    expect(axfr).toBe(before.axfr)
    expect(keyed.logged('secondary not notified')).toEqual([])
    expect(keyed.logged('secondary refuses NOTIFY')).toEqual([])
    expect(servers[0]?.log()).toMatch(/TSIG 'alice-1\.example'/)
    expect(servers[1]?.log()).toMatch(/IXFR, incoming, .*finished/)
  })

  let counter = 0

  async function change(random: ReturnType<typeof seededRandom>): Promise<void> {
    counter += 1
    const path = `/domains/${domain}/records`
    const dice = random.below(100)
    const at = random.below(records.length)
    const record = records[at]
    if (dice < 30 && record) {
      await keyed.alice.ok('DELETE', `${path}/${record.id}`)
      records.splice(at, 1)
    } else if (dice < 60 && record?.type === 'A') {
      await keyed.alice.ok('PUT', `${path}/${record.id}`, {
        target: `198.51.100.${counter % 256}`,
        ttl_sec: random.chance(0.5) ? 300 : 3600,
      })
    } else if (dice < 65) {
      await keyed.alice.ok('PUT', `/domains/${domain}`, { ttl_sec: random.pick([300, 3600, 86400]) })
    } else {
      const name = random.pick(['', 'shared', `new-${counter}`, `deep.sub-${counter % 5}`])
      const body = random.pick([
        { type: 'A', target: `203.0.113.${counter % 256}` },
        { type: 'TXT', target: `text ${counter} ${'é"\\'.repeat(random.below(100))}` },
        { type: 'MX', target: `mail-${counter % 3}.example.net`, priority: counter % 10 },
        { type: 'CAA', tag: 'issue', target: `ca-${counter}.example` },
      ])
      await create({ name, ttl_sec: random.pick([300, 3600]), ...body })
    }
  }
})

const zoneText = (serial: number, hosts: readonly number[]): string =>
  [
    `$TTL 300`,
    `@ SOA ns1 hostmaster ${serial} 3600 600 604800 60`,
    '@ NS ns1',
    'ns1 A 192.0.2.53',
    'odd TYPE65280 \\# 3 010203',
    ...hosts.map((host) => `h${host} A 192.0.${host >> 8}.${host & 255}`),
    '',
  ].join('\n')

for (const { make, tool, start } of MAKES) {
  describeWithTools([tool, 'dig', 'nsupdate'], `${make} as primary with a key`, () => {
    const ZONE = 'in.example'
    let master: DnsServer
    let keyed: Keyed
    let hosts = Array.from({ length: 300 }, (_, i) => i)

    beforeAll(async () => {
      const port = await freePort()
      const options = { zones: [{ name: ZONE, text: zoneText(1, hosts) }], key: toolKey(ALICE), unsignedTransfer: false }
      master = await start({ ...options, notify: [port], signedNotify: true, incremental: true })
      keyed = await startKeyed([ALICE, BOB], { dns: { host: '127.0.0.1', port }, peerPort: master.port })
      const settings = { domain: ZONE, type: 'slave', master_ips: ['127.0.0.1'], axfr_ips: ['127.0.0.1'] }
      await keyed.alice.ok('POST', '/domains', settings)
      await follows()
    })

    const follows = async (serial?: number): Promise<void> => {
      await waitForZone(keyed.port, ZONE, serial === undefined ? {} : { serial })
      await eventually(async () =>
        expect(await zoneAt('127.0.0.1', keyed.port, ZONE, toolKey(ALICE))).toEqual(
          await zoneAt('127.0.0.1', master.port, ZONE, toolKey(ALICE)),
        ),
      )
    }

    /** Changes the zone at the master; returns its new serial. */
    const change = async (random: ReturnType<typeof seededRandom>, serial: number): Promise<void> => {
      const gone = new Set(Array.from({ length: 1 + random.below(5) }, () => random.pick(hosts)))
      const come = Array.from({ length: random.below(6) }, (_, i) => 1000 + serial * 10 + i)
      hosts = [...hosts.filter((host) => !gone.has(host)), ...come]
      if (make === 'NSD') return master.replaceZone(ZONE, zoneText(serial, hosts))
      const script = [
        `zone ${ZONE}`,
        ...[...gone].map((host) => `update delete h${host}.${ZONE} A`),
        ...come.map((host) => `update add h${host}.${ZONE} ${random.pick([60, 300])} A 192.0.${host >> 8}.${host & 255}`),
      ]
      const { status, stderr } = await nsupdate(master.port, script.join('\n'), toolKey(ALICE))
      expect({ status, stderr }).toMatchObject({ status: 0 })
    }

    test('is followed by IXFR after a signed NOTIFY', async () => {
      const random = seededRandom(1035)
      const transfers = () => keyed.logged('zone transferred').filter(({ zone }) => zone === ZONE)
      expect(transfers().map(({ method }) => method)).toEqual(['AXFR'])
      for (let serial = 2; serial <= 1 + rounds(8); serial += 1) {
        await change(random, serial)
        await follows(serial)
      }
      const [, ...later] = transfers().map(({ method }) => method)
      expect(later.length).toBeGreaterThanOrEqual(rounds(8) - 1)
      expect(new Set(later)).toEqual(new Set(['IXFR']))
    })

    test('sends its zone only to imports of the account with the key', async () => {
      const other = await startKeyed([{ ...ALICE, zones: ['in.example'] }, BOB], { peerPort: master.port })
      const imported = { domain: ZONE, remote_nameserver: '127.0.0.1' }
      const [refusal] = await other.bob.refused('POST', '/domains/import', imported)
      expect(refusal).toEqual(['remote_nameserver', expect.stringMatching(/BADKEY|refused/)])
      expect(await other.alice.ok('POST', '/domains/import', imported)).toMatchObject({ domain: ZONE, type: 'master' })
    })
  })
}
