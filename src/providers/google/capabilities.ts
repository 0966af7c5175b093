/** What a zone at Google Cloud DNS can hold. The limits are those of its documentation, with the quotas of a new project. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { isPrintable, plainTargets, primaryZones, refuseIf } from '../record-rules.ts'

/** RRsets that one change adds, and that it deletes. */
export const MAX_RRSETS = 1000
/** Characters of rrdata in one change. The service holds 100,000, and existing texts may be a little longer than ours. */
const MAX_RRDATA = 90_000

export type Visibility = 'public' | 'private'

const TYPES = 'A AAAA CAA CNAME DS HTTPS IPSECKEY MX NAPTR NS PTR SRV SSHFP SVCB TLSA TXT'.split(' ')

const NAME = /^(?:\*\.)?(?:[a-z0-9_/-]+\.)+$/

const owners = refuseIf(({ name }) =>
  NAME.test(name) ? null : 'Cloud DNS accepts names of letters, digits, "-", "_" and "/", with a leading "*" at most',
)

const places = refuseIf(({ name, type }, zone) => {
  if (type === 'ALIAS' && name !== zone) return 'Cloud DNS accepts an ALIAS at the apex only; use a CNAME here'
  if (type === 'NS' && name.startsWith('*.')) return 'Cloud DNS accepts no wildcard NS record'
  return type === 'DS' && name === zone ? 'the DS records of the zone belong to its parent' : null
})

const TEXT_TYPES: ReadonlySet<string> = new Set(['CAA', 'NAPTR', 'TXT'])

/** Strings that need no escape but those of quotes and backslashes. */
const strings = refuseIf(({ type, data }) => {
  const quoted = TEXT_TYPES.has(type) ? rdataFields(data).filter((field) => field.startsWith('"')) : []
  return quoted.every((field) => isPrintable(txtRdataToOctets(field))) ? null : 'Cloud DNS accepts texts of printable ASCII characters'
})

/** Public zones have name servers of Google, so only they can have an ALIAS, and can be created without a network. */
export const googleCapabilities = (visibility: Visibility): Capabilities => ({
  ...primaryZones('Cloud DNS has no secondary zones'),
  calls: { ...RRSET_STORE.calls, divides: true, maxUnits: MAX_RRSETS, maxOctets: MAX_RRDATA, countsRdataOnly: true, hasPrecondition: true },
  types: new Set(visibility === 'public' ? [...TYPES, 'ALIAS'] : TYPES),
  createsZones: visibility === 'public',
  assignsNameservers: true,
  canCreateZone: (name) => visibility === 'public' && NAME.test(name) && !name.startsWith('*'),
  rules: [owners, plainTargets('Cloud DNS', null, NAME), places, strings],
})
