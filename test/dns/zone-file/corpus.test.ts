import { expect, test } from 'vitest'
import { hasErrors } from '../../../src/base/diagnostic.ts'
import { cnameNotAlone } from '../../../src/checks/rules/cname-rules.ts'
import { indexZone } from '../../../src/checks/rules/zone-index.ts'
import { rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import { desiredZone, name } from '../../support/records.ts'
import { CORPUS, expectedLines, originOf, parseCorpusZone, readCorpus, withGenericWks } from './corpus.ts'
import { lines, parse } from './zone-text.ts'

/** Zones that other implementations refuse for semantic errors, and the code that refuses them here. */
const NOT_BY_THE_PARSER: Readonly<Record<string, string>> = {
  'dnscontrol-getzones/apex.com.zone': 'a CNAME at the apex is for the rules of zones',
  'octodns/invalid.zone.zone': 'a zone without NS records is what a provider with its own name servers wants',
}

/** Zones whose expected TTLs are from a server that reads TTLs differently. */
const OTHER_TTLS: Readonly<Record<string, string>> = {
  'octodns/bind-unit.tests.zone': 'without $TTL, records without a TTL have the fixed one of NSD there; BIND takes the last one stated',
}

const withoutTtl = (line: string): string => line.replace(/^(\S+) [0-9]+ /, '$1 ')

test.each(CORPUS)('$id: $expect', (zone) => {
  const parsed = parseCorpusZone(zone)
  expect(hasErrors(parsed.diagnostics)).toBe(zone.expect === 'reject' && !(zone.id in NOT_BY_THE_PARSER))
  const expected = expectedLines(zone)
  const compared = zone.id in OTHER_TTLS ? withoutTtl : (line: string) => line
  // Compared as a set: the zone rules report duplicate records.
  if (expected !== null) expect(new Set(lines(parsed.records).map(compared))).toEqual(new Set(expected.map(compared)))
})

test.each(CORPUS)('$id: printing and parsing changes nothing', (zone) => {
  const origin = originOf(zone)
  const { records } = parseCorpusZone(zone)
  for (const style of ['canonical', 'pretty'] as const) {
    const text = printZoneFile(records, { origin, style })
    const again = parse(text, { origin })
    expect(again.diagnostics).toEqual([])
    expect(lines(again.records).sort()).toEqual(lines(records).sort())
    expect(printZoneFile(again.records, { origin, style })).toBe(text)
  }
})

test.each(['dnspython/example', 'ldns/20-sign-zone.trimmed.db'])(
  '%s: a WKS record in its own form is an error that names the generic form',
  (file) => {
    const { records, diagnostics } = parse(readCorpus(file), { origin: name('example.'), file })
    const wks = readCorpus(file)
      .split('\n')
      .flatMap((line, i) => (/\sWKS\s/.test(line) ? [i + 1] : []))
    expect(wks.length).toBeGreaterThan(1)
    expect(diagnostics.map(({ at }) => at?.line)).toEqual(wks)
    for (const { code, message } of diagnostics) {
      expect(code).toBe('value-invalid')
      expect(message).toMatch(/ WKS: data of this type is written in the generic form \\# LENGTH HEX \(RFC 3597\), not as "[0-9.]+"$/)
    }
    expect(records.some(({ type }) => type === 'WKS')).toBe(false)
  },
)

test('the zone rules report a CNAME at the apex', () => {
  const zone = CORPUS.find(({ id }) => id === 'dnscontrol-getzones/apex.com.zone')
  if (!zone) throw new Error('the case is missing')
  const { records } = parseCorpusZone(zone)
  expect([...cnameNotAlone(indexZone({ ...desiredZone(originOf(zone), ''), records }))]).not.toEqual([])
})

test.each(['dnspython/example1.good', 'dnspython/example2.good', 'dnspython/example3.good', 'dnspython/example4.good'])(
  '%s is the zone as dnspython prints it',
  (file) => {
    const origin = name('example.')
    expect(lines(parse(withGenericWks(readCorpus(file)), { origin }).records).sort()).toEqual(
      lines(parse(withGenericWks(readCorpus('dnspython/example')), { origin }).records).sort(),
    )
  },
)

test.each(['apex', 'ds', 'simple'])('%s.com is the zone as DNSControl prints it', (domain) => {
  const origin = name(`${domain}.com.`)
  const [given, printed] = ['zone', 'zone.zone'].map((end) => parse(readCorpus(`dnscontrol-getzones/${domain}.com.${end}`), { origin }))
  expect(given?.records.length).toBeGreaterThan(0)
  expect(lines(printed?.records ?? []).sort()).toEqual(lines(given?.records ?? []).sort())
})

test('the large zone of NSD with 10,000 similar nodes', () => {
  const origin = name('huge.example.')
  const node = (i: number): string => `node${i}.test TXT "test string contents to take up space for node ${i}"\n`
  const nodes = Array.from({ length: 10_000 }, (_, i) => i)
  const { records, diagnostics } = parse(readCorpus('large/huge.example.head') + nodes.map(node).join(''), { origin })
  expect(diagnostics).toEqual([])
  expect(lines(records)).toEqual([
    'huge.example. 3600 SOA huge.example. root.huge.example. 2003070707 3600 28800 2419200 3600',
    'huge.example. 3600 NS ns0.xname.org.huge.example.',
    'huge.example. 3600 NS ns1.xname.org.huge.example.',
    ...nodes.map((i) => `node${i}.test.huge.example. 3600 TXT "test string contents to take up space for node ${i}"`),
  ])
})

test('the test vectors of RFC 9460 are equal as text and as octets', () => {
  const vectors = (file: string): string[] => {
    // One record per vector: a line outside parentheses gets owner, TTL and type.
    const text = readCorpus(`dnspython/${file}`).replace(/^(?=[0-9\\])/gm, (_, at: number, whole: string) => {
      const before = whole.slice(0, at).replace(/;.*$/gm, '')
      const depth = (before.match(/\(/g)?.length ?? 0) - (before.match(/\)/g)?.length ?? 0)
      return depth === 0 ? 'a 1 SVCB ' : ''
    })
    const { records, diagnostics } = parse(text)
    expect(diagnostics).toEqual([])
    return records.map(({ type, data }) => rdataOctets(type, data).toString('hex'))
  }
  const octets = vectors('svcb_test_vectors.generic')
  expect(octets.length).toBeGreaterThan(8)
  expect(vectors('svcb_test_vectors.text')).toEqual(octets)
})
