/** What a zone at OVHcloud can hold: the types of its API reference, and what DNSControl found at the service. */
import { MAX_TTL } from '../../dns/ttl.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { atApex, joinedTexts, plainOwners, plainTargets, primaryZones, printableTexts, ttlRange } from '../record-rules.ts'

/** The types that plans manage. OVHcloud maintains the SOA record itself. */
export const OVH_TYPES: ReadonlySet<string> = new Set(
  'A AAAA CAA CNAME DNAME HTTPS LOC MX NAPTR NS PTR RP SRV SSHFP SVCB TLSA TXT'.split(' '),
)

/** Seconds. */
const MIN_TTL = 60
/** The TTL in seconds of records without one. */
export const USUAL_TTL = 3600

/** Zones are ordered, with or without a domain, so they are neither created nor deleted. The changes of a call are published together. */
export const OVH_CAPABILITIES: Capabilities = {
  ...primaryZones('OVHcloud has no secondary zones'),
  calls: { ...RRSET_STORE.calls, unit: 'record', atomic: false, ordersChanges: true, movesRecords: false },
  types: OVH_TYPES,
  fallbackTtl: USUAL_TTL,
  rules: [
    plainOwners('OVHcloud'),
    atApex({ CNAME: 'a CNAME cannot be at the apex' }),
    plainTargets('OVHcloud', ['SRV']),
    printableTexts('OVHcloud', '"\\'),
    joinedTexts,
    ttlRange(MIN_TTL, MAX_TTL),
  ],
}
