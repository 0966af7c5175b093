import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message, rcodeName } from '../../../src/dns/wire/message.ts'
import { createAxfrQuery } from '../../../src/dns/wire/transfer.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { describeWithTools } from '../../support/skip.ts'
import { dig, kdig } from '../../support/tools.ts'
import { RICH_ZONES, records } from './rich-zones.ts'
import { framed, openTcp } from './tcp-client.ts'
import { exchangeUdp } from './udp-client.ts'

const errors: unknown[] = []
let server: NameServer
let port = 0

beforeAll(async () => {
  const limits = { connections: 8, responsesPerSecond: 0 }
  server = await startNameServer({ host: '127.0.0.1', port: 0, limits, peerPort: 1, onError: (error) => errors.push(error) })
  port = server.address.port
  for (const zone of RICH_ZONES) server.setZone(zone)
})

afterAll(() => server.close())

const name = (text: string): DomainName => text as DomainName
const query = (owner: string, type = 'A'): Message => createQuery(77, { name: name(owner), type })
const exchange = (octets: Uint8Array): Promise<Buffer | null> => exchangeUdp(port, octets)

async function ask(message: Message): Promise<Message> {
  const octets = await exchange(encodeMessage(message))
  const decoded = octets && decodeMessage(octets)
  if (!decoded?.ok) throw new Error('no answer that can be read')
  return decoded.value
}

test('a compressed question is refused', async () => {
  const octets = Buffer.from('004d00000001000000000000c00200010001', 'hex')
  expect((await exchange(octets))?.toString('hex')).toBe('004d80010000000000000000')
})

test('NOTIFY is refused by a server without a handler for it', async () => {
  expect(rcodeName((await ask({ ...query('example.test.', 'SOA'), opcode: 4 })).rcode)).toBe('REFUSED')
})

test('the response repeats the letter case of the question', async () => {
  const octets = encodeMessage(query('www.example.test.'))
  octets.write('wWw', 13, 'latin1')
  octets.write('ExAmPlE', 17, 'latin1')
  const answer = await exchange(octets)
  expect(answer?.toString('latin1', 12, 30)).toBe('\x03wWw\x07ExAmPlE\x04test\x00')
  // The owner in the answer is a pointer to the question.
  expect(answer?.readUInt16BE(34)).toBe(0xc00c)
})

test('RD, CD and DO are repeated, RA and AD are not', async () => {
  const flags = { recursionDesired: true, checkingDisabled: true, authenticData: true, recursionAvailable: true }
  const answer = await ask({ ...query('example.test.'), ...flags, edns: { udpSize: 1232, version: 0, dnssecOk: true, options: [] } })
  expect(answer).toMatchObject({ ...flags, recursionAvailable: false, authenticData: false, edns: { dnssecOk: true, udpSize: 1232 } })
})

test('records are in zone order', async () => {
  const data = ['192.0.2.3', '192.0.2.1', '192.0.2.2']
  const zone = name('order.test.')
  const lines = ['order.test. 60 SOA . . 1 2 3 4 5', ...data.map((address) => `order.test. 60 A ${address}`)]
  server.setZone({ name: zone, serial: 1, records: records(lines.join('\n')) })
  expect((await ask(query('order.test.'))).answers.map((record) => record.data)).toEqual(data)
  server.removeZone(zone)
  expect(rcodeName((await ask(query('order.test.'))).rcode)).toBe('REFUSED')
})

test('unencodable data gives SERVFAIL, and the server keeps running', async () => {
  const zone = name('bad.test.')
  server.setZone({ name: zone, serial: 1, records: records('bad.test. 60 SOA . . 1 2 3 4 5\nbad.test. 60 MX nonsense') })
  expect(rcodeName((await ask(query('bad.test.', 'MX'))).rcode)).toBe('SERVFAIL')
  server.removeZone(zone)
})

test('a transfer of unencodable data is aborted, and the server keeps running', async () => {
  const zone = name('bad.test.')
  const before = errors.length
  const lines = ['bad.test. 60 SOA . . 1 2 3 4 5', 'bad.test. 60 MX nonsense']
  server.setZone({ name: zone, serial: 1, records: records(lines.join('\n')), axfrIps: ['127.0.0.1'] })
  const client = await openTcp(port)
  client.send(createAxfrQuery(1, zone))
  expect(await client.next()).toBeNull()
  expect(errors).toHaveLength(before + 1)
  expect(rcodeName((await ask(query('bad.test.', 'SOA'))).rcode)).toBe('NOERROR')
  server.removeZone(zone)
})

describe('over TCP', () => {
  test('several queries on one connection, sent octet by octet, get responses in order', async () => {
    const client = await openTcp(port)
    const stream = Buffer.concat([1, 2, 3].map((id) => framed(encodeMessage({ ...query('web.example.test.'), id }))))
    for (const octet of stream) client.socket.write(Buffer.from([octet]))
    for (const id of [1, 2, 3]) expect(await client.message()).toMatchObject({ id, answers: { length: 2 } })
    client.socket.destroy()
  })

  test('responses do not accumulate if the client does not read', async () => {
    const zone = name('big.test.')
    const lines = Array.from({ length: 230 }, (_, i) => `big.test. 60 TXT "${String(i).repeat(250).slice(0, 250)}"`)
    server.setZone({ name: zone, serial: 1, records: records(['big.test. 60 SOA . . 1 2 3 4 5', ...lines].join('\n')) })
    const { socket } = await openTcp(port)
    socket.pause()
    const before = process.memoryUsage().rss
    // All responses have 120 MB; one chunk of queries asks for most of them.
    socket.write(Buffer.concat(Array.from({ length: 2000 }, () => framed(encodeMessage(query('big.test.', 'TXT'))))))
    // Time to respond to many, if it did.
    await sleep(200)
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000)
    socket.destroy()
    server.removeZone(zone)
  })

  test.each<[string, Buffer]>([
    ['a length above that of any query', Buffer.from('ffff00', 'hex')],
    ['a response', framed(encodeMessage({ ...query('example.test.'), response: true }))],
    ['less than a header', Buffer.from('000100', 'hex')],
  ])('%s ends the connection', async (_, octets) => {
    const client = await openTcp(port)
    client.socket.write(octets)
    expect(await client.next()).toBeNull()
  })
})

describe('an address', () => {
  test('in use rejects the start', () => expect(startNameServer({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' }))

  test('is released on close, even with open connections', async () => {
    const one = await startNameServer({ host: '127.0.0.1', port: 0 })
    const socket = connect(one.address.port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    await one.close()
    const two = await startNameServer({ host: '127.0.0.1', port: one.address.port })
    await two.close()
  })
})

describeWithTools(['dig', 'kdig'], 'other DNS clients', () => {
  test.each<[string, string, string[]]>([
    ['www.example.test', 'A', ['web.example.test.', '192.0.2.80', '192.0.2.81']],
    ['x.wild.example.test', 'TXT', ['"from the wildcard"']],
    ['with\\.dot.example.test', 'TXT', ['"an escaped dot"']],
    ['quote.example.test', 'TXT', ['"a \\"quoted\\" back\\\\slash" "" "\\000\\255"']],
    ['unknown.example.test', 'TYPE65280', ['\\# 4 00010203']],
    ['example.test', 'CAA', ['0 issue "ca.example.net"']],
    ['_sip._tcp.example.test', 'SRV', ['10 20 5060 web.example.test.', '10 30 5060 mail.example.test.']],
  ])('%s %s', async (owner, type, expected) => {
    expect(await dig({ port, name: owner, type })).toEqual(expected)
    expect((await kdig({ port, name: owner, type })).map((line) => line.trim())).toEqual(expected)
  })

  test('retry over TCP when a response is truncated', async () => {
    expect(await dig({ port, name: 'many.example.test' })).toHaveLength(90)
    expect((await kdig({ port, name: 'many.example.test' })).filter((line) => !line.startsWith(';'))).toHaveLength(90)
    expect((await dig({ port, name: 'long.example.test', type: 'TXT' }))[0]).toContain('"0000')
    expect((await dig({ port, name: 'many.example.test', options: ['+ignore', '+noall', '+comments'] })).join('\n')).toMatch(
      /flags: qr aa tc/,
    )
  })
})
