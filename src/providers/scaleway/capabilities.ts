/** What a zone at Scaleway can hold. The types are those of its API reference. */
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { isPrintable, joinedTexts, plainOwners, plainTargets, primaryZones, refuseIf, texts, ttlRange } from '../record-rules.ts'

/** Seconds. */
const MIN_TTL = 60
/** Octets of records in one call, whose JSON has at most twice as many. */
const MAX_CALL_OCTETS = 500_000

export const SCALEWAY_TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CNAME DNAME DS HINFO HTTPS LOC MX NAPTR NS PTR RP SRV SSHFP SVCB TLSA TXT URI'.split(' '),
)

const places = refuseIf(({ name, type }, zone) => {
  if (name !== zone) return null
  if (type === 'CNAME') return 'a CNAME at the apex is an ALIAS record in definitions'
  if (type === 'NS') return 'Scaleway sets the NS records of the zone itself'
  return type === 'DS' ? 'the DS records of the zone belong to its parent' : null
})

/** Strings that the API can carry without doubt about escapes. */
const PLAIN = /^[ !#-[\]-~]*$/

const strings = refuseIf(({ type, data }) =>
  !['TXT', 'HTTPS', 'SVCB'].includes(type) && rdataFields(data).some((field) => field.startsWith('"') && !PLAIN.test(field.slice(1, -1)))
    ? 'Scaleway accepts strings of printable ASCII characters without quotes and backslashes'
    : null,
)

const printable = texts('Scaleway', (octets) => (isPrintable(octets) ? null : 'Scaleway accepts texts of printable ASCII characters'))

export const SCALEWAY_CAPABILITIES: Capabilities = {
  ...primaryZones('Scaleway has no secondary zones'),
  calls: { ...RRSET_STORE.calls, divides: true, maxOctets: MAX_CALL_OCTETS },
  types: SCALEWAY_TYPES,
  createsZones: true,
  canCreateZone: (name) => /^(?:[a-z0-9_-]+\.){2,}$/.test(name),
  servesApexNs: true,
  rules: [plainOwners('Scaleway'), plainTargets('Scaleway', null), places, printable, strings, joinedTexts, ttlRange(MIN_TTL, MAX_TTL)],
}
