import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message } from '../../../src/dns/wire/message.ts'
import { createResponseLimiter, type NameServer, startNameServer, textHash } from '../../../src/service/nameserver/name-server.ts'
import { RICH_ZONES } from './rich-zones.ts'
import { openTcp } from './tcp-client.ts'
import { handledAll } from './udp-client.ts'

const LIMIT = 20
let server: NameServer

beforeAll(async () => {
  // All queries come in one second of the limiter, however busy the machine is.
  vi.spyOn(performance, 'now').mockReturnValue(5_000)
  server = await startNameServer({ host: '127.0.0.1', port: 0, limits: { responsesPerSecond: LIMIT } })
  for (const zone of RICH_ZONES) server.setZone(zone)
})

afterAll(() => server.close())

const query = (id: number, name: string, type = 'A'): Message => createQuery(id, { name: name as DomainName, type })
let networks = 0

/** As many of a simultaneous flood as fit into the receive buffer of the server. */
const BATCH = 20

/** The responses to these queries from a new network. */
async function flood(queries: readonly Message[]) {
  const socket = createSocket('udp4')
  networks += 1
  socket.bind(0, `127.0.${networks}.1`)
  await once(socket, 'listening')
  socket.connect(server.address.port, '127.0.0.1')
  await once(socket, 'connect')
  let [truncated, whole, octets] = [0, 0, 0]
  socket.on('message', (answer) => {
    if (answer.readUInt16BE(2) & 0x0200) truncated += 1
    else whole += 1
    octets += answer.length
  })
  for (let sent = 0; sent < queries.length; sent += BATCH) {
    for (const one of queries.slice(sent, sent + BATCH)) socket.send(encodeMessage(one))
    await handledAll(server.address.port)
  }
  socket.close()
  return { truncated, whole, octets }
}

describe('a flood of queries from one source', () => {
  test.each<[string, (i: number) => Message]>([
    ['for one name', (i) => query(i, 'example.test.', 'TXT')],
    ['for one name in random letter case', (i) => ({ ...query(i, 'example.test.', 'TXT'), recursionDesired: i % 2 === 0 })],
    ['for one name and all types', (i) => query(i, 'web.example.test.', `TYPE${1000 + i}`)],
    ['for names that do not exist', (i) => query(i, `nothing-${i}.example.test.`)],
    ['for names of a wildcard', (i) => query(i, `x${i}.wild.example.test.`, 'TXT')],
    ['for names below a delegation', (i) => query(i, `x${i}.glued.example.test.`)],
    ['for names in other zones', (i) => query(i, `x${i}.example.org.`)],
    ['that are refused', (i) => query(i, 'example.test.', 'MAILB')],
  ])('%s gets a limited number of full responses, then only short ones', async (_, make) => {
    const queries = Array.from({ length: 120 }, (_, i) => make(i))
    const { whole, truncated, octets } = await flood(queries)
    expect([whole, truncated]).toEqual([LIMIT, (queries.length - LIMIT) / 2])
    const asked = queries.reduce((sum, one) => sum + encodeMessage(one).length, 0)
    // With the default limit the share of full responses is even smaller.
    expect(octets).toBeLessThan(3 * asked)
  })

  test('for many names gets full responses', async () => {
    const names = [...new Set((RICH_ZONES[0]?.records ?? []).map(({ name }) => name))].filter((name) => name.startsWith('host-'))
    expect(await flood(names.map((name, i) => query(i, name, 'AAAA')))).toMatchObject({ whole: names.length, truncated: 0 })
  })

  test('does not affect TCP', async () => {
    await flood(Array.from({ length: 100 }, (_, i) => query(i, 'example.test.', 'MX')))
    const client = await openTcp(server.address.port)
    client.send(...Array.from({ length: 100 }, (_, i) => query(i, 'example.test.', 'MX')))
    for (let i = 0; i < 100; i += 1) expect((await client.message()).answers.length).toBe(3)
    client.socket.destroy()
  })
})

describe('the limiter', () => {
  const about = textHash('0 example.test.')

  test('counts per network and second', () => {
    const permit = createResponseLimiter(2)
    const take = (address: string, second = 1, of = about): string[] => Array.from({ length: 4 }, () => permit(address, of, second))
    const limited = ['send', 'send', 'drop', 'truncate']
    expect(take('192.0.2.1')).toEqual(limited)
    expect(permit('192.0.2.77', about, 1)).not.toBe('send')
    expect(take('192.0.3.1')).toEqual(limited)
    expect(take('192.0.2.1', 2)).toEqual(limited)
    expect(take('192.0.2.1', 2, textHash('0 example.org.'))).toEqual(limited)
    expect(take('2001:db8::1')).toEqual(limited)
    expect(permit('2001:db8:0:0:ffff::1', about, 1)).not.toBe('send')
    expect(take('2001:db8:0:1::1')).toEqual(limited)
    expect(take('::ffff:192.0.2.1')).toEqual(limited)
    expect(take('::ffff:192.0.3.1')).toEqual(limited)
    expect(permit('::ffff:192.0.3.2', about, 1)).not.toBe('send')
    expect(take('fe80::1%lo')).toEqual(limited)
  })

  test('allows everything without a limit', () => {
    const permit = createResponseLimiter(0)
    expect(Array.from({ length: 1000 }, () => permit('192.0.2.1', about, 1)).every((permission) => permission === 'send')).toBe(true)
  })
})
