/** What a domain at Porkbun can hold: the types of its API reference, and what DNSControl found at the service. */
import { MAX_TTL } from '../../dns/ttl.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import {
  atApex,
  isPrintable,
  joinedTexts,
  plainCaa,
  plainOwners,
  plainTargets,
  singleRecordZones,
  texts,
  ttlRange,
} from '../record-rules.ts'

/** The types that plans manage. Porkbun maintains the SOA record itself. */
export const PORKBUN_TYPES: ReadonlySet<string> = new Set('A AAAA ALIAS CAA CNAME MX NS SRV TLSA TXT'.split(' '))

/** Seconds: the minimum of the API, and the TTL of records without one. */
const MIN_TTL = 600

const plainTexts = texts('Porkbun', (octets) =>
  isPrintable(octets) && octets.at(-1) !== 0x20 ? null : 'Porkbun accepts texts of printable ASCII characters without a space at the end',
)

const ZONES = singleRecordZones('Porkbun has no secondary zones')

/** A domain gets its zone when it is registered, so zones are neither created nor deleted. */
export const PORKBUN_CAPABILITIES: Capabilities = {
  ...ZONES,
  // Records have notes, which would move too.
  calls: { ...ZONES.calls, movesRecords: false },
  types: PORKBUN_TYPES,
  fallbackTtl: MIN_TTL,
  servesApexNs: true,
  rules: [
    plainOwners('Porkbun'),
    atApex({ CNAME: 'a CNAME cannot be at the apex; use ALIAS', NS: 'Porkbun sets the NS records of the domain itself' }),
    plainTargets('Porkbun', ['SRV']),
    plainCaa('Porkbun'),
    plainTexts,
    joinedTexts,
    ttlRange(MIN_TTL, MAX_TTL),
  ],
}
