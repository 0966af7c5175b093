/**
 * A scripted OVHcloud: zones and records in memory behind its API 1.0, with signatures by its own clock and rate limits. Changes are served when a zone is
 * refreshed. The recordings show A, CNAME, MX, NS and TXT; the other rules are those of its API reference, of lego, octoDNS's provider and DNSControl's.
 */
import { createHash } from 'node:crypto'
import { type Fields, fieldsOf, isAsked, Refusal, type Result, scriptedService, type Throttling } from '../base.ts'
import { type PlainRecord, problemOf } from '../plain-records.ts'
import type { ScriptedRequest } from '../scripted-server.ts'

export interface OvhRecord {
  readonly id: number
  readonly zone: string
  readonly subDomain: string
  readonly fieldType: string
  readonly target: string
  /** 0 for the usual one. */
  readonly ttl: number
}

export interface OvhOptions extends Throttling {
  /** Null if signatures are not checked. */
  readonly keys: { readonly application: string; readonly secret: string; readonly consumer: string } | null
  readonly zones: readonly string[]
  /** Those of the first zone; by default those of a new one. */
  readonly records?: readonly OvhRecord[]
  /** The identifiers of new records, in order; then any. */
  readonly ids?: readonly number[]
  /** Seconds that its clock is ahead. */
  readonly ahead?: number
}

const TYPES = 'A AAAA CAA CNAME DKIM DMARC DNAME HTTPS LOC MX NAPTR NS PTR RP SPF SRV SSHFP SVCB TLSA TXT'
const RULES = { types: new Set(TYPES.split(' ')), minTtl: 60, hasPriority: false, takesCaaParameters: true, text: /^[\x20-\x7e]+$/ }
const refusal = (status: number, message: string, errorCode: string, headers = {}): Refusal =>
  new Refusal(status, { message, errorCode, httpCode: String(status) }, headers)
const MISSING = refusal(404, 'This service does not exist', 'NOT_FOUND')

const plainRecord = ({ subDomain: name, fieldType: type, ttl, target: data }: OvhRecord): PlainRecord => ({
  name,
  type,
  ttl: ttl || 3600,
  data,
})

export function createOvh(options: OvhOptions) {
  const ids = [...(options.ids ?? [])]
  let lastId = 1_553_659_000
  const nextId = (): number => ids.shift() ?? ++lastId
  const given = (zone: string): OvhRecord[] =>
    ['dns103', 'ns103'].map((host) => ({ id: nextId(), zone, subDomain: '', fieldType: 'NS', target: `${host}.ovh.net.`, ttl: 0 }))
  const state = new Map(options.zones.map((zone, at) => [zone, at === 0 && options.records ? [...options.records] : given(zone)]))
  const served = new Map([...state].map(([zone, records]) => [zone, [...records]]))
  const now = (): number => Math.floor(Date.now() / 1000) + (options.ahead ?? 0)

  const stored = (id: number, zone: string, sent: Fields, others: readonly OvhRecord[]): OvhRecord => {
    const { subDomain = '', fieldType, target, ttl = 0 } = sent as unknown as OvhRecord
    const record = { target: String(target), ttl, zone, fieldType, id, subDomain }
    // What DNSControl met at the service.
    if (/^(?:DKIM|DMARC)$/.test(fieldType) && record.target.startsWith('"'))
      throw refusal(400, `Invalid subfield found in ${fieldType}`, 'INVALID_ARGUMENT')
    const problem = problemOf(plainRecord(record), others.map(plainRecord), RULES)
    if (problem === null) return record
    throw refusal(400, `Invalid record: ${problem}`, 'INVALID_ARGUMENT')
  }
  const checkSignature = ({ method, path, query, headers, body }: ScriptedRequest): void => {
    if (options.keys === null) return
    const { application, secret, consumer } = options.keys
    if (headers['x-ovh-application'] !== application) throw refusal(403, 'This application key is invalid', 'INVALID_KEY')
    if (headers['x-ovh-consumer'] !== consumer) throw refusal(403, 'This credential does not exist', 'INVALID_CREDENTIAL')
    const time = headers['x-ovh-timestamp'] ?? ''
    if (!(Math.abs(Number(time) - now()) < 30)) throw refusal(400, 'Query out of time', 'QUERY_TIME_OUT')
    const address = `://${headers['host']}${path}${query.size === 0 ? '' : `?${query}`}`
    // The signature is over the address as it was sent: Python escapes a wildcard, which URLSearchParams does not.
    const urls = ['http', 'https'].flatMap((scheme) => [scheme + address, scheme + address.replaceAll('*', '%2A')])
    const isSigned = urls.some((url) => {
      const text = [secret, consumer, method, url, body, time].join('+')
      return headers['x-ovh-signature'] === `$1$${createHash('sha1').update(text).digest('hex')}`
    })
    if (!isSigned) throw refusal(400, 'Invalid signature', 'INVALID_SIGNATURE')
  }
  const recordRoute = ({ method, query, body }: ScriptedRequest, zone: string, records: OvhRecord[], id: string | undefined): Result => {
    if (id === undefined && method === 'GET')
      return { body: records.filter(({ fieldType, subDomain }) => isAsked(query, { fieldType, subDomain })).map((record) => record.id) }
    if (id === undefined) {
      const record = stored(nextId(), zone, fieldsOf(body, refusal(400, 'Invalid JSON', 'INVALID_ARGUMENT')), records)
      records.push(record)
      return { body: record }
    }
    const at = records.findIndex((record) => String(record.id) === id)
    const existing = records[at]
    if (existing === undefined) throw refusal(404, `The requested object (id = ${id}) does not exist`, 'NOT_FOUND')
    if (method === 'GET') return { body: existing }
    const others = records.filter((record) => record !== existing)
    // The type of a record cannot change.
    const { fieldType: _, ...sent } = method === 'DELETE' ? {} : fieldsOf(body, refusal(400, 'Invalid JSON', 'INVALID_ARGUMENT'))
    records.splice(at, 1, ...(method === 'DELETE' ? [] : [stored(existing.id, zone, { ...existing, ...sent }, others)]))
    return { body: null }
  }
  const route = (request: ScriptedRequest): Result => {
    const [, root, , zone = '', part, id] = request.path.slice(1).split('/').map(decodeURIComponent)
    if (root === 'auth') return { body: now() }
    checkSignature(request)
    if (zone === '') return { body: [...state.keys()] }
    const records = state.get(zone)
    if (records === undefined) throw MISSING
    if (part === undefined) return { body: { name: zone, nameServers: ['dns103.ovh.net', 'ns103.ovh.net'], hasDnsAnycast: false } }
    if (part === 'record') return recordRoute(request, zone, records, id)
    if (part === 'status') {
      // Later than it was refreshed, the zone is deployed. Then texts that another record has in quotes get quotes, as the recordings show.
      const inQuotes = new Set(records.map(({ target }) => target).filter((target) => target.startsWith('"')))
      const quoted = records.map((one) => (inQuotes.has(`"${one.target}"`) ? { ...one, target: `"${one.target}"` } : one))
      records.splice(0, records.length, ...quoted)
      return { body: { warnings: null, errors: null, isDeployed: true } }
    }
    served.set(zone, [...records])
    return { body: null }
  }
  const service = scriptedService(options, {
    contentType: 'application/json; charset=utf-8',
    throttled: refusal(429, 'Too many requests', 'TOO_MANY_REQUESTS', { 'retry-after': '1' }),
    answer: route,
  })
  return {
    service,
    records: (zone: string) => state.get(zone) ?? [],
    served: (zone: string): readonly OvhRecord[] => served.get(zone) ?? [],
  }
}
