import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { exportDnscontrol } from '../../../src/formats/dnscontrol/export-dnscontrol.ts'
import { printDomain } from '../../../src/formats/dnscontrol/print-domain.ts'
import { readIntermediate } from '../../../src/formats/dnscontrol/read-intermediate.ts'
import { parseZoneFile } from '../../../src/formats/zone-file/parse-zone-file.ts'
import { textToRdata } from '../../../src/model/character-string.ts'
import type { DomainName } from '../../../src/model/domain-name.ts'
import { parseDomainName } from '../../../src/model/domain-name.ts'
import type { LostItem } from '../../../src/model/exchange.ts'
import { canonicalRdata } from '../../../src/model/rdata/canonical.ts'
import type { DefinedRecord, ResourceRecord } from '../../../src/model/record.ts'
import type { Ttl } from '../../../src/model/ttl.ts'
import { type DesiredZone, UNSAID } from '../../../src/model/zone.ts'
import { fc } from '../../support/fast-check.ts'
import { oddRecords } from '../../support/odd-records.ts'
import { recordsOf, ZONE } from '../octodns/every-type.ts'
import { runDnsconfig } from './run-dnsconfig.ts'

const at = { file: 'a.yaml', line: 1, column: 1 }

const zoneOf = (records: readonly DefinedRecord[], rest: Partial<DesiredZone> = {}): DesiredZone => ({
  ...UNSAID,
  name: ZONE,
  at,
  settings: {},
  records,
  ...rest,
})

const exported = (zones: readonly DesiredZone[]) => {
  const { files, lost } = exportDnscontrol(zones, { nameservers: [], serial: 1, style: 'pretty' })
  return { files: new Map(files.map(({ path, text }) => [path, text])), lost }
}

/** What a dnsconfig.js comes to, as our own reader of DNSControl's JSON takes it. */
const evaluated = (script: string) => readIntermediate(JSON.stringify(runDnsconfig(script)), 'ir.json')

const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`
const lines = (records: readonly ResourceRecord[]): string[] => records.map(line).sort()

const HELD = `
@ NS ns1.example.net.
@ NS ns2
@ A 192.0.2.1
@ MX 10 mail
@ MX 0 .
@ TXT "v=spf1 -all"
@ TXT "it's \\"quoted\\" \\\\ and ; \\195\\169 \\240\\159\\152\\128 \\009\\010\\226\\128\\168"
@ TXT "${'x'.repeat(255)}" "${'y'.repeat(60)}"
@ CAA 0 issue "letsencrypt.org; a=b"
@ CAA 128 iodef "mailto:x@example.com"
www 60 CNAME @
sub NS ns.sub
sub DS 1 13 2 aabb
sub DNSKEY 257 3 13 aabbccdd
d DNAME example.net.
_sip._tcp SRV 1 2 3 sip
s SSHFP 4 2 aabb
_443._tcp TLSA 3 1 1 aabb
x._smimecert SMIMEA 3 1 1 aabb
nap NAPTR 100 10 "U" "E2U+sip" "!^(.*)$!\\\\\\\\1!" .
loc LOC 52 14 5.001 N 0 8 50 W -10.33m 0.00m 100m 10m
h HTTPS 1 . alpn="h2,h3" port=443
v SVCB 0 svc.example.net.
o OPENPGPKEY AAAABBBB
dh DHCID AAAABBBB
rp RP a.example.net. .
6 AAAA 2001:db8::1
p PTR host.example.net.
q CNAME 1.0/25.2.0.192.in-addr.arpa.
*.w A 192.0.2.1
example.com A 192.0.2.2
xn--bcher-kva A 192.0.2.3
`

describe('a dnsconfig.js', () => {
  test('gives back every record of every type DNSControl has', () => {
    const records = recordsOf(HELD)
    const { files, lost } = exported([zoneOf(records)])
    expect(lost).toEqual([])
    const { domains, diagnostics } = evaluated(files.get('dnsconfig.js') ?? '')
    expect(diagnostics).toEqual([])
    expect(lines(domains[0]?.records.filter(({ type }) => type !== 'SOA') ?? [])).toEqual(lines(records))
    expect([...files.keys()]).toEqual(['dnsconfig.js', 'creds.json', 'zones/example.com.zone'])
  })

  test('and its zone file hold the same, times of the SOA included', () => {
    const settings = { soa_email: 'h@example.com', ttl_sec: 300, refresh_sec: 3600, retry_sec: 600, expire_sec: 86_400 }
    const bare = recordsOf('@ NS ns1\nwww A 192.0.2.1').map((record) => ({ ...record, ttl: null }))
    const { files, lost } = exported([zoneOf(bare, { settings })])
    expect(lost).toEqual([])
    const zoneFile = [...parseZoneFile(files.get('zones/example.com.zone') ?? '', { origin: ZONE, file: '' }).records]
    const serialless = (record: ResourceRecord): ResourceRecord => ({
      ...record,
      data: record.type === 'SOA' ? record.data.replace(/ 1 /, ' 0 ') : record.data,
    })
    expect(lines(evaluated(files.get('dnsconfig.js') ?? '').domains[0]?.records ?? [])).toEqual(lines(zoneFile.map(serialless)))
  })

  test('leaves to others what the definition does, and keeps what it does not know', () => {
    const unmanaged = [{ name: '_acme-challenge*', type: 'TXT' }, { name: '' }, { target: 'a*b' }, { name: 'x' }]
    const { files, lost } = exported([zoneOf([], { unmanaged, policy: 'upsert-only' })])
    expect(lost).toEqual([])
    const [domain] = evaluated(files.get('dnsconfig.js') ?? '').domains
    expect(domain).toMatchObject({
      unmanaged: [{ name: '_acme-challenge*', type: 'TXT' }, { name: '@' }, { target: 'a*b' }, { name: 'x' }],
    })
    expect(domain?.lost.map(({ what }) => what)).toContain('NO_PURGE: policy: upsert-only in the config is the same')
  })

  test('is of many records as well', () => {
    const records = recordsOf(Array.from({ length: 2500 }, (_, i) => `h${i} A 192.0.2.${i % 250}`).join('\n'))
    const lost: LostItem[] = []
    const script = `var REG_NONE = 'none', DSP_BIND = 'bind';\n${printDomain({ name: ZONE, records, unmanaged: [], keepsUnknown: false }, lost)}`
    expect(lines(evaluated(script).domains[0]?.records ?? [])).toEqual(lines(records))
  })

  test.each([
    ['x HINFO "a" "b"', /type HINFO, which DNSControl has no function for/],
    ['a\\.b A 192.0.2.1', /a name with escaped characters/],
    ['x CNAME a\\.b', /a target with characters that DNSControl refuses/],
    ['x CNAME a+b', /a target with characters that DNSControl refuses/],
    ['@ NS a\n@ NS b+c', /a target with characters that DNSControl refuses/],
    ['@ CNAME a', /a CNAME at the apex/],
    ['x TXT "\\255"', /no text in UTF-8/],
    ['x TXT "a" "b"', /where its strings are cut/],
    ['x CAA 1 issue "a"', /the flags 1 of a CAA record/],
    ['x CAA 0 path "a"', /the tag path of a CAA record/],
    ['x TLSA 255 0 0 aa', /a usage, selector or matching type that DNSControl refuses/],
    ['x._smimecert SMIMEA 3 2 1 aa', /a usage, selector or matching type that DNSControl refuses/],
    ['x SMIMEA 3 1 1 aa', /a name that does not end in \._smimecert/],
    ['x CNAME a/b', /a target with characters that DNSControl refuses/],
    ['x CNAME x', /a CNAME that leads to itself/],
    ['@ SOA a. b. 1 2 3 4 0', /a time of 0 in the SOA record/],
    ['x 0 A 192.0.2.1', /a TTL of 0/],
    ['@ 1 NS a.\n@ 2 NS b.', /TTLs that differ \(1, 2\)/],
    ['x TYPE65280 \\# 1 00', /type TYPE65280/],
    ['@ ALIAS a.', /ALIAS records/],
  ])('names what it cannot hold: %s', (text, what) => {
    const { files, lost } = exported([zoneOf(recordsOf(text))])
    expect(lost.map((item) => item.what)).toEqual([expect.stringMatching(what)])
    expect(evaluated(files.get('dnsconfig.js') ?? '').diagnostics).toEqual([])
  })

  test('any records come back as they were, or are named', () => {
    let whole = 0
    fc.assert(
      fc.property(oddRecords, (generated) => {
        const records = [
          ...new Map(generated.map((record) => [`${record.name} ${record.type} ${record.data}`, { ...record, ttl: 300 as Ttl }])).values(),
        ]
        const { files, lost } = exported([zoneOf(records)])
        const named = new Set(lost.map(({ name, type }) => `${name} ${type}`))
        const kept = records.filter(({ name, type }) => !named.has(`${name} ${type}`))
        const { domains, diagnostics } = evaluated(files.get('dnsconfig.js') ?? '')
        expect(diagnostics).toEqual([])
        const found = domains[0]?.records.filter(({ name, type }) => type !== 'SOA' && !named.has(`${name} ${type}`)) ?? []
        expect(lines(found)).toEqual(lines(kept))
        if (lost.length === 0) whole += 1
      }),
      { numRuns: 150 },
    )
    expect(whole).toBeGreaterThan(20)
  })

  test('holds the zones of NixOS, which are kept with DNSControl', () => {
    const path = fileURLToPath(new URL('../../corpora/dnscontrol/expected/nixos.jsonl', import.meta.url))
    const zones = new Map<DomainName, DefinedRecord[]>()
    for (const text of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
      const { zone, name, type, ttl, value } = JSON.parse(text) as { zone: string; name: string; type: string; ttl: number; value: string }
      const [apex, owner] = [parseDomainName(`${zone}.`), parseDomainName(name.endsWith('.') ? name : `${name}.`)]
      const tokens = (value.match(/"(?:[^"\\]|\\.)*"|[^ "]+/g) ?? []).map((word) =>
        word.startsWith('"') ? { text: word.slice(1, -1), quoted: true } : { text: word, quoted: false },
      )
      const data =
        type === 'TXT'
          ? { ok: true as const, value: textToRdata(Buffer.from(value, 'utf8')) }
          : canonicalRdata(type, tokens, (word) => parseDomainName(word))
      if (!apex.ok || !owner.ok || !data.ok) throw new Error(text)
      zones.set(apex.value, [...(zones.get(apex.value) ?? []), { name: owner.value, type, ttl: ttl as Ttl, data: data.value, at }])
    }
    const { files, lost } = exported([...zones].map(([name, records]) => zoneOf(records, { name })))
    // Its provider can hold an ALIAS; a zone file cannot.
    expect(lost.map(({ name, type }) => `${name} ${type}`)).toEqual(['nix.dev. ALIAS'])
    const { domains } = evaluated(files.get('dnsconfig.js') ?? '')
    const held = [...zones.values()].flat().filter(({ type }) => type !== 'ALIAS')
    expect(lines(domains.flatMap(({ records }) => records.filter(({ type }) => type !== 'SOA')))).toEqual(lines(held))
    expect([...zones.values()].flat()).toHaveLength(192)
  })
})
