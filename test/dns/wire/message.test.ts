import { type Answer, decode, encode } from 'dns-packet'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { CLASS, createQuery, createUpdate, type Message, OPCODE, RCODE, type WireRecord } from '../../../src/dns/wire/message.ts'

const name = (text: string): DomainName => text as DomainName

const record = (text: string): WireRecord => {
  const [owner = '', ttl, type = '', ...data] = text.split(' ')
  return { name: name(owner), ttl: Number(ttl), class: CLASS.IN, type, data: data.join(' ') }
}

const QUERY = createQuery(0x1234, { name: name('www.example.com.'), type: 'A' })

const RESPONSE: Message = {
  ...QUERY,
  response: true,
  authoritative: true,
  answers: [record('www.example.com. 60 CNAME web.example.com.'), record('web.example.com. 60 A 192.0.2.1')],
  authorities: [
    record('example.com. 60 NS ns1.example.com.'),
    record('example.com. 60 SOA ns1.example.com. h.example.com. 4294967295 2 3 4 5'),
  ],
  additionals: [
    record('ns1.example.com. 60 AAAA 2001:db8::1'),
    record('_sip._tcp.example.com. 60 SRV 1 2 3 web.example.com.'),
    record('example.com. 60 MX 10 web.example.com.'),
    record('example.com. 60 TXT "a" "b\\255"'),
    record('example.com. 60 CAA 128 issue "ca.example.net"'),
  ],
}

/** Compares with dns-packet, an independent implementation. */
describe('dns-packet', () => {
  test('decodes our octets', () => {
    const packet = decode(encodeMessage(RESPONSE))
    expect(packet).toMatchObject({
      id: 0x1234,
      type: 'response',
      flag_aa: true,
      rcode: 'NOERROR',
      questions: [{ name: 'www.example.com', type: 'A', class: 'IN' }],
      answers: [
        { name: 'www.example.com', type: 'CNAME', data: 'web.example.com' },
        { name: 'web.example.com', type: 'A', data: '192.0.2.1', ttl: 60 },
      ],
      authorities: [
        { type: 'NS', data: 'ns1.example.com' },
        { type: 'SOA', data: { mname: 'ns1.example.com', rname: 'h.example.com', serial: 4294967295, minimum: 5 } },
      ],
    })
    expect(packet.additionals).toMatchObject([
      { type: 'OPT', udpPayloadSize: 1232 },
      { type: 'AAAA', data: '2001:db8::1' },
      { type: 'SRV', data: { priority: 1, weight: 2, port: 3, target: 'web.example.com' } },
      { type: 'MX', data: { preference: 10, exchange: 'web.example.com' } },
      { type: 'TXT', data: [Buffer.from('a'), Buffer.from([0x62, 255])] },
      { type: 'CAA', data: { flags: 128, tag: 'issue', value: 'ca.example.net' } },
    ])
  })

  test('encodes messages that we decode, with compression pointers', () => {
    const octets = encode({
      type: 'response',
      id: 7,
      flags: 0x0400,
      questions: [{ type: 'MX', name: 'Example.COM' }],
      answers: [
        { type: 'MX', name: 'Example.COM', ttl: 5, data: { preference: 1, exchange: 'mail.example.com' } },
        { type: 'TXT', name: 'example.com', ttl: 2 ** 31, data: ['x', 'y"'] } as Answer,
      ],
      additionals: [
        { type: 'OPT', name: '.', udpPayloadSize: 4096, flags: 0x8000, options: [{ code: 65001, data: Buffer.from('ab') }] } as never,
      ],
    })
    expect(decodeMessage(octets)).toEqual({
      ok: true,
      value: {
        ...QUERY,
        id: 7,
        response: true,
        authoritative: true,
        questions: [{ name: 'example.com.', type: 'MX', class: 1 }],
        answers: [record('example.com. 5 MX 1 mail.example.com.'), record('example.com. 0 TXT "x" "y\\""')],
        edns: { udpSize: 4096, version: 0, dnssecOk: true, options: [{ code: 65001, data: Buffer.from('ab') }] },
      },
    })
  })
})

describe('a message', () => {
  test.each<[string, Message]>([
    ['a query', QUERY],
    ['a response', RESPONSE],
    [
      'flags',
      { ...RESPONSE, truncated: true, recursionDesired: true, recursionAvailable: true, authenticData: true, checkingDisabled: true },
    ],
    ['an RCODE of twelve bits', { ...QUERY, response: true, rcode: RCODE.BADVERS }],
    [
      'an update with empty data and class NONE',
      {
        ...QUERY,
        opcode: OPCODE.UPDATE,
        edns: null,
        answers: [{ name: name('a.example.com.'), type: 'ANY', class: CLASS.ANY, ttl: 0, data: null }],
        authorities: [
          { name: name('a.example.com.'), type: 'A', class: CLASS.ANY, ttl: 0, data: null },
          { name: name('a.example.com.'), type: 'MX', class: CLASS.NONE, ttl: 0, data: '10 a\\.b.example.com.' },
          { name: name('a.example.com.'), type: 'TYPE65280', class: CLASS.IN, ttl: 0, data: '\\# 0' },
        ],
      },
    ],
  ])('decodes to the encoded value: %s', (_, message) => {
    expect(decodeMessage(encodeMessage(message))).toEqual({ ok: true, value: message })
  })

  test('is compressed with pointers to earlier names within 14 bits', () => {
    const answers = Array.from({ length: 900 }, (_, i) => record(`n${i}.example.com. 60 CNAME t${i}.example.com.`))
    const octets = encodeMessage({ ...RESPONSE, answers, authorities: [], additionals: [] })
    expect(octets.length).toBeLessThan(900 * 30)
    expect(octets.length).toBeGreaterThan(0x4000)
    expect(decodeMessage(octets)).toMatchObject({ ok: true, value: { answers } })
  })

  test('is not encoded if it is too long', () => {
    const answers = Array.from({ length: 5000 }, () => record('example.com. 60 A 192.0.2.1'))
    expect(() => encodeMessage({ ...RESPONSE, answers })).toThrow(RangeError)
    expect(() => encodeMessage({ ...QUERY, edns: null, rcode: 16 })).toThrow(RangeError)
  })
})

const HEADER = '000084000001000000000000'
const withHeader = (counts: string, rest: string): Buffer => Buffer.from(`00008400${counts}${rest}`, 'hex')
const QUESTION = '0161000001' + '0001'

test.each<[string, Buffer, string]>([
  ['nothing', Buffer.alloc(0), 'expected'],
  ['half a header', Buffer.from(HEADER, 'hex').subarray(0, 7), 'expected'],
  ['a missing question', Buffer.from(HEADER, 'hex'), 'exceeds'],
  ['octets after the end', Buffer.concat([Buffer.from(`${HEADER}${QUESTION}`, 'hex'), Buffer.from([0])]), 'after the last section'],
  ['a pointer to itself', withHeader('0001000000000000', 'c00c00010001'), 'backwards'],
  ['a pointer forwards', withHeader('0001000000000000', 'c00e00010001'), 'backwards'],
  ['two pointers at each other', withHeader('0002000000000000', '0161c00c00010001c00c00010001'), 'backwards'],
  ['a label of 64 octets', withHeader('0001000000000000', `40${'61'.repeat(64)}0000010001`), 'label of type 1'],
  ['a name of 256 octets', withHeader('0001000000000000', `${`3f${'61'.repeat(63)}`.repeat(4)}0000010001`), 'longer than 255'],
  ['rdata beyond the message', withHeader('0000000100000000', '00000100010000000000050102'), 'exceeds'],
  ['rdata longer than its fields', withHeader('0000000100000000', '0000010001000000000005c000020101'), 'longer than its fields'],
  ['65,535 missing records', withHeader('0000ffff00000000', ''), 'exceeds'],
  ['two OPT records', withHeader('0000000000000002', '0000290200000000000000'.repeat(2)), 'two OPT'],
  ['an OPT record with an owner', withHeader('0000000000000001', '016100002902000000' + '00000000'), 'owner of an OPT'],
  ['an OPT record with half an option', withHeader('0000000000000001', '00002902000000000000050001000900'), 'expected'],
])('%s is refused', (_, octets, message) => expect(decodeMessage(octets)).toEqual({ ok: false, message: expect.stringContaining(message) }))

test('an update states what must exist, what must not exist, and its changes (RFC 2136 sections 2.4 and 2.5)', () => {
  const [owner, type] = [name('www.example.com.'), 'A']
  const { answers, authorities } = createUpdate(1, name('example.com.'), {
    prerequisites: [
      { name: owner, type, data: ['192.0.2.1', '192.0.2.2'] },
      { name: owner, type: 'TXT', data: [] },
    ],
    updates: [
      { action: 'delete-rrset', name: owner, type },
      { action: 'delete', record: { name: owner, type, ttl: 60 as Ttl, data: '192.0.2.1' } },
      { action: 'add', record: { name: owner, type, ttl: 60 as Ttl, data: '192.0.2.3' } },
    ],
  })
  const shown = (some: readonly WireRecord[]) => some.map((one) => [one.type, one.class, one.ttl, one.data])
  expect(shown(answers)).toEqual([
    ['A', CLASS.IN, 0, '192.0.2.1'],
    ['A', CLASS.IN, 0, '192.0.2.2'],
    ['TXT', CLASS.NONE, 0, null],
  ])
  expect(shown(authorities)).toEqual([
    ['A', CLASS.ANY, 0, null],
    ['A', CLASS.NONE, 0, '192.0.2.1'],
    ['A', CLASS.IN, 60, '192.0.2.3'],
  ])
})
