/** What a zone at Azure DNS can hold. The limits are those of its documentation. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { fitTtlRange, refuseIf } from '../record-rules.ts'
import { typesOf, type Visibility } from './record-format.ts'

/** Seconds. */
const MIN_TTL = 1
/** Octets of the texts of a record set. */
const MAX_TEXT = 4096

const NAME = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+$/

const names = refuseIf(({ name, type, data }) => {
  if (!NAME.test(name)) return 'Azure DNS holds names of letters, digits, "-" and "_", with a leading "*" at most'
  const target = targetName(type, data)
  if (target === null || NAME.test(target) || (target === '.' && type === 'SRV')) return null
  return `Azure DNS cannot hold the target ${target}`
})

const places = refuseIf(({ name, type }, zone) => {
  if (type === 'CNAME' && name === zone) return 'a CNAME cannot be at the apex'
  return type === 'NS' && name.startsWith('*.') ? 'Azure DNS holds no wildcard NS record' : null
})

const strings = refuseIf(({ type, data }) => {
  if (type !== 'TXT' && type !== 'CAA') return null
  const quoted = rdataFields(data).filter((field) => field.startsWith('"'))
  const octets = quoted.flatMap((field) => [...txtRdataToOctets(field)])
  if (octets.some((octet) => octet < 0x20 || octet > 0x7e)) return 'Azure DNS holds texts of printable ASCII characters'
  if (type === 'TXT' && octets.length === 0) return 'Azure DNS holds no empty TXT'
  return type === 'TXT' && octets.length > MAX_TEXT
    ? ['limit-exceeded', `the text has ${octets.length} octets; Azure DNS holds ${MAX_TEXT}`]
    : null
})

const ttlRange: RecordRule = (record) => {
  const stored = fitTtlRange(record, MIN_TTL, MAX_TTL)
  if (stored === record) return { record, diagnostics: [] }
  const message = `Azure DNS stores TTL ${stored.ttl} for ${record.name} ${record.type}, not ${record.ttl}`
  return { record: stored, diagnostics: [{ severity: 'notice', code: 'ttl-rounded', message, at: record.at }] }
}

/** Private zones need a network, so they are neither created nor deleted. They have no NS records. */
export const azureCapabilities = (visibility: Visibility): Capabilities => ({
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, maxUnits: 1, hasPrecondition: true },
  types: typesOf(visibility),
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) => (type === 'slave' ? [{ field: 'type', message: 'Azure DNS has no secondary zones' }] : []),
  createsZones: visibility === 'public',
  canCreateZone: (name) => visibility === 'public' && NAME.test(name) && !name.startsWith('*') && name.split('.').length > 2,
  servesApexNs: visibility === 'private',
  assignsNameservers: visibility === 'public',
  rules: [names, places, strings, ttlRange],
})
