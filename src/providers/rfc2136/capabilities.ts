/** What a zone that is changed by dynamic update can hold. */
import type { Capabilities } from '../../plan/capabilities.ts'
import { refusePseudoTypes, refuseServerTypes } from '../name-server.ts'

/** Octets of an UPDATE message without its signature: the maximum of 65,535, less room for header and TSIG. */
const MAX_UPDATE_OCTETS = 64_000

/** The TTL of records without one, if the definition has no default: the server has none for single records. */
const DEFAULT_TTL = 3600

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
