import { expect, test } from 'vitest'
import { exportDnscontrol, printDomain } from '../../../src/convert/dnscontrol/export-dnscontrol.ts'
import { readIntermediate } from '../../../src/convert/dnscontrol/read-intermediate.ts'
import type { UnsupportedFeature } from '../../../src/convert/unsupported-features.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../../../src/dns/record.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type UnmanagedSelector } from '../../../src/dns/zone.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { randomRecords } from '../../support/random-records.ts'
import { recordsOf, ZONE } from '../octodns/every-type.ts'
import { type DnscontrolVersion, runDnsconfig } from './run-dnsconfig.ts'
import { SUPPORTED } from './supported-records.ts'

const at = { file: 'a.yaml', line: 1, column: 1 }

const zoneOf = (records: readonly DefinedRecord[], rest: Partial<DesiredZone> = {}): DesiredZone => {
  return { ...DEFAULT_ZONE_OPTIONS, name: ZONE, at, settings: {}, records, ...rest }
}

const exported = (zones: readonly DesiredZone[]) => {
  const { files, dropped } = exportDnscontrol(zones, { nameservers: [], serial: 1, style: 'pretty' })
  return { files: new Map(files.map(({ path, text }) => [path, text])), dropped }
}

/** The domains of a dnsconfig.js, as `import dnscontrol` reads them. */
const evaluated = (script: string, version: DnscontrolVersion = 4) =>
  readIntermediate(JSON.stringify(runDnsconfig(script, version)), 'ir.json')

const VERSIONS: readonly DnscontrolVersion[] = [4, 5]
const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`
const lines = (records: readonly ResourceRecord[]): string[] => records.map(line).sort()
const owners = (records: Iterable<ResourceRecord>): string[] =>
  [...records].flatMap(({ name, type }) => (type === 'SOA' ? [] : [`${name} ${type}`])).sort()

test.each(VERSIONS)('contains every record of every type that DNSControl %i supports', (version) => {
  const records = recordsOf(SUPPORTED)
  const { files, dropped } = exported([zoneOf(records)])
  expect(dropped).toEqual([])
  const { domains, diagnostics } = evaluated(files.get('dnsconfig.js') ?? '', version)
  expect(diagnostics).toEqual([])
  expect(lines(domains[0]?.records.filter(({ type }) => type !== 'SOA') ?? [])).toEqual(lines(records))
  expect([...files.keys()]).toEqual(['dnsconfig.js', 'creds.json', 'zones/example.com.zone'])
})

test.each(VERSIONS)('and its zone file have the same records for DNSControl %i, SOA times included', (version) => {
  const settings = { soa_email: 'j.doe+dns@example.com', ttl_sec: 300, refresh_sec: 3600, retry_sec: 600, expire_sec: 86_400 }
  const bare = recordsOf('@ NS ns1\nwww A 192.0.2.1').map((record) => ({ ...record, ttl: null }))
  const { files, dropped } = exported([zoneOf(bare, { settings })])
  expect(dropped).toEqual([])
  const zoneFile = [...parseZoneFile(files.get('zones/example.com.zone') ?? '', { origin: ZONE, file: '' }).records]
  const serialless = (record: ResourceRecord): ResourceRecord => ({
    ...record,
    data: record.type === 'SOA' ? record.data.replace(/ 1 /, ' 0 ') : record.data,
  })
  const { domains } = evaluated(files.get('dnsconfig.js') ?? '', version)
  expect(lines(domains[0]?.records ?? [])).toEqual(lines([...zoneFile].map(serialless)))
})

test('converts unmanaged selectors to IGNORE, and the policy to NO_PURGE', () => {
  const unmanaged = [
    { name: '_acme-challenge*', type: 'TXT' },
    { name: '' },
    { target: '*a*b' },
    { name: 'x' },
    { type: 'MX', target: '* mail.example.net.' },
    { type: 'SRV', target: '*.example.net.' },
    { type: 'CNAME', target: 'a.example.net.' },
  ]
  const unheld: readonly UnmanagedSelector[] = [
    { name: 'a?' },
    { preset: 'acme' },
    { owner: 'external-dns', type: 'A' },
    { type: 'MX', target: '10 *' },
    { type: 'CAA', target: '*ca*' },
  ]
  const { files, dropped } = exported([zoneOf([], { unmanaged: [...unmanaged, ...unheld], policy: 'upsert-only' })])
  expect(dropped.map(({ what }) => what)).toEqual(unheld.map(() => expect.stringMatching(/^unmanaged records with a pattern/)))
  const [domain] = evaluated(files.get('dnsconfig.js') ?? '').domains
  // A selector on the target there is one on all data of these types here.
  const others = [
    { type: 'CAA', target: '*a*b"' },
    { type: 'HTTPS', target: '*a*b *' },
    { type: 'SVCB', target: '*a*b *' },
  ]
  expect(domain?.unmanaged).toEqual(
    unmanaged.flatMap<object>((selector) =>
      selector.name === '' ? [{ name: '@' }] : selector.target === '*a*b' ? [selector, ...others] : [selector],
    ),
  )
  expect(domain?.policy).toBe('upsert-only')
  expect(exported([zoneOf([], { unmanaged: [{ owner: 'external-dns' }] })]).files.get('dnsconfig.js')).toContain('IGNORE_EXTERNAL_DNS()')
})

test('names an ignored record set only in IGNORE, by its exact name', () => {
  const records = recordsOf('@ MX 10 a.example.\n*.w A 192.0.2.1\n*.w TXT "t"\nx.w A 192.0.2.2')
  const rrsetTargets = [
    { name: ZONE, type: 'MX' },
    { name: `*.w.${ZONE}` as DomainName, type: 'A' },
  ].map((scope) => ({ ...scope, ignored: true, included: [], excluded: [] }))
  const { files, dropped } = exported([zoneOf(records, { rrsetTargets })])
  expect(dropped.map(({ name, type, what }) => `${name} ${type} ${what}`)).toEqual(
    rrsetTargets.map(({ name, type }) => `${name} ${type} the options of an ignored record set; IGNORE keeps it unchanged`),
  )
  const script = files.get('dnsconfig.js') ?? ''
  expect(script.match(/IGNORE.*/g)).toEqual(["IGNORE('@', 'MX', '*'),", "IGNORE('\\\\*.w', 'A', '*'),"])
  expect(script.match(/^ {2}(?:A|MX|TXT)\(.*$/gm)).toEqual(["  TXT('*.w', 't'),", "  A('x.w', '192.0.2.2')"])
  expect(files.get(`zones/${ZONE}zone`)).not.toMatch(/192\.0\.2\.1|MX/)
})

test('can have many records', () => {
  const records = recordsOf(Array.from({ length: 2500 }, (_, i) => `h${i} A 192.0.2.${i % 250}`).join('\n'))
  const dropped: UnsupportedFeature[] = []
  const script = `var REG_NONE = 'none', DSP_BIND = 'bind';\n${printDomain({ name: ZONE, records, unmanaged: [], keepsUnknown: false }, dropped).script}`
  expect(lines(evaluated(script).domains[0]?.records ?? [])).toEqual(lines(records))
})

test.each([
  ['x HINFO "a" "b"', /type HINFO, which DNSControl has no function for/],
  ['a\\.b A 192.0.2.1', /a name with escaped characters/],
  ['x CNAME a\\.b', /a target with characters that DNSControl refuses/],
  ['x CNAME a+b', /a target with characters that DNSControl refuses/],
  ['@ NS a\n@ NS b+c', /a target with characters that DNSControl refuses/],
  ['@ CNAME a', /a CNAME at the apex/],
  ['x TXT "\\255"', /not valid UTF-8/],
  ['x TXT "a" "b"', /the division of its text into strings/],
  ['x CAA 1 issue "a"', /the flags 1 of a CAA record/],
  ['x CAA 0 path "a"', /the tag path of a CAA record/],
  ['x TLSA 255 0 0 aa', /a usage, selector or matching type that DNSControl refuses/],
  ['x._smimecert SMIMEA 3 2 1 aa', /a usage, selector or matching type that DNSControl refuses/],
  ['x TXT "a\\\\;b"', /a backslash in text, which DNSControl 5 reads as an escape/],
  ['x LOC 1 2 3.004 N 1 2 3 W 0m', /thousandths of a second, which DNSControl 5 rounds away/],
  ['x LOC 1 2 3 N 1 2 3.001 W 0m', /thousandths of a second, which DNSControl 5 rounds away/],
  ['x HTTPS 1 . key667="a b"', /a service parameter with spaces/],
  ['x HTTPS 1 . alpn=h2 no-default-alpn', /a service parameter without a value among others/],
  ['x HTTPS 1 . ipv4hint=192.0.2.1 ohttp', /a service parameter without a value among others/],
  ['x SVCB 1 . key667=x key668', /a service parameter without a value among others/],
  ['x SVCB 0 a. port=1', /service parameters with priority 0/],
  ['x SVCB 1 . key667=IGNORE', /a service parameter with spaces, escapes or the word IGNORE/],
  ['x SVCB 1 . tls-supported-groups=29', /the service parameter tls-supported-groups, which DNSControl does not know/],
  ['xn--abc- A 192.0.2.1', /a name with a label xn-- that is not valid IDNA/],
  ['x MX 0 xn--a.example.net.', /a name with a label xn-- that is not valid IDNA/],
  ['@ NS a\n@ NS xn--a.example.net.', /a name with a label xn-- that is not valid IDNA/],
  ['x CNAME a/b', /a target with characters that DNSControl refuses/],
  ['x CNAME x', /a CNAME that points to itself/],
  ['@ SOA a. b. 1 2 3 4 0', /a time of 0 in the SOA record/],
  ['x 0 A 192.0.2.1', /a TTL of 0/],
  ['@ 1 NS a.\n@ 2 NS b.', /different TTLs \(1, 2\)/],
  ['x TYPE65280 \\# 1 00', /type TYPE65280/],
  ['@ ALIAS a.', /ALIAS records/],
])('reports what it cannot express, and writes it to neither file: %s', (text, what) => {
  const { files, dropped } = exported([zoneOf(recordsOf(text))])
  expect(dropped.map((item) => item.what)).toEqual([expect.stringMatching(what)])
  const held = parseZoneFile(files.get('zones/example.com.zone') ?? '', { origin: ZONE, file: '' })
  for (const version of VERSIONS) {
    const { domains, diagnostics } = evaluated(files.get('dnsconfig.js') ?? '', version)
    expect([diagnostics, domains.flatMap((domain) => domain.dropped.map((item) => item.what))]).toEqual([[], []])
    expect(owners(held.records)).toEqual(owners(domains[0]?.records ?? []))
  }
})

test.each(['a!b.example.', 'a\\.b.example.', 'xn--abc-.example.', '.', 'x/.example.'])(
  'reports the zone %s, whose name DNSControl refuses',
  (name) => {
    const { files, dropped } = exported([zoneOf([], { name: name as DomainName })])
    expect(dropped.map((item) => item.what)).toEqual([expect.stringMatching(/^a zone whose name DNSControl misreads/)])
    expect(evaluated(files.get('dnsconfig.js') ?? '').domains).toEqual([])
  },
)

test('writes an RFC 2317 zone to the file where DNSControl looks for it', () => {
  const name = '0/25.2.0.192.in-addr.arpa.' as DomainName
  const { files, dropped } = exported([zoneOf([...parseZoneFile('7 300 PTR a.', { origin: name, file: '' }).records], { name })])
  expect([dropped, [...files.keys()]]).toEqual([[], ['dnsconfig.js', 'creds.json', 'zones/0/25.2.0.192.in-addr.arpa.zone']])
})

test('omits the TTL of name servers that cannot be exported', () => {
  const { files, dropped } = exported([zoneOf(recordsOf('@ NS b+c'))])
  expect(dropped.map(({ type, what }) => `${type} ${what}`).sort()).toEqual([
    'NS a target with characters that DNSControl refuses',
    'SOA a target with characters that DNSControl refuses',
  ])
  expect(evaluated(files.get('dnsconfig.js') ?? '').domains[0]?.dropped.map((item) => item.what)).toEqual([])
})

test('reports only the names that DNSControl changes in a reverse zone', () => {
  const name = '2.0.192.in-addr.arpa.' as DomainName
  const owners = ['7', 'x.2.0.192.in-addr.arpa', '4.3.2.1', '3.2.1']
  const text = owners.map((owner) => `${owner} 300 PTR host.example.net.`).join('\n')
  const records = [...parseZoneFile(`${text}\n4.3.2.1 300 A 192.0.2.1`, { origin: name, file: 'a.zone' }).records]
  const { files, dropped } = exported([zoneOf(records, { name })])
  expect(dropped.map((item) => `${item.name} ${item.what}`)).toEqual([
    '4.3.2.1.2.0.192.in-addr.arpa. a name that DNSControl misreads in a reverse zone',
    'x.2.0.192.in-addr.arpa.2.0.192.in-addr.arpa. a name that DNSControl misreads in a reverse zone',
  ])
  for (const version of VERSIONS) {
    const { domains } = evaluated(files.get('dnsconfig.js') ?? '', version)
    expect(domains[0]?.records.filter(({ type }) => type !== 'SOA').map((one) => `${one.name} ${one.type}`)).toEqual([
      '3.2.1.2.0.192.in-addr.arpa. PTR',
      '4.3.2.1.2.0.192.in-addr.arpa. A',
      '7.2.0.192.in-addr.arpa. PTR',
    ])
  }
})

test('any record is unchanged after export and import, or reported', () => {
  let whole = 0
  forAll(rounds(160), randomRecords, (generated) => {
    // A valid zone: no duplicates, one TTL per RRset, and a CNAME alone at its name.
    const aliases = new Map(generated.filter(({ type }) => type === 'CNAME').map((record) => [record.name, record]))
    const records = [
      ...new Map(generated.map((record) => [`${record.name} ${record.type} ${record.data}`, { ...record, ttl: 300 as Ttl }])).values(),
    ].filter(({ name, type, data }) => !aliases.has(name) || (type === 'CNAME' && aliases.get(name)?.data === data))
    const { files, dropped } = exported([zoneOf(records)])
    const named = new Set(dropped.map(({ name, type }) => `${name} ${type}`))
    const kept = records.filter(({ name, type }) => !named.has(`${name} ${type}`))
    for (const version of VERSIONS) {
      const { domains, diagnostics } = evaluated(files.get('dnsconfig.js') ?? '', version)
      expect(diagnostics).toEqual([])
      const found = domains[0]?.records.filter(({ name, type }) => type !== 'SOA' && !named.has(`${name} ${type}`)) ?? []
      expect(lines(found)).toEqual(lines(kept))
    }
    if (dropped.length === 0) whole += 1
  })
  expect(whole).toBeGreaterThan(rounds(160) / 16)
})
