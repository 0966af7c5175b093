import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { checkZone, runTool } from '../../support/tools.ts'
import { CORPUS, type CorpusZone, originOf, parseCorpusZone, withGenericWks } from './corpus.ts'
import { lines, ORIGIN, parse } from './zone-text.ts'

/** A zone with every type that has a presentation format. Types that a server does not know are omitted for it. */
const ALL_TYPES = parse(`
$TTL 300
@ SOA ns1 hostmaster 2024010101 2h 15m 2w 5m
@ NS ns1
@ NS ns2.example.net.
ns1 A 192.0.2.53
ns1 AAAA 2001:db8::53
md MB mail
md MG mail
md MR mail
ptr PTR host
hinfo HINFO "PC (old)" "Un*x; \\"6\\""
minfo MINFO a b
mx MX 10 mail
mx MX 65535 .
txt TXT "" "a \\"b\\" \\\\ ;()" \\000\\255 ${'"'}${'x'.repeat(255)}${'"'}
rp RP a.b c
afsdb AFSDB 1 host
x25 X25 311061700956
isdn ISDN 150862028003217 004
isdn ISDN 150862028003217
rt RT 10 host
nsap NSAP 0x47.0005.80.005a00.0000.0001.e133.ffffff000161.00
px PX 10 map822 mapx400
gpos GPOS -32.6882 116.8652 10.0
loc LOC 31 58 52.1 S 115 49 11.7 E 20m 10m 10m 2m
loc LOC 0 N 180 W -100000.00
_sip._tcp SRV 10 20 5060 host
naptr NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:a\\\\@example.com!" .
kx KX 10 host
cert CERT PKIX 12345 RSASHA256 AQID
dname DNAME other
apl APL 1:192.0.2.0/24 !1:192.0.2.64/28 2:2001:db8::/32
ds DS 60485 13 2 ${'ab'.repeat(32)}
sshfp SSHFP 4 2 ${'00'.repeat(32)}
ipseckey IPSECKEY 10 0 2 . AQID
ipseckey IPSECKEY 10 1 2 192.0.2.38 AQID
ipseckey IPSECKEY 10 2 2 2001:db8::38 AQID
ipseckey IPSECKEY 10 3 2 gw AQID
dnskey DNSKEY 257 3 13 ${Buffer.alloc(64, 7).toString('base64')}
dhcid DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=
_443._tcp TLSA 3 1 1 ${'cd'.repeat(32)}
smimea SMIMEA 3 1 1 ${'cd'.repeat(32)}
hip HIP 2 200100107B1A74DF365639CC39F1D578 AQID rvs
ninfo NINFO "a"
rkey RKEY 0 3 13 AQID
talink TALINK a b
cds CDS 60485 13 2 ${'ab'.repeat(32)}
openpgpkey OPENPGPKEY AQID
csync CSYNC 66 3 A NS AAAA
@ ZONEMD 2024010101 1 240 ${'ef'.repeat(32)}
svcb SVCB 16 host mandatory=port,alpn alpn="h2,h3" port=8443 ipv4hint=192.0.2.1,192.0.2.2 ech=AEj+DQBE ipv6hint=2001:db8::1 key65000="a b"
https HTTPS 0 host
spf SPF "v=spf1 -all"
nid NID 10 0014:4fff:ff20:ee64
l32 L32 10 192.0.2.1
l64 L64 10 2001:0db8:1140:1000
lp LP 10 host
eui48 EUI48 00-00-5e-00-53-2a
eui64 EUI64 00-00-5e-ef-10-00-00-2a
uri URI 10 1 "https://www.example.com/path?a=(b);c"
caa CAA 128 issue "ca.example.net; account=1"
avc AVC "app-name:a"
doa DOA 1 2 3 "text/plain" AQID
amtrelay AMTRELAY 10 1 3 relay
amtrelay AMTRELAY 10 0 0 .
ta TA 60485 13 2 ${'ab'.repeat(32)}
dlv DLV 60485 13 2 ${'ab'.repeat(32)}
null NULL \\# 2 0102
unknown TYPE65280 \\# 3 010203
\\@.\\$.\\;\\(\\)\\"\\\\\\..\\000\\255 A 192.0.2.9
*.wild A 192.0.2.8
odd!#%&'+,:<=>?[]^{|}~\\\\ CNAME bob's+mail\\\\
`)

/** Types with a presentation format that NSD 4.6 does not know. */
const UNKNOWN_TO_NSD = new Set(['AMTRELAY', 'DOA', 'GPOS', 'HIP', 'NINFO', 'RKEY', 'TA', 'TALINK'])

/** The same for Knot 3.2. */
const UNKNOWN_TO_KNOT = new Set([...UNKNOWN_TO_NSD, 'AVC', 'DLV', 'ISDN', 'MB', 'MG', 'MR', 'NSAP', 'PX', 'X25'])

const accepted = (tool: keyof CorpusZone['verdicts']): CorpusZone[] =>
  CORPUS.filter((zone) => zone.hard && zone.expect === 'accept' && zone.verdicts[tool] === 'ok')

const sorted = (records: Parameters<typeof lines>[0]): string[] => [...new Set(lines(records))].sort()

const saved = (text: string): string => {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return file
}

const STYLES = ['canonical', 'pretty'] as const

/** Records that some reader misreads unless they are printed with care: most TTLs are 0, signatures state another, names end in a backslash. */
const EASILY_MISREAD = parse(`
@ 300 SOA ns1 h 1 2h 15m 2w 5m
@ 0 NS ns1
ns1 0 A 192.0.2.53
a 0 IPSECKEY 10 3 2 www.\\\\.example.com. AQID
b 0 A 192.0.2.1
c 7200 RRSIG A 8 2 300 20380101000000 20240101000000 5 @ AQID
c 7200 A 192.0.2.2
c 7200 SIG A 8 2 300 20380101000000 20240101000000 5 @ AQID
d 7200 MX 10 x.\\\\.example.com.
d 7200 TXT "a"
e 7200 NS \\@.e
e 7200 MX 10 \\064.e
f 7200 CERT 0 1 8 AQID
f 7200 CSYNC 66 3
f 7200 KEY 49152 3 8
f 7200 HTTPS 1 . ohttp
f 7200 HTTPS 2 . alpn=h2 tls-supported-groups=29,23
f 7200 SVCB 1 . docpath=a
f 7200 SVCB 2 . key11="ohttp=x ohttp"
`)

test('the zone with every type is parsed without diagnostics', () => expect(ALL_TYPES.diagnostics).toEqual([]))

describeWithTools(['named-checkzone'], 'named-checkzone reads printed zones', () => {
  test.each(STYLES)('every type, %s, and writes the same records', async (style) => {
    const text = printZoneFile(ALL_TYPES.records, { origin: ORIGIN, style })
    const { stdout, stderr } = await checkZone('example.com', text, ['-q', '-i', 'none', '-k', 'ignore', '-n', 'ignore'])
    expect(stderr).toBe('')
    expect(sorted(parse(stdout).records)).toEqual(sorted(ALL_TYPES.records))
  })

  test.each(accepted('named_relaxed'))('$id', async (zone) => {
    const origin = originOf(zone)
    const { records } = parseCorpusZone(zone)
    const text = printZoneFile(records, { origin, style: 'pretty' })
    const { stdout } = await checkZone(origin, text, ['-q', '-i', 'none', '-k', 'ignore', '-n', 'ignore', '-m', 'ignore', '-r', 'ignore'])
    expect(sorted(parse(withGenericWks(stdout), { origin, zone: origin }).records)).toEqual(sorted(records))
  })
})

describeWithTools(['nsd-checkzone'], 'nsd-checkzone reads printed zones', () => {
  test.each(STYLES)('every type that it knows, %s, and writes the same records', async (style) => {
    const known = ALL_TYPES.records.filter(({ type }) => !UNKNOWN_TO_NSD.has(type))
    const file = saved(printZoneFile(known, { origin: ORIGIN, style }))
    const { stdout, stderr } = await runTool('nsd-checkzone', ['-p', 'example.com', file])
    expect(stderr).not.toContain('error')
    expect(sorted(parse(stdout).records)).toEqual(sorted(known))
  })

  test.each(STYLES)('records that are easily misread, %s', async (style) => {
    // It replaces a missing key with its own.
    const records = EASILY_MISREAD.records.filter(({ type }) => type !== 'KEY')
    const { stdout } = await runTool('nsd-checkzone', ['-p', 'example.com', saved(printZoneFile(records, { origin: ORIGIN, style }))])
    expect(sorted(parse(stdout).records)).toEqual(sorted(records))
  })

  test.each(accepted('nsd'))('$id', async (zone) => {
    const origin = originOf(zone)
    const { records } = parseCorpusZone(zone)
    const { stdout } = await runTool('nsd-checkzone', ['-p', origin, saved(printZoneFile(records, { origin, style: 'canonical' }))])
    expect(sorted(parse(withGenericWks(stdout), { origin, zone: origin }).records)).toEqual(sorted(records))
  })
})

describeWithTools(['ldns-read-zone'], 'ldns-read-zone reads printed zones', () => {
  test.each(STYLES)('records that are easily misread, %s', async (style) => {
    const file = saved(printZoneFile(EASILY_MISREAD.records, { origin: ORIGIN, style }))
    const { stdout } = await runTool('ldns-read-zone', [file])
    expect(sorted(parse(stdout).records)).toEqual(sorted(EASILY_MISREAD.records))
  })

  test.each(accepted('ldns'))('$id', async (zone) => {
    const origin = originOf(zone)
    const { records } = parseCorpusZone(zone)
    const { stdout } = await runTool('ldns-read-zone', [saved(printZoneFile(records, { origin, style: 'canonical' }))])
    expect(sorted(parse(withGenericWks(stdout), { origin }).records)).toEqual(sorted(records))
  })
})

describeWithTools(['knotc'], 'knotc zone-check reads printed zones', () => {
  test.each(STYLES)('every type that it knows, %s', async (style) => {
    const known = ALL_TYPES.records.filter(({ type }) => !UNKNOWN_TO_KNOT.has(type))
    const file = saved(printZoneFile(known, { origin: ORIGIN, style }))
    const config = saved(`zone:\n  - domain: example.com\n    file: ${file}\n    semantic-checks: off\n`)
    const { status, stderr } = await runTool('knotc', ['-c', config, 'zone-check', 'example.com'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
