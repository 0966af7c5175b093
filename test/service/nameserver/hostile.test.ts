import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message, rcodeName } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { fc } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { RICH_ZONES, records } from './rich-zones.ts'
import { framed, openTcp } from './tcp-client.ts'
import { askUdp, exchangeUdp } from './udp-client.ts'

const problems: unknown[] = []
let server: NameServer
let port = 0

beforeAll(async () => {
  server = await startNameServer({
    host: '127.0.0.1',
    port: 0,
    peerPort: 1,
    // Connections that end because they are idle would hide that nothing limits their number.
    limits: { responsesPerSecond: 0, connections: 24, connectionsOfHost: 8, idle: 600_000 },
    onError: (error) => problems.push(error),
  })
  port = server.address.port
  for (const zone of RICH_ZONES) server.setZone({ ...zone, axfrIps: ['127.0.0.1'] })
})

afterAll(async () => {
  await server.close()
  // No client input may cause an internal error of the server.
  expect(problems).toEqual([])
})

const query = (id: number, type = 'A', name = 'web.example.test.'): Message => createQuery(id, { name: name as DomainName, type })
const soa = { name: 'example.test.' as DomainName, type: 'SOA', class: 1, ttl: 0, data: '. . 1 0 0 0 0' }

/** Messages of every kind that the server knows, to be damaged. */
const VALID = [
  query(1),
  query(1, 'ANY', 'example.test.'),
  query(1, 'TXT', 'x.wild.example.test.'),
  query(1, 'AXFR', 'example.test.'),
  { ...query(1, 'IXFR', 'example.test.'), authorities: [soa] },
  { ...query(1, 'SOA', 'example.test.'), opcode: 4, answers: [soa] },
  { ...query(1), edns: { udpSize: 4096, version: 0, dnssecOk: true, options: [{ code: 10, data: Buffer.alloc(8) }] } },
].map((message) => encodeMessage(message))

const spoilt = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
    fc.nat(60),
    fc.uint8Array({ maxLength: 20 }),
  )
  .map(([octets, changes, cut, more]) => {
    const copy = Buffer.from(octets)
    for (const [at, octet] of changes) copy[at % copy.length] = octet
    if (cut < 15) return copy.subarray(0, copy.length - cut)
    return cut > 50 ? Buffer.concat([copy, more]) : copy
  })

const octets = fc.oneof(
  { weight: 4, arbitrary: spoilt },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 600 }).map((random) => Buffer.from(random)) },
)

describe('random octets', () => {
  test('get no UDP response above the safe size, and no error larger than the query', async () => {
    await fc.assert(
      fc.asyncProperty(octets, async (sent) => {
        const answer = await exchangeUdp(port, sent)
        if (answer === null) return
        expect(answer.length).toBeLessThanOrEqual(1232)
        const rcode = (answer[3] as number) & 0xf
        if (rcode !== 0 && rcode !== 3) expect(answer.length).toBeLessThanOrEqual(Math.max(sent.length, 12))
      }),
      { numRuns: rounds(400) },
    )
  })

  test('do not block other clients over TCP', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(octets, { maxLength: 5 }), fc.boolean(), async (messages, isFramed) => {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        socket.resume()
        for (const message of messages) socket.write(isFramed ? framed(message) : message)
        socket.end()
        expect((await askUdp(port, query(3))).answers).toHaveLength(2)
        socket.destroy()
      }),
      { numRuns: rounds(100) },
    )
  })
})

async function connectFrom(localAddress: string): Promise<{ readonly socket: Socket; readonly isOpen: () => boolean }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  await once(socket, 'connect')
  let open = true
  socket.on('close', () => {
    open = false
  })
  socket.resume()
  return { socket, isOpen: () => open }
}

test('a name with tens of thousands of types is as fast as the same number of names', () => {
  const name = 'types.test.' as DomainName
  const apex = ['types.test. 60 SOA ns.example.test. h.example.test. 1 1 1 1 1', 'types.test. 60 NS ns.example.test.']
  const version = (octet: string) => [
    ...records(apex.join('\n')),
    ...Array.from({ length: 15_000 }, (_, i) => {
      return { name: 'x.types.test.' as DomainName, type: `TYPE${1000 + i}`, ttl: 60 as Ttl, data: `\\# 1 ${octet}` }
    }),
  ]
  const versions = ['00', '01'].map(version)
  const begun = process.cpuUsage()
  for (const [index, each] of versions.entries()) server.setZone({ name, serial: index + 1, records: each, axfrIps: ['127.0.0.1'] })
  // It once took ten times as long. The time of the processor does not depend on other processes.
  const { user, system } = process.cpuUsage(begun)
  expect((user + system) / 1e6).toBeLessThan(4)
  server.removeZone(name)
})

describe('connections', () => {
  test('from one address replace only each other', async () => {
    const neighbour = await connectFrom('127.0.0.2')
    const first = await connectFrom('127.0.0.3')
    const others = []
    for (let i = 0; i < 8; i += 1) others.push(await connectFrom('127.0.0.3'))
    await expect.poll(() => first.isOpen()).toBe(false)
    expect([neighbour.isOpen(), first.isOpen(), ...others.map(({ isOpen }) => isOpen())]).toEqual([true, false, ...others.map(() => true)])
    for (const { socket } of [neighbour, ...others]) socket.destroy()
  })

  test('are limited in total, and an active one outlives idle ones', async () => {
    const busy = await openTcp(port)
    const idle: Awaited<ReturnType<typeof connectFrom>>[] = []
    for (let i = 0; i < 40; i += 1) {
      idle.push(await connectFrom(`127.0.1.${i >> 2}`))
      busy.send(query(i))
      expect((await busy.message()).answers).toHaveLength(2)
    }
    await expect.poll(() => idle.filter(({ isOpen }) => isOpen()).length).toBeLessThanOrEqual(23)
    for (const { socket } of idle) socket.destroy()
    busy.socket.destroy()
  })

  test.each(['without data', 'that send single octets slowly'])('%s are closed', async (kind) => {
    const strict = await startNameServer({ host: '127.0.0.1', port: 0, limits: { idle: 200 } })
    const { socket, closed } = await openTcp(strict.address.port)
    const timer = setInterval(() => kind !== 'without data' && socket.write(Buffer.from([1])), 20)
    socket.resume()
    await closed
    clearInterval(timer)
    await strict.close()
  })

  test('that end or reset in the middle of a message are forgotten', async () => {
    for (let i = 0; i < 50; i += 1) {
      const { socket } = await connectFrom('127.0.0.5')
      socket.write(framed(encodeMessage(query(1, 'AXFR', 'example.test.'))).subarray(0, 5 + i))
      if (i % 2 === 0) socket.end()
      else socket.resetAndDestroy()
    }
    expect((await askUdp(port, query(3))).answers).toHaveLength(2)
  })

  test('with thousands of pipelined queries get all responses in order, without blocking others', async () => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const idsOf = (octets: Buffer): number[] => {
      const ids: number[] = []
      for (let at = 0; at + 4 <= octets.length; at += 2 + octets.readUInt16BE(at)) ids.push(octets.readUInt16BE(at + 2))
      return ids
    }
    const sent = Array.from({ length: 2_500 }, (_, id) => id)
    socket.write(Buffer.concat(sent.map((id) => framed(encodeMessage(query(id))))))
    await askUdp(port, query(3))
    // A client that waits for all the others gets its response after them.
    expect(idsOf(Buffer.concat(chunks)).length).toBeLessThan(2_500)
    await expect.poll(() => idsOf(Buffer.concat(chunks)).length).toBe(2_500)
    expect(idsOf(Buffer.concat(chunks))).toEqual(sent)
    socket.destroy()
  })

  test('with many transfer requests get one transfer at a time', async () => {
    const client = await openTcp(port)
    client.send(...Array.from({ length: 200 }, (_, id) => query(id, 'AXFR', 'other.test.')), { ...query(999), questions: [] })
    for (let id = 0; id < 200; id += 1) expect(await client.message()).toMatchObject({ id, rcode: 0, answers: { length: 6 } })
    expect(rcodeName((await client.message()).rcode)).toBe('FORMERR')
    client.socket.destroy()
  })
})
