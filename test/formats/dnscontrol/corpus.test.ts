import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type DnscontrolConfig, type DnscontrolDomain, readIntermediate } from '../../../src/formats/dnscontrol/read-intermediate.ts'
import { parseZoneFile } from '../../../src/formats/zone-file/parse-zone-file.ts'
import type { ResourceRecord } from '../../../src/model/record.ts'

const CORPUS = fileURLToPath(new URL('../../corpora/dnscontrol/parse_tests', import.meta.url))

const NAMES = readdirSync(CORPUS)
  .filter((name) => /^\d.*\.json$/.test(name))
  .map((name) => name.slice(0, -5))

/** Records that DNSControl's own tests made up and no name server takes: base64 where hexadecimal belongs. */
const FAULTY: Readonly<Record<string, RegExp>> = {
  '015-tlsa': /_443\._tcp TLSA in foo\.com\./,
  '057-smimea': /^f10e\S* SMIMEA in foo\.com\./,
}

const CORPUS_5 = fileURLToPath(new URL('../../corpora/dnscontrol/parse_tests_5', import.meta.url))

const NAMES_5 = readdirSync(CORPUS_5).map((name) => name.slice(0, -5))

const read5 = (name: string) => readIntermediate(readFileSync(join(CORPUS_5, `${name}.json`), 'utf8'), `${name}.json`)

const read = (name: string) => readIntermediate(readFileSync(join(CORPUS, `${name}.json`), 'utf8'), `${name}.json`)

const line = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`

/** The zone DNSControl writes of a domain; null where it has none, or none that can be read. */
function expectedRecords(name: string, { name: zone, tag }: DnscontrolDomain): string[] | null {
  const path = join(CORPUS, name, `${zone.slice(0, -1)}${tag === '' ? '' : `!${tag}`}.zone`)
  if (!existsSync(path)) return null
  const { records, diagnostics } = parseZoneFile(readFileSync(path, 'utf8'), { origin: zone, file: path })
  expect(diagnostics).toEqual([])
  return [...records].map(line).sort()
}

describe('what DNSControl makes of its own tests', () => {
  test('is 37 configurations of version 4', () => expect(NAMES).toHaveLength(37))

  test.each(NAMES)('%s', (name) => {
    const { domains, diagnostics } = read(name)
    const faulty = FAULTY[name]
    expect(diagnostics.map(({ message }) => message)).toEqual(faulty ? [expect.stringMatching(faulty)] : [])
    if (faulty) return
    const json = JSON.parse(readFileSync(join(CORPUS, `${name}.json`), 'utf8')) as { domains: { records: { type: string }[] }[] }
    expect(domains).toHaveLength(json.domains.length)
    for (const [i, domain] of domains.entries()) {
      // Every record is there, or named.
      const named = domain.lost.filter(({ what }) => what.startsWith("a record of DNSControl's type")).length
      expect(domain.records.length + named).toBe(json.domains[i]?.records.length)
      const expected = expectedRecords(name, domain)
      if (expected !== null && named === 0) expect(domain.records.map(line).sort()).toEqual(expected)
    }
  })

  test.each(NAMES_5)('%s of version 5', (name) => {
    const { domains, diagnostics } = read5(name)
    const faulty = FAULTY[name]
    expect(diagnostics.map(({ message }) => message)).toEqual(faulty ? [expect.stringMatching(faulty)] : [])
    if (faulty) return
    const json = JSON.parse(readFileSync(join(CORPUS_5, `${name}.json`), 'utf8')) as { domains: { records: { rdata: unknown }[] }[] }
    for (const [i, domain] of domains.entries()) {
      const given = json.domains[i]?.records ?? []
      const named = domain.lost.filter(({ what }) => what.startsWith("a record of DNSControl's type")).length
      expect(named).toBe(given.filter(({ rdata }) => typeof rdata !== 'string').length)
      expect(domain.records.length + named).toBe(given.length)
      expect(domain.lost.filter(({ what }) => what.startsWith('the field'))).toEqual(named === 0 ? [] : expect.anything())
    }
  })

  // Both versions have them, and 5 rounds the seconds of a location.
  test.each(NAMES_5.filter((name) => NAMES.includes(name) && !/^(?:019|045|057)/.test(name)))('%s is the same in both versions', (name) => {
    const all = ({ domains }: DnscontrolConfig): string[] =>
      domains.map(({ name: zone, tag, records }) => [zone, tag, ...records.map(line)].join('\n'))
    expect(all(read5(name))).toEqual(all(read(name)))
  })

  test.each([
    ['014-caa', '@ 300 CAA 128 iodef "https://example.com"'],
    ['038-soa', '@ 300 SOA ns1.foo.com. admin.foo.com. 0 3600 900 604800 86400'],
    ['045-loc', 'a 300 LOC 42 21 43.952 N 71 5 6.344 W -24.01m 1.00m 200.00m 10.00m'],
  ])('%s holds %s', (name, record) => {
    const records = read(name)
      .domains[0]?.records.map(line)
      .map((text) => text.replace(/^(\S*?)\.?foo\.com\. /, (_, label) => `${label || '@'} `))
    expect(records).toContain(record)
  })

  test.each<[string, string, RegExp[]]>([
    ['003-meta', 'foo.com.', [/metadata cloudflare_proxy \("ON"\)/, /registrar Cloudflare/]],
    ['019-r53-alias', 'foo.com.', Array.from({ length: 13 }, () => /DNSControl's type R53_ALIAS/)],
    ['025-autodnssec', 'with.com.', [/setting auto_dnssec \("on"\)/]],
    ['043-safety', 'unsafe.com.', [/DISABLE_IGNORE_SAFETY_CHECK/]],
    ['026-azure-alias', 'foo.com.', Array.from({ length: 3 }, () => /DNSControl's type AZURE_ALIAS/)],
    ['044-ensureabsent', 'example.com.', [/the records that ENSURE_ABSENT wants away/]],
  ])('%s names what has no meaning here', (name, zone, whats) => {
    const domain = read(name).domains.find((one) => one.name === zone)
    const found = domain?.lost.filter(({ what }) => !/DNS providers|registrar Third/.test(what)).map(({ what }) => what)
    expect(found).toEqual(whats.map((what) => expect.stringMatching(what)))
  })

  test('IGNORE becomes selectors where it means the same', () => {
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
      ...['MX', 'NAPTR', 'SRV'].map((type) => ({ type, target: '* mytarget' })),
      { name: 'labelc', type: 'CNAME', target: 'targetc' },
      { name: 'nametest' },
      { target: 'targettest1' },
      ...['MX', 'NAPTR', 'SRV'].map((type) => ({ type, target: '* targettest1' })),
      { type: 'A', target: 'targettest2' },
    ])
    expect(read('023-ignored-glob-records').domains[0]).toMatchObject({
      unmanaged: [],
      lost: [{ what: expect.stringContaining('IGNORE(') }],
    })
  })

  test('text stands in any of four places', () => {
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
      ...domains.flatMap(({ lost, records }) => [...lost.map(({ what }) => what), ...records.map(({ data }) => data)]),
    ]
  }

  test.each([
    [
      'what is an escape in a string stays one',
      { type: 'NAPTR', naptrregexp: '!a\\\\1!\\"\\255', target: '.' },
      '0 0 "" "" "!a\\\\1!\\"\\255" .',
    ],
    ['what is none is what it looks like', { type: 'NAPTR', naptrregexp: '!a\\1!"', target: '.' }, '0 0 "" "" "!a\\\\1!\\"" .'],
    ['strings of CAA have escapes', { type: 'CAA', caatag: 'iodef', target: 'a\\\\b"c' }, '0 iodef "a\\\\b\\"c"'],
    ['a mailbox is whole without a dot at its end', { type: 'SOA', target: 'ns.', soambox: 'a.b.c' }, 'ns. a.b.c. 0 0 0 0 0'],
    ['a mailbox may be an address', { type: 'SOA', target: 'ns.', soambox: 'j.doe@b.c' }, 'ns. j\\.doe.b.c. 0 0 0 0 0'],
    ['the serial is left out of what is compared', { type: 'SOA', comparablev3: 'ns. a.b.c. X 1 2 3 4' }, 'ns. a.b.c. 0 1 2 3 4'],
    [
      'a location is what its numbers are',
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
    [
      'rdata in another form is none',
      { type: 'MX', rdata: { Preference: 5 }, target: 'a.' },
      '"@" MX in example.com.: its rdata is not the text of a zone file',
    ],
    [
      'what should be absent is none',
      { type: 'A', target: '192.0.2.1', ensure_absent: true },
      'a record that ENSURE_ABSENT_REC wants away',
    ],
  ])('%s', (_, fields, expected) => expect(record(fields)).toEqual([expected]))

  test('tags of older versions stand in the metadata', () => {
    const domains = [{ name: 'example.com', meta: { dnscontrol_tag: 'inside', dnscontrol_uniquename: 'example.com!inside' } }]
    expect(readIntermediate(JSON.stringify({ domains }), 'ir.json').domains[0]).toMatchObject({ tag: 'inside', lost: [] })
  })

  test.each([
    [{ records: [{ type: 'A', name: 'a', target: '192.0.2.1', ttl: 'soon' }] }, /a A in example\.com\.: .*TTL/],
    [{ nameservers: [{}] }, /example\.com\. NS: a name server without a name/],
    [{ name: '' }, /the domain "": it has no name/],
    [{ unmanaged: [5] }, /an IGNORE without patterns/],
    [{ unmanaged: [{ label_pattern: '**', rType_pattern: '*', target_pattern: '' }] }, /it leaves everything to others/],
    [{ unmanaged: [{ label_pattern: '*', rType_pattern: 'A,CAA', target_pattern: 'a' }] }, /for a target of type CAA/],
    [{ meta: { ns_ttl: '60' } }, /the metadata ns_ttl \("60"\)/],
    [JSON.parse('{"constructor": 1}'), /the setting constructor \("1"\)/],
  ])('%j is not taken for something else', (rest, what) => {
    const { domains, diagnostics } = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', ...rest }] }), 'ir.json')
    const told = [...diagnostics.map(({ message }) => message), ...domains.flatMap(({ lost }) => lost.map((item) => item.what))]
    expect(told).toEqual([expect.stringMatching(what)])
    expect(domains.flatMap(({ records, unmanaged }) => [...records, ...unmanaged])).toEqual([])
  })

  test('split horizons keep their tags', () => {
    expect(read('037-splithor').domains.map(({ name, tag }) => `${name}${tag}`)).toContain('example.com.inside')
  })
})
