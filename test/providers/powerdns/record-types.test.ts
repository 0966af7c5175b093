/** Every record type through the API to a real PowerDNS server and back, judged by a zone transfer. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAbsoluteName } from '../../../src/dns/domain-name.ts'
import { canonicalRdata } from '../../../src/dns/rdata/canonical.ts'
import { presentationTokens } from '../../../src/dns/rdata/field.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { isServerType } from '../../../src/providers/powerdns/capabilities.ts'
import { rdataFromApi, rdataToApi } from '../../../src/providers/powerdns/rdata-format.ts'
import { transferZone } from '../../../src/transport/dns-transfer.ts'
import { type PowerDnsServer, startPowerDns } from '../../support/dns-servers.ts'
import { name as parseName } from '../../support/records.ts'
import { describeWithTools } from '../../support/skip.ts'
import { originOf, run, workspace } from './scene.ts'

const DIGEST = '2bb183af'.repeat(5)

/** One or more values of every type. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2'],
  NS: ['ns1.example.net.'],
  MD: ['a.'],
  MF: ['a.'],
  CNAME: ['a\\.b\\000.example.net.'],
  MB: ['a.'],
  MG: ['a.'],
  MR: ['a.'],
  PTR: ['a.b.'],
  HINFO: ['"RFC8482" ""'],
  LUA: ['A "ifportup(443, {\'192.0.2.1\'})"'],
  MINFO: ['a. b.'],
  MX: ['10 mx.example.net.', '20 mx2.example.net.'],
  TXT: ['"a" "" "b\\"\\\\\\000\\255;"', `"${'x'.repeat(255)}" "${'y'.repeat(255)}" "z"`, '""', '"v=spf1 -all"'],
  RP: ['a\\.b.c. .'],
  AFSDB: ['1 a.'],
  X25: ['"311061700956"'],
  ISDN: ['"150862028003217" "004"', '"150862028003217"'],
  RT: ['10 a.'],
  NSAP: ['0x47000580'],
  'NSAP-PTR': ['a.'],
  SIG: ['A 5 3 300 20300101000000 20250101000000 1 a. AAAA'],
  KEY: ['256 3 8 AQID'],
  PX: ['10 a. b.'],
  GPOS: ['"-32.6882" "116.8652" "10.0"'],
  AAAA: ['2001:db8::1', '::ffff:192.0.2.1', '::192.0.2.1', '::'],
  LOC: ['51 30 12.748 N 0 7 39.612 W 10.00m 1.00m 100.00m 10.00m', '0 0 0.000 S 0 0 0.000 W -100000.00m 0.00m 10000.00m 10.00m'],
  EID: ['e32c'],
  NIMLOC: ['e32c'],
  SRV: ['0 0 0 .'],
  NAPTR: ['100 10 "u" "E2U+sip" "!^.*$!sip:a@example.com!" .', '1 1 "" "" "a\\\\.b" x.example.net.'],
  KX: ['10 a.'],
  CERT: ['1 2 8 AQID'],
  DNAME: ['a.example.net.'],
  APL: ['1:192.0.2.0/24 !2:2001:db8::/32', ''],
  DS: [`60485 5 1 ${DIGEST}`],
  SSHFP: [`4 2 ${'00ff'.repeat(16)}`],
  IPSECKEY: ['10 0 2 . AQNR', '10 1 2 192.0.2.38 AQNR', '10 2 2 2001:db8::1 AQNR', '10 3 2 gateway.example.com. AQNR'],
  DNSKEY: ['257 3 13 AQID'],
  DHCID: ['AAIB'],
  TLSA: ['3 1 1 00'],
  SMIMEA: ['3 1 1 00'],
  HIP: ['2 200100107b1a74df365639cc39f1d578 AwEA rvs.example.com.'],
  NINFO: ['"a"'],
  RKEY: ['0 3 8 AQID'],
  TALINK: ['a. b.'],
  CDS: [`60485 5 1 ${DIGEST}`, '0 0 0 00'],
  CDNSKEY: ['257 3 13 AQID'],
  OPENPGPKEY: ['AA=='],
  CSYNC: ['66 3 A NS AAAA'],
  ZONEMD: [`2018031500 1 1 ${'f0'.repeat(48)}`],
  SVCB: ['1 svc.example. alpn=h2,h3 port=53', '2 . mandatory=port,ipv4hint port=1 ipv4hint=192.0.2.1,192.0.2.2', '3 . dohpath=/q{?dns}'],
  HTTPS: [
    '0 a.example.net.',
    '1 . alpn=h2 no-default-alpn ech=AAAA ipv6hint=2001:db8::1,2001:db8::2 key65000="a b"',
    '2 . ohttp',
    '3 .',
    '4 . key667=hello\\210qoo',
  ],
  DSYNC: ['CDS NOTIFY 5300 a.'],
  HHIT: ['AAAA'],
  BRID: ['AAAA'],
  SPF: ['"v=spf1 -all"'],
  UINFO: ['"a"'],
  UID: ['1'],
  GID: ['1'],
  NID: ['10 14:4fff:ff20:ee64'],
  L32: ['10 10.1.2.0'],
  L64: ['10 2001:db8:1140:1000'],
  LP: ['10 l.example.com.'],
  EUI48: ['00-00-5e-00-53-2a'],
  EUI64: ['00-00-5e-ef-10-00-00-2a'],
  URI: ['10 1 "ftp://ftp.example/a\\"b"'],
  CAA: ['128 issue ""', '0 iodef "mailto:a;b@example.com"'],
  AVC: ['"a"'],
  DOA: ['1 2 3 "text/plain" AQID'],
  AMTRELAY: ['10 0 1 192.0.2.1'],
  RESINFO: ['"qnamemin"'],
  WALLET: ['"BTC" "x"'],
  CLA: ['"a"'],
  IPN: ['1'],
  TA: [`60485 5 1 ${DIGEST}`],
  DLV: [`60485 5 1 ${DIGEST}`],
  ALIAS: ['a.example.net.'],
  TYPE65280: ['\\# 3 0102ff', '\\# 0'],
}

/** Types that belong to the server, or that no server has. */
const NOT_SENT = [...RDATA_TYPES.keys()].filter((type) => isServerType(type) || type === 'URLFWD')

test('there is a value of every type, and each survives the form of the API', () => {
  expect([...Object.keys(VALUES), ...NOT_SENT].filter((type) => type !== 'TYPE65280').sort()).toEqual([...RDATA_TYPES.keys()].sort())
  for (const [type, values] of Object.entries(VALUES))
    for (const value of values) {
      const data = canonical(type, value)
      const api = rdataToApi(type, data)
      expect(rdataFromApi(api.type, api.content), `${type} ${value}`).toEqual({ type, data: { ok: true, value: data } })
    }
})

/** Types that the server serves from its database only with `direct-dnskey=yes`, and LUA, which it transfers under a number for private use. */
const UNSERVED: ReadonlySet<string> = new Set(['CDS', 'CDNSKEY', 'DNSKEY', 'LUA', 'TYPE65402'])

function canonical(type: string, value: string): string {
  const tokens = presentationTokens(value)
  const data = tokens.ok ? canonicalRdata(type, tokens.value, parseAbsoluteName) : tokens
  if (!data.ok) throw new Error(`${type} ${value}: ${data.message}`)
  return data.value
}

describeWithTools(['pdns_server', 'pdnsutil'], 'every record type', () => {
  let server: PowerDnsServer
  beforeAll(async () => {
    server = await startPowerDns()
  })
  afterAll(() => server.stop())

  /** Each value at a name of its own; DNSKEY only at the apex. */
  const records = Object.entries(VALUES).flatMap(([type, values]) =>
    values.map((value, index) => ({
      type,
      data: canonical(type, value),
      owner: type === 'DNSKEY' ? '@' : `${type.toLowerCase()}${index}`,
    })),
  )

  test('is applied, read again, planned to empty, and transferred', async () => {
    const folder = workspace(originOf(server), ', new_zones: {nameservers: [ns1.example.net.]}')
    const lines = records.map(({ owner, type, data }) => `${owner} 300 IN ${type === 'ALIAS' ? 'CNAME' : type} ${data}`.trimEnd())
    writeFileSync(
      join(folder, 'zones/types.example.zone'),
      ['$ORIGIN types.example.', '$TTL 300', '@ SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300', ...lines, ''].join(
        '\n',
      ),
    )
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:\n  pdns: {type: powerdns, base_url: '${originOf(server)}', api_key: env:PDNS_KEY, new_zones: {nameservers: [ns1.example.net.]}}\n`,
    )
    const applied = await run(folder, server, 'apply', '--yes', '--format', 'json')
    const document = JSON.parse(applied.stdout)
    expect([applied.status, document.zones[0]?.readBack, applied.stderr]).toEqual([0, 'equal', expect.not.stringContaining('error')])
    const plan = await run(folder, server, 'plan', '--detailed-exitcode')
    expect([plan.status, plan.stdout]).toEqual([0, expect.stringContaining('No changes')])
    const served = (await transferZone({ host: '127.0.0.1', port: server.port }, parseName('types.example.')))
      .filter(({ name, type }) => name !== 'types.example.' && !UNSERVED.has(type))
      .map(({ name, type, data }) => `${name} ${type} ${data}`)
    const expected = records
      .filter(({ type }) => !UNSERVED.has(type))
      .map(({ owner, type, data }) => `${owner}.types.example. ${type === 'ALIAS' ? 'CNAME' : type} ${data}`)
    expect(served.sort()).toEqual(expected.sort())
  })
})

test.each([
  ['LUA', 'x', 'LUA'],
  ['A', 'nonsense', 'A'],
  ['TXT', '"open', 'TXT'],
])('%s %s has no canonical data', (type, content, expected) => {
  expect(rdataFromApi(type, content)).toMatchObject({ type: expected, data: { ok: false } })
})
