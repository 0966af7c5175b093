import { expect, test } from 'vitest'
import { decodeRdata, encodeRdata, rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { typeCode } from '../../../src/dns/record-type.ts'
import { createWriter, writtenOctets } from '../../../src/dns/wire/writer.ts'

/** Canonical data and its octets, written by hand from the RFC of each type. */
const CASES: readonly (readonly [type: string, data: string, hex: string])[] = [
  ['A', '192.0.2.1', 'c0000201'],
  ['AAAA', '2001:db8::1', '20010db8000000000000000000000001'],
  ['AAAA', '::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ['NS', 'ns1.example.', '036e7331076578616d706c6500'],
  ['NS', '.', '00'],
  ['CNAME', 'a\\.b\\000.example.', '04612e6200076578616d706c6500'],
  ['SOA', 'a. b. 1 2 3 4 4294967295', '016100016200000000010000000200000003000000' + '04ffffffff'],
  ['MX', '0 .', '000000'],
  ['MX', '10 mx.example.', '000a026d78076578616d706c6500'],
  ['TXT', '""', '00'],
  ['TXT', '"a" "" "b\\"\\\\\\000\\255"', '0161' + '00' + '0562225c00ff'],
  ['HINFO', '"RFC8482" ""', '075246433834383200'],
  ['RP', 'a. .', '01610000'],
  ['SRV', '1 2 65535 t.', '00010002ffff017400'],
  [
    'NAPTR',
    '100 10 "u" "E2U+sip" "!^.*$!sip:a@example.com!" .',
    '0064000a0175074532552b7369701821' + '5e2e2a24217369703a61406578616d706c652e636f6d2100',
  ],
  ['CERT', '1 2 8 AQID', '0001000208010203'],
  ['DS', `60485 5 1 ${'2bb183af'.repeat(5)}`, `ec450501${'2bb183af'.repeat(5)}`],
  ['SSHFP', `4 2 ${'00ff'.repeat(16)}`, `0402${'00ff'.repeat(16)}`],
  ['DNSKEY', '257 3 13 AQID', '0101030d010203'],
  ['TLSA', '3 1 1 00', '03010100'],
  ['OPENPGPKEY', 'AA==', '00'],
  ['URI', '10 1 "ftp://ftp.example/"', '000a00016674703a2f2f6674702e6578616d706c652f'],
  ['CAA', '128 issue ""', '80056973737565'],
  ['CAA', '0 iodef "mailto:a@example.com"', '0005696f6465666d61696c746f3a61406578616d706c652e636f6d'],
  ['TYPE65280', '\\# 3 0102ff', '0102ff'],
  ['TYPE65280', '\\# 0', ''],
]

test.each(CASES)('%s %s', (type, data, hex) => {
  const octets = rdataOctets(type, data)
  expect(octets.toString('hex')).toBe(hex)
  expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: true, value: data })
})

test('names are compressed only in the types of RFC 1035', () => {
  const lengths = ['NS', 'CNAME', 'PTR', 'DNAME'].map((type) => {
    const writer = createWriter()
    encodeRdata(type, 'host.example.', writer)
    encodeRdata(type, 'host.example.', writer)
    return writtenOctets(writer).length
  })
  expect(lengths).toEqual([16, 16, 16, 28])
})

test.each([
  ['A', '0102', 'expected'],
  ['A', '0102030405', 'octets left: 1'],
  ['TXT', '', 'expected'],
  ['TXT', '0561', 'expected'],
  ['DS', '00010102', 'empty'],
  ['CAA', '0000', 'tag'],
  ['CAA', '00012d', 'tag'],
  ['NS', '036e7331', 'exceeds'],
  ['NS', 'c000', 'backwards'],
  ['NS', '4161', 'label of type 1'],
  ['MX', '000a', 'exceeds'],
])('%s of %s is refused: %s', (type, hex, message) => {
  const octets = Buffer.from(hex, 'hex')
  expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: false, message: expect.stringContaining(message) })
})

test('throws for text that is not canonical', () => {
  expect(() => rdataOctets('MX', '10')).toThrow(RangeError)
  expect(() => rdataOctets('TYPE65280', 'abc')).toThrow(RangeError)
  expect(() => rdataOctets('NS', 'relative')).toThrow(RangeError)
})
