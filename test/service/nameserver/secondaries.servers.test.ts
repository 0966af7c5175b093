/**
 * BIND, NSD and Knot as secondaries of the service, each at its own address, updated only by NOTIFY: the SOA
 * refresh is hours. Transfers from each secondary check its zone.
 */
import { beforeAll, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { createAxfrQuery, createAxfrReader } from '../../../src/dns/wire/transfer.ts'
import type { RunningService } from '../../../src/service/index.ts'
import { type DnsServer, startBind, startKnot, startNsd, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { seededRandom } from '../../support/random.ts'
import { describeWithTools } from '../../support/skip.ts'
import { dig } from '../../support/tools.ts'
import { type Client, inParallel, startForTest } from '../harness.ts'
import { openTcp } from './tcp-client.ts'

const MAKES = [
  { name: 'NSD', start: startNsd, host: '127.0.0.21' },
  { name: 'Knot', start: startKnot, host: '127.0.0.22' },
  // BIND listens only at addresses that an interface lists.
  { name: 'BIND', start: startBind, host: '127.0.0.1' },
] as const

const AXFR_IPS = MAKES.map(({ host }) => host)

/** The zones of the secondaries; the service has the last two only later. */
const ZONES = ['main.example', 'other.example', 'renamed.example'] as const

let service: RunningService
let client: Client
let peerPort = 0
let year = 2026
const begun = Date.now()
const secondaries: DnsServer[] = []

describeWithTools(['named', 'knotd', 'nsd', 'dig'], 'secondaries', () => {
  beforeAll(async () => {
    peerPort = await freePort()
    const started = await startForTest({
      dns: { host: '127.0.0.1', port: 0 },
      peerPort,
      clock: () => Date.UTC(year, 5, 1) + Date.now() - begun,
    })
    service = started.service
    client = started.client
    main = await createDomain('main.example')
    const primaryPort = service.dnsAddress?.port ?? 0
    const secondaryZones = ZONES.map((name) => ({ name, primaryPort }))
    secondaries.push(...(await Promise.all(MAKES.map(({ start, host }) => start({ host, port: peerPort, secondaryZones })))))
  })

  test('follow a thousand changes', async () => {
    await inSync('main.example')
    await changeRecords(1_000)
    await inSync('main.example')
    expect((await transfer('main.example')).length).toBeGreaterThan(200)
    await addressesAnswered()
  })

  test('follow zone settings, and a domain created while they run', async () => {
    await client.ok('PUT', `/domains/${main}`, { soa_email: 'other@example.com', ttl_sec: 3600, refresh_sec: 7200 })
    await createDomain('other.example')
    await inSync('main.example')
    await inSync('other.example')
  })

  test('follow a domain to another name, and back', async () => {
    await client.ok('PUT', `/domains/${main}`, { domain: 'renamed.example' })
    await inSync('renamed.example')
    await client.ok('PUT', `/domains/${main}`, { domain: 'main.example' })
    await changeRecords(10)
    await inSync('main.example')
  })

  test('follow a domain that is disabled and enabled again', async () => {
    await client.ok('PUT', `/domains/${main}`, { status: 'disabled' })
    await service.flush()
    expect(await refusal('main.example')).toBe('NOTAUTH')
    await changeRecords(10)
    await client.ok('PUT', `/domains/${main}`, { status: 'active' })
    await inSync('main.example')
  })

  test('follow a domain that is deleted and created again, with continuing serials', async () => {
    const before = await serialOf('main.example')
    await client.ok('DELETE', `/domains/${main}`)
    await service.flush()
    expect(await refusal('main.example')).toBe('NOTAUTH')
    records.length = 0
    main = await createDomain('main.example')
    await changeRecords(20)
    await inSync('main.example')
    expect(await serialOf('main.example')).toBeGreaterThan(before)
  })

  test('follow serials across the wraparound', async () => {
    // The serial starts with the year: 4294 is near the maximum, 4295 above it. No step exceeds half the serial space.
    for (year of [3500, 4294, 4295]) {
      await changeRecords(5)
      await inSync('main.example')
    }
    expect(await serialOf('main.example')).toBeLessThan(2_000_000)
  })

  test('that are removed get no NOTIFY and no transfer', async () => {
    await client.ok('PUT', `/domains/${main}`, { axfr_ips: AXFR_IPS.slice(1) })
    const before = await serialOf('main.example')
    await changeRecords(5)
    await service.flush()
    const after = await serialOf('main.example')
    expect(after).toBeGreaterThan(before)
    for (const { host } of MAKES.slice(1)) await waitForZone(peerPort, 'main.example', { host, serial: after })
    expect((await soaAt(MAKES[0].host, peerPort, 'main.example'))?.split(' ')[2]).toBe(String(before))
  })
})

describeWithTools(['nsd', 'knotd', 'dig'], 'a slave domain', () => {
  test('passes on the zone of its master', async () => {
    const port = await freePort()
    const { service: slave, client: owner } = await startForTest({ dns: { host: '127.0.0.1', port: 0 }, peerPort: port })
    const primaryPort = slave.dnsAddress?.port ?? 0
    const text = (serial: number): string =>
      [
        `@ 300 SOA ns hostmaster ${serial} 14400 3600 604800 60`,
        '@ 300 NS ns',
        'ns 300 A 192.0.2.53',
        ...Array.from({ length: 100 * serial }, (_, i) => `host-${i} 300 A 192.0.2.${i % 256}\n*.wild-${i} 60 TXT "of ${serial}"`),
      ].join('\n')
    const secondaryZones = [{ name: 'chain.example', primaryPort }]
    const [master] = await Promise.all([
      startKnot({ port, zones: [{ name: 'chain.example', text: text(1) }], notify: [primaryPort] }),
      startNsd({ host: '127.0.0.21', port, secondaryZones }),
    ])
    const settings = { domain: 'chain.example', type: 'slave', master_ips: ['127.0.0.1'], axfr_ips: ['127.0.0.21', '127.0.0.1'] }
    await owner.ok('POST', '/domains', settings)
    // Knot increments the serial by one.
    for (const serial of [1, 2, 3]) {
      if (serial > 1) master.replaceZone('chain.example', text(serial))
      await waitForZone(port, 'chain.example', { host: '127.0.0.21', serial })
      const [first, ...others] = await Promise.all([
        transfer('chain.example', port),
        transfer('chain.example', primaryPort),
        transferOf(serial, 'chain.example', port, '127.0.0.21'),
      ])
      expect(others).toEqual([first, first])
      expect(first).toHaveLength(3 + 200 * serial)
    }
  })
})

let main = 0
const records: { readonly id: number; readonly type: string }[] = []
const random = seededRandom(1996)

async function createDomain(domain: string): Promise<number> {
  const settings = { domain, type: 'master', soa_email: 'hostmaster@example.com', axfr_ips: AXFR_IPS }
  return (await client.ok('POST', '/domains', settings)).id
}

/** Creates, changes and deletes records of the main domain, in bursts. */
async function changeRecords(count: number): Promise<void> {
  for (let left = count; left > 0; left -= BURST) {
    await inParallel(Math.min(BURST, left), 8, changeRecord)
    await new Promise((resolve) => setTimeout(resolve, random.below(100)))
  }
  await service.flush()
}

const BURST = 50

let counter = 0

async function changeRecord(): Promise<void> {
  counter += 1
  const path = `/domains/${main}/records`
  const dice = random.below(100)
  const record = dice > 60 ? records.splice(random.below(Math.max(1, records.length)), 1)[0] : undefined
  if (record && dice > 85) await client.ok('DELETE', `${path}/${record.id}`)
  else if (record) {
    await client.ok('PUT', `${path}/${record.id}`, { target: targetOf(record.type), ttl_sec: random.chance(0.5) ? 300 : 0 })
    records.push(record)
  } else {
    const type = random.pick(TYPES)
    const name = random.chance(0.1) && type !== 'CNAME' ? '' : `${type.toLowerCase()}-${counter}${random.chance(0.2) ? '.sub' : ''}`
    const { id } = await client.ok('POST', path, {
      type,
      name,
      target: targetOf(type),
      ttl_sec: 300,
      ...(type === 'MX' && { priority: 10 }),
    })
    records.push({ id, type })
  }
}

const TYPES = ['A', 'A', 'A', 'AAAA', 'TXT', 'MX', 'CNAME', 'NS'] as const

function targetOf(type: string): string {
  switch (type) {
    case 'A':
      return `192.0.2.${counter % 256}`
    case 'AAAA':
      return `2001:db8::${counter.toString(16)}`
    case 'TXT':
      return `text ${counter} "quoted" ${'x'.repeat(counter % 600)}`
    default:
      return `host-${counter}.example.net`
  }
}

/** Waits until every secondary has our serial; expects the same zone. */
async function inSync(zone: string): Promise<void> {
  await service.flush()
  const serial = await serialOf(zone)
  const ours = await transfer(zone)
  for (const { name, host } of MAKES) {
    await waitForZone(peerPort, zone, { host, serial })
    const theirs = await transferOf(serial, zone, peerPort, host)
    expect({ name, zone: theirs }).toEqual({ name, zone: ours })
  }
}

/**
 * The transferred zone with that serial. An old process of NSD may still serve the previous zone for a moment after the new process
 * has responded.
 */
async function transferOf(serial: number, zone: string, port: number, host: string): Promise<string[]> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const lines = await transfer(zone, port, host)
    if (lines.some((line) => line.includes(` SOA `) && line.split(' ')[5] === String(serial)) || Date.now() > deadline) return lines
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function transfer(zone: string, port = service.dnsAddress?.port ?? 0, host = '127.0.0.1'): Promise<string[]> {
  const connection = await openTcp(port, host)
  const name = `${zone}.` as DomainName
  connection.send(createAxfrQuery(1, name))
  const reader = createAxfrReader(name, 1, 100_000)
  for (let state = 'more'; state === 'more'; ) {
    const taken = reader.accept(await connection.message())
    if (!taken.ok) throw new Error(`${host}: ${taken.message}`)
    state = taken.value
  }
  connection.socket.destroy()
  return reader.records.map(({ name: owner, type, ttl, data }) => `${owner} ${ttl} ${type} ${data}`).sort()
}

async function refusal(zone: string): Promise<string | undefined> {
  const connection = await openTcp(service.dnsAddress?.port ?? 0)
  connection.send(createAxfrQuery(1, `${zone}.` as DomainName))
  const { rcode } = await connection.message()
  connection.socket.destroy()
  return rcode === 9 ? 'NOTAUTH' : String(rcode)
}

async function soaAt(host: string, port: number, zone: string): Promise<string | undefined> {
  return (await dig({ host, port, name: zone, type: 'SOA' }))[0]
}

const serialOf = async (zone: string): Promise<number> =>
  Number((await soaAt('127.0.0.1', service.dnsAddress?.port ?? 0, zone))?.split(' ')[2])

/** Expects each secondary to answer with some records of the zone file. */
async function addressesAnswered(): Promise<void> {
  const addresses = (await transfer('main.example')).filter((line) => / A /.test(line)).slice(0, 5)
  for (const line of addresses) {
    const [owner = '', , , address] = line.split(' ')
    for (const { host } of MAKES) {
      await expect.poll(() => dig({ host, port: peerPort, name: owner }), { timeout: 10_000 }).toContain(address)
    }
  }
}
