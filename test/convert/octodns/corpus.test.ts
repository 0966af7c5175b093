import { describe, expect, test } from 'vitest'
import { hasErrors } from '../../../src/base/diagnostic.ts'
import { type ParsedDefinition, parseDefinition, parseSplitZone } from '../../../src/definition/parse/parse-definition.ts'
import { octetsToTxtRdata } from '../../../src/dns/character-string.ts'
import { type DomainName, parseDomainName, relativeName } from '../../../src/dns/domain-name.ts'
import { canonicalRdata } from '../../../src/dns/rdata/canonical.ts'
import { groupRrsets } from '../../../src/dns/record.ts'
import { CORPUS, type CorpusCase, type ExpectedRrset } from './corpus.ts'

const absolute = (text: string): DomainName => {
  const name = parseDomainName(text)
  if (!name.ok) throw new Error(name.message)
  return name.value
}

const parse = ({ zone, files, isSplit, defaultTtl }: CorpusCase): ParsedDefinition => {
  const options = { zoneName: absolute(zone), octodnsDefaultTtl: defaultTtl }
  const [first] = files
  return isSplit || !first ? parseSplitZone(files, options) : parseDefinition(first.text, { ...options, ...first })
}

/** Converts octoDNS's text of a value to rdata. TXT is listed as plain text. */
function canonical(type: string, value: string): string {
  if (type === 'TXT' || type === 'SPF') return octetsToTxtRdata(Buffer.from(value, 'utf8'))
  const tokens = (value.match(/"(?:[^"\\]|\\.)*"|[^ "]+/g) ?? []).map((text) =>
    text.startsWith('"') ? { text: text.slice(1, -1), quoted: true } : { text, quoted: false },
  )
  const data = canonicalRdata(type, tokens, (name) => parseDomainName(name.endsWith('.') ? name : `${name}.`))
  if (!data.ok) throw new Error(`${type} ${value}: ${data.message}`)
  return data.value
}

const expectedRrset = ({ name, type, ttl, values }: ExpectedRrset) => {
  return { name: absolute(name), type, ttl, values: values.map((value) => canonical(type, value)).sort() }
}

const order = (a: { name: string; type: string }, b: { name: string; type: string }): number =>
  `${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1

describe('loads zones of other projects as octoDNS loads them', () => {
  test.each(CORPUS.map((entry) => [entry.id, entry] as const))('%s', (_, entry) => {
    const { zone, diagnostics } = parse(entry)
    expect(diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).toEqual([])
    expect(hasErrors(diagnostics)).toBe(false)
    // Aliases of Route 53 become ALIAS records.
    const aliases = zone?.records.filter(({ providerSettings }) => providerSettings?.['route53'] !== undefined) ?? []
    const records = zone?.records.filter((record) => !aliases.includes(record)) ?? []
    const rrsets = [...groupRrsets(records).values()].map(([first, ...rest]) => ({
      name: first?.name ?? '',
      type: first?.type ?? '',
      ttl: first?.ttl,
      values: [first, ...rest].map((record) => record?.data).sort(),
    }))
    expect(rrsets.sort(order)).toEqual(entry.expected.map(expectedRrset).sort(order))
    const foreign = zone?.providerSpecific.map(({ name, type }) => [relativeName(name, zone.name), type]) ?? []
    const converted = aliases.map(({ name }) => [relativeName(name, zone?.name ?? name), 'Route53Provider/ALIAS'])
    expect([...foreign, ...converted].sort()).toEqual([...entry.unsupported].sort())
  })

  test('has many of them', () => {
    expect(CORPUS.length).toBe(67)
    expect(CORPUS.flatMap((entry) => entry.expected).length).toBeGreaterThan(1000)
  })
})

describe('octoDNS settings of a record', () => {
  const extras = CORPUS.flatMap((entry) => entry.expected.filter(({ extra }) => extra).map((rrset) => ({ entry, rrset })))

  test.each(extras.map(({ entry, rrset }) => [`${entry.id} ${rrset.name} ${rrset.type}`, entry, rrset] as const))(
    '%s',
    (_, entry, rrset) => {
      const { zone, diagnostics } = parse(entry)
      const { octodns = {}, ...others } = rrset.extra as { octodns?: Record<string, unknown> }
      const { ignored = false, included = [], excluded = [], lenient: _lenient, cloudflare, ...ofProviders } = octodns
      const name = absolute(rrset.name)
      const scope = zone?.rrsetTargets.find((candidate) => candidate.name === name && candidate.type === rrset.type)
      const hasScope = 'ignored' in octodns || 'included' in octodns || 'excluded' in octodns
      expect(scope).toEqual(hasScope ? { name, type: rrset.type, ignored, included, excluded } : undefined)
      const settings = Object.entries(cloudflare ?? {}).map(([key, value]) => [key.replace('-', '_'), value])
      for (const record of zone?.records.filter((one) => one.name === name && one.type === rrset.type) ?? [])
        expect(record.providerSettings).toEqual(cloudflare === undefined ? undefined : { cloudflare: Object.fromEntries(settings) })
      const dropped = [...Object.keys(others), ...Object.keys(ofProviders).map((key) => `octodns.${key}`)]
      const warnings = diagnostics.filter(({ code, message }) => code === 'record-extra' && message.startsWith(`${name} ${rrset.type}:`))
      expect(warnings.length).toBe(dropped.length === 0 ? 0 : 1)
      for (const key of dropped) expect(warnings[0]?.message).toContain(JSON.stringify(key))
    },
  )
})
