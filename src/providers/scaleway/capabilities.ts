/** What a zone at Scaleway can hold. The types are those of its API reference. */
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { fitTtlRange, refuseIf } from '../record-rules.ts'

/** Seconds. */
const MIN_TTL = 60
/** Octets of records in one call, whose JSON has at most twice as many. */
const MAX_CALL_OCTETS = 500_000

const TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CNAME DNAME DS HINFO HTTPS LOC MX NAPTR NS PTR RP SRV SSHFP SVCB TLSA TXT URI'.split(' '),
)

export const isManagedType = (type: string): boolean => TYPES.has(type)

const NAME = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+$/

const names = refuseIf(({ name, type, data }) => {
  if (!NAME.test(name)) return ['record-unsupported', 'Scaleway holds names of letters, digits, "-" and "_", with a leading "*" at most']
  const target = targetName(type, data)
  return target === null || NAME.test(target) || target === '.' ? null : ['record-unsupported', `Scaleway cannot hold the target ${target}`]
})

const places = refuseIf(({ name, type }, zone) => {
  if (name !== zone) return null
  if (type === 'CNAME') return ['record-unsupported', 'a CNAME at the apex is an ALIAS record in definitions']
  if (type === 'NS') return ['record-unsupported', 'Scaleway sets the NS records of the zone itself']
  return type === 'DS' ? ['record-unsupported', 'the DS records of the zone belong to its parent'] : null
})

/** Strings that the API can carry without doubt about escapes. */
const PLAIN = /^[ !#-[\]-~]*$/

const strings = refuseIf(({ type, data }) => {
  if (type === 'TXT') {
    const octets = txtRdataToOctets(data)
    if (octets.length === 0) return ['record-unsupported', 'Scaleway holds no empty TXT']
    return octets.some((octet) => octet < 0x20 || octet > 0x7e)
      ? ['record-unsupported', 'Scaleway holds texts of printable ASCII characters']
      : null
  }
  if (type === 'HTTPS' || type === 'SVCB') return null
  return rdataFields(data).some((field) => field.startsWith('"') && !PLAIN.test(field.slice(1, -1)))
    ? ['record-unsupported', 'Scaleway holds strings of printable ASCII characters without quotes and backslashes']
    : null
})

/** How a text is split into strings is the business of Scaleway. */
const joined: RecordRule = (record) => {
  const data = record.type === 'TXT' ? octetsToTxtRdata(txtRdataToOctets(record.data)) : record.data
  return { record: data === record.data ? record : { ...record, data }, diagnostics: [] }
}

const ttlRange: RecordRule = (record) => ({ record: fitTtlRange(record, MIN_TTL, MAX_TTL), diagnostics: [] })

export const SCALEWAY_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, divides: true, maxOctets: MAX_CALL_OCTETS },
  types: TYPES,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) => (type === 'slave' ? [{ field: 'type', message: 'Scaleway has no secondary zones' }] : []),
  createsZones: true,
  canCreateZone: (name) => /^(?:[a-z0-9_-]+\.){2,}$/.test(name),
  servesApexNs: true,
  rules: [names, places, strings, joined, ttlRange],
}
