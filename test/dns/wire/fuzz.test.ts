import { describe, expect, test } from 'vitest'
import { quoteString } from '../../../src/dns/character-string.ts'
import { type DomainName, nameFromLabels, nameOctets, parseDomainName } from '../../../src/dns/domain-name.ts'
import { decodeRdata, rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { CLASS, type Message, type WireRecord } from '../../../src/dns/wire/message.ts'
import { createReader, readName } from '../../../src/dns/wire/reader.ts'
import { createWriter, writeName, writtenOctets } from '../../../src/dns/wire/writer.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

const label = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[a-z0-9_*-]{1,12}$/).map((text) => Buffer.from(text)) },
  fc.uint8Array({ minLength: 1, maxLength: 63 }).map((octets) => Buffer.from(octets)),
)
const name = fc
  .array(label, { maxLength: 6 })
  .map((labels) => nameFromLabels(labels))
  .filter((text) => nameOctets(text) <= 255)

const string = fc.uint8Array({ maxLength: 255 }).map(quoteString)
const data: fc.Arbitrary<{ type: string; data: string }> = fc.oneof(
  fc.ipV4().map((address) => ({ type: 'A', data: address })),
  name.map((target) => ({ type: 'CNAME', data: target as string })),
  fc.tuple(fc.nat(65535), name).map(([preference, host]) => ({ type: 'MX', data: `${preference} ${host}` })),
  fc.tuple(fc.nat(65535), fc.nat(65535), fc.nat(65535), name).map((fields) => ({ type: 'SRV', data: fields.join(' ') })),
  fc.array(string, { minLength: 1, maxLength: 4 }).map((strings) => ({ type: 'TXT', data: strings.join(' ') })),
  fc.tuple(fc.nat(255), string).map(([flags, value]) => ({ type: 'CAA', data: `${flags} issue ${value}` })),
  fc
    .uint8Array({ minLength: 1, maxLength: 300 })
    .map((octets) => ({ type: 'TYPE65280', data: `\\# ${octets.length} ${Buffer.from(octets).toString('hex')}` })),
)
const record: fc.Arbitrary<WireRecord> = fc
  .tuple(name, data, fc.nat(2 ** 31 - 1))
  .map(([owner, rdata, ttl]) => ({ name: owner, class: CLASS.IN, ttl, ...rdata }))
const section = fc.array(record, { maxLength: 5 })
const message: fc.Arbitrary<Message> = fc.record({
  id: fc.nat(65535),
  opcode: fc.nat(15),
  response: fc.boolean(),
  authoritative: fc.boolean(),
  truncated: fc.boolean(),
  recursionDesired: fc.boolean(),
  recursionAvailable: fc.boolean(),
  authenticData: fc.boolean(),
  checkingDisabled: fc.boolean(),
  rcode: fc.nat(15),
  questions: fc.array(fc.record({ name, type: fc.constantFrom('A', 'ANY', 'AXFR', 'TYPE65280'), class: fc.nat(65535) }), { maxLength: 2 }),
  answers: section,
  authorities: section,
  additionals: section,
  edns: fc.constantFrom(null, { udpSize: 1232, version: 0, dnssecOk: true, options: [{ code: 3, data: Buffer.from('x') }] }),
})

describe('decoding returns the encoded value', () => {
  test('messages', () => {
    forAll(100, message, (value) => {
      expect(decodeMessage(encodeMessage(value))).toEqual({ ok: true, value })
    })
  })

  test('names, equal to their parsed text', () => {
    forAll(100, name, name, (first, second) => {
      const writer = createWriter()
      for (const each of [first, second, first]) writeName(writer, each, true)
      const reader = createReader(writtenOctets(writer))
      expect([readName(reader), readName(reader), readName(reader)]).toEqual([first, second, first])
      expect(parseDomainName(first)).toEqual({ ok: true, value: first })
    })
  })
})

/** Messages of every kind with octets changed, removed and inserted. */
const mutated = fc
  .tuple(message, fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)), { minLength: 1, maxLength: 8 }), fc.nat(4096))
  .map(([value, changes, cut]) => {
    const octets = [...encodeMessage(value)]
    for (const [at, octet, kind] of changes) {
      const index = at % (octets.length || 1)
      if (kind === 0) octets[index] = octet
      else octets.splice(index, kind === 1 ? 1 : 0, ...(kind === 2 ? [octet] : []))
    }
    return Uint8Array.from(octets.slice(0, cut < 1024 ? cut : octets.length))
  })

describe('the decoder never throws', () => {
  const neverThrows = (octets: Uint8Array): void => {
    const decoded = decodeMessage(Buffer.from(octets))
    if (!decoded.ok) return
    // A decoded message can be encoded again without change of meaning.
    expect(decodeMessage(encodeMessage(decoded.value))).toEqual({ ok: true, value: decoded.value })
  }

  test('on random octets', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), neverThrows), { numRuns: rounds(500) })
  })

  test('on changed messages', () => {
    fc.assert(fc.property(mutated, neverThrows), { numRuns: rounds(500) })
  })

  test('on rdata of any type, and its result is canonical', () => {
    const codes = [...RDATA_TYPES.values()].flatMap((type) => (type.code === null ? [] : [type]))
    forAll(rounds(5000), fc.constantFrom(...codes), fc.uint8Array({ maxLength: 60 }), ({ type, code }, octets) => {
      const decoded = decodeRdata(code ?? 0, octets, 0, octets.length)
      if (!decoded.ok) return
      const again = rdataOctets(type, decoded.value)
      expect(decodeRdata(code ?? 0, again, 0, again.length)).toEqual(decoded)
    })
  })
})

test('stops in a long chain of pointers', () => {
  // Eight thousand pointers, each to the previous one.
  const chain = Buffer.alloc(12 + 32000)
  chain[12] = 0
  for (let at = 14; at < 16000; at += 2) chain.writeUInt16BE(0xc000 | Math.max(12, at - 2), at)
  for (let i = 0; i < 200; i += 1) expect(readName(createReader(chain, 15998))).toBe('.' as DomainName)
})
