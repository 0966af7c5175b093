/** What a domain at DigitalOcean can hold: the types of its API reference, and what DNSControl found at the service. */
import { octetsToTxtRdata } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { isPrintable, joinedTexts, PLAIN_NAME, plainOwners, plainTargets, refuseIf, texts, ttlRange } from '../record-rules.ts'

/** The types that plans manage. DigitalOcean maintains the SOA record itself. */
export const DIGITALOCEAN_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'])

/** Seconds. */
const MIN_TTL = 30
const MAX_TTL = 2_147_483_647
/** The TTL in seconds of records without one. */
const USUAL_TTL = 1800
/** Characters of a text with quotes and escapes. */
const MAX_TEXT = 509

const CAA_TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef'])
/** `;` forbids every issuer (RFC 8659 section 4.2). */
const CAA_VALUE = /^"(?:;|[A-Za-z0-9._:/@-]+)"$/

const apex = refuseIf(({ name, type }, zone) => (type === 'CNAME' && name === zone ? 'a CNAME cannot be at the apex' : null))

const authorities = refuseIf(({ type, data }) => {
  if (type !== 'CAA') return null
  const [, tag = '', value = ''] = rdataFields(data)
  if (!CAA_TAGS.has(tag)) return `DigitalOcean accepts the CAA tags ${[...CAA_TAGS].join(', ')}`
  return CAA_VALUE.test(value) ? null : 'DigitalOcean accepts CAA values of letters, digits and ._:/@-, or ";"'
})

const noEscapes = texts('DigitalOcean', (octets) => {
  const { length } = octetsToTxtRdata(octets)
  if (length > MAX_TEXT) return ['limit-exceeded', `the text has ${length} characters with its quotes; DigitalOcean accepts ${MAX_TEXT}`]
  return isPrintable(octets) && !octets.includes(0x5c)
    ? null
    : 'DigitalOcean accepts texts of printable ASCII characters without backslashes'
})

export const DIGITALOCEAN_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, unit: 'record', maxUnits: 1 },
  types: DIGITALOCEAN_TYPES,
  fallbackTtl: USUAL_TTL,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  createsZones: true,
  assignsNameservers: true,
  canCreateZone: (name) => PLAIN_NAME.test(name) && !name.startsWith('*') && name !== '.',
  rules: [
    plainOwners('DigitalOcean'),
    apex,
    plainTargets('DigitalOcean', ['SRV']),
    authorities,
    noEscapes,
    joinedTexts,
    ttlRange(MIN_TTL, MAX_TTL),
  ],
}
