/**
 * Which records Scaleway stores, and in which form. The recordings show A, CNAME and TXT records, relative names and targets, and lists; the fields of dynamic
 * records and of errors are those of the API reference and of Scaleway's own client (github.com/scaleway/scaleway-sdk-go). That CNAMEs exclude other records,
 * and that no record exists twice, is taken from the DNS: neither shows an answer.
 */
import { randomUUID } from 'node:crypto'
import { besideCname, type Fields, Refusal } from '../base.ts'
import { ContentError, canonicalContent } from '../desec/content.ts'

/** A record as the API returns it. */
export interface ScalewayRecord {
  readonly id: string
  readonly data: string
  /** Relative to the zone; empty at its apex. */
  readonly name: string
  readonly priority: number
  readonly ttl: number
  readonly type: string
  readonly comment: string | null
  /** `geo_ip_config`, `http_service_config`, `weighted_config` or `view_config` of a dynamic record. */
  readonly [config: string]: unknown
}

export const invalid = (argument: string, help: string): Refusal =>
  new Refusal(400, {
    details: [{ argument_name: argument, help_message: help, reason: 'constraint' }],
    message: 'invalid argument(s)',
    type: 'invalid_arguments',
  })

const TYPES: ReadonlySet<string> = new Set(
  'A AAAA CNAME TXT SRV TLSA MX NS PTR CAA ALIAS LOC SSHFP HINFO RP URI DS NAPTR DNAME SVCB HTTPS'.split(' '),
)
export const CONFIGS = ['geo_ip_config', 'http_service_config', 'weighted_config', 'view_config'] as const

/** Types whose last field is the name of a host, which may be relative to the zone. */
const HOST_TYPES: ReadonlySet<string> = new Set(['ALIAS', 'CNAME', 'DNAME', 'MX', 'NS', 'PTR', 'SRV'])
const NAME = /^(?:\*|(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})?$/i
const MIN_TTL = 60

/** A record of a request in the stored form, with a new identifier. */
export function storedRecord(sent: Fields, zone: string): ScalewayRecord {
  const type = String(sent['type'] ?? 'unknown').toUpperCase()
  if (!TYPES.has(type)) throw invalid('type', 'unknown record type')
  const ttl = sent['ttl'] ?? 3600
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < MIN_TTL) throw invalid('ttl', `must be at least ${MIN_TTL}`)
  const name = relative(String(sent['name'] ?? ''), zone)
  if (!NAME.test(name)) throw invalid('name', 'invalid name')
  const data = storedData(type, String(sent['data'] ?? ''), zone)
  const [first = '0'] = data.split(' ')
  const configs = CONFIGS.flatMap((key) => (sent[key] === undefined ? [] : [[key, sent[key]]]))
  return {
    id: randomUUID(),
    data,
    name,
    priority: type === 'MX' || type === 'SRV' ? Number(first) : Number(sent['priority'] ?? 0),
    ttl,
    type,
    comment: sent['comment'] == null || sent['comment'] === '' ? null : String(sent['comment']),
    ...Object.fromEntries(configs),
  }
}

/** A name that ends in the zone and a dot is absolute; any other is relative. */
function relative(name: string, zone: string): string {
  const text = name === '@' ? '' : name.toLowerCase()
  if (text === `${zone}.`) return ''
  return text.endsWith(`.${zone}.`) ? text.slice(0, -zone.length - 2) : text
}

function storedData(type: string, data: string, zone: string): string {
  const text = type === 'TXT' && !/^".*"$/s.test(data) ? `"${data.replaceAll('"', '\\"')}"` : data
  const absolute = HOST_TYPES.has(type) && !text.endsWith('.') ? `${text}.${zone}.` : text
  if (type === 'TXT' && text === '""') throw invalid('data', 'must not be empty')
  try {
    return canonicalContent(type === 'ALIAS' ? 'PTR' : type, absolute)
  } catch (error) {
    if (error instanceof ContentError) throw invalid('data', error.message)
    throw error
  }
}

/** Refuses a record that cannot be beside the others of the zone. */
export function refuseClash(record: ScalewayRecord, others: readonly ScalewayRecord[]): void {
  if (others.some(({ name, type, data }) => name === record.name && type === record.type && data === record.data))
    throw invalid('record', 'the record already exists')
  if (besideCname(record, others, true)) throw invalid('record', 'a CNAME excludes other records')
}
