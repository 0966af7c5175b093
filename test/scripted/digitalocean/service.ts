/** A scripted DigitalOcean: domains and records in memory behind its API v2, with tokens, pages, entity tags and rate limits. */
import { createHash } from 'node:crypto'
import { checkToken, type Fields, fieldsOf, isAsked, isDomainName, pageOf, type Result, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { type DigitalOceanRecord, refusal, refuseClash, storedForm, unprocessable, zoneFileLine } from './records.ts'

export interface DigitalOceanOptions extends Throttling {
  /** A token that may only read ends with `-readonly`. */
  readonly token: string
  readonly domains: readonly string[]
  /** By domain; by default those of a new one. */
  readonly records?: ReadonlyMap<string, readonly DigitalOceanRecord[]>
  /** The serials of the zone files that reads of a domain show, in order; then the time in seconds. */
  readonly serials?: readonly string[]
}

export interface ScriptedDigitalOcean {
  readonly service: ScriptedService
  /** The records of a domain, for people who look at it without the API; null if it does not exist. */
  records(domain: string): readonly DigitalOceanRecord[] | null
}

const TTL = 1800
const LIMIT = 5000
const NOT_FOUND = refusal(404, 'not_found', 'The resource you were accessing could not be found.')

export function createDigitalOcean(options: DigitalOceanOptions): ScriptedDigitalOcean {
  const state = new Map<string, DigitalOceanRecord[]>()
  const serials = [...(options.serials ?? [])]
  let lastId = 92_264_200
  let remaining = LIMIT

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
    if (records === undefined) throw NOT_FOUND
    return records
  }
  const positionOf = (records: readonly DigitalOceanRecord[], id: string): number => {
    const at = records.findIndex((record) => String(record.id) === id)
    if (at === -1) throw NOT_FOUND
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
      const { name } = sentIn(body)
      if (!isDomainName(name)) throw unprocessable('Name is invalid')
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
      const found = records.filter(({ name, type }) => isAsked(query, { type, name: name === '@' ? domain : `${name}.${domain}` }))
      return { body: page(path, query, 'domain_records', found) }
    }
    if (id === undefined) {
      const record = storedForm(nextId(), sentIn(body), domain)
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
    const record = storedForm(existing.id, { ...existing, data: existing.data, ...sentIn(body) }, domain)
    refuseClash(
      record,
      records.filter((_, index) => index !== at),
    )
    records[at] = record
    return { body: { domain_record: record } }
  }

  const route = (request: ScriptedRequest): Result => {
    const [, root, domain, part, id] = request.path.slice(1).split('/').map(decodeURIComponent)
    if (root !== 'domains') throw NOT_FOUND
    return part === 'records' && domain !== undefined ? recordRoute(request, domain, id) : domainRoute(request, domain)
  }

  const service = scriptedService(options, {
    contentType: 'application/json; charset=utf-8',
    throttled: refusal(429, 'too_many_requests', 'API Rate limit exceeded.', { 'retry-after': '1' }),
    headers() {
      remaining = Math.max(0, remaining - 1)
      const reset = String(Math.floor(Date.now() / 1000) + 3600)
      return { 'ratelimit-limit': String(LIMIT), 'ratelimit-remaining': String(remaining), 'ratelimit-reset': reset }
    },
    answer(request) {
      const readOnly = refusal(403, 'forbidden', 'You do not have access for the attempted action.')
      checkToken(request, options.token, refusal(401, 'Unauthorized', 'Unable to authenticate you'), readOnly)
      const { status = 200, body } = route(request)
      if (body === undefined) return { status }
      const tag = `"${createHash('md5').update(JSON.stringify(body)).digest('hex')}"`
      return { status, headers: { etag: status === 201 ? tag : `W/${tag}` }, body }
    },
  })
  return { service, records: (domain) => state.get(domain) ?? null }
}

const sentIn = (body: string): Fields => fieldsOf(body, refusal(400, 'bad_request', 'Invalid JSON'))

function page(path: string, query: URLSearchParams, key: string, items: readonly unknown[]): object {
  const refuse = (parameter: string) => unprocessable(`${parameter} is invalid`)
  const { page: number, last, items: shown } = pageOf(items, query, { size: 'per_page', usual: 20, most: 200, refuse })
  const to = (target: number): string => {
    const parameters = new URLSearchParams([...query].filter(([name]) => name !== 'page'))
    parameters.set('page', String(target))
    return `https://api.digitalocean.com${path}?${parameters.toString()}`
  }
  const pages = {
    ...(number > 1 && { first: to(1), prev: to(number - 1) }),
    ...(number < last && { last: to(last), next: to(number + 1) }),
  }
  return { [key]: shown, links: Object.keys(pages).length === 0 ? {} : { pages }, meta: { total: items.length } }
}
