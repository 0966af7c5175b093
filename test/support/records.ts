import { type DomainName, parseDomainName } from '../../src/dns/domain-name.ts'
import { canonicalRdata, rdataFields } from '../../src/dns/rdata/canonical.ts'
import type { DefinedRecord, ExistingRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ExistingZone } from '../../src/dns/zone.ts'

/** Parses a domain name; throws if it is invalid. */
export function name(text: string, origin?: DomainName): DomainName {
  const parsed = parseDomainName(text, origin ?? null)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

/**
 * Records from lines of zone-file text, `NAME [TTL] TYPE DATA`, relative to the origin; `-` or no TTL is the zone's default.
 * Each has the number of its line.
 */
export function records(origin: DomainName, text: string): DefinedRecord[] {
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith(';'))
    .map(({ line, number }) => {
      const [, owner = '', ttl, type = '', rest = ''] = /^(\S+)\s+(?:([0-9]+|-)\s+)?([A-Z0-9]+)\s+(.*)$/.exec(line) ?? []
      const tokens = rdataFields(rest.trim()).map((field) => ({ text: field.replace(/^"|"$/g, ''), quoted: field.startsWith('"') }))
      const data = canonicalRdata(type, tokens, (target) => parseDomainName(target, origin))
      if (!data.ok) throw new Error(`${line}: ${data.message}`)
      const seconds = ttl === undefined || ttl === '-' ? null : (Number(ttl) as Ttl)
      return { name: name(owner, origin), type, ttl: seconds, data: data.value, at: { file: 'zone', line: number, column: 1 } }
    })
}

/** The same records as a provider returns them, with identifiers from 1. */
export const existing = (origin: DomainName, text: string): ExistingRecord[] =>
  records(origin, text).map(({ name: owner, type, ttl, data }, index) => ({ id: index + 1, name: owner, type, ttl, data }))

export const existingZone = (origin: DomainName, text: string): ExistingZone => {
  return { name: origin, id: 1, settings: { type: 'master', soa_email: 'hostmaster@example.com' }, records: existing(origin, text) }
}

export const desiredZone = (origin: DomainName, text: string, more: Partial<DesiredZone> = {}): DesiredZone => ({
  ...DEFAULT_ZONE_OPTIONS,
  name: origin,
  at: { file: 'zone', line: 1, column: 1 },
  settings: { soa_email: 'hostmaster@example.com' },
  records: records(origin, text),
  ...more,
})
