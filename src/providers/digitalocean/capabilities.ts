/** What a domain at DigitalOcean can hold: the types of its API reference, and what DNSControl found at the service. */
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { fitTtlRange, refuseIf } from '../record-rules.ts'

/** The types that plans manage. DigitalOcean maintains the SOA record itself. */
export const DIGITALOCEAN_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'])

/** Seconds. */
const MIN_TTL = 30
const MAX_TTL = 2_147_483_647
/** The TTL in seconds of records without one. */
const USUAL_TTL = 1800
/** Characters of a text with quotes and escapes. */
const MAX_TEXT = 509

const NAME = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+$/
const CAA_TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef'])
/** `;` forbids every issuer (RFC 8659 section 4.2). */
const CAA_VALUE = /^"(?:;|[A-Za-z0-9._:/@-]+)"$/

const names = refuseIf(({ name, type, data }, zone) => {
  if (!NAME.test(name))
    return ['record-unsupported', 'DigitalOcean holds names of letters, digits, "-" and "_", with a leading "*" at most']
  if (type === 'CNAME' && name === zone) return ['record-unsupported', 'a CNAME cannot be at the apex']
  const target = targetName(type, data)
  if (target === null || NAME.test(target) || (target === '.' && type === 'SRV')) return null
  return ['record-unsupported', `DigitalOcean cannot hold the target ${target}`]
})

const authorities = refuseIf(({ type, data }) => {
  if (type !== 'CAA') return null
  const [, tag = '', value = ''] = rdataFields(data)
  if (!CAA_TAGS.has(tag)) return ['record-unsupported', `DigitalOcean holds the CAA tags ${[...CAA_TAGS].join(', ')}`]
  return CAA_VALUE.test(value) ? null : ['record-unsupported', 'DigitalOcean holds CAA values of letters, digits and ._:/@-, or ";"']
})

const texts: RecordRule = (record, zone) => {
  if (record.type !== 'TXT') return { record, diagnostics: [] }
  const octets = txtRdataToOctets(record.data)
  const joined = octetsToTxtRdata(octets)
  return refuseIf(() => {
    if (octets.length === 0) return ['record-unsupported', 'DigitalOcean holds no empty TXT']
    if (joined.length > MAX_TEXT)
      return ['limit-exceeded', `the text has ${joined.length} characters with its quotes; DigitalOcean holds ${MAX_TEXT}`]
    return octets.some((octet) => octet < 0x20 || octet > 0x7e || octet === 0x5c)
      ? ['record-unsupported', 'DigitalOcean holds texts of printable ASCII characters without backslashes']
      : null
  })(joined === record.data ? record : { ...record, data: joined }, zone)
}

const ttlRange: RecordRule = (record) => ({ record: fitTtlRange(record, MIN_TTL, MAX_TTL), diagnostics: [] })

export const DIGITALOCEAN_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, unit: 'record', maxUnits: 1 },
  types: DIGITALOCEAN_TYPES,
  fallbackTtl: USUAL_TTL,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  createsZones: true,
  assignsNameservers: true,
  canCreateZone: (name) => NAME.test(name) && !name.startsWith('*') && name !== '.',
  rules: [names, authorities, texts, ttlRange],
}
