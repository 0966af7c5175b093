/** A scripted DigitalOcean: domains and records in memory behind its API v2, with tokens, pages, entity tags and rate limits. */
import { createHash } from 'node:crypto'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { type DigitalOceanRecord, type Fields, Refusal, refuseClash, storedForm, unprocessable, zoneFileLine } from './records.ts'

export interface DigitalOceanOptions {
  /** A token that may only read ends with `-readonly`. */
  readonly token: string
  readonly domains: readonly string[]
  /** By domain; by default those of a new one. */
  readonly records?: ReadonlyMap<string, readonly DigitalOceanRecord[]>
  /** The serials of the zone files that reads of a domain show, in order; then the time in seconds. */
  readonly serials?: readonly string[]
  /** Requests that are answered before each refusal with status 429; by default none is refused. */
  readonly requestsPerPause?: number
}

export interface ScriptedDigitalOcean {
  readonly service: ScriptedService
  /** The records of a domain, for people who look at it without the API; null if it does not exist. */
  records(domain: string): readonly DigitalOceanRecord[] | null
}

const TTL = 1800
const USUAL_PER_PAGE = 20
const MAX_PER_PAGE = 200
/** Seconds of `Retry-After`. */
const PAUSE = '1'
const LIMIT = 5000

type Result = { readonly status?: number; readonly body?: object }

export function createDigitalOcean(options: DigitalOceanOptions): ScriptedDigitalOcean {
  const state = new Map<string, DigitalOceanRecord[]>()
  const serials = [...(options.serials ?? [])]
  let lastId = 92_264_200
  let remaining = LIMIT
  let sinceRefusal = 0

  const nextId = (): number => {
    lastId += 1
    return lastId
  }
  const newRecords = (domain: string): DigitalOceanRecord[] => [
    { ...storedForm(nextId(), { type: 'SOA', name: '@', data: String(TTL) }, domain) },
    ...[1, 2, 3].map((number) => storedForm(nextId(), { type: 'NS', name: '@', data: `ns${number}.digitalocean.com.` }, domain)),
  ]
  for (const domain of options.domains) state.set(domain, [...(options.records?.get(domain) ?? newRecords(domain))])

  const recordsOf = (domain: string): DigitalOceanRecord[] => {
    const records = state.get(domain)
    if (records === undefined) throw new Refusal(404, 'not_found', 'The resource you were accessing could not be found.')
    return records
  }
  const positionOf = (records: readonly DigitalOceanRecord[], id: string): number => {
    const at = records.findIndex((record) => String(record.id) === id)
    if (at === -1) throw new Refusal(404, 'not_found', 'The resource you were accessing could not be found.')
    return at
  }
  const zoneFile = (domain: string): string => {
    const records = recordsOf(domain)
    const serial = serials.shift() ?? String(Math.floor(Date.now() / 1000))
    const soa = `${domain}. IN SOA ns1.digitalocean.com. hostmaster.${domain}. ${serial} 10800 3600 604800 1800`
    const lines = records.flatMap((record) => (record.type === 'SOA' ? [] : [zoneFileLine(record, domain)]))
    return `$ORIGIN ${domain}.\n$TTL ${TTL}\n${[soa, ...lines].join('\n')}\n`
  }

  const domainRoute = ({ method, path, query, body }: ScriptedRequest, domain: string | undefined): Result => {
    if (domain === undefined && method === 'GET') {
      const domains = [...state.keys()].map((name) => ({ name, ttl: TTL, zone_file: zoneFile(name) }))
      return { body: page(path, query, 'domains', domains) }
    }
    if (domain === undefined) {
      const { name } = fieldsOf(body)
      if (typeof name !== 'string' || !/^(?:[a-z0-9_-]+\.)+[a-z0-9-]+$/.test(name)) throw unprocessable('Name is invalid')
      if (state.has(name)) throw unprocessable('Name already exists')
      state.set(name, newRecords(name))
      return { status: 201, body: { domain: { name, ttl: TTL, zone_file: null } } }
    }
    if (method === 'GET') return { body: { domain: { name: domain, ttl: TTL, zone_file: zoneFile(domain) } } }
    recordsOf(domain)
    state.delete(domain)
    return { status: 204 }
  }

  const recordRoute = ({ method, path, query, body }: ScriptedRequest, domain: string, id: string | undefined): Result => {
    const records = recordsOf(domain)
    if (id === undefined && method === 'GET') {
      const [type, name] = [query.get('type'), query.get('name')]
      const nameOf = (record: DigitalOceanRecord): string => (record.name === '@' ? domain : `${record.name}.${domain}`)
      const found = records.filter((record) => (type === null || record.type === type) && (name === null || nameOf(record) === name))
      return { body: page(path, query, 'domain_records', found) }
    }
    if (id === undefined) {
      const record = storedForm(nextId(), fieldsOf(body), domain)
      refuseClash(record, records)
      records.push(record)
      return { status: 201, body: { domain_record: record } }
    }
    const at = positionOf(records, id)
    const existing = records[at] as DigitalOceanRecord
    if (method === 'GET') return { body: { domain_record: existing } }
    if (method === 'DELETE') {
      records.splice(at, 1)
      return { status: 204 }
    }
    const record = storedForm(existing.id, { ...existing, data: existing.data, ...fieldsOf(body) }, domain)
    refuseClash(
      record,
      records.filter((_, index) => index !== at),
    )
    records[at] = record
    return { body: { domain_record: record } }
  }

  const route = (request: ScriptedRequest): Result => {
    const [, root, domain, part, id] = request.path.slice(1).split('/').map(decodeURIComponent)
    if (root !== 'domains') throw new Refusal(404, 'not_found', 'The resource you were accessing could not be found.')
    return part === 'records' && domain !== undefined ? recordRoute(request, domain, id) : domainRoute(request, domain)
  }

  const service: ScriptedService = (request) => {
    remaining = Math.max(0, remaining - 1)
    const limits = {
      'ratelimit-limit': String(LIMIT),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
    }
    const json = { ...limits, 'content-type': 'application/json; charset=utf-8' }
    try {
      sinceRefusal += 1
      if (options.requestsPerPause !== undefined && sinceRefusal > options.requestsPerPause) {
        sinceRefusal = 0
        throw new Refusal(429, 'too_many_requests', 'API Rate limit exceeded.')
      }
      const given = request.headers['authorization']
      const isReadOnly = given === `Bearer ${options.token}-readonly`
      if (given !== `Bearer ${options.token}` && !isReadOnly) throw new Refusal(401, 'Unauthorized', 'Unable to authenticate you')
      if (isReadOnly && request.method !== 'GET') throw new Refusal(403, 'forbidden', 'You do not have access for the attempted action.')
      const { status = 200, body } = route(request)
      if (body === undefined) return { status, headers: limits, body: '' }
      const text = JSON.stringify(body)
      const tag = `"${createHash('md5').update(text).digest('hex')}"`
      return { status, headers: { ...json, etag: status === 201 ? tag : `W/${tag}` }, body: text }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, id, message } = error
      return { status, headers: { ...json, ...(status === 429 && { 'retry-after': PAUSE }) }, body: JSON.stringify({ id, message }) }
    }
  }
  return { service, records: (domain) => state.get(domain) ?? null }
}

function fieldsOf(body: string): Fields {
  try {
    const fields: unknown = JSON.parse(body)
    if (typeof fields === 'object' && fields !== null) return fields as Fields
  } catch {
    // Refused below.
  }
  throw new Refusal(400, 'bad_request', 'Invalid JSON')
}

function page(path: string, query: URLSearchParams, key: string, items: readonly unknown[]): object {
  const whole = (name: string, usual: number): number => {
    const value = Number(query.get(name) ?? usual)
    if (Number.isInteger(value) && value >= 1) return value
    throw unprocessable(`${name} is invalid`)
  }
  const number = whole('page', 1)
  const perPage = Math.min(whole('per_page', USUAL_PER_PAGE), MAX_PER_PAGE)
  const last = Math.max(1, Math.ceil(items.length / perPage))
  const to = (target: number): string => {
    const parameters = new URLSearchParams([...query].filter(([name]) => name !== 'page'))
    parameters.set('page', String(target))
    return `https://api.digitalocean.com${path}?${parameters.toString()}`
  }
  const pages = {
    ...(number > 1 && { first: to(1), prev: to(number - 1) }),
    ...(number < last && { last: to(last), next: to(number + 1) }),
  }
  return {
    [key]: items.slice((number - 1) * perPage, number * perPage),
    links: Object.keys(pages).length === 0 ? {} : { pages },
    meta: { total: items.length },
  }
}
