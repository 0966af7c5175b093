import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'

/** Records from lines `OWNER TTL TYPE DATA` in canonical form. */
export const records = (text: string): ServedRecord[] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [, name = '', ttl, type = '', data = ''] = /^\s*(\S+) ([0-9]+) (\S+) (.*)$/.exec(line) ?? []
      return { name, ttl: Number(ttl), type, data } as ServedRecord
    })

/** Names separated by white space. */
export const namesOf = (text: string): DomainName[] => text.trim().split(/\s+/) as DomainName[]
const repeat = (count: number, line: (index: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('\n')

const MAIN = `
example.test. 3600 SOA ns1.example.test. hostmaster.example.test. 7 14400 3600 1209600 300
example.test. 3600 NS ns1.example.test.
example.test. 3600 NS ns2.example.test.
example.test. 3600 NS ns.other.test.
example.test. 300 A 192.0.2.1
example.test. 300 MX 10 mail.example.test.
example.test. 300 MX 20 mail.other.test.
example.test. 300 MX 30 x.wild.example.test.
example.test. 300 TXT "v=spf1 -all"
example.test. 300 CAA 0 issue "ca.example.net"
ns1.example.test. 3600 A 192.0.2.53
ns1.example.test. 3600 AAAA 2001:db8::53
ns2.example.test. 3600 A 192.0.2.54
mail.example.test. 300 A 192.0.2.25
mail.example.test. 300 AAAA 2001:db8::25
www.example.test. 300 CNAME web.example.test.
web.example.test. 60 A 192.0.2.80
web.example.test. 60 A 192.0.2.81
web.example.test. 60 AAAA 2001:db8::80
chain1.example.test. 30 CNAME chain2.example.test.
chain2.example.test. 31 CNAME chain3.example.test.
chain3.example.test. 32 CNAME web.example.test.
dangling.example.test. 30 CNAME nothing.example.test.
ent-alias.example.test. 30 CNAME b.c.example.test.
outside.example.test. 30 CNAME www.example.org.
loop1.example.test. 30 CNAME loop2.example.test.
loop2.example.test. 30 CNAME loop1.example.test.
self.example.test. 30 CNAME self.example.test.
into-cut.example.test. 30 CNAME host.glued.example.test.
into-wild.example.test. 30 CNAME any.wild.example.test.
a.b.c.example.test. 300 A 192.0.2.3
_sip._tcp.example.test. 300 SRV 10 20 5060 web.example.test.
_sip._tcp.example.test. 300 SRV 10 30 5060 mail.example.test.
_none._tcp.example.test. 300 SRV 0 0 0 .
*.wild.example.test. 300 A 192.0.2.7
*.wild.example.test. 300 TXT "from the wildcard"
*.wild.example.test. 300 MX 5 mail.example.test.
exists.wild.example.test. 300 TXT "blocks the wildcard"
deep.ent.wild.example.test. 300 TXT "its parent blocks the wildcard"
*.alias.example.test. 300 CNAME web.example.test.
under.*.odd.example.test. 300 TXT "the asterisk label is an empty non-terminal"
*.loop.example.test. 300 CNAME x.loop.example.test.
glued.example.test. 3600 NS ns.glued.example.test.
glued.example.test. 3600 NS ns1.example.test.
glued.example.test. 3600 DS 60485 13 2 2bb183af5f22588179a53b0a98631fad1a292118ef9c9d9c9c9c9c9c9c9c9c9c
ns.glued.example.test. 3600 A 192.0.2.101
ns.glued.example.test. 3600 AAAA 2001:db8::101
host.glued.example.test. 3600 A 192.0.2.102
deeper.glued.example.test. 3600 NS ns.glued.example.test.
bare.example.test. 3600 NS ns.example.org.
bare.example.test. 3600 NS ns.other.test.
below.wild-cut.example.test. 3600 NS ns1.example.test.
*.below.wild-cut.example.test. 3600 A 192.0.2.103
long.example.test. 300 TXT ${repeat(8, (i) => `"${String(i).repeat(250)}"`).replaceAll('\n', ' ')}
longer.example.test. 300 TXT ${repeat(2, (i) => `"${String(i).repeat(250)}"`).replaceAll('\n', ' ')}
${repeat(90, (i) => `many.example.test. 300 A 198.51.100.${i}`)}
${repeat(40, (i) => `mx-many.example.test. 300 MX ${i} host-${i}.example.test.\nhost-${i}.example.test. 300 AAAA 2001:db8::1:${i.toString(16)}`)}
with\\.dot.example.test. 300 TXT "an escaped dot"
sp\\032ace.example.test. 300 TXT "a space"
\\000\\255.example.test. 300 TXT "not text"
under.with\\.dot.example.test. 300 CNAME with\\.dot.example.test.
quote.example.test. 300 TXT "a \\"quoted\\" back\\\\slash" "" "\\000\\255"
ptr.example.test. 300 PTR web.example.test.
zero.example.test. 0 A 192.0.2.9
hinfo.example.test. 300 HINFO "cpu" "os"
naptr.example.test. 300 NAPTR 10 20 "s" "SIP+D2T" "" _sip._tcp.example.test.
tlsa.example.test. 300 TLSA 3 1 1 00ff
sshfp.example.test. 300 SSHFP 4 2 ${'00ff'.repeat(16)}
uri.example.test. 300 URI 10 1 "https://web.example.test/"
unknown.example.test. 300 TYPE65280 \\# 4 00010203
empty.example.test. 300 TYPE65281 \\# 0
moved.example.test. 300 DNAME web.example.test.
elsewhere.example.test. 300 DNAME other.test.
hosted.example.test. 3600 NS ns1.example.test.
`

/** A child of the first zone, on the same server. */
const CHILD = `
hosted.example.test. 600 SOA ns1.example.test. hostmaster.example.test. 1 14400 3600 1209600 60
hosted.example.test. 600 NS ns1.example.test.
www.hosted.example.test. 300 A 192.0.2.201
up.hosted.example.test. 300 CNAME www.example.test.
`

/** An unrelated zone. */
const OTHER = `
other.test. 30 SOA ns.other.test. hostmaster.other.test. 1 14400 3600 1209600 300
other.test. 600 NS ns.other.test.
ns.other.test. 300 A 203.0.113.53
mail.other.test. 300 A 203.0.113.25
to-main.other.test. 300 CNAME www.example.test.
`

/** Zones with every case of the algorithm in RFC 1034 section 4.3.2. */
export const RICH_ZONES: readonly { name: DomainName; serial: number; records: ServedRecord[] }[] = [
  { name: 'example.test.' as DomainName, serial: 7, records: records(MAIN) },
  { name: 'hosted.example.test.' as DomainName, serial: 1, records: records(CHILD) },
  { name: 'other.test.' as DomainName, serial: 1, records: records(OTHER) },
]
