/** What a zone at Cloudflare can hold. The limits are those of its API reference. */
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { isPrintable, joinedTexts, plainOwners, plainTargets, primaryZones, refuseIf, texts, ttlRange } from '../record-rules.ts'
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

const apex = refuseIf(({ name, type }, zone) => {
  if (type === 'ALIAS' && name !== zone) return 'Cloudflare flattens a CNAME at the apex only; use a CNAME here'
  if (name !== zone) return null
  if (type === 'CNAME') return 'a CNAME at the apex is an ALIAS record in definitions'
  return type === 'DS' ? 'the DS records of the zone belong to its parent' : null
})

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

/** The settings that a definition or a saved plan states. */
const validSettings = (plan: CloudflarePlan): RecordRule =>
  refuseIf(({ type, settings = {} }) => {
    const invalid = Object.entries(settings).find(([key, value]) => !(Object.hasOwn(IS_VALID, key) && IS_VALID[key]?.(value)))
    if (invalid !== undefined) return `Cloudflare has no such setting, or no such value of it: ${JSON.stringify(invalid[0].slice(0, 50))}`
    const { proxied, comment = '', tags = [] } = settings as { proxied?: boolean; comment?: string; tags?: readonly string[] }
    if (proxied === true && !PROXIABLE.includes(type)) return `Cloudflare proxies ${PROXIABLE.join(', ')} records only`
    if (comment.length > MAX_COMMENT[plan])
      return ['limit-exceeded', `the comment has ${comment.length} characters; the plan ${plan} has ${MAX_COMMENT[plan]}`]
    if (/[\r\n]/.test(comment)) return 'a comment at Cloudflare is one line'
    if (tags.length > MAX_TAGS[plan])
      return ['limit-exceeded', `it has ${tags.length} tags; the plan ${plan} has ${MAX_TAGS[plan] || 'none'}`]
    const malformed = tags.find((tag) => !/^[a-z0-9_-]{1,32}:[^\r\n]{0,100}$/.test(tag))
    if (malformed === undefined) return null
    return `the tag ${JSON.stringify(malformed.slice(0, 150))} is not a lower-case name and a value, such as team:web`
  })

/** Cloudflare sets the TTL of proxied records. */
const automaticTtl: RecordRule = (record) => {
  const { auto_ttl: hasAutomaticTtl, ...settings } = record.settings ?? {}
  const isAutomatic = settings['proxied'] === true || hasAutomaticTtl === true || record.ttl === 1
  const stored = record.settings === undefined ? record : { ...record, settings }
  return { record: isAutomatic ? { ...stored, ttl: null } : stored, diagnostics: [] }
}

/** Strings that the API can carry without doubt about escapes. */
const PLAIN = /^[ !#-[\]-~]*$/

const strings = refuseIf(({ type, data }) => {
  const fields = type === 'CAA' || type === 'NAPTR' || type === 'URI' ? rdataFields(data).filter((field) => field.startsWith('"')) : []
  const isPlain = fields.every((field) => PLAIN.test(field.slice(1, -1)))
  return isPlain ? null : 'Cloudflare accepts strings of printable ASCII characters without quotes and backslashes'
})

const printable = texts('Cloudflare', (octets) => {
  if (octets.length > MAX_TEXT) return ['limit-exceeded', `the text has ${octets.length} octets; Cloudflare accepts ${MAX_TEXT}`]
  return isPrintable(octets) ? null : 'Cloudflare accepts texts of printable ASCII characters'
})

const ZONE_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){2,}$/

/** `createsZones`: whether the settings name the account of new zones. */
export const cloudflareCapabilities = (plan: CloudflarePlan, createsZones: boolean): Capabilities => ({
  ...primaryZones('secondary zones at Cloudflare are set up in its dashboard'),
  // Comments, tags and the proxy belong to a name.
  calls: { ...RRSET_STORE.calls, divides: true, unit: 'record', maxUnits: MAX_BATCH[plan], movesRecords: false },
  types: TYPES,
  createsZones,
  canCreateZone: (name) => createsZones && ZONE_NAME.test(name),
  ttlDefault: true,
  fallbackTtl: AUTOMATIC_TTL,
  servesApexNs: true,
  recordSettings: 'cloudflare',
  rules: [
    plainOwners('Cloudflare'),
    plainTargets('Cloudflare', ['MX', 'SRV']),
    apex,
    strings,
    printable,
    joinedTexts,
    validSettings(plan),
    automaticTtl,
    ttlRange(MIN_TTL[plan], MAX_TTL),
  ],
})
