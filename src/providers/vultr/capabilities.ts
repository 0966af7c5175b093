/** What a domain at Vultr can hold: the types of its API reference, and what DNSControl found at the service. */
import { MAX_TTL } from '../../dns/ttl.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import {
  atApex,
  joinedTexts,
  PLAIN_NAME,
  plainCaa,
  plainOwners,
  plainTargets,
  primaryZones,
  printableTexts,
  ttlRange,
} from '../record-rules.ts'

/** The types that plans manage. Vultr maintains the SOA record itself. */
export const VULTR_TYPES: ReadonlySet<string> = new Set('A AAAA CAA CNAME MX NS SRV SSHFP TXT'.split(' '))

/** Seconds. */
const MIN_TTL = 60
/** The TTL in seconds of records without one. */
const USUAL_TTL = 300

const ZONES = primaryZones('Vultr has no secondary zones')

export const VULTR_CAPABILITIES: Capabilities = {
  ...ZONES,
  calls: { ...ZONES.calls, maxUnits: 1, atomic: false, addsTwice: true },
  types: VULTR_TYPES,
  fallbackTtl: USUAL_TTL,
  createsZones: true,
  assignsNameservers: true,
  canCreateZone: (name) => PLAIN_NAME.test(name) && !name.startsWith('*') && name !== '.',
  rules: [
    plainOwners('Vultr'),
    atApex({ CNAME: 'a CNAME cannot be at the apex' }),
    plainTargets('Vultr', ['SRV']),
    plainCaa('Vultr'),
    printableTexts('Vultr', '"'),
    joinedTexts,
    ttlRange(MIN_TTL, MAX_TTL),
  ],
}
