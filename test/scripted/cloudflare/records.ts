/**
 * Which records Cloudflare stores, and in which form. The recordings show A, CNAME and TXT records, duplicates and the order of lists; the other rules and
 * error codes are those of its API reference and of reports by its users.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { type Fields, isWholeNumber, Refusal } from '../base.ts'

/** A record as the API returns it. */
export interface CloudflareRecord {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly content: string
  readonly priority?: number
  readonly data?: Fields
  readonly proxiable: boolean
  readonly proxied: boolean
  readonly ttl: number
  readonly settings: Fields
  readonly meta: Fields
  readonly comment: string | null
  readonly tags: readonly string[]
  readonly created_on: string
  readonly modified_on: string
}

type Stored = Omit<CloudflareRecord, 'id' | 'created_on' | 'modified_on'>
export type Plan = 'free' | 'pro' | 'business' | 'enterprise'

export const refusal = (status: number, code: number, message: string, headers = {}): Refusal =>
  new Refusal(status, { result: null, success: false, errors: [{ code, message }], messages: [] }, headers)
const invalid = (code: number, message: string): Refusal => refusal(400, code, message)

/** Fields of `data` in the order of the content. */
const DATA_FIELDS: Readonly<Record<string, readonly string[]>> = {
  CAA: ['flags', 'tag', '"value'],
  CERT: ['type', 'key_tag', 'algorithm', 'certificate'],
  DNSKEY: ['flags', 'protocol', 'algorithm', 'public_key'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
  HTTPS: ['priority', 'target', 'value'],
  NAPTR: ['order', 'preference', '"flags', '"service', '"regex', 'replacement'],
  SMIMEA: ['usage', 'selector', 'matching_type', 'certificate'],
  SRV: ['weight', 'port', 'target'],
  SSHFP: ['algorithm', 'type', 'fingerprint'],
  SVCB: ['priority', 'target', 'value'],
  TLSA: ['usage', 'selector', 'matching_type', 'certificate'],
  URI: ['weight', '"target'],
}

/** Fields of `data` that are whole numbers, with their maximum. */
const NUMBERS: Readonly<Record<string, number>> = Object.fromEntries([
  ...'flags key_tag priority weight port order preference'.split(' ').map((field) => [field, 65_535]),
  ...'algorithm digest_type protocol usage selector matching_type type'.split(' ').map((field) => [field, 255]),
])

const TYPES: ReadonlySet<string> = new Set([...'A AAAA CNAME LOC MX NS OPENPGPKEY PTR TXT'.split(' '), ...Object.keys(DATA_FIELDS)])
const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const MAX_TXT = 2048
const MAX_TTL = 86_400
/** Seconds, by plan. */
const minTtl = (plan: Plan): number => (plan === 'enterprise' ? 30 : 60)
const MAX_COMMENT = (plan: Plan): number => (plan === 'free' ? 100 : 500)
const MAX_TAGS = (plan: Plan): number => (plan === 'free' ? 0 : 20)

/** What a request says about a record, in the stored form. `existing` supplies absent fields of a PATCH. */
export function storedForm(sent: Fields, zone: string, plan: Plan, existing?: CloudflareRecord): Stored {
  const fields: Fields = { ...existing, ...withoutUndefined(sent) }
  const type = String(fields['type'] ?? '').toUpperCase()
  if (!TYPES.has(type)) throw invalid(9004, `Invalid type ${type}.`)
  const name = nameOf(fields['name'], zone)
  // New content replaces the parsed data, and the other way round.
  const data =
    type in DATA_FIELDS || type === 'LOC'
      ? dataOf(type, sent['data'] ?? (sent['content'] == null ? fields['data'] : null), sent['content'])
      : null
  const content = data === null ? contentOf(type, fields['content']) : contentOfData(type, data)
  const hasPriority = type === 'MX' || type === 'URI' || type === 'SRV'
  const priority = hasPriority
    ? wholeNumber('priority', type === 'SRV' ? data?.['priority'] : (fields['priority'] ?? (type === 'MX' ? undefined : 0)))
    : null
  const proxiable = type === 'CNAME' || ((type === 'A' || type === 'AAAA') && !/^(?:127\.|10\.|192\.168\.|::1$)/.test(content))
  const proxied = fields['proxied'] === true
  if (proxied && !proxiable) throw invalid(9004, `This record type cannot be proxied.`)
  const comment = fields['comment'] == null || fields['comment'] === '' ? null : String(fields['comment'])
  if ((comment?.length ?? 0) > MAX_COMMENT(plan)) throw invalid(9313, `DNS record comment exceeds ${MAX_COMMENT(plan)} characters.`)
  const tags = ((fields['tags'] as readonly string[] | undefined) ?? []).map(String)
  if (tags.length > MAX_TAGS(plan)) throw invalid(9300, `DNS record has ${tags.length} tags, exceeding the quota of ${MAX_TAGS(plan)}.`)
  const settings = type === 'CNAME' ? { flatten_cname: false, ...(fields['settings'] as Fields | undefined) } : {}
  return {
    name,
    type,
    content,
    ...(priority === null ? {} : { priority }),
    ...(data === null ? {} : { data }),
    proxiable,
    proxied,
    ttl: proxied ? 1 : ttlOf(fields['ttl'], plan),
    settings,
    meta: {},
    comment,
    tags: [...tags].sort(),
  }
}

const withoutUndefined = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function nameOf(sent: unknown, zone: string): string {
  const text = String(sent ?? '')
    .toLowerCase()
    .replace(/\.$/, '')
  const name = text === '@' || text === '' ? zone : text === zone || text.endsWith(`.${zone}`) ? text : `${text}.${zone}`
  if (!HOST.test(name) || name.length > 253) throw invalid(9000, 'DNS name is invalid.')
  return name
}

function ttlOf(sent: unknown, plan: Plan): number {
  const ttl = sent ?? 1
  if (ttl === 1 || isWholeNumber(ttl, minTtl(plan), MAX_TTL)) return ttl
  throw invalid(9021, `Invalid TTL. Must be between ${minTtl(plan)} and ${MAX_TTL} seconds, or 1 for Automatic.`)
}

function wholeNumber(field: string, sent: unknown): number {
  const number = typeof sent === 'string' && /^\d+$/.test(sent) ? Number(sent) : sent
  const most = NUMBERS[field] ?? 0
  if (isWholeNumber(number, 0, most)) return number
  throw invalid(9101, `${field} is a required data field and must be between 0 and ${most}.`)
}

const host = (text: string): string => (text === '.' ? text : text.replace(/\.$/, ''))

function contentOf(type: string, sent: unknown): string {
  const text = typeof sent === 'string' ? sent : ''
  switch (type) {
    case 'A':
      if (!isIPv4(text)) throw invalid(9005, 'Content for A record must be a valid IPv4 address.')
      return text
    case 'AAAA':
      if (!isIPv6(text)) throw invalid(9006, 'Content for AAAA record must be a valid IPv6 address.')
      return new URL(`http://[${text}]`).hostname.slice(1, -1)
    case 'TXT':
      if (text === '') throw invalid(9011, 'Content for TXT record must not be empty.')
      if (text.replace(/"([^"\\]|\\.)*"\s*/g, (part) => part.trim().slice(1, -1)).length > MAX_TXT)
        throw invalid(9207, `Content for TXT record must not exceed ${MAX_TXT} characters.`)
      return text
    case 'OPENPGPKEY':
      if (!/^[A-Za-z0-9+/]+=*$/.test(text)) throw invalid(9207, 'Content for OPENPGPKEY record is invalid.')
      return text
    default: {
      const target = host(text.toLowerCase())
      if (!(target === '.' && type === 'MX') && !HOST.test(target)) throw invalid(9007, `Content for ${type} record is invalid.`)
      return target
    }
  }
}

/** The parsed rdata of a type that the API takes in parts; `content` is accepted instead of it for most types. */
function dataOf(type: string, sent: unknown, content: unknown): Fields {
  if (type === 'LOC') {
    if (typeof sent === 'object' && sent !== null) return sent as Fields
    throw invalid(9101, 'lat_degrees is a required data field.')
  }
  const names = (DATA_FIELDS[type] ?? []).map((field) => field.replace('"', ''))
  const all = type === 'SRV' ? ['priority', ...names] : names
  const parts = typeof content === 'string' && sent == null ? content.split(' ') : null
  const given: Fields =
    parts === null
      ? ((sent ?? {}) as Fields)
      : Object.fromEntries(all.map((field, index) => [field, index === all.length - 1 ? parts.slice(index).join(' ') : parts[index]]))
  return Object.fromEntries(
    all.map((field) => {
      const value = given[field]
      if (field in NUMBERS && !(field === 'flags' && type === 'NAPTR')) return [field, wholeNumber(field, value)]
      if (typeof value !== 'string') throw invalid(9101, `${field} is a required data field.`)
      return [field, field === 'target' && type === 'SRV' ? host(value) : field === 'value' && type !== 'CAA' ? value.trim() : value]
    }),
  )
}

function contentOfData(type: string, data: Fields): string {
  if (type === 'LOC') {
    const { lat_degrees, lat_minutes, lat_seconds, lat_direction, long_degrees, long_minutes, long_seconds, long_direction } = data
    const fixed = (value: unknown): string => Number(value).toFixed(3)
    const metres = [data['altitude'], data['size'], data['precision_horz'], data['precision_vert']].map((v) => `${Number(v).toFixed(2)}m`)
    return `${lat_degrees} ${lat_minutes} ${fixed(lat_seconds)} ${lat_direction} ${long_degrees} ${long_minutes} ${fixed(long_seconds)} ${long_direction} ${metres.join(' ')}`
  }
  return (DATA_FIELDS[type] ?? [])
    .map((field) => (field.startsWith('"') ? `"${data[field.slice(1)]}"` : String(data[field])))
    .join(' ')
    .trimEnd()
}

const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

/** Refuses a record that cannot be beside the others of the zone. */
export function refuseClash(record: Stored, zone: string, others: Iterable<CloudflareRecord>): void {
  const { name, type } = record
  for (const other of others) {
    if (other.name !== name) continue
    if (other.type === type && other.content === record.content && other.priority === record.priority)
      throw invalid(81_058, 'An identical record already exists.')
    if (type === 'CNAME' && (other.type === 'CNAME' || ADDRESSES.has(other.type)))
      throw invalid(81_053, 'An A, AAAA, or CNAME record with that host already exists.')
    if (ADDRESSES.has(type) && other.type === 'CNAME') throw invalid(81_054, 'A CNAME record with that host already exists.')
    if (name !== zone && ((type === 'NS' && other.type === 'CNAME') || (type === 'CNAME' && other.type === 'NS')))
      throw invalid(81_056, 'NS records with that host already exist.')
  }
}
