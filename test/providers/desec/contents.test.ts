/** Our contents are read by dnspython, with which deSEC checks and rewrites them, and its form of them is read by us. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parseAbsoluteName } from '../../../src/dns/domain-name.ts'
import { canonicalRdata, parseRdata } from '../../../src/dns/rdata/canonical.ts'
import { presentationTokens } from '../../../src/dns/rdata/field.ts'
import { desecCapabilities } from '../../../src/providers/desec/capabilities.ts'
import { rdataToApi } from '../../../src/providers/desec/desec-provider.ts'
import { canonicalContent } from '../../scripted/desec/content.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { runTool } from '../../support/tools.ts'

const PROGRAM = fileURLToPath(new URL('../../scripted/clients/dnspython_contents.py', import.meta.url))
const python = findForeignClient('cloud-clients')
const HEX = 'AB'.repeat(32)
const KEY = 'aCoEWYBBVsP9Fek2oC8yqU8ocKmnS1iDSFZNORnQuHKtJ9Wpyz+kNryquB78Pyk/NTEoai5bxoipVQQXzHlzyg=='

const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1'],
  AAAA: ['2001:DB8:0:0::1', '::ffff:192.0.2.1', '::'],
  AFSDB: ['1 Host.example.com.'],
  APL: ['1:192.0.2.0/24 !1:192.0.2.128/25 2:2001:db8::/32'],
  CAA: ['0 issue "ca.example.net; policy=ev"', '128 iodef "mailto:a@example.com"', '0 issue ";"'],
  CDNSKEY: [`257 3 13 ${KEY}`, '0 3 0 AA=='],
  CDS: [`1 13 2 ${HEX}`, '0 0 0 00'],
  CERT: ['PKIX 1 RSASHA256 aGFsbG8=', '4 257 8 sadfdQ=='],
  CNAME: ['Www.Example.com.', '*._tcp.example.com.'],
  CSYNC: ['66 3 A NS AAAA'],
  DHCID: ['AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='],
  DLV: [`1 13 2 ${HEX}`],
  DNAME: ['example.net.'],
  DNSKEY: [`257 3 13 ${KEY}`],
  DS: [`1 13 2 ${HEX}`, `1 8 1 ${'ab'.repeat(20)}`, `1 13 4 ${'ab'.repeat(48)}`],
  EUI48: ['00-00-5E-00-53-2a'],
  EUI64: ['00-00-5e-ef-10-00-00-2a'],
  HINFO: ['"PC 1" "Linux"'],
  HTTPS: [
    '1 . alpn=h2,h3 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1',
    '0 pool.example.net.',
    '1 . mandatory=alpn,port alpn=h2 no-default-alpn port=8443 ech="AAT+DQAA"',
    '1 . alpn=h2 dohpath=/dns-query{?dns}',
    '1 . key65333="a b\\"c\\001"',
  ],
  KX: ['1 kx.example.com.'],
  L32: ['10 192.0.2.1'],
  L64: ['10 2001:db8:1140:1000'],
  LOC: ['51 30 12.748 N 0 7 39.612 W 0.00m 1m 10000m 10m', '51 30 0.000 S 0 0 0.000 E -10.00m 30.00m 20.00m 5.00m'],
  LP: ['10 l64.example.com.'],
  MX: ['10 Mail.example.com.', '0 .'],
  NAPTR: ['100 50 "s" "z3950+I2L+I2C" "!^.*$!a\\\\1b!" _z3950._tcp.example.com.'],
  NID: ['10 14:4fff:ff20:ee64'],
  NS: ['ns1.example.net.'],
  OPENPGPKEY: ['mG8EXtVIsRMFK4EEACIDAwQSZPNqE4tSxLFJYhX+uabSgMrhOqUizJhkLx82'],
  PTR: ['*.example.com.'],
  RP: ['hostmaster.example.com. .'],
  SMIMEA: ['3 1 0 AABBCC'],
  SPF: ['"v=spf1 -all"'],
  SRV: ['0 0 0 .', '1 2 5060 sip.example.com.'],
  SSHFP: [`1 1 ${'ab'.repeat(20)}`],
  SVCB: ['1 svc.example.net. port=1234'],
  TLSA: [`3 1 1 ${HEX}`],
  TXT: ['"a" "" "b c;d"', `"${'x'.repeat(255)}" "${'y'.repeat(10)}"`, '"\\000\\"\\\\\\200é"', '""'],
  URI: ['10 1 "ftp://ftp1.example.com/public"'],
}

test('every type is here', () => expect(Object.keys(CONTENTS).sort()).toEqual([...(desecCapabilities(() => null).types ?? [])].sort()))

describeWithTools([python], 'dnspython', () => {
  test('our contents, written by dnspython, are the same records', async () => {
    const records = Object.entries(CONTENTS).flatMap(([type, texts]) => texts.map((text) => [type, canonical(type, text)] as const))
    const sent = records.map(([type, data]) => [type, rdataToApi(type, data)])
    const { status, stdout, stderr } = await runTool(python, ['-B', PROGRAM, JSON.stringify(sent)])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const theirs = JSON.parse(stdout) as string[]
    expect(records.map(([type], index) => [type, parseRdata(type, theirs[index] ?? '')])).toEqual(
      records.map(([type, data]) => [type, { ok: true, value: data }]),
    )
    const services = sent.flatMap(([type = '', data = ''], index) => (/^(?:HTTPS|SVCB)$/.test(type) ? [{ type, data, index }] : []))
    const unquoted = (text = ''): string => text.replace(/\b(mandatory|alpn|port|ipv[46]hint)="([^"]*)"/g, '$1=$2')
    expect(services.map(({ type, data }) => canonicalContent(type, data))).toEqual(services.map(({ index }) => unquoted(theirs[index])))
  })
})

function canonical(type: string, text: string): string {
  const tokens = presentationTokens(text)
  const data = tokens.ok ? canonicalRdata(type, tokens.value, parseAbsoluteName) : tokens
  if (!data.ok) throw new Error(`${type} ${text}: ${data.message}`)
  return data.value
}
