/** What a zone at Azure DNS can hold. The limits are those of its documentation. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { fitTtlRange, isPrintable, PLAIN_NAME, plainOwners, plainTargets, primaryZones, refuseIf, texts } from '../record-rules.ts'
import { typesOf, type Visibility } from './record-format.ts'

/** Seconds. */
const MIN_TTL = 1
/** Octets of the texts of a record set. */
const MAX_TEXT = 4096

const places = refuseIf(({ name, type }, zone) => {
  if (type === 'CNAME' && name === zone) return 'a CNAME cannot be at the apex'
  return type === 'NS' && name.startsWith('*.') ? 'Azure DNS accepts no wildcard NS record' : null
})

const PRINTABLE = 'Azure DNS accepts texts of printable ASCII characters'

const values = refuseIf(({ type, data }) => {
  const strings = type === 'CAA' ? rdataFields(data).filter((field) => field.startsWith('"')) : []
  return strings.every((field) => isPrintable(txtRdataToOctets(field))) ? null : PRINTABLE
})

const printable = texts('Azure DNS', (octets) => {
  if (!isPrintable(octets)) return PRINTABLE
  return octets.length > MAX_TEXT ? ['limit-exceeded', `the text has ${octets.length} octets; Azure DNS accepts ${MAX_TEXT}`] : null
})

const storedTtl: RecordRule = (record) => {
  const stored = fitTtlRange(record, MIN_TTL, MAX_TTL)
  if (stored === record) return { record, diagnostics: [] }
  const message = `Azure DNS rounds TTL ${record.ttl} to ${stored.ttl} for ${record.name} ${record.type}`
  return { record: stored, diagnostics: [{ severity: 'notice', code: 'ttl-rounded', message, at: record.at }] }
}

/** Private zones need a network, so they are neither created nor deleted. They have no NS records. */
export const azureCapabilities = (visibility: Visibility): Capabilities => ({
  ...primaryZones('Azure DNS has no secondary zones'),
  calls: { ...RRSET_STORE.calls, maxUnits: 1, hasPrecondition: true },
  types: typesOf(visibility),
  createsZones: visibility === 'public',
  canCreateZone: (name) => visibility === 'public' && PLAIN_NAME.test(name) && !name.startsWith('*') && name.split('.').length > 2,
  servesApexNs: visibility === 'private',
  assignsNameservers: visibility === 'public',
  rules: [plainOwners('Azure DNS'), plainTargets('Azure DNS', ['SRV']), places, values, printable, storedTtl],
})
