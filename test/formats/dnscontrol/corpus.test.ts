import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type DnscontrolDomain, readIntermediate } from '../../../src/formats/dnscontrol/read-intermediate.ts'
import { parseZoneFile } from '../../../src/formats/zone-file/parse-zone-file.ts'
import type { ResourceRecord } from '../../../src/model/record.ts'

const CORPUS = fileURLToPath(new URL('../../corpora/dnscontrol/parse_tests', import.meta.url))

const NAMES = readdirSync(CORPUS)
  .filter((name) => /^\d.*\.json$/.test(name))
  .map((name) => name.slice(0, -5))

/** Records that DNSControl's own tests made up and no name server takes: base64 where hexadecimal belongs. */
const FAULTY: Readonly<Record<string, RegExp>> = {
  '015-tlsa': /_443\._tcp TLSA in foo\.com\./,
  '057-smimea': /_smimecert SMIMEA in foo\.com\./,
}

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
  test('is 31 configurations', () => expect(NAMES).toHaveLength(31))

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

  test.each<[string, string, RegExp[]]>([
    ['003-meta', 'foo.com.', [/metadata cloudflare_proxy \("ON"\)/, /registrar Cloudflare/]],
    ['019-r53-alias', 'foo.com.', Array.from({ length: 13 }, () => /DNSControl's type R53_ALIAS/)],
    ['025-autodnssec', 'with.com.', [/setting auto_dnssec \("on"\)/]],
    ['043-safety', 'unsafe.com.', [/DISABLE_IGNORE_SAFETY_CHECK/]],
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
      { name: 'labelc', type: 'CNAME', target: 'targetc' },
      { name: 'nametest' },
      { target: 'targettest1' },
      { type: 'A', target: 'targettest2' },
    ])
    expect(read('023-ignored-glob-records').domains[0]).toMatchObject({
      unmanaged: [],
      lost: [{ what: expect.stringContaining('IGNORE(') }],
    })
  })

  test('text stands in any of three places', () => {
    const record = (rest: object) => ({ type: 'TXT', name: 'a', ...rest })
    const records = [
      record({ target: 'a b' }),
      record({ target: 'a', txtstrings: ['a', ' b'] }),
      record({ target: '', zonefilepartial: '"a" " b"' }),
    ]
    const { domains } = readIntermediate(JSON.stringify({ domains: [{ name: 'example.com', records }] }), 'ir.json')
    expect(domains[0]?.records.map(({ data }) => data)).toEqual(['"a b"', '"a b"', '"a b"'])
  })

  test.each([
    [{ records: [{ type: 'A', name: 'a', target: '192.0.2.1', ttl: 'soon' }] }, /a A in example\.com\.: .*TTL/],
    [{ nameservers: [{}] }, /example\.com\. NS: a name server without a name/],
    [{ name: '' }, /the domain "": it has no name/],
    [{ unmanaged: [5] }, /an IGNORE without patterns/],
    [{ unmanaged: [{ label_pattern: '**', rType_pattern: '*', target_pattern: '' }] }, /it leaves everything to others/],
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
