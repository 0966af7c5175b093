/** What a zone at Cloudflare can hold. The limits are those of its API reference. */
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { fitTtlRange } from '../record-rules.ts'
import { PROXIABLE } from './live-zone.ts'

export type CloudflarePlan = 'free' | 'pro' | 'business' | 'enterprise'

/** Operations in one batch. */
const MAX_BATCH: Readonly<Record<CloudflarePlan, number>> = { free: 200, pro: 3500, business: 3500, enterprise: 3500 }
/** Seconds. */
const MIN_TTL: Readonly<Record<CloudflarePlan, number>> = { free: 60, pro: 60, business: 60, enterprise: 30 }
const MAX_TTL = 86_400
/** The TTL in seconds of records without one. */
const AUTOMATIC_TTL = 300
/** Octets of a TXT record. */
const MAX_TEXT = 2048

const TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CERT CNAME DNSKEY DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR SMIMEA SRV SSHFP SVCB TLSA TXT URI'.split(' '),
)

type RuleResult = ReturnType<RecordRule>

const accept = (record: DefinedRecord): RuleResult => ({ record, diagnostics: [] })

const refuse = (record: DefinedRecord, why: string, code: Diagnostic['code'] = 'record-unsupported'): RuleResult => ({
  record: null,
  diagnostics: [{ severity: 'error', code, message: `${record.name} ${record.type}: ${why}`, at: record.at }],
})

const NAME = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+$/

const names: RecordRule = (record) => {
  if (!NAME.test(record.name)) return refuse(record, 'Cloudflare holds names of letters, digits, "-" and "_", with a leading "*" at most')
  const target = targetName(record.type, record.data)
  if (target === null || NAME.test(target) || (target === '.' && (record.type === 'MX' || record.type === 'SRV'))) return accept(record)
  return refuse(record, `Cloudflare cannot hold the target ${target}`)
}

const apex: RecordRule = (record, zone) => {
  const { name, type } = record
  if (type === 'ALIAS' && name !== zone) return refuse(record, 'Cloudflare flattens a CNAME at the apex only; use a CNAME here')
  if (type === 'CNAME' && name === zone) return refuse(record, 'a CNAME at the apex is an ALIAS record in definitions')
  if (type === 'DS' && name === zone) return refuse(record, 'the DS records of the zone belong to its parent')
  return accept(record)
}

/** Characters of a comment, and tags of a record. */
const MAX_COMMENT: Readonly<Record<CloudflarePlan, number>> = { free: 100, pro: 500, business: 500, enterprise: 500 }
const MAX_TAGS: Readonly<Record<CloudflarePlan, number>> = { free: 0, pro: 20, business: 20, enterprise: 20 }

/** The settings and their values. The schema of saved plans knows no names. */
const IS_VALID: Readonly<Record<string, (value: unknown) => boolean>> = {
  proxied: (value) => typeof value === 'boolean',
  auto_ttl: (value) => typeof value === 'boolean',
  comment: (value) => typeof value === 'string',
  tags: Array.isArray,
}

/** The settings that a definition or a saved plan states. Cloudflare sets the TTL of proxied records. */
const settingsRule =
  (plan: CloudflarePlan): RecordRule =>
  (record) => {
    if (record.settings === undefined) return accept(record)
    const invalid = Object.entries(record.settings).find(([key, value]) => !(Object.hasOwn(IS_VALID, key) && IS_VALID[key]?.(value)))
    if (invalid !== undefined)
      return refuse(record, `Cloudflare has no such setting, or no such value of it: ${JSON.stringify(invalid[0].slice(0, 50))}`)
    const { auto_ttl: hasAutomaticTtl, ...settings } = record.settings
    const { proxied, comment = '', tags = [] } = settings as { proxied?: boolean; comment?: string; tags?: readonly string[] }
    if (proxied === true && !PROXIABLE.includes(record.type))
      return refuse(record, `Cloudflare proxies ${PROXIABLE.join(', ')} records only`)
    if (comment.length > MAX_COMMENT[plan])
      return refuse(record, `the comment has ${comment.length} characters; the plan ${plan} has ${MAX_COMMENT[plan]}`, 'limit-exceeded')
    if (/[\r\n]/.test(comment)) return refuse(record, 'a comment at Cloudflare is one line')
    if (tags.length > MAX_TAGS[plan])
      return refuse(record, `it has ${tags.length} tags; the plan ${plan} has ${MAX_TAGS[plan] || 'none'}`, 'limit-exceeded')
    const malformed = tags.find((tag) => !/^[a-z0-9_-]{1,32}:[^\r\n]{0,100}$/.test(tag))
    if (malformed !== undefined)
      return refuse(record, `the tag ${JSON.stringify(malformed.slice(0, 150))} is not a lower-case name and a value, such as team:web`)
    return accept({ ...record, settings, ...((proxied === true || hasAutomaticTtl === true) && { ttl: null }) })
  }

/** Strings that the API can carry without doubt about escapes. */
const PLAIN = /^[ !#-[\]-~]*$/

const strings: RecordRule = (record) => {
  const { type, data } = record
  if (type === 'CAA' || type === 'NAPTR' || type === 'URI') {
    const fields = rdataFields(data).filter((field) => field.startsWith('"'))
    const isPlain = fields.every((field) => PLAIN.test(field.slice(1, -1)))
    return isPlain
      ? accept(record)
      : refuse(record, 'Cloudflare holds strings of printable ASCII characters without quotes and backslashes')
  }
  if (type !== 'TXT') return accept(record)
  const octets = txtRdataToOctets(data)
  if (octets.length === 0) return refuse(record, 'Cloudflare holds no empty TXT')
  if (octets.length > MAX_TEXT)
    return refuse(record, `the text has ${octets.length} octets; Cloudflare holds ${MAX_TEXT}`, 'limit-exceeded')
  if (octets.some((octet) => octet < 0x20 || octet > 0x7e)) return refuse(record, 'Cloudflare holds texts of printable ASCII characters')
  const joined = octetsToTxtRdata(octets)
  return accept(joined === data ? record : { ...record, data: joined })
}

/** TTLs outside the range of the plan become its ends; 1 is Cloudflare's own choice. */
const ttlRange =
  (plan: CloudflarePlan): RecordRule =>
  (record) => {
    if (record.ttl === 1) return accept({ ...record, ttl: null })
    return accept(fitTtlRange(record, MIN_TTL[plan], MAX_TTL))
  }

const ZONE_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){2,}$/

/** `createsZones`: whether the settings name the account of new zones. */
export const cloudflareCapabilities = (plan: CloudflarePlan, createsZones: boolean): Capabilities => ({
  ...RRSET_STORE,
  // Comments, tags and the proxy belong to a name.
  calls: { ...RRSET_STORE.calls, divides: true, unit: 'record', maxUnits: MAX_BATCH[plan], movesRecords: false },
  types: TYPES,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) =>
    type === 'slave' ? [{ field: 'type', message: 'secondary zones at Cloudflare are set up in its dashboard' }] : [],
  createsZones,
  canCreateZone: (name) => createsZones && ZONE_NAME.test(name),
  ttlDefault: true,
  fallbackTtl: AUTOMATIC_TTL,
  servesApexNs: true,
  recordSettings: 'cloudflare',
  rules: [names, apex, strings, settingsRule(plan), ttlRange(plan)],
})
