/** What a domain at deSEC can hold. The limits are those of its documentation and of its source (github.com/desec-io/desec-stack). */
import type { DomainName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import type { CapabilityFacts } from '../provider.ts'
import { PLAIN_NAME, plainOwners, primaryZones, refuseIf, ttlRange } from '../record-rules.ts'

/** The minimum TTL of most domains in seconds. The API states that of each; a smaller one is rare, and a larger one is not known. */
export const MIN_TTL = 3600
const MAX_TTL = 86_400
/** Octets of records in one call. Their JSON has at most twice as many, and bodies above a megabyte are refused. */
const MAX_CALL_OCTETS = 500_000
/** Characters of an RRset, with 12 for each record and 288 for the rest. */
const MAX_RRSET = 65_535
const RECORD_OVERHEAD = 12 + 288
/** Characters of an owner name relative to the domain, and of a domain. */
const MAX_SUBNAME = 178
const MAX_DOMAIN = 191

/** The NS records of a new domain. */
const DESEC_NAMESERVERS = ['ns1.desec.io.', 'ns2.desec.org.'] as DomainName[]

export const DESEC_TYPES: ReadonlySet<string> = new Set(
  (
    'A AAAA AFSDB APL CAA CDNSKEY CDS CERT CNAME CSYNC DHCID DLV DNAME DNSKEY DS EUI48 EUI64 HINFO HTTPS KX L32 L64 LOC LP MX NAPTR NID NS ' +
    'OPENPGPKEY PTR RP SMIMEA SPF SRV SSHFP SVCB TLSA TXT URI'
  ).split(' '),
)

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+$/

const lengths = refuseIf(({ name }, zone) =>
  name.length - zone.length - 1 > MAX_SUBNAME
    ? ['limit-exceeded', `deSEC accepts names with ${MAX_SUBNAME} characters before that of the domain`]
    : null,
)

/** Types whose targets must be names of hosts. */
const HOST_TARGETS: ReadonlySet<string> = new Set(['MX', 'NS', 'SRV'])

const targets = refuseIf(({ type, data }) => {
  const target = targetName(type, data)
  if (target === null || (target === '.' && type !== 'NS')) return null
  if (HOST_TARGETS.has(type) && !HOST.test(target)) return `deSEC does not accept ${target} as the name of a host`
  return type === 'CNAME' && !PLAIN_NAME.test(target) ? `deSEC does not support the target ${target}` : null
})

const places = refuseIf(({ name, type }, zone) => {
  if (type === 'DNSKEY' && name !== zone) return 'deSEC accepts DNSKEY records only at the apex'
  return (type === 'DS' || type === 'CNAME') && name === zone ? `deSEC accepts no ${type} records at the apex` : null
})

/** The digests whose lengths dnspython knows, with which deSEC checks contents. */
const DIGEST_CHARACTERS: Readonly<Record<string, number>> = { '1': 40, '2': 64, '3': 64, '4': 96 }

const digests = refuseIf(({ type, data }) => {
  if (type !== 'DS' && type !== 'CDS' && type !== 'DLV') return null
  const [, , digestType = '', digest = ''] = rdataFields(data)
  if (type === 'CDS' && digestType === '0') return digest === '00' ? null : 'deSEC accepts no such digest'
  if (digestType === '0') return 'deSEC accepts no digest of type 0'
  const characters = DIGEST_CHARACTERS[digestType]
  return characters === undefined || digest.length === characters ? null : `a digest of type ${digestType} has ${characters} characters`
})

const sizes = refuseIf(({ name, data }) =>
  name.length + data.length + RECORD_OVERHEAD > MAX_RRSET ? ['limit-exceeded', 'the record is larger than an RRset at deSEC may be'] : null,
)

/** `minimumTtl`: the minimum TTL of a domain in seconds, or null if it is unknown. */
export function desecCapabilities(minimumTtl: (zone: DomainName) => number | null): Capabilities {
  return {
    ...primaryZones('deSEC has no secondary zones'),
    calls: { ...RRSET_STORE.calls, divides: true, maxOctets: MAX_CALL_OCTETS },
    types: DESEC_TYPES,
    createsZones: true,
    newZoneNameservers: DESEC_NAMESERVERS,
    canCreateZone: (name) => /^(?:[a-z0-9_-]+\.)+[a-z0-9-]+\.$/.test(name) && name.length - 1 <= MAX_DOMAIN,
    rules: [
      plainOwners('deSEC'),
      lengths,
      targets,
      places,
      digests,
      sizes,
      (record, zone) => ttlRange(minimumTtl(zone) ?? MIN_TTL, MAX_TTL)(record, zone),
    ],
  }
}

/** The minimum TTLs of domains in the facts of an earlier run. */
export function minimumTtlsOf(facts: CapabilityFacts | undefined): (zone: DomainName) => number | null {
  const known = facts?.['minimumTtls']
  if (typeof known !== 'object' || known === null) return () => null
  const minimums = new Map<string, unknown>(Object.entries(known))
  return (zone) => {
    const minimum = minimums.get(zone)
    return Number.isInteger(minimum) && (minimum as number) >= 0 && (minimum as number) <= MAX_TTL ? (minimum as number) : null
  }
}
