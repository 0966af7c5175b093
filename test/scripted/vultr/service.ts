/**
 * A scripted Vultr: DNS domains and records in memory behind its API v2, with tokens, cursors and rate limits. The recordings show A, CNAME, MX, NS and TXT; the
 * other rules are those of its API reference, of lego and of DNSControl's provider, which is tested at the real service.
 */
import { randomUUID } from 'node:crypto'
import { checkToken, type Fields, fieldsOf, isDomainName, Refusal, type Result, scriptedService, type Throttling } from '../base.ts'
import { type PlainRecord, problemOf } from '../plain-records.ts'
import type { ScriptedRequest } from '../scripted-server.ts'

export interface VultrRecord {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly data: string
  /** -1 for records without one that Vultr creates. */
  readonly priority: number
  readonly ttl: number
}

export interface VultrDomain {
  readonly domain: string
  readonly date_created?: string
}

export interface VultrOptions extends Throttling {
  readonly token: string
  readonly domains: readonly VultrDomain[]
  /** Those of the first domain; by default those of a new one. */
  readonly records?: readonly VultrRecord[]
}

const TYPES: ReadonlySet<string> = new Set('A AAAA CAA CNAME MX NS SRV SSHFP TXT'.split(' '))
const RULES = { types: TYPES, minTtl: 60, hasPriority: true, text: /^"[^"]+"$/ }
const refusal = (status: number, error: string, headers = {}): Refusal => new Refusal(status, { error, status }, headers)
const MISSING = refusal(404, 'Invalid domain')

export const plainRecord = ({ name, type, ttl, data, priority }: VultrRecord): PlainRecord => ({
  ...{ name, type, ttl, data },
  ...(/^(?:MX|SRV)$/.test(type) && { priority }),
})

const given = (): VultrRecord[] =>
  ['ns1', 'ns2'].map((host) => ({ id: randomUUID(), type: 'NS', name: '', data: `${host}.vultr.com`, priority: -1, ttl: 300 }))

export function createVultr(options: VultrOptions) {
  const state = new Map(
    options.domains.map((one, at) => [one.domain, { one, records: at === 0 && options.records ? [...options.records] : given() }]),
  )

  const stored = (id: string, sent: Fields, others: readonly VultrRecord[]): VultrRecord => {
    const { type, name = '', data, priority = 0, ttl = 300 } = sent as unknown as VultrRecord
    const record = { id, type: String(type), name: String(name), data: String(data), priority, ttl }
    const problem = problemOf(plainRecord(record), others.map(plainRecord), RULES)
    if (problem !== null) throw refusal(400, `Invalid record: ${problem}`)
    // What DNSControl met at the service.
    if (others.some((one) => one.name === record.name && one.type === record.type && one.ttl !== ttl))
      throw refusal(400, 'Invalid record: another TTL than the other records')
    return record
  }
  const recordRoute = ({ method, query, body }: ScriptedRequest, domain: string, id: string | undefined): Result => {
    const held = state.get(domain)
    if (held === undefined) throw MISSING
    const { records } = held
    if (id === undefined && method === 'GET') return { body: page('records', records, query) }
    if (id === undefined) {
      const record = stored(randomUUID(), fieldsOf(body, refusal(400, 'Invalid JSON')), records)
      records.push(record)
      return { status: 201, body: { record } }
    }
    const at = records.findIndex((record) => record.id === id)
    const record = records[at]
    if (record === undefined) throw refusal(404, 'Invalid record')
    if (method === 'GET') return { body: { record } }
    const others = records.filter((one) => one !== record)
    const changed = method === 'DELETE' ? [] : [stored(id, { ...record, ...fieldsOf(body, refusal(400, 'Invalid JSON')) }, others)]
    records.splice(at, 1, ...changed)
    return NO_CONTENT
  }
  const route = (request: ScriptedRequest): Result => {
    const { method, path, query, body } = request
    const [, root, domain, part, id] = path.slice(1).split('/').map(decodeURIComponent)
    if (root !== 'domains') throw refusal(404, 'Not found')
    if (part === 'records') return recordRoute(request, domain ?? '', id)
    if (domain === undefined && method === 'GET')
      return {
        body: page(
          'domains',
          [...state.values()].map(({ one }) => one),
          query,
        ),
      }
    if (domain === undefined) {
      const { domain: name } = fieldsOf(body, refusal(400, 'Invalid JSON'))
      if (!isDomainName(name) || state.has(name)) throw refusal(400, 'Invalid domain')
      const one = { domain: name, date_created: new Date().toISOString() }
      state.set(name, { one, records: given() })
      return { status: 201, body: { domain: one } }
    }
    const held = state.get(domain)
    if (held === undefined) throw MISSING
    if (method === 'GET') return { body: { domain: held.one } }
    state.delete(domain)
    return NO_CONTENT
  }
  const service = scriptedService(options, {
    throttled: refusal(429, 'Rate limit exceeded', { 'retry-after': '1' }),
    answer(request) {
      checkToken(request, options.token, refusal(401, 'Invalid API token.'))
      return route(request)
    },
  })
  return { service, records: (domain: string): readonly VultrRecord[] | null => state.get(domain)?.records ?? null }
}

const NO_CONTENT: Result = { status: 204, headers: { 'content-type': 'text/html; charset=UTF-8' } }
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** A page that begins where the cursor says. */
function page(key: string, items: readonly unknown[], query: URLSearchParams): Fields {
  const size = Math.min(Number(query.get('per_page') ?? 100), 500)
  const [, from] = /^(?:next|prev)__(\d+)$/.exec(Buffer.from(query.get('cursor') ?? encoded('next__0'), 'base64').toString()) ?? []
  if (from === undefined || !(size >= 1)) throw refusal(400, 'Invalid cursor')
  const [start, end] = [Number(from), Number(from) + size]
  const links = {
    next: end < items.length ? encoded(`next__${end}`) : '',
    prev: start > 0 ? encoded(`prev__${Math.max(0, start - size)}`) : '',
  }
  return { [key]: items.slice(start, end), meta: { total: items.length, links } }
}
