import { describe, expect, test } from 'vitest'
import { parseDomainName } from '../../../src/dns/domain-name.ts'
import { canonicalRdata, type RdataResult, rdataFields } from '../../../src/dns/rdata/canonical.ts'
import { parseGenericForm } from '../../../src/dns/rdata/generic-form.ts'
import { decodeRdata, rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { parseRecordType, typeCode, typeName } from '../../../src/dns/record-type.ts'
import { name } from '../../support/records.ts'

const ORIGIN = name('example.com.')

/** Data from fields as `rdataFields` splits them; quoted strings keep their quotes. */
const canonical = (type: string, text: string): RdataResult => {
  const tokens = rdataFields(text).map((field) =>
    field.startsWith('"') ? { text: field.slice(1, -1), quoted: true } : { text: field, quoted: false },
  )
  return canonicalRdata(type, tokens, (target) => parseDomainName(target, ORIGIN))
}

/** Type, text as it may be written, canonical text, octets. */
const DATA: readonly (readonly [type: string, text: string, canonical: string, hex: string])[] = [
  ['MD', 'A', 'a.example.com.', '0161076578616d706c6503636f6d00'],
  ['MF', 'a.', 'a.', '016100'],
  ['MB', '.', '.', '00'],
  ['MINFO', 'a. b.', 'a. b.', '016100016200'],
  ['AFSDB', '00001 a.', '1 a.', '0001016100'],
  ['AFSDB', '00000000000000000001 a.', '1 a.', '0001016100'],
  ['X25', '311061700956', '"311061700956"', '0c333131303631373030393536'],
  ['ISDN', '1 "2"', '"1" "2"', '01310132'],
  ['ISDN', '1', '"1"', '0131'],
  ['NSAP', '0x47.0005.80FF', '0x47000580ff', '47000580ff'],
  [
    'SIG',
    'A 5 2 60 20040101000000 0 7 a. AQID',
    'A 5 2 60 20040101000000 19700101000000 7 a. AQID',
    '000105020000003c3ff3630000000000' + '0007' + '016100' + '010203',
  ],
  ['KEY', '256 3 RSASHA1 AQID', '256 3 5 AQID', '01000305010203'],
  ['KEY', '49152 3 8', '49152 3 8', 'c0000308'],
  ['PX', '10 a. b.', '10 a. b.', '000a016100016200'],
  ['GPOS', '-32.6882 116.8652 10.0', '"-32.6882" "116.8652" "10.0"', '082d33322e363838320831' + '31362e38363532' + '0431302e30'],
  [
    'LOC',
    '31 58 52.1 S 115 49 11.7 E 20m 10m 10m 2m',
    '31 58 52.100 S 115 49 11.700 E 20.00m 10.00m 10.00m 2.00m',
    '001313227923393c98da2d9400989e50',
  ],
  ['EID', 'E3 2C 6F', 'e32c6f', 'e32c6f'],
  ['CERT', 'PKIX 1 RSASHA256 AQ ID', '1 1 8 AQID', '0001000108010203'],
  ['APL', '', '', ''],
  ['APL', '1:192.0.2.0/24 !2:2001:DB8::/032', '1:192.0.2.0/24 !2:2001:db8::/32', '00011803c00002' + '0002208420010db8'],
  ['APL', '1:0.0.0.0/0', '1:0.0.0.0/0', '00010000'],
  ['IPSECKEY', '10 1 2 192.0.2.38 AQ ID', '10 1 2 192.0.2.38 AQID', '0a0102c0000226010203'],
  ['IPSECKEY', '10 0 0 .', '10 0 0 .', '0a0000'],
  ['IPSECKEY', '10 3 2 a. AQID', '10 3 2 a. AQID', '0a0302016100010203'],
  [
    'RRSIG',
    'TYPE65280 13 1 1 4294967295 20380119031408 1 . AA==',
    'TYPE65280 13 1 1 21060207062815 20380119031408 1 . AA==',
    'ff000d0100000001ffffffff800000000001' + '00' + '00',
  ],
  ['NSEC', 'a. TYPE1234 NSEC mx A RRSIG A', 'a. A MX RRSIG NSEC TYPE1234', `0161000006400100000003041b${'00'.repeat(26)}20`],
  ['NSEC', 'a.', 'a.', '016100'],
  [
    'NSEC3',
    '1 1 12 AABBCCDD 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR',
    '1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr',
    '0101000c04aabbccdd' + '14174eb2409fe28bcb4887a1836f957f0a8425e27b',
  ],
  ['NSEC3', '1 0 0 - ALKMAAO A', '1 0 0 - alkmaao A', '0100000000' + '045569652b' + '000140'],
  ['NSEC3PARAM', '1 0 0 -', '1 0 0 -', '0100000000'],
  ['HIP', '2 2001 AQID a. b.', '2 2001 AQID a. b.', '020200032001010203016100016200'],
  ['TALINK', 'a. .', 'a. .', '01610000'],
  ['CSYNC', '66 3 AAAA A', '66 3 A AAAA', '000000420003' + '000440000008'],
  ['ZONEMD', `1 1 1 ${'AB'.repeat(48)}`, `1 1 1 ${'ab'.repeat(48)}`, `000000010101${'ab'.repeat(48)}`],
  ['SVCB', '0 a.', '0 a.', '0000016100'],
  ['HTTPS', '1 . port=8443 alpn=h2', '1 . alpn=h2 port=8443', '000100' + '00010003026832' + '0003000220fb'],
  ['DSYNC', 'CDS NOTIFY 5300 a.', 'CDS 1 5300 a.', '003b0114b4016100'],
  ['NID', '10 14:4FFF:ff20:ee64', '10 0014:4fff:ff20:ee64', '000a00144fffff20ee64'],
  ['L32', '10 192.0.2.1', '10 192.0.2.1', '000ac0000201'],
  ['LP', '10 a.', '10 a.', '000a016100'],
  ['ZONEMD', `1 240 1 ${'AB'.repeat(12)}`, `1 240 1 ${'ab'.repeat(12)}`, `00000001f001${'ab'.repeat(12)}`],
  ['DS', `1 8 2 ${'AB '.repeat(32).trim()}`, `1 8 2 ${'ab'.repeat(32)}`, `00010802${'ab'.repeat(32)}`],
  ['DS', '1 8 7 AB', '1 8 7 ab', '00010807ab'],
  ['CDS', '0 0 0 00', '0 0 0 00', '0000000000'],
  ['CDS', '0 0 0 0', '0 0 0 00', '0000000000'],
  ['CDNSKEY', '0 3 0 0', '0 3 0 AA==', '0000030000'],
  ['SSHFP', `4 1 ${'ab'.repeat(20)}`, `4 1 ${'ab'.repeat(20)}`, `0401${'ab'.repeat(20)}`],
  ['SSHFP', '4 3 AB', '4 3 ab', '0403ab'],
  ['RKEY', '0 3 8 AQID', '0 3 8 AQID', '00000308010203'],
  ['NSEC', 'a. OPT NXNAME any A', 'a. A TYPE41 TYPE128 TYPE255', `016100002040${'00'.repeat(4)}40${'00'.repeat(10)}80${'00'.repeat(14)}01`],
  ['DSYNC', 'ANY 1 53 .', 'TYPE255 1 53 .', '00ff01003500'],
  ['EUI48', '00-00-5E-00-53-2A', '00-00-5e-00-53-2a', '00005e00532a'],
  ['EUI64', '00-00-5e-ef-10-00-00-2a', '00-00-5e-ef-10-00-00-2a', '00005eef1000002a'],
  ['DOA', '1 2 3 text/plain AQID', '1 2 3 "text/plain" AQID', '000000010000000203' + '0a746578742f706c61696e' + '010203'],
  ['DOA', '1 2 3 "" AQ ID', '1 2 3 "" AQID', '00000001000000020300010203'],
  ['DOA', '1 2 3 "" -', '1 2 3 "" -', '00000001000000020300'],
  ['AMTRELAY', '10 1 3 a.', '10 1 3 a.', '0a83016100'],
  ['AMTRELAY', '0 0 2 2001:DB8::1', '0 0 2 2001:db8::1', '000220010db8000000000000000000000001'],
  ['IPN', '18446744073709551615', '18446744073709551615', 'ffffffffffffffff'],
  ['SOA', 'a. b. 1 1h 15m 1w 300', 'a. b. 1 3600 900 604800 300', '016100016200' + '0000000100000e100000038400093a800000012c'],
]

describe('rdata', () => {
  test.each(DATA)('%s %s', (type, text, expected, hex) => {
    expect(canonical(type, text)).toEqual({ ok: true, value: expected })
    expect(canonical(type, expected)).toEqual({ ok: true, value: expected })
    const octets = rdataOctets(type, expected)
    expect(octets.toString('hex')).toBe(hex)
    expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: true, value: expected })
  })

  /** Times are serial numbers (RFC 4034 section 3.1.5); BIND, NSD and ldns read these dates as the same 32 bits. */
  test.each([
    ['21060207062816', '19700101000000'],
    ['21500101000000', '20131124173144'],
    ['99990101000000', '21050129084032'],
    ['19691231235959', '21060207062815'],
    ['4294967295', '21060207062815'],
    ['0', '19700101000000'],
  ])('RRSIG time %s is %s', (written, same) => {
    const signature = (time: string): string => `A 8 2 300 ${time} 20200101000000 1 a. AQID`
    expect(canonical('RRSIG', signature(written))).toEqual({ ok: true, value: signature(same) })
  })

  /** Type, octets that the type's own form cannot express. */
  test.each([
    ['GID', '010203'],
    ['GID', ''],
    ['UID', '0102030405'],
    ['UINFO', '0561'],
    ['UINFO', '01610162'],
    ['UINFO', ''],
    ['CDS', '00000000'],
    ['CDNSKEY', '00000300'],
    ['AMTRELAY', '0a7f'],
    ['AMTRELAY', '0a04c0000201'],
    ['AMTRELAY', '0a8400'],
  ])('%s of octets %j has only the generic form', (type, hex) => {
    const generic = `\\# ${hex.length / 2} ${hex}`.trim()
    const octets = Buffer.from(hex, 'hex')
    expect(
      parseGenericForm(
        type,
        generic.split(' ').map((text) => ({ text, quoted: false })),
      ),
    ).toEqual({ ok: true, value: generic })
    expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: true, value: generic })
    expect(rdataOctets(type, generic).toString('hex')).toBe(hex)
  })

  /** Type, its obsolete form, its octets. */
  test.each([
    ['WKS', '192.0.2.1 TCP smtp 80 www 0', 'c0000201' + '06' + '80000040' + '00000000000080'],
    ['WKS', '192.0.2.1 17', 'c000020111'],
    ['WKS', '192.0.2.1 __proto__ 1', 'c000020111'],
    ['NXT', 'a. SIG 30 A', '016100' + '40000082'],
    ['NXT', '.', '00'],
    ['A6', '0 2001:DB8::1', '0020010db8000000000000000000000001'],
    ['A6', '64 2001:db8::1234:5678:9abc:def0 p', '40' + '123456789abcdef0' + '0170076578616d706c6503636f6d00'],
    ['A6', '3 ff00:: p.', '031f000000000000000000000000000000' + '017000'],
    ['A6', '128 p.', '80017000'],
    ['SINK', '64 1 2 AQ ID', '400102010203'],
    ['SINK', '1 2 3', '010203'],
    ['ATMA', '+61200000000', '013631323030303030303030'],
    ['ATMA', '39.246f.00', '0039246f00'],
    ['NULL', '', ''],
    ['UNSPEC', 'x', '0a'],
  ])('%s %s has only the generic form', (type, text, hex) => {
    expect(canonical(type, text)).toEqual({ ok: false, message: expect.stringContaining('the generic form \\# LENGTH HEX (RFC 3597)') })
    const generic = `\\# ${hex.length / 2} ${hex}`.trim()
    expect(canonical(type, generic)).toEqual({ ok: true, value: generic })
    const octets = rdataOctets(type, generic)
    expect(octets.toString('hex')).toBe(hex)
    expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: true, value: generic })
  })

  /** Type, text, the index of the wrong token. */
  test.each([
    ['A', '192.0.2', 0],
    ['A', '', 0],
    ['A', '192.0.2.1 192.0.2.2', 1],
    ['MX', '10', 1],
    ['MX', '65536 a.', 0],
    ['SRV', '1 2 3 a..b', 3],
    ['SOA', 'a. b. 1h 1 1 1 1', 2],
    ['SOA', 'a. b. 1 1 1 1 4294967296', 6],
    ['ISDN', '1 2 3', 1],
    ['NSAP', '47', 0],
    ['NSAP', '0x4', 0],
    ['RRSIG', 'NOPE 5 2 60 0 0 7 a. AQID', 0],
    ['RRSIG', 'A NOPE 2 60 0 0 7 a. AQID', 1],
    ['RRSIG', 'A 5 2 60 20230229000000 0 7 a. AQID', 4],
    ['RRSIG', 'A 5 2 60 4294967296 0 7 a. AQID', 4],
    ['APL', '3:00/1', 0],
    ['APL', '1:192.0.2.0/33', 0],
    ['IPSECKEY', '10 4 2 a. AQID', 0],
    ['IPSECKEY', '10 0 2 a. AQID', 0],
    ['IPSECKEY', '10 1 2', 0],
    ['AMTRELAY', '10 2 0 .', 0],
    ['NSEC', 'a. ALIAS', 1],
    ['NSEC3', '1 0 0 abc 2t', 3],
    ['NSEC3', '1 0 0 - 2w', 4],
    ['NSEC3', '1 0 0 - 2t7', 4],
    ['NSEC3', '1 0 0 - 21', 4],
    ['HIP', '2 200 AQID', 0],
    ['ZONEMD', '1 1 1 abcd', 3],
    ['ZONEMD', `1 1 2 ${'ab'.repeat(48)}`, 3],
    ['SSHFP', `1 1 ${'ab'.repeat(19)}`, 2],
    ['SSHFP', `1 2 ${'ab'.repeat(20)}`, 2],
    ['RKEY', '256 3 8 AQID', 0],
    ['KEY', '256 3 8', 3],
    ['DOA', '1 2 3 "" - -', 4],
    ['EUI48', '00-00-5e-00-53', 0],
    ['EUI64', '00:00:5e:ef:10:00:00:2a', 0],
    ['NID', '10 0:1:2', 1],
    ['IPN', '18446744073709551616', 0],
    ['DS', '1 8 2 abc', 3],
    ['DNSKEY', '256 3 8 AQI', 3],
    ['CAA', '0 is-sue "a"', 1],
    ['CERT', 'NOPE 1 8 AQID', 0],
    ['TXT', `"${'a'.repeat(256)}"`, 0],
    ['TYPE65280', '\\# 2 00', 0],
    ['TYPE65280', '\\# 65536 00', 0],
    ['TYPE65280', 'abc', 0],
  ])('%s %s is refused at token %d', (type, text, token) => {
    const result = canonical(type, text)
    expect(result.ok).toBe(false)
    expect(result.token ?? 0).toBe(token)
  })

  test('refuses more than 65,535 octets', () => {
    expect(canonical('TXT', `"${'a'.repeat(255)}" `.repeat(255).trim()).ok).toBe(true)
    expect(canonical('TXT', `"${'a'.repeat(255)}" `.repeat(256).trim()).ok).toBe(false)
    expect(canonical('DHCID', Buffer.alloc(65536).toString('base64')).ok).toBe(false)
    expect(canonical('EID', '00'.repeat(65536)).ok).toBe(false)
    expect(canonical('CAA', `0 issue "${'a'.repeat(65536)}"`).ok).toBe(false)
  })

  test.each([
    ['LOC', `01${'00'.repeat(15)}`],
    ['LOC', '00a01010' + '80000000' + '80000000' + '00000000'],
    ['LOC', '00101010' + 'ffffffff' + '80000000' + '00000000'],
    ['NSEC', '00' + '0000'],
    ['NSEC', '00' + '010140' + '000140'],
    ['NSEC', `000021${'00'.repeat(33)}`],
    ['APL', '00031800'],
    ['APL', '00011805c000020000'],
    ['IPSECKEY', '0a0402'],
    ['AMTRELAY', '0a01c00002'],
    ['HIP', '00020003010203'],
    ['SVCB', '000100' + '00030002' + '01bb' + '000100030268' + '32'],
    ['SVCB', '000100' + '000300010a'],
    ['SVCB', '000100' + '0001000100'],
    ['SVCB', '000100' + '00020001ff'],
    ['SSHFP', '0101abab'],
  ])('%s of octets %s is refused', (type, hex) => {
    const octets = Buffer.from(hex, 'hex')
    expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length).ok).toBe(false)
  })
})

describe('record types', () => {
  test('every type number has one name, and the name gives the number', () => {
    for (const { type, code } of RDATA_TYPES.values()) {
      expect(typeCode(type)).toBe(code)
      if (code !== null) expect(typeName(code)).toBe(type)
    }
  })

  test.each([
    ['a', 'A'],
    ['type1', 'A'],
    ['TYPE00028', 'AAAA'],
    ['null', 'NULL'],
    ['TYPE10', 'NULL'],
    ['TYPE65535', 'TYPE65535'],
    ['nsap-ptr', 'NSAP-PTR'],
  ])('%s is %s', (text, type) => expect(parseRecordType(text)).toEqual({ ok: true, value: type }))

  test.each(['', 'NOPE', 'TYPE', 'TYPE65536', 'TYPE-1', 'TYPE1A', '__proto__', 'constructor'])('%j is refused', (text) => {
    expect(parseRecordType(text).ok).toBe(false)
  })
})

test.each([
  ['', []],
  ['10 a.', ['10', 'a.']],
  ['"a b" "c\\"d" ""', ['"a b"', '"c\\"d"', '""']],
  ['"\\\\" "x"', ['"\\\\"', '"x"']],
  ['1 . alpn=h2 key65000="a b" port=1', ['1', '.', 'alpn=h2', 'key65000="a b"', 'port=1']],
  ['0 a\\"b.', ['0', 'a\\"b.']],
])('the fields of canonical data: %s', (data, fields) => expect(rdataFields(data)).toEqual(fields))
