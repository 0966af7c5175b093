/**
 * Unusual messages: headers, EDNS, classes, types and opcodes, and format errors.
 * Each response must equal that of BIND, NSD or Knot, which all differ.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { CLASS, createQuery, type Edns, type Message, rcodeName } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { startBind, startKnot, startNsd } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { zoneFile } from './comparison.ts'
import { RICH_ZONES } from './rich-zones.ts'
import { exchangeUdp } from './udp-client.ts'

const WEB = 'web.example.test.' as DomainName
const ZONE = 'example.test.' as DomainName

const message = (name: string, type = 'A', change: Partial<Message> = {}): Buffer =>
  encodeMessage({ ...createQuery(0x1234, { name: name as DomainName, type }), ...change })

const edns = (change: Partial<Edns>): Partial<Message> => ({ edns: { udpSize: 1232, version: 0, dnssecOk: false, options: [], ...change } })
const option = (code: number, hex: string): Partial<Message> => edns({ options: [{ code, data: Buffer.from(hex, 'hex') }] })
const inClass = (number: number): Partial<Message> => ({ questions: [{ name: WEB, type: 'A', class: number }] })
const plain = { edns: null }
const question = { name: WEB, type: 'A', class: CLASS.IN }
const address = { ...question, ttl: 0, data: '192.0.2.1' }
const soa = { name: ZONE, type: 'SOA', class: CLASS.IN, ttl: 0, data: '. . 1 0 0 0 0' }

/** A header with one question, and the octets of the hexadecimal text. */
const raw = (hex: string): Buffer => Buffer.concat([message(WEB, 'A', plain).subarray(0, 12), Buffer.from(hex, 'hex')])

function patched(octets: Buffer, changes: Readonly<Record<number, number>>, ...more: Uint8Array[]): Buffer {
  const copy = Buffer.concat([octets, ...more])
  for (const [at, octet] of Object.entries(changes)) copy[Number(at)] = octet
  return copy
}

const OPT = message(WEB).subarray(-11)
type Case = readonly [name: string, response: string, octets: Buffer]
const ANSWERED = 'NOERROR, aa, 2 answers, EDNS 0 1232'
const EMPTY = 'NOERROR, aa, 0 answers, EDNS 0 1232'

/** Messages, with the comparable part of our response. */
const CASES: readonly Case[] = [
  ['an ordinary question', ANSWERED, message(WEB)],
  ['without EDNS', 'NOERROR, aa, 2 answers', message(WEB, 'A', plain)],
  ['RD', 'NOERROR, aa, rd, 2 answers, EDNS 0 1232', message(WEB, 'A', { recursionDesired: true })],
  ['CD and AD', ANSWERED, message(WEB, 'A', { checkingDisabled: true, authenticData: true })],
  ['AA, TC and RA in a query', ANSWERED, message(WEB, 'A', { authoritative: true, recursionAvailable: true, truncated: true })],
  ['the bit that is reserved', ANSWERED, patched(message(WEB), { 3: 0x40 })],
  ['an RCODE in a query', ANSWERED, patched(message(WEB), { 3: 0x05 })],
  ['DO', 'NOERROR, aa, 2 answers, EDNS 0 1232 DO', message(WEB, 'A', edns({ dnssecOk: true }))],
  ['flags of EDNS that are not known', ANSWERED, patched(message(WEB), { [message(WEB).length - 3]: 0x7f })],
  ['version 1 of EDNS', 'BADVERS', message(WEB, 'A', edns({ version: 1 }))],
  ['version 255 of EDNS for no zone of ours', 'BADVERS', message('example.org.', 'A', edns({ version: 255 }))],
  [
    'version 1 of EDNS with an option',
    'BADVERS',
    message(WEB, 'A', { edns: { udpSize: 1232, version: 1, dnssecOk: true, options: [{ code: 100, data: Buffer.alloc(4) }] } }),
  ],
  ['a size of 0', 'NOERROR, aa, tc, 0 answers, EDNS 0 1232', message('many.example.test.', 'A', edns({ udpSize: 0 }))],
  ['a size of 65535', 'NOERROR, aa, tc, 0 answers, EDNS 0 1232', message('many.example.test.', 'A', edns({ udpSize: 65_535 }))],
  ['a cookie', ANSWERED, message(WEB, 'A', option(10, '0101010101010101'))],
  ['a cookie of three octets', ANSWERED, message(WEB, 'A', option(10, '010101'))],
  ['NSID', ANSWERED, message(WEB, 'A', option(3, ''))],
  ['a client subnet', ANSWERED, message(WEB, 'A', option(8, '00012000c0000201'))],
  ['padding', ANSWERED, message(WEB, 'A', option(12, '00'.repeat(100)))],
  ['an option that is not known', ANSWERED, message(WEB, 'A', option(65_001, 'ff'.repeat(30)))],
  ['an option beyond its record', 'FORMERR', patched(message(WEB, 'A', option(10, '00'.repeat(8))), { [message(WEB).length + 3]: 200 })],
  ['two OPT records', 'FORMERR', patched(message(WEB), { 11: 2 }, OPT)],
  ['OPT as an answer', 'FORMERR', patched(message(WEB), { 7: 1, 11: 0 })],
  ['OPT with an owner', 'FORMERR', patched(message(WEB, 'A', plain), { 11: 1 }, Buffer.from('0161', 'hex'), OPT)],
  ['octets behind', 'FORMERR', patched(message(WEB), {}, Buffer.alloc(3))],
  ['no question', 'FORMERR', message(WEB, 'A', { ...plain, questions: [] })],
  ['no question but a cookie', 'FORMERR', message(WEB, 'A', { ...option(10, '0101010101010101'), questions: [] })],
  ['two questions', 'FORMERR', message(WEB, 'A', { questions: [question, question] })],
  ['an answer in a query', 'FORMERR', message(WEB, 'A', { answers: [address] })],
  ['an authority in a query', 'FORMERR', message(WEB, 'A', { authorities: [soa] })],
  ['an additional record in a query', ANSWERED, message(WEB, 'A', { additionals: [address] })],
  ['a count that lies', 'FORMERR', patched(message(WEB, 'A', plain), { 7: 9 })],
  ['counts that lie', 'FORMERR', patched(message(WEB, 'A', plain), { 4: 255, 5: 255, 6: 255, 7: 255, 8: 255, 9: 255, 10: 255, 11: 255 })],
  ['a header only', 'FORMERR', message(WEB).subarray(0, 12)],
  ['a name that is cut off', 'FORMERR', message(WEB).subarray(0, 16)],
  ['less than a header', 'silence', message(WEB).subarray(0, 11)],
  ['nothing', 'silence', Buffer.alloc(0)],
  ['a response', 'silence', message(WEB, 'A', { response: true })],
  ['a pointer to itself', 'FORMERR', raw('c00c00010001')],
  ['a pointer into the header', 'FORMERR', raw('c00000010001')],
  ['a pointer forwards', 'FORMERR', raw('c00e0161000000010001')],
  ['a label and a pointer to it', 'FORMERR', raw('0161c00c00010001')],
  ['a label of another type', 'FORMERR', raw('4100010001')],
  ['a name of 256 octets', 'FORMERR', raw(`${'3f'.padEnd(128, '61').repeat(4)}0000010001`)],
  ['class CH', 'REFUSED', message(WEB, 'A', inClass(CLASS.CH))],
  ['class HS', 'REFUSED', message(WEB, 'A', inClass(4))],
  ['class ANY', 'NOERROR, 2 answers, EDNS 0 1232', message(WEB, 'A', inClass(CLASS.ANY))],
  ['class NONE', 'REFUSED', message(WEB, 'A', inClass(CLASS.NONE))],
  ['class 0', 'REFUSED', message(WEB, 'A', inClass(0))],
  ...['TYPE0', 'TYPE128', 'TYPE65535', 'NULL', 'RRSIG', 'NSEC', 'DNSKEY'].map((type): Case => [`type ${type}`, EMPTY, message(WEB, type)]),
  ...['OPT', 'TSIG', 'TKEY'].map((type): Case => [`type ${type}`, 'FORMERR', message(WEB, type)]),
  ...['MAILA', 'MAILB'].map((type): Case => [`type ${type}`, 'NOTIMP', message(WEB, type)]),
  ['ANY', 'NOERROR, aa, 1 answers, EDNS 0 1232', message(ZONE, 'ANY')],
  ['ANY for nothing', 'NXDOMAIN, aa, 0 answers, EDNS 0 1232', message('nothing.example.test.', 'ANY')],
  ['ANY for an empty non-terminal', EMPTY, message('c.example.test.', 'ANY')],
  ['ANY below a delegation', 'NOERROR, 0 answers, EDNS 0 1232', message('x.glued.example.test.', 'ANY')],
  ['AXFR', 'FORMERR', message(ZONE, 'AXFR')],
  ['AXFR of no zone', 'NOTAUTH', message('example.org.', 'AXFR')],
  ['AXFR of a name in a zone', 'NOTAUTH', message(WEB, 'AXFR')],
  ['IXFR without an SOA', 'FORMERR', message(ZONE, 'IXFR')],
  ['inverse query', 'NOTIMP, opcode 1', message(WEB, 'A', { opcode: 1 })],
  ['STATUS', 'NOTIMP, opcode 2', message(WEB, 'A', { opcode: 2 })],
  ['opcode 3', 'NOTIMP, opcode 3', message(WEB, 'A', { opcode: 3 })],
  ['NOTIFY for a zone that comes from nowhere', 'NOTAUTH, opcode 4', message(ZONE, 'SOA', { opcode: 4 })],
  ['NOTIFY for no zone', 'NOTAUTH, opcode 4', message('example.org.', 'SOA', { opcode: 4 })],
  ['UPDATE', 'NOTIMP, opcode 5', message(ZONE, 'SOA', { opcode: 5 })],
  ['a stateful operation', 'NOTIMP, opcode 6', message(WEB, 'A', { ...plain, opcode: 6, questions: [] })],
  ['opcode 15', 'NOTIMP, opcode 15', message(WEB, 'A', { opcode: 15 })],
  ['a name of no zone', 'REFUSED', message('example.org.')],
  ['the root', 'REFUSED', message('.', 'NS')],
  ['the parent', 'REFUSED', message('test.', 'NS')],
]

/** One socket per server; message IDs separate the responses from late ones. */
async function asker(port: number): Promise<(octets: Buffer, id: number) => Promise<Buffer | null>> {
  const socket: Socket = createSocket('udp4')
  sockets.push(socket)
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return (octets, id) =>
    new Promise((resolve) => {
      const next = (id + 0x8000) & 0xffff
      const take = (answer: Buffer): void => {
        if (answer.length < 2) return
        if (answer.readUInt16BE(0) === id) finish(answer)
        if (answer.readUInt16BE(0) !== next) return
        clearTimeout(timer)
        timer = setTimeout(() => finish(null), SILENCE)
      }
      let timer = setTimeout(() => finish(null), PATIENCE)
      const finish = (answer: Buffer | null): void => {
        clearTimeout(timer)
        socket.off('message', take)
        resolve(answer)
      }
      socket.on('message', take)
      const sent = Buffer.from(octets)
      if (sent.length >= 2) sent.writeUInt16BE(id, 0)
      socket.send(sent)
      socket.send(encodeMessage({ ...createQuery(next, { name: WEB, type: 'A' }) }))
    })
}

/** Milliseconds until a response is considered missing: after the response to a later query, and without it. */
const SILENCE = 250
const PATIENCE = 15_000
const sockets: Socket[] = []

afterAll(() => {
  for (const socket of sockets) socket.close()
})

/** The part of a response that must agree, without truncated or optional records. */
function describeAnswer(octets: Buffer | null): string {
  if (octets === null) return 'silence'
  const decoded = decodeMessage(octets)
  if (!decoded.ok) return `unreadable: ${decoded.message}`
  const { value } = decoded
  const flags = [value.authoritative && 'aa', value.truncated && 'tc', value.recursionDesired && 'rd', value.recursionAvailable && 'ra']
  const opt = value.edns && `EDNS ${value.edns.version} ${value.edns.udpSize}${value.edns.dnssecOk ? ' DO' : ''}`
  const isAnswer = value.rcode === 0 || value.rcode === 3
  // In an error without a question, EDNS is optional too.
  const parts = isAnswer ? [`${value.answers.length} answers`, opt] : []
  const opcode = value.opcode > 0 && `opcode ${value.opcode}`
  return [rcodeName(value.rcode), opcode, ...flags, ...parts].filter((part) => part).join(', ')
}

describe('an unusual message', () => {
  let server: NameServer

  beforeAll(async () => {
    server = await startNameServer({ host: '127.0.0.1', port: 0, limits: { responsesPerSecond: 0 }, onNotify: () => 'unknown' })
    for (const zone of RICH_ZONES) server.setZone({ ...zone, axfrIps: ['127.0.0.1'] })
  })

  afterAll(() => server.close())

  test.each(CASES)('%s gets %s', async (_name, response, octets) => {
    const answer = await exchangeUdp(server.address.port, octets)
    expect(describeAnswer(answer)).toBe(response)
    if (answer !== null) expect(answer.subarray(0, 2)).toEqual(octets.subarray(0, 2))
  })
})

describeWithTools(['named', 'nsd', 'knotd'], 'messages to other name servers', () => {
  const answers: Record<string, readonly string[]> = {}

  beforeAll(async () => {
    const zones = RICH_ZONES.map(zoneFile)
    const servers = await Promise.all([startBind({ zones }), startNsd({ zones }), startKnot({ zones })])
    const ask = await Promise.all(servers.map(({ port }) => asker(port)))
    for (const [id, [name, , octets]] of CASES.entries())
      answers[name] = await Promise.all(ask.map(async (one) => describeAnswer(await one(octets, id + 1))))
  })

  test.each(CASES)('%s gets %s from one of them', (name, response) => expect(answers[name]).toContain(response))
})
