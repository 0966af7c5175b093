import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type DnscontrolDomain, readIntermediate } from '../../../src/convert/dnscontrol/read-intermediate.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'

const CORPUS = fileURLToPath(new URL('../../corpora/dnscontrol/parse_tests', import.meta.url))

const NAMES = readdirSync(CORPUS)
  .filter((name) => /^\d.*\.json$/.test(name))
  .map((name) => name.slice(0, -5))

/** Records of DNSControl's own tests that no name server accepts: base64 instead of hexadecimal. */
const INVALID_RECORDS: Readonly<Record<string, RegExp>> = {
  '015-tlsa': /^_443\._tcp\.foo\.com\. TLSA /,
  '057-smimea': /^f10e\S*\.foo\.com\. SMIMEA /,
}

const read = (name: string) => readIntermediate(readFileSync(join(CORPUS, `${name}.json`), 'utf8'), `${name}.json`)
const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`

/** The records that DNSControl writes for a domain; null if it writes no zone, or one that cannot be read. */
function expectedRecords(name: string, { name: zone, tag }: DnscontrolDomain): string[] | null {
  const path = join(CORPUS, name, `${zone.slice(0, -1)}${tag === '' ? '' : `!${tag}`}.zone`)
  if (!existsSync(path)) return null
  const { records, diagnostics } = parseZoneFile(readFileSync(path, 'utf8'), { origin: zone, file: path })
  expect(diagnostics).toEqual([])
  return [...records].map(line).sort()
}

test('are 31 configurations', () => expect(NAMES).toHaveLength(31))

test.each(NAMES)('%s', (name) => {
  const { domains, diagnostics } = read(name)
  const invalid = INVALID_RECORDS[name]
  // Only the configuration 041 has metadata of providers, on which no record depends.
  const metadata = Array.from({ length: name === '041-newstyleproviders' ? 6 : 0 }, () =>
    expect.stringMatching(/^the metadata \S+ of the provider /),
  )
  expect(diagnostics.map(({ severity, message }) => (severity === 'error' ? `error: ${message}` : message))).toEqual(metadata)
  const invalidRecords = domains.flatMap((domain) =>
    domain.invalidRecords.map(({ record, reason }) => `${record.name} ${record.type} ${reason}`),
  )
  expect(invalidRecords).toEqual(invalid ? [expect.stringMatching(invalid)] : [])
  if (invalid) return
  const json = JSON.parse(readFileSync(join(CORPUS, `${name}.json`), 'utf8')) as { domains: { records: { type: string }[] }[] }
  expect(domains).toHaveLength(json.domains.length)
  for (const [i, domain] of domains.entries()) {
    // Every record is imported or reported.
    const named = domain.dropped.filter(({ what }) => what.startsWith("a record of DNSControl's type")).length
    // One ALIAS stands for aliases of both types, of which 019 has two pairs.
    const merged = name === '019-r53-alias' ? 2 : 0
    expect(domain.records.length + named + merged).toBe(json.domains[i]?.records.length)
    const expected = expectedRecords(name, domain)
    if (expected !== null && named === 0) expect(domain.records.map(line).sort()).toEqual(expected)
  }
})

test.each([['045-loc', 'a 300 LOC 42 21 43.952 N 71 5 6.344 W -24.01m 1.00m 200.00m 10.00m']])('%s has the record %s', (name, record) => {
  const records = read(name)
    .domains[0]?.records.map(line)
    .map((text) => text.replace(/^(\S*?)\.?foo\.com\. /, (_, label) => `${label || '@'} `))
  expect(records).toContain(record)
})

test.each<[string, string, RegExp[]]>([
  ['019-r53-alias', 'foo.com.', Array.from({ length: 8 }, () => /DNSControl's type R53_ALIAS/)],
  ['025-autodnssec', 'with.com.', [/setting auto_dnssec \("on"\)/]],
  ['043-safety', 'unsafe.com.', [/DISABLE_IGNORE_SAFETY_CHECK/]],
])('%s reports features without an equivalent', (name, zone, whats) => {
  const domain = read(name).domains.find((one) => one.name === zone)
  const found = domain?.dropped.map(({ what }) => what)
  expect(found).toEqual(whats.map((what) => expect.stringMatching(what)))
})

/** Types whose data has more than the target. */
const behind = (target: string): object[] => [
  ...['MX', 'NAPTR', 'SRV', 'SSHFP', 'TLSA', 'SMIMEA'].map((type) => ({ type, target: `* ${target}` })),
  { type: 'CAA', target: `* "${target}"` },
  ...['HTTPS', 'SVCB'].flatMap((type) => [`* ${target}`, `* ${target} *`].map((some) => ({ type, target: some }))),
]

test('converts IGNORE to selectors if both mean the same', () => {
  const { domains } = read('005-ignored-records')
  const diff = domains.find(({ name }) => name === 'diff2.com.')
  expect(diff?.unmanaged).toEqual([
    { name: 'mylabel' },
    { name: 'mylabel2' },
    { name: 'mylabel3' },
    { type: 'A' },
    { type: 'A' },
    { type: 'AAAA' },
    { target: 'mytarget' },
    ...behind('mytarget'),
    { name: 'labelc', type: 'CNAME', target: 'targetc' },
    { name: 'nametest' },
    { target: 'targettest1' },
    ...behind('targettest1'),
    { type: 'A', target: 'targettest2' },
  ])
})

// DNSControl compiles patterns without separators (its pkg/diff2/handsoff.go): an asterisk matches dots.
test.each<[string, object[], number]>([
  ['_acme-challenge*', [{ name: '_acme-challenge*' }], 0],
  ['_acme-challenge.**', [{ name: '_acme-challenge.*' }], 0],
  ['**.foo', [{ name: '*.foo' }], 0],
  ['{a,b*}.{x,y}', ['a.x', 'a.y', 'b*.x', 'b*.y'].map((name) => ({ name })), 0],
  ['{a,{b,c}d}', ['a', 'bd', 'cd'].map((name) => ({ name })), 0],
  ['\\a.b', [{ name: 'a.b' }], 0],
  ['\\*.foo', [{ name: '\\*.foo' }], 0],
  ['\\*', [{ name: '\\*' }], 0],
  ['?oo', [{ name: '*oo' }], 1],
  ['[!a-c]oo', [{ name: '*oo' }], 1],
  ['{bar,[fz]oo}', [{ name: 'bar' }, { name: '*oo' }], 1],
  ['?', [], 1],
  ['{a', [], 1],
  ['a\u0000b', [], 1],
  ['{,'.repeat(400), [], 1],
  [`${'{a,b}'.repeat(30)}`, [], 1],
])('IGNORE(%j) becomes %j', (label_pattern, unmanaged, dropped) => {
  const domain = { name: 'example.com', unmanaged: [{ label_pattern, rType_pattern: '*', target_pattern: '*' }] }
  const [found] = readIntermediate(JSON.stringify({ domains: [domain] }), 'ir.json').domains
  expect([found?.unmanaged, found?.dropped.length]).toEqual([unmanaged, dropped])
  for (const { what } of found?.dropped ?? []) expect(what).toContain('IGNORE(')
})

test.each<[string, string, string, object[]]>([
  ['a type of DNSControl alone has no selector', 'CF_SINGLE_REDIRECT,A', '*', [{ type: 'A' }]],
  ['a target of CAA is its value', 'CAA', 'ca.example', [{ type: 'CAA', target: '* "ca.example"' }]],
  ['a target of CAA may begin with anything', 'CAA', '*.example', [{ type: 'CAA', target: '*.example"' }]],
  ['a target of anything', 'CAA,TLSA,A', '*ca*', ['CAA', 'TLSA', 'A'].map((type) => ({ type, target: '*ca*' }))],
  [
    'an HTTPS target may have parameters after it',
    'HTTPS',
    'a.',
    [
      { type: 'HTTPS', target: '* a.' },
      { type: 'HTTPS', target: '* a. *' },
    ],
  ],
  ['a fingerprint is last', 'SSHFP', 'ab*', [{ type: 'SSHFP', target: '* ab*' }]],
])('IGNORE: %s', (_, rType_pattern, target_pattern, unmanaged) => {
  const domain = { name: 'example.com', unmanaged: [{ label_pattern: 'x', rType_pattern, target_pattern }] }
  const [found] = readIntermediate(JSON.stringify({ domains: [domain] }), 'ir.json').domains
  expect([found?.unmanaged, found?.dropped, found?.policy]).toEqual([unmanaged.map((one) => ({ name: 'x', ...one })), [], null])
})

test.each<[object, string | null]>([
  [{ unmanaged: [{ label_pattern: '{a', rType_pattern: '*', target_pattern: '*' }] }, 'upsert-only'],
  [{ unmanaged: [{ label_pattern: '*', rType_pattern: '*', target_pattern: '*' }] }, 'upsert-only'],
  [{ unmanaged: [{ label_pattern: 'a', rType_pattern: '*', target_pattern: '{a' }] }, 'create-only'],
  [{ unmanaged: [{ label_pattern: 'a', rType_pattern: 'DS', target_pattern: 'a' }, 5], keepunknown: true }, 'create-only'],
  [{ unmanaged: [{ label_pattern: '{', rType_pattern: '*', target_pattern: '*' }], unmanaged_disable_safety_check: true }, 'create-only'],
  [{ unmanaged: [{ label_pattern: '?a', rType_pattern: '*', target_pattern: '*' }] }, null],
])('IGNORE patterns without an equivalent, %j, give the policy %s', (rest, policy) => {
  const [found] = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', ...rest }] }), 'ir.json').domains
  expect(found?.policy).toBe(policy)
  expect(found?.dropped.map(({ outcome }) => outcome)).toContainEqual(
    policy === null ? expect.any(String) : expect.stringContaining(policy),
  )
})

test('IGNORE_EXTERNAL_DNS becomes an owner, whatever its prefix', () => {
  const domain = { name: 'example.com', ignore_external_dns: true, external_dns_prefix: 'x-' }
  const { domains } = readIntermediate(JSON.stringify({ domains: [domain] }), 'ir.json')
  expect(domains).toMatchObject([{ unmanaged: [{ owner: 'external-dns' }], policy: null, dropped: [] }])
})

test.each<[object, RegExp[], RegExp[]]>([
  [{ registrar: 'namecheap', dnsProviders: {} }, [/the registrar namecheap of DNSControl is/, /no DNS provider for it/], []],
  [{ registrar: 'none', dnsProviders: { linode: -1 } }, [], []],
  [{ registrar: 'a', dnsProviders: { b: 0, 'c d': -1 } }, [/the registrar a of DNSControl is/], []],
  [{ meta: { owner: 'us', zone_id: 'Z1' } }, [/the metadata owner \("us"\) is not/], [/metadata zone_id/]],
  [{ meta: { cloudflare_proxy_default: 'off' } }, [/cloudflare_proxy_default/], []],
  [{ auto_dnssec: 'off' }, [/AUTODNSSEC_OFF/], []],
  [{ auto_dnssec: 'on' }, [], [/auto_dnssec/]],
  [{ records: [{ type: 'A', name: 'a', target: '192.0.2.1', meta: { cloudflare_proxy: 'off' } }] }, [], []],
  [{ unmanaged: [{ label_pattern: 'a', rType_pattern: 'URL301', target_pattern: '' }] }, [/supports the types URL301, which IGNORE/], []],
])('%j: warns of settings outside the records, and reports dropped record settings', (rest, warnings, dropped) => {
  const [found] = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', ...rest }] }), 'ir.json').domains
  expect(found?.warnings.map(({ severity, code }) => `${severity} ${code}`)).toEqual(warnings.map(() => 'warning import-aside'))
  expect(found?.warnings.map(({ message }) => message)).toEqual(warnings.map((one) => expect.stringMatching(one)))
  expect(found?.dropped.map(({ what }) => what)).toEqual(dropped.map((one) => expect.stringMatching(one)))
})

test('a text that is not valid Unicode is an error', () => {
  const record = (target: string) => `{"domains":[{"name":"example.com","records":[{"type":"TXT","name":"a","target":"${target}"}]}]}`
  expect(readIntermediate(record('\\ud83d\\ude00'), 'ir.json').domains[0]?.records).toHaveLength(1)
  const { domains, diagnostics } = readIntermediate(record('x\\ud800y'), 'ir.json')
  expect([domains, diagnostics.map(({ code }) => code)]).toEqual([[], ['schema-type']])
})

test('reads text from any of four fields', () => {
  const record = (rest: object) => ({ type: 'TXT', name: 'a', ...rest })
  const records = [
    record({ rdata: '"a b"' }),
    record({ target: 'a b' }),
    record({ target: 'a', txtstrings: ['a', ' b'] }),
    record({ target: '', zonefilepartial: '"a" " b"' }),
  ]
  const { domains } = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', records }] }), 'ir.json')
  expect(domains[0]?.records.map(({ data }) => data)).toEqual(['"a b"', '"a b"', '"a b"', '"a b"'])
})

const record = (fields: object): string[] => {
  const { domains, diagnostics } = readIntermediate(
    JSON.stringify({ domains: [{ name: 'example.com', records: [{ name: '@', ...fields }] }] }),
    'ir.json',
  )
  return [
    ...diagnostics.map(({ message }) => message),
    ...domains.flatMap(({ dropped, invalidRecords, records }) => [
      ...dropped.map(({ what }) => what),
      ...invalidRecords.map(({ reason }) => reason),
      ...records.map(({ data }) => data),
    ]),
  ]
}

test.each([
  ['keeps an escape in a string', { type: 'NAPTR', naptrregexp: '!a\\\\1!\\"\\255', target: '.' }, '0 0 "" "" "!a\\\\1!\\"\\255" .'],
  ['keeps a backslash that is not an escape', { type: 'NAPTR', naptrregexp: '!a\\1!"', target: '.' }, '0 0 "" "" "!a\\\\1!\\"" .'],
  ['strings of CAA have escapes', { type: 'CAA', caatag: 'iodef', target: 'a\\\\b"c' }, '0 iodef "a\\\\b\\"c"'],
  ['a mailbox is whole without a dot at its end', { type: 'SOA', target: 'ns.', soambox: 'a.b.c' }, 'ns. a.b.c. 0 0 0 0 0'],
  ['a mailbox may be an address', { type: 'SOA', target: 'ns.', soambox: 'j.doe@b.c' }, 'ns. j\\.doe.b.c. 0 0 0 0 0'],
  ['ignores the serial in comparisons', { type: 'SOA', comparablev3: 'ns. a.b.c. X 1 2 3 4' }, 'ns. a.b.c. 0 1 2 3 4'],
  [
    'computes a location from its numbers',
    {
      type: 'LOC',
      loclatitude: 2147483648,
      loclongitude: 2147483647,
      localtitude: 10001033,
      locsize: 18,
      target: '0 0 0 N 0 0 0 W 10.331m',
    },
    '0 0 0.000 N 0 0 0.001 W 10.33m 1.00m 0.00m 0.00m',
  ],
  ['rdata in another form is none', { type: 'MX', rdata: { Preference: 5 }, target: 'a.' }, 'its rdata is not in presentation form'],
  ['a record that must be absent', { type: 'A', target: '192.0.2.1', ensure_absent: true }, 'a record that ENSURE_ABSENT_REC deletes'],
])('%s', (_, fields, expected) => expect(record(fields)).toEqual([expected]))

test.each([
  ['AZURE_ALIAS', { type: 'AZURE_ALIAS', azure_alias: { type: 'AAAA' }, target: 'example.net.' }],
  ['R53_ALIAS', { type: 'R53_ALIAS', r53_alias: { type: 'CNAME', zone_id: 'Z' }, target: 'example.net.' }],
])('%s is named', (type, fields) => {
  const [first, ...rest] = record(fields)
  expect(first).toContain(`a record of DNSControl's type ${type}`)
  expect(rest.join()).not.toMatch(/example\.com\. \d/)
})

test('LUA is a record of PowerDNS', () => {
  const [first] = record({ type: 'LUA', rdata: null, luartype: 'A', target: "ifportup(443, {'192.0.2.1'})" })
  expect(first).toContain(`A "ifportup(443, {'192.0.2.1'})"`)
})

test('reads the same records from both versions', () => {
  const both = [
    ['MX', { mxpreference: 10, target: 'mail.example.com.' }, '10 mail.example.com.'],
    ['SRV', { srvpriority: 1, srvweight: 2, srvport: 3, target: 'a.example.com.' }, '1 2 3 a.example.com.'],
    ['CAA', { caaflag: 128, caatag: 'iodef', target: 'https://example.org' }, '128 iodef "https://example.org"'],
    ['SSHFP', { sshfpalgorithm: 4, sshfpfingerprint: 2, target: 'ab'.repeat(32) }, `4 2 ${'ab'.repeat(32)}`],
    ['TLSA', { tlsausage: 3, tlsaselector: 1, tlsamatchingtype: 1, target: 'cd'.repeat(32) }, `3 1 1 ${'cd'.repeat(32)}`],
    ['TXT', { target: 'one two', txtstrings: ['one two'] }, '"one two"'],
    ['DS', { dskeytag: 1, dsalgorithm: 13, dsdigesttype: 2, dsdigest: 'EF'.repeat(32) }, `1 13 2 ${'ef'.repeat(32)}`],
  ] as const
  const common = { name: '@', ttl: 300, filepos: '[line:2:5]' }
  const documents = [
    both.map(([type, fields]) => ({ ...common, type, ...fields })),
    both.map(([type, , rdata], i) => ({ ...common, type, rdata, comparablev3: rdata, name_unicode: '@', typenum: i })),
  ].map((records) => ({
    dns_providers: [],
    registrars: [],
    domains: [{ name: 'example.com', uniquename: 'example.com', registrar: 'none', dnsProviders: {}, records }],
  }))
  const [four, five] = documents.map((document) => readIntermediate(JSON.stringify(document), 'ir.json'))
  expect(four?.diagnostics).toEqual([])
  expect(five?.diagnostics).toEqual([])
  expect(four?.domains[0]?.records).toHaveLength(both.length)
  expect(five?.domains[0]?.records.map(line)).toEqual(four?.domains[0]?.records.map(line))
  expect(five?.domains[0]?.dropped).toEqual(four?.domains[0]?.dropped)
})

test.each([
  ['a plan of a zone with the policy sync deletes them', {}, []],
  [
    'NO_PURGE keeps them',
    { keepunknown: true },
    ['example.com.', 'the records that ENSURE_ABSENT deletes', /policy deletes no record set/],
  ],
])('records that must be absent: %s', (_, more, [zone, what, outcome]: (string | RegExp)[]) => {
  const recordsabsent = [{ name: 'helper', target: '192.0.2.2', type: 'A' }]
  const records = [{ name: 'normal', target: '192.0.2.1', ttl: 300, type: 'A' }]
  const { domains } = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', records, recordsabsent, ...more }] }), 'ir.json')
  expect(domains[0]?.records.map(line)).toEqual(['normal.example.com. 300 A 192.0.2.1'])
  const expected = zone === undefined ? [] : [expect.objectContaining({ zone, what, outcome: expect.stringMatching(outcome ?? '') })]
  expect(domains[0]?.dropped).toEqual(expected)
})

test('converts NO_PURGE to a policy', () => {
  const domains = [{ name: 'example.com', keepunknown: true }, { name: 'example.net' }]
  const found = readIntermediate(JSON.stringify({ domains }), 'ir.json').domains
  expect(found.map(({ policy, dropped }) => [policy, dropped])).toEqual([
    ['upsert-only', []],
    [null, []],
  ])
})

test('reads the tags of older versions from the metadata', () => {
  const domains = [{ name: 'example.com', meta: { dnscontrol_tag: 'inside', dnscontrol_uniquename: 'example.com!inside' } }]
  expect(readIntermediate(JSON.stringify({ domains }), 'ir.json').domains[0]).toMatchObject({ tag: 'inside', dropped: [] })
})

test.each([
  [{ records: [{ type: 'A', name: 'a', target: '192.0.2.1', ttl: 'soon' }] }, /TTL/],
  [{ records: [{ type: 'A', name: 'a.example.org.', target: '192.0.2.1' }] }, /record a\.example\.org\. A: the name is not in the zone/],
  [{ records: [{ type: 'A', name: 'a..b', target: '192.0.2.1' }] }, /the record a\.\.b A: /],
  [{ rawrecords: [{ type: 'A', args: ['a', '192.0.2.1'] }] }, /write the JSON without --raw/],
  [{ nameservers: [{}] }, /a name server without a name/],
  [{ name: '' }, /the domain "": it has no name/],
  [{ unmanaged: [5] }, /an IGNORE without patterns/],
  [{ unmanaged: [{ label_pattern: '**', rType_pattern: '*', target_pattern: '' }] }, /it ignores everything/],
  [{ unmanaged: [{ label_pattern: '*', rType_pattern: 'A,DS', target_pattern: 'a' }] }, /for a target of type DS/],
  [{ meta: { ns_ttl: '60' } }, /the metadata ns_ttl \("60"\)/],
  [JSON.parse('{"constructor": 1}'), /the setting constructor \("1"\)/],
])('%j is not taken for something else', (rest, what) => {
  const { domains, diagnostics } = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', ...rest }] }), 'ir.json')
  const reported = [
    ...diagnostics.map(({ message }) => message),
    ...domains.flatMap(({ dropped, invalidRecords }) => [
      ...dropped.map(({ what }) => what),
      ...invalidRecords.map(({ reason }) => reason),
    ]),
  ]
  expect(reported).toEqual([expect.stringMatching(what)])
  expect(domains.flatMap(({ records, unmanaged }) => [...records, ...unmanaged])).toEqual([])
})

test('keeps the tags of split horizons', () => {
  expect(read('037-splithor').domains.map(({ name, tag }) => `${name}${tag}`)).toContain('example.com.inside')
})

test('CF_PROXY_DEFAULT_ON proxies the addresses and aliases that do not say otherwise', () => {
  const record = (type: string, target: string, proxy?: string) => ({ type, target, meta: { ...(proxy && { cloudflare_proxy: proxy }) } })
  const records = [record('A', '192.0.2.1'), record('CNAME', 'a.'), record('A', '192.0.2.2', 'off'), record('TXT', 'x')]
  const domain = { name: 'example.com', meta: { cloudflare_proxy_default: 'on' }, records }
  const [found] = readIntermediate(JSON.stringify({ domains: [domain] }), 'ir.json').domains
  expect(found?.records.map(({ providerSettings }) => providerSettings?.['cloudflare']?.['proxied'] ?? false)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
