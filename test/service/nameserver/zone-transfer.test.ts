import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { CLASS, createQuery, type Message, rcodeName } from '../../../src/dns/wire/message.ts'
import { createAxfrQuery, createAxfrReader } from '../../../src/dns/wire/transfer.ts'
import { type NameServer, type NameServerLimits, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'
import { RICH_ZONES, records } from './rich-zones.ts'
import { openTcp, type TcpClient } from './tcp-client.ts'
import { askUdp } from './udp-client.ts'

const name = (text: string): DomainName => text as DomainName
const EXAMPLE = name('example.test.')
const BIG = name('big.test.')
const LOCAL = ['127.0.0.1', '::1']
const BIG_COUNT = 6_000

/** A zone with `count` addresses that all contain the version. */
const bigZone = (serial: number, count = BIG_COUNT) => ({
  name: BIG,
  serial,
  axfrIps: LOCAL,
  records: records(
    [
      `big.test. 60 SOA ns.big.test. h.big.test. ${serial} 1 1 1 1`,
      'big.test. 60 NS ns.big.test.',
      ...Array.from({ length: count }, (_, i) => `host-${i}.sub.big.test. ${serial} A 192.0.2.${i % 256}`),
    ].join('\n'),
  ),
})

/** More than the kernel buffers for a connection, and each record in a separate message. */
const HUGE = {
  ...bigZone(1, 0),
  records: [
    ...bigZone(1, 0).records,
    ...Array.from({ length: 400 }, (_, i) => ({
      name: name(`t${i}.big.test.`),
      type: 'TXT',
      ttl: 1 as Ttl,
      data: Array.from({ length: 240 }, () => `"${'x'.repeat(250)}"`).join(' '),
    })),
  ],
}

async function start(options: Partial<NameServerLimits> = {}, host = '127.0.0.1'): Promise<NameServer> {
  const server = await startNameServer({ host, port: 0, peerPort: 1, limits: { responsesPerSecond: 0, ...options } })
  servers.push(server)
  return server
}

const servers: NameServer[] = []

afterAll(() => Promise.all(servers.map((server) => server.close())))

let server: NameServer
let port = 0

beforeAll(async () => {
  server = await start()
  port = server.address.port
  for (const zone of RICH_ZONES) server.setZone({ ...zone, axfrIps: LOCAL })
  server.setZone(bigZone(1))
})

/** Reads a transfer to its end; returns the messages and records, or the RCODE of the refusal. */
async function transfer(client: TcpClient, zone: DomainName, query: Message = createAxfrQuery(4711, zone)) {
  client.send(query)
  const reader = createAxfrReader(zone, query.id, 100_000)
  const messages: Message[] = []
  for (;;) {
    const message = await client.message()
    messages.push(message)
    if (message.rcode !== 0) return { rcode: rcodeName(message.rcode), messages, records: [] }
    // The reader supports only AXFR.
    const questions = message.questions.map((question) => ({ ...question, type: 'AXFR' }))
    const state = reader.accept({ ...message, questions })
    if (!state.ok) throw new Error(state.message)
    if (state.value === 'complete') return { rcode: 'NOERROR', messages, records: reader.records }
  }
}

async function transferOnce(zone: DomainName, at = port, host = '127.0.0.1') {
  const client = await openTcp(at, host)
  const result = await transfer(client, zone)
  client.socket.destroy()
  return result
}

const line = (record: Pick<ServedRecord, 'name' | 'type'> & { ttl: number; data: string | null }): string =>
  `${record.name} ${record.ttl} ${record.type} ${record.data}`

describe('AXFR', () => {
  test.each(RICH_ZONES)('sends every record of $name, also below delegations', async ({ name: zone, records: all }) => {
    const { records: transferred } = await transferOnce(zone)
    expect(transferred.map(line).sort()).toEqual(all.map(line).sort())
    expect(transferred[0]?.type).toBe('SOA')
  })

  test('of a large zone uses many full messages, all within the range of compression pointers', async () => {
    const client = await openTcp(port)
    const query = { ...createAxfrQuery(7, BIG), recursionDesired: true, edns: { udpSize: 4096, version: 0, dnssecOk: false, options: [] } }
    const { messages, records: transferred } = await transfer(client, BIG, query)
    client.socket.destroy()
    expect(transferred).toHaveLength(BIG_COUNT + 2)
    expect(messages.length).toBeGreaterThan(5)
    expect(messages.length).toBeLessThan(15)
    const [first, ...rest] = messages
    expect(first).toMatchObject({ authoritative: true, recursionDesired: true, truncated: false, recursionAvailable: false })
    expect([first?.questions.length, first?.edns !== null]).toEqual([1, true])
    expect(
      rest.every(({ id, authoritative, questions, edns }) => id === 7 && authoritative && questions.length === 0 && edns === null),
    ).toBe(true)
  })

  test('sends one version of a zone that changes during the transfer', async () => {
    server.setZone(bigZone(1))
    const client = await openTcp(port)
    client.send(createAxfrQuery(1, BIG))
    const first = await client.message()
    server.setZone(bigZone(2))
    const reader = createAxfrReader(BIG, 1, 20_000)
    let state = reader.accept(first)
    while (state.ok && state.value === 'more') state = reader.accept(await client.message())
    client.socket.destroy()
    expect(state).toMatchObject({ value: 'complete' })
    expect(new Set(reader.records.slice(2).map(({ ttl }) => ttl))).toEqual(new Set([1]))
    expect((await transferOnce(BIG)).records[0]?.data).toContain(' 2 1 1 1 1')
  })

  test('shares its connection with queries before and after it', async () => {
    const client = await openTcp(port)
    const question = (id: number) => createQuery(id, { name: name('web.example.test.'), type: 'A' })
    client.send(question(1), createAxfrQuery(2, BIG), question(3), createAxfrQuery(4, name('other.test.')), question(5))
    const ids: number[] = []
    while (ids.at(-1) !== 5) ids.push((await client.message()).id)
    client.socket.destroy()
    expect([...new Set(ids)]).toEqual([1, 2, 3, 4, 5])
  })

  test('completes if the client has closed its sending side', async () => {
    const silent = await openTcp(port)
    silent.socket.end()
    expect(await silent.next()).toBeNull()
    const other = await openTcp(port)
    other.send(createAxfrQuery(9, BIG))
    other.socket.end()
    let count = 0
    for (let octets = await other.next(); octets; octets = await other.next()) count += octets.readUInt16BE(6)
    expect(count).toBe(BIG_COUNT + 3)
  })

  test.each<[string, Message, string]>([
    ['a name in a zone', createAxfrQuery(1, name('www.example.test.')), 'NOTAUTH'],
    ['another zone', createAxfrQuery(1, name('example.org.')), 'NOTAUTH'],
    ['class that is not IN', { ...createAxfrQuery(1, EXAMPLE), questions: [{ name: EXAMPLE, type: 'AXFR', class: CLASS.CH }] }, 'REFUSED'],
    ['a zone together with a record', { ...createAxfrQuery(1, EXAMPLE), answers: [soa(EXAMPLE, 1)] }, 'FORMERR'],
    ['EDNS version 9', { ...createAxfrQuery(1, EXAMPLE), edns: { udpSize: 512, version: 9, dnssecOk: false, options: [] } }, 'BADVERS'],
  ])('of %s', async (_, query, rcode) => {
    const client = await openTcp(port)
    expect((await transfer(client, EXAMPLE, query)).rcode).toBe(rcode)
    client.socket.destroy()
  })

  test('is not available over UDP', async () => expect(rcodeName((await askUdp(port, createAxfrQuery(1, EXAMPLE))).rcode)).toBe('FORMERR'))
})

function soa(zone: DomainName, serial: number) {
  return { name: zone, type: 'SOA', class: CLASS.IN, ttl: 0, data: `. . ${serial} 0 0 0 0` }
}

const ixfr = (zone: DomainName, serial: number): Message => {
  return { ...createQuery(88, { name: zone, type: 'IXFR' }), edns: null, authorities: [soa(zone, serial)] }
}

describe('IXFR', () => {
  /** The zone has serial 7. */
  test.each<[string, number, number]>([
    ['one behind', 6, RICH_ZONES[0]?.records.length ?? 0],
    ['half the serial space behind', 7 - 2 ** 31 + 1 + 2 ** 32, RICH_ZONES[0]?.records.length ?? 0],
    ['the same', 7, 1],
    ['newer', 8, 1],
    ['newer after the wraparound', 7 + 2 ** 31 - 1, 1],
  ])('from a serial that is %s', async (_, serial, count) => {
    const client = await openTcp(port)
    client.send(ixfr(EXAMPLE, serial >>> 0))
    const first = await client.message()
    expect(first).toMatchObject({ rcode: 0, authoritative: true, questions: [{ type: 'IXFR' }] })
    let records = first.answers
    while (count > 1 && records.filter(({ type }) => type === 'SOA').length < 2) records = [...records, ...(await client.message()).answers]
    expect(records).toHaveLength(count === 1 ? 1 : count + 1)
    client.socket.destroy()
  })

  test("without the client's SOA is malformed", async () => {
    expect(rcodeName((await askUdp(port, createQuery(1, { name: EXAMPLE, type: 'IXFR' }))).rcode)).toBe('FORMERR')
  })
})

describe('allowed transfer addresses', () => {
  const all = RICH_ZONES[0]?.records.length
  test.each<[string, string[], string, string, number | undefined]>([
    ['none by default', [], '127.0.0.1', '127.0.0.1', undefined],
    ['not the own machine by default', ['192.0.2.1', '2001:db8::1'], '127.0.0.1', '127.0.0.1', undefined],
    ['not an adjacent address', ['127.0.0.2', '127.0.0.10'], '127.0.0.1', '127.0.0.1', undefined],
    ['an IPv4 address', ['192.0.2.1', '127.0.0.1'], '127.0.0.1', '127.0.0.1', all],
    ['an IPv4 address at an IPv6 socket', ['127.0.0.1'], '::', '127.0.0.1', all],
    ['an IPv4-mapped IPv6 address', ['::FFFF:127.0.0.1'], '127.0.0.1', '127.0.0.1', all],
    ['an IPv4-mapped IPv6 address in hexadecimal', ['0:0:0:0:0:ffff:7f00:1'], '::', '127.0.0.1', all],
    ['an IPv6 address', ['::1'], '::1', '::1', all],
    ['an address in another spelling', ['0:0:0:0:0:0:0:1'], '::', '::1', all],
    ['not IPv4 for IPv6', ['127.0.0.1'], '::', '::1', undefined],
  ])('%s', async (_, axfrIps, host, from, count) => {
    const one = await start({}, host)
    one.setZone({ ...(RICH_ZONES[0] as (typeof RICH_ZONES)[number]), axfrIps })
    const result = await transferOnce(EXAMPLE, one.address.port, from)
    expect([result.rcode, result.records.length]).toEqual(count === undefined ? ['REFUSED', 0] : ['NOERROR', count])
    if (from === '127.0.0.1')
      expect(rcodeName((await askUdp(one.address.port, ixfr(EXAMPLE, 6))).rcode)).toBe(count === undefined ? 'REFUSED' : 'NOERROR')
    await one.close()
  })

  test('follows the latest settings', async () => {
    const one = await start()
    one.setZone(bigZone(1, 10))
    expect((await transferOnce(BIG, one.address.port)).records).toHaveLength(12)
    one.setZone({ ...bigZone(1, 10), axfrIps: [] })
    expect((await transferOnce(BIG, one.address.port)).rcode).toBe('REFUSED')
    one.removeZone(BIG)
    expect((await transferOnce(BIG, one.address.port)).rcode).toBe('NOTAUTH')
  })
})

describe('load', () => {
  /** Waits until a transfer starts. */
  const untilFree = (of: NameServer) =>
    expect
      .poll(async () => {
        const client = await openTcp(of.address.port)
        client.send(createAxfrQuery(1, BIG))
        const { rcode } = await client.message()
        client.socket.destroy()
        return rcode
      })
      .toBe(0)

  test('refuses transfers above the limit, and an aborted transfer frees its slot', async () => {
    const one = await start({ transfers: 2 })
    one.setZone(HUGE)
    const held = await Promise.all([openTcp(one.address.port), openTcp(one.address.port)])
    for (const client of held) {
      client.send(createAxfrQuery(1, BIG))
      await client.message()
    }
    expect((await transferOnce(BIG, one.address.port)).rcode).toBe('SERVFAIL')
    held[0]?.socket.destroy()
    await held[0]?.closed
    await untilFree(one)
    for (const client of held) client.socket.destroy()
  })

  test('disconnects a stalled client without much memory', async () => {
    const one = await start({ idle: 200, transfers: 1 })
    one.setZone(HUGE)
    const before = process.memoryUsage().rss
    const stopped = await openTcp(one.address.port)
    stopped.send(createAxfrQuery(1, BIG))
    stopped.socket.pause()
    await untilFree(one)
    expect(process.memoryUsage().rss - before).toBeLessThan(80_000_000)
    // The buffered octets of the kernel, then the end.
    let received = 0
    for (let octets = await stopped.next(); octets; octets = await stopped.next()) received += octets.readUInt16BE(6)
    expect(received).toBeLessThan(HUGE.records.length)
  })

  test('a client that takes longer than the idle time in total gets everything', { tags: ['long'] }, async () => {
    const one = await start({ idle: 2_000 })
    one.setZone(HUGE)
    const slow = await openTcp(one.address.port)
    slow.send(createAxfrQuery(2, BIG))
    let count = 0
    while (count < HUGE.records.length + 1) {
      count += (await slow.message()).answers.length
      if (count % 20 === 0) await sleep(120)
    }
    slow.socket.destroy()
  })

  test('ten concurrent transfers are complete and do not block other queries', async () => {
    let ended = 0
    const transfers = Promise.all(
      Array.from({ length: 10 }, async () => {
        const result = await transferOnce(BIG)
        ended += 1
        return result
      }),
    )
    await askUdp(port, createQuery(1, { name: name('web.example.test.'), type: 'A' }))
    expect(ended).toBeLessThan(10)
    expect((await transfers).every((result) => result.records.length === BIG_COUNT + 2)).toBe(true)
  })
})
