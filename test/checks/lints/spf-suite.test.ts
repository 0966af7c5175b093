/**
 * The test suite of RFC 7208 (openspf.org, release 2014.04, licence in test/corpora/spf/LICENSES) as judge of the SPF lints. A message that the suite rejects
 * with `permerror` must have a finding, and no other message may have one that says permerror.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { indexOf, managedNames } from '../../../src/checks/lints/managed-names.ts'
import { isSpf, parseSpf, spfCosts, spfLint } from '../../../src/checks/lints/spf-lints.ts'
import { policyMultiple } from '../../../src/checks/rules/value-rules.ts'
import { octetsToTxtRdata } from '../../../src/dns/character-string.ts'
import { type DomainName, parseAbsoluteName, ROOT } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord } from '../../../src/dns/record.ts'
import { DEFAULT_ZONE_OPTIONS } from '../../../src/dns/zone.ts'

interface Scenario {
  readonly description: string
  readonly records: readonly (readonly [string, string, string | readonly string[]])[]
  /** Names whose queries time out. */
  readonly unknown: readonly string[]
  readonly tests: readonly { readonly name: string; readonly domain: string; readonly results: readonly string[] }[]
}

const scenarios: readonly Scenario[] = JSON.parse(readFileSync(new URL('../../corpora/spf/rfc7208.json', import.meta.url), 'utf8'))

/** Cases in which a definition cannot show what happens, by name, with the reason. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'include-at-limit': 'its message matches before the eleventh query, which other messages need',
}

const nameOf = (text: string): DomainName | null => {
  const name = parseAbsoluteName(text)
  return name.ok ? name.value : null
}

function recordsOf({ records }: Pick<Scenario, 'records'>): DefinedRecord[] {
  return records.flatMap(([owner, type, value], line): DefinedRecord[] => {
    const name = nameOf(owner)
    if (name === null) return []
    const text = typeof value === 'string' ? value : value.join('')
    const data =
      type === 'TXT'
        ? octetsToTxtRdata(Buffer.from(text, 'utf8'))
        : type === 'MX' || type === 'CNAME'
          ? `${text.replace(/\.?$/, '.')}`
          : text
    return [{ name, type, ttl: null, data: type === 'TXT' ? data : data.toLowerCase(), at: { file: name, line, column: 1 } }]
  })
}

describe.each(scenarios)('$description', (scenario) => {
  const at = { file: 'zone', line: 1, column: 1 }
  const unmanaged = scenario.unknown.map((name) => ({ name: name.toLowerCase() }))
  const zone = { ...DEFAULT_ZONE_OPTIONS, name: ROOT, at, settings: {}, records: recordsOf(scenario), unmanaged }
  const linted = { zone, internal: false, isIncomplete: false }
  const managed = managedNames([linted])
  const index = indexOf(linted)
  const found = [...spfLint(managed)(linted, index), ...policyMultiple(index)]
  const spfAt = (name: DomainName): string[] =>
    zone.records
      .filter((record) => record.name === name && record.type === 'TXT')
      .map(({ data }) => data.slice(1, -1).replaceAll('" "', ''))
      .filter(isSpf)

  /** The names of the records that the record of a name consists of. */
  function closureOf(start: DomainName): Set<string> {
    const names = new Set<string>([start])
    for (const name of names)
      for (const text of spfAt(name as DomainName))
        for (const { kind, domain } of parseSpf(text).terms)
          if ((kind === 'include' || kind === 'redirect') && domain !== null) names.add(domain)
    return names
  }

  it.each(scenario.tests)('$name', ({ name, domain, results }) => {
    const owner = nameOf(domain)
    if (owner === null || name in OTHERWISE) return
    const names = closureOf(owner)
    const errors = found
      .filter((one) => names.has(one.at?.file ?? '') && /permerror|treat as an error/.test(one.message))
      .map(({ message }) => message)
    if (results.every((result) => result === 'permerror')) expect(errors).not.toEqual([])
    if (!results.includes('permerror')) expect(errors).toEqual([])
  })
})

type Counted = { readonly records: readonly string[]; readonly lookups: number; readonly voids: number }

describe('the number of queries', () => {
  /** Random records of n0.example.com, n1.example.com, …, evaluated by pyspf 2.0.14 without limits, for an address that none of them names. */
  const counted: readonly Counted[] = JSON.parse(readFileSync(new URL('../../corpora/spf/counts.json', import.meta.url), 'utf8'))

  it('is that of pyspf', () => {
    const found = counted.map(({ records }) => {
      const texts = records.flatMap((text, index): Scenario['records'] => [
        [`n${index}.example.com`, 'TXT', text],
        [`n${index}.example.com`, 'A', '192.0.2.1'],
        [`n${index}.example.com`, 'MX', '10 host.example.com'],
      ])
      const all = recordsOf({ records: [...texts, ['host.example.com', 'A', '192.0.2.2']] })
      const at = { file: 'zone', line: 1, column: 1 }
      const linted = { zone: { ...DEFAULT_ZONE_OPTIONS, name: ROOT, at, settings: {}, records: all }, internal: false, isIncomplete: false }
      const { lookups, voids } = spfCosts(managedNames([linted]))('n0.example.com.' as DomainName)
      return { lookups, voids }
    })
    expect(found).toEqual(counted.map(({ lookups, voids }) => ({ lookups, voids })))
  })
})
