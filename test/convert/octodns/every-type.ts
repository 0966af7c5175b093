/** Records of every type that octoDNS supports, with values that are hard to write: names like numbers, quotes, semicolons, escapes. */
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord } from '../../../src/dns/record.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'

export const ZONE = 'example.com.' as DomainName

/** Zone-file text as records of example.com, TTL 300. */
export function recordsOf(text: string): DefinedRecord[] {
  const { records, diagnostics } = parseZoneFile(`$TTL 300\n${text}`, { origin: ZONE, file: 'a.zone' })
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message, at }) => `${at?.line}: ${message}`).join('\n'))
  return [...records]
}

const DKIM = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0B'.repeat(16)}`

export const SUPPORTED = `
@ NS ns1
@ NS ns2.example.net.
@ MX 10 mail
@ MX 0 .
@ A 192.0.2.1
@ ALIAS example.net.
@ CAA 0 issue "letsencrypt.org; x=y"
@ TXT "v=spf1 -all"
1 A 192.0.2.2
2 A 192.0.2.2
10 A 192.0.2.2
010 A 192.0.2.3
1e2 A 192.0.2.3
12:30 A 192.0.2.1
2001-01-01 A 192.0.2.1
null A 192.0.2.3
true TXT "yes"
no A 192.0.2.1
y A 192.0.2.1
~ A 192.0.2.1
= A 192.0.2.1
- A 192.0.2.1
on AAAA ::1
*.w A 192.0.2.3
xn--bcher-kva 0 A 192.0.2.9
a\\.b A 192.0.2.8
sp\\032ace A 192.0.2.8
txt1 TXT "a;b"
txt2 TXT "\\"quoted\\""
txt3 TXT "\\" \\" \\""
txt3 TXT "a\\" \\"b"
txt4 TXT "back\\\\;slash"
txt4 TXT "\\\\\\\\;"
txt5 TXT "tab\\009nl\\010"
txt6 TXT "\\195\\169 \\240\\159\\152\\128"
txt7 TXT ""
txt8 TXT "\\""
txt9 TXT "'single' # x: y {z} [a] %b @c \`d\`"
txt10 TXT "${DKIM.slice(0, 255)}" "${DKIM.slice(255)}"
txt11 TXT " lead"
txt11 TXT "trail "
txt12 TXT "123" 
txt12 TXT "\\127\\194\\133\\226\\128\\168"
spf SPF "v=spf1 -all"
_sip._tcp SRV 1 2 3 host.example.net.
sip SRV 1 2 3 host.example.net.
_x._tcp SRV 0 0 0 .
_h._tcp URI 1 2 "https://example.com/a"
s SSHFP 1 1 aabbccddeeff00112233445566778899aabbccdd
s SSHFP 6 3 aabb
_443._tcp TLSA 3 1 1 ${'ab'.repeat(32)}
d DS 1 13 2 ${'ab'.repeat(32)}
d NS ns.d
nap NAPTR 100 10 "U" "E2U+sip" "!^.*$!sip:x@example.com!" .
nap NAPTR 100 10 "U" "E2U+sip" "!^(.*)$!\\\\\\\\1!" .
nap NAPTR 100 10 "" "" "" foo.example.com.
loc LOC 52 14 5.001 N 0 8 50 E 10.33m 0.00m 100m 10m
loc LOC 1 2 3 S 4 5 6 W -10m
https HTTPS 1 . alpn="h2,h3" port=443 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1 no-default-alpn mandatory=alpn,port
https2 HTTPS 1 svc.example.net. dohpath=/dns-query{?dns} key77=abc ohttp
https3 HTTPS 0 svc.example.net.
svcb SVCB 1 . mandatory=dohpath dohpath=/q{?dns}
openpgp OPENPGPKEY AAAABBBB
dn DNAME example.net.
ptr PTR a.example.net.
ptr PTR b.example.net.
c CNAME host
loch CNAME localhost.
cesc CNAME a\\.b.example.net.
wild*card A 192.0.2.1
u URLFWD "/" "http://www.example.com/" 301 2 0
`

/** Records that octoDNS cannot express, or only in part, each with the expected report. */
export const UNSUPPORTED: readonly (readonly [line: string, what: RegExp])[] = [
  ['rp RP a. b.', /records of type RP/],
  ['h HINFO "a" "b"', /records of type HINFO/],
  ['t TYPE65280 \\# 2 abcd', /records of type TYPE65280/],
  ['x TXT "a" "b"', /the division of its text into strings/],
  ['x TXT "\\255"', /not UTF-8 text/],
  ['x HTTPS 1 . ech=AAAA', /the service parameter ech/],
  ['x HTTPS 1 . key99="a b"', /the service parameter key99/],
  ['_a._b URI 1 1 "https://example.com/A"', /capital letters in the URI/],
  ['x NAPTR 1 1 "u" "E2U+sip" "!a!b!" .', /small letters in the flags/],
  ['x 100 A 192.0.2.1\nx 200 A 192.0.2.2', /different TTLs \(100, 200\)/],
  ['x CNAME a\nx CNAME b', /a second value: in octoDNS, CNAME has only one/],
]
