/** What a zone at Google Cloud DNS can hold. The limits are those of its documentation, with the quotas of a new project. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'

/** RRsets that one change adds, and that it deletes. */
export const MAX_RRSETS = 1000
/** Characters of rrdata in one change. The service holds 100,000, and existing texts may be a little longer than ours. */
const MAX_RRDATA = 90_000

export type Visibility = 'public' | 'private'

const TYPES = 'A AAAA CAA CNAME DS HTTPS IPSECKEY MX NAPTR NS PTR SRV SSHFP SVCB TLSA TXT'.split(' ')

type RuleResult = ReturnType<RecordRule>

const accept = (record: DefinedRecord): RuleResult => ({ record, diagnostics: [] })

const refuse = (record: DefinedRecord, why: string, code: Diagnostic['code'] = 'record-unsupported'): RuleResult => ({
  record: null,
  diagnostics: [{ severity: 'error', code, message: `${record.name} ${record.type}: ${why}`, at: record.at }],
})

const NAME = /^(?:\*\.)?(?:[a-z0-9_/-]+\.)+$/

const names: RecordRule = (record) => {
  if (!NAME.test(record.name))
    return refuse(record, 'Cloud DNS holds names of letters, digits, "-", "_" and "/", with a leading "*" at most')
  const target = targetName(record.type, record.data)
  return target === null || target === '.' || NAME.test(target)
    ? accept(record)
    : refuse(record, `Cloud DNS cannot hold the target ${target}`)
}

const places: RecordRule = (record, zone) => {
  const { name, type } = record
  if (type === 'ALIAS' && name !== zone) return refuse(record, 'Cloud DNS holds an ALIAS at the apex only')
  if (type === 'NS' && name.startsWith('*.')) return refuse(record, 'Cloud DNS holds no wildcard NS record')
  if (type === 'DS' && name === zone) return refuse(record, 'the DS records of the zone belong to its parent')
  return accept(record)
}

/** Strings that need no escape but those of quotes and backslashes. */
const strings: RecordRule = (record) => {
  const { type, data } = record
  if (type !== 'TXT' && type !== 'CAA' && type !== 'NAPTR') return accept(record)
  const quoted = rdataFields(data).filter((field) => field.startsWith('"'))
  const isPlain = quoted.every((field) => txtRdataToOctets(field).every((octet) => octet >= 0x20 && octet <= 0x7e))
  return isPlain ? accept(record) : refuse(record, 'Cloud DNS holds texts of printable ASCII characters')
}

/** Public zones have name servers of Google, so only they can have an ALIAS, and can be created without a network. */
export const googleCapabilities = (visibility: Visibility): Capabilities => ({
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, maxUnits: MAX_RRSETS, maxOctets: MAX_RRDATA, countsRdataOnly: true, hasPrecondition: true },
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) => (type === 'slave' ? [{ field: 'type', message: 'Cloud DNS has no secondary zones' }] : []),
  types: new Set(visibility === 'public' ? [...TYPES, 'ALIAS'] : TYPES),
  createsZones: visibility === 'public',
  canCreateZone: (name) => visibility === 'public' && NAME.test(name) && !name.startsWith('*'),
  rules: [names, places, strings],
})
