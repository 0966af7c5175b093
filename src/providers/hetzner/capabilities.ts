/** What a zone at Hetzner can hold: the types, names and TTLs of its API reference. */
import type { DomainName } from '../../dns/domain-name.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { plainOwners, refuseIf, ttlRange } from '../record-rules.ts'

/** The types that plans manage. Hetzner maintains the SOA record itself. */
export const HETZNER_TYPES: ReadonlySet<string> = new Set('A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SRV SVCB TLSA TXT'.split(' '))

/** The NS records of a new zone, sorted. */
export const HETZNER_NAMESERVERS = ['helium.ns.hetzner.de.', 'hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.'] as DomainName[]

/** Seconds. */
const MIN_TTL = 60
const MAX_TTL = 2_147_483_647
/** The TTL in seconds of a new zone. */
const ZONE_TTL = 86_400

const ZONE_NAME = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}\.$/

const twice = refuseIf(({ name }, zone) =>
  name.endsWith(`.${zone}${zone}`) || name === `${zone}${zone}` ? 'the API takes no name that ends with the name of the zone twice' : null,
)

const apex = refuseIf(({ name, type }, zone) => {
  if (name !== zone) return null
  if (type === 'CNAME') return 'a CNAME cannot be at the apex'
  return type === 'DS' ? 'the DS records of the zone belong to its parent' : null
})

/** A string may be empty. */
const strings = refuseIf(({ type, data }) => (type === 'TXT' && rdataFields(data).length === 0 ? 'Hetzner accepts no empty TXT' : null))

export const HETZNER_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  // A change of TTL and data is two requests.
  calls: { ...RRSET_STORE.calls, maxUnits: 1, atomic: false },
  types: HETZNER_TYPES,
  ttlDefault: true,
  fallbackTtl: ZONE_TTL,
  settings: new Set(['type', 'ttl_sec', 'master_ips']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ ttl_sec: ttl }) =>
    ttl === undefined || (ttl >= MIN_TTL && ttl <= MAX_TTL)
      ? []
      : [{ field: 'ttl_sec', message: `ttl_sec is ${ttl}; Hetzner accepts ${MIN_TTL} to ${MAX_TTL}` }],
  neededToCreate: { master: [], slave: ['master_ips'] },
  createsZones: true,
  newZoneNameservers: HETZNER_NAMESERVERS,
  canCreateZone: (name) => ZONE_NAME.test(name),
  rules: [plainOwners('Hetzner'), twice, apex, strings, ttlRange(MIN_TTL, MAX_TTL)],
}
