/** What a domain at Gandi LiveDNS can hold: the types and TTLs of its API reference (api.gandi.net/docs/livedns). */
import type { Capabilities } from '../../plan/capabilities.ts'
import { isPrintable, plainOwners, plainTargets, primaryZones, refuseIf, texts, ttlRange } from '../record-rules.ts'

/** Gandi maintains the SOA record itself. */
export const GANDI_TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CDS CNAME DNAME DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR RP SPF SRV SSHFP SVCB TLSA TXT'.split(' '),
)

/** Seconds. */
const MIN_TTL = 300
const MAX_TTL = 2_592_000

const apex = refuseIf(({ name, type }, zone) => {
  if (name !== zone) return null
  if (type === 'CNAME') return 'a CNAME cannot be at the apex; use ALIAS'
  return type === 'DS' ? 'the DS records of the zone belong to its parent' : null
})

const printable = texts('Gandi', (octets) => (isPrintable(octets) ? null : 'Gandi accepts texts of printable ASCII characters'))

const ZONES = primaryZones('Gandi LiveDNS has no secondary zones')

/** A domain gets its zone when it is registered or added in the account, so zones are neither created nor deleted. */
export const GANDI_CAPABILITIES: Capabilities = {
  ...ZONES,
  calls: { ...ZONES.calls, maxUnits: 1 },
  types: GANDI_TYPES,
  rules: [plainOwners('Gandi'), apex, plainTargets('Gandi', null), printable, ttlRange(MIN_TTL, MAX_TTL)],
}
