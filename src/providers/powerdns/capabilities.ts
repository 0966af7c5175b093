/** What a zone of a PowerDNS server can hold. */
import type { DomainName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { typeCode } from '../../dns/record-type.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { refuseIf } from '../record-rules.ts'

/**
 * Octets of records in one call. Their JSON has at most twice as many octets, and the server refuses bodies above two megabytes unless its configuration says
 * otherwise (`webserver-max-bodysize`).
 */
const MAX_CALL_OCTETS = 900_000

/** Types that belong to the server: the SOA, which settings describe, and what signing generates (RFC 4034, RFC 5155). */
const SERVER_TYPES: ReadonlySet<string> = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

export const isServerType = (type: string): boolean => SERVER_TYPES.has(type)

const serverTypes = refuseIf(({ type }) => (isServerType(type) ? ['type-unsupported', 'the server maintains these records itself'] : null))

/** Types without a number that PowerDNS has. */
const OWN_TYPES: ReadonlySet<string> = new Set(['ALIAS', 'LUA'])

const pseudoTypes = refuseIf(({ type }) =>
  typeCode(type) === null && !OWN_TYPES.has(type) ? ['type-unsupported', 'the server has no such type'] : null,
)

/** Numbers for private use that the server has given to types of its own: ADDR, ALIAS and LUA. */
const OWN_NUMBERS: ReadonlySet<string> = new Set(['TYPE65400', 'TYPE65401', 'TYPE65402'])

const ownNumbers = refuseIf(({ type }) =>
  OWN_NUMBERS.has(type) ? ['type-unsupported', 'the server uses this number for a type of its own'] : null,
)

/** The characters that the API accepts in owner names, and in the targets of NS, MX and SRV records. */
const NAME = /^(?:\*\.)?(?:[a-z0-9_/-]+\.)*$/

const nameCharacters = refuseIf(({ name }) =>
  name === '.' || NAME.test(name) ? null : 'the API accepts names of letters, digits, "-", "_" and "/", with a leading "*" at most',
)

const HOST_TARGETS: ReadonlySet<string> = new Set(['NS', 'MX', 'SRV'])

const targetCharacters = refuseIf(({ type, data }) => {
  const target = HOST_TARGETS.has(type) ? targetName(type, data) : null
  return target === null || target === '.' || NAME.test(target) ? null : `the API does not accept ${target} as the name of a host`
})

const apexTypes = refuseIf(({ name, type }, zone) => {
  if (type === 'DNSKEY' && name !== zone) return 'the API accepts DNSKEY records only at the apex'
  return type === 'DS' && name === zone ? 'the API accepts no DS records at the apex' : null
})

/** Metres above which version 4.7 computes another altitude or size: it counts centimetres with 31 and 32 bits. */
const MAX_ALTITUDE = 21_374_836.47
const MAX_SIZE = 40_000_000

const locationRange = refuseIf(({ type, data }) => {
  if (type !== 'LOC') return null
  const [altitude = 0, ...sizes] = rdataFields(data).slice(8).map(Number.parseFloat)
  return altitude > MAX_ALTITUDE || sizes.some((size) => size > MAX_SIZE)
    ? 'the server does not support so large an altitude or size'
    : null
})

/** With SQLite, the server fails with status 500 if two requests write at the same time. */
export const POWERDNS_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, divides: true, maxOctets: MAX_CALL_OCTETS, createsZoneWithRecords: true, oneAtATime: true },
  settings: new Set(['type', 'soa_email', 'master_ips', 'expire_sec', 'refresh_sec', 'retry_sec', 'ttl_sec']),
  fixedSettings: new Set(['type']),
  neededToCreate: { master: [], slave: ['master_ips'] },
  createsZones: true,
  setsSerials: true,
  canCreateZone: (name) => NAME.test(name),
  rules: [serverTypes, pseudoTypes, ownNumbers, nameCharacters, targetCharacters, apexTypes, locationRange],
}

/** `nameservers`: the apex NS records of new zones whose definitions have none. */
export const powerDnsCapabilities = (nameservers: readonly DomainName[]): Capabilities => ({
  ...POWERDNS_CAPABILITIES,
  newZoneNameservers: nameservers,
})
