/** What a zone that is changed by dynamic update can hold. */

import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import type { Capabilities, RecordRule } from '../../plan/capabilities.ts'

/** Octets of an UPDATE message without its signature: the maximum of 65,535, less room for header and TSIG. */
const MAX_UPDATE_OCTETS = 64_000

/** The TTL of records without one, if the definition has no default: the server has none for single records. */
const DEFAULT_TTL = 3600

/** Types that a server maintains itself: the SOA (RFC 2136 section 3.6), and what signing generates (RFC 4034, RFC 5155, RFC 8976, BIND's TYPE65534). */
const SERVER_TYPES: ReadonlySet<string> = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'ZONEMD', 'TYPE65534'])
/** Types that signing generates at the apex (RFC 7344). */
const SERVER_APEX_TYPES: ReadonlySet<string> = new Set(['DNSKEY', 'CDS', 'CDNSKEY'])

/** Whether the server maintains the record itself, so that it is neither read nor written. */
export const isServerOwned = ({ name, type }: { readonly name: string; readonly type: string }, zone: string): boolean =>
  SERVER_TYPES.has(type) || (name === zone && SERVER_APEX_TYPES.has(type))

/** Types of a provider, such as ALIAS, have no number and so no place in a message. */
const refusePseudoTypes: RecordRule = (record) => {
  if (RDATA_TYPES.get(record.type)?.code !== null) return { record, diagnostics: [] }
  const message = `${record.name} ${record.type}: name servers do not know this type of a provider`
  return { record: null, diagnostics: [{ severity: 'error', code: 'type-unsupported', message, at: record.at }] }
}

const refuseServerTypes: RecordRule = (record, zone) => {
  if (!isServerOwned(record, zone)) return { record, diagnostics: [] }
  const message = `${record.name} ${record.type}: the server maintains these records itself`
  return { record: null, diagnostics: [{ severity: 'error', code: 'type-unsupported', message, at: record.at }] }
}

export const RFC2136_CAPABILITIES: Capabilities = {
  calls: {
    unit: 'rrset',
    maxUnits: null,
    maxOctets: MAX_UPDATE_OCTETS,
    atomic: true,
    hasPrecondition: true,
    createsZoneWithRecords: false,
  },
  types: null,
  ttlSteps: null,
  ttlDefault: false,
  fallbackTtl: DEFAULT_TTL,
  settingSteps: null,
  settings: new Set(),
  storesSoaFields: false,
  fixedSettings: new Set(),
  settingProblems: () => [],
  neededToCreate: { master: [], slave: [] },
  createsZones: false,
  canCreateZone: () => false,
  maxRecords: null,
  servesApexNs: false,
  cnameExclusive: true,
  rules: [refuseServerTypes, refusePseudoTypes],
}
