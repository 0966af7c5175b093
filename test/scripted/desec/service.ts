/** A scripted deSEC: domains and RRsets in memory behind API v1, with tokens, pages, bulk requests and rate limits. */
import type { ScriptedRequest, ScriptedResponse, ScriptedService } from '../scripted-server.ts'
import { checkedRrset, type DesecRrset, type Fields, nameOf, Refusal, refuseClash, type Written } from './rrsets.ts'

export interface DesecDomain {
  readonly name: string
  /** Seconds; 3600 if absent. */
  readonly minimum_ttl?: number
  /** The newest first; those of a new domain if absent. */
  readonly rrsets?: readonly DesecRrset[]
}

export interface DesecOptions {
  readonly token: string
  readonly domains: readonly DesecDomain[]
  /** Domains of the account; by default 100. */
  readonly maxDomains?: number
  /** The permissions that the token lacks. */
  readonly denied?: readonly ('create' | 'delete' | 'write')[]
  /** Requests that are answered before each refusal with status 429; by default none is refused. */
  readonly requestsPerPause?: number
  /** Seconds of `Retry-After`: 1 if absent. */
  readonly pause?: number
  /** Items of a page: 500 if absent. */
  readonly pageSize?: number
}

export interface ScriptedDesec {
  readonly service: ScriptedService
  /** The RRsets of a domain, for people who look at it without the API; null if there is no such domain. */
  rrsets(domain: string): readonly DesecRrset[] | null
}

interface State {
  readonly created: string
  readonly minimumTtl: number
  published: string
  rrsets: DesecRrset[]
}

interface Result {
  readonly status: number
  readonly body?: unknown
  readonly link?: string
}

const NAMESERVERS = ['ns1.desec.io.', 'ns2.desec.org.']
const MINIMUM_TTL = 3600
const MAX_BODY = 1024 * 1024

const notFound = (what: string | null): Refusal =>
  new Refusal(404, { detail: what === null ? 'Not found.' : `No ${what} matches the given query.` })
const forbidden = (): Refusal => new Refusal(403, { detail: 'You do not have permission to perform this action.' })

export function createDesec(options: DesecOptions): ScriptedDesec {
  const { maxDomains = 100, denied = [], pause = 1, pageSize = 500 } = options
  /** The newest last. */
  const state = new Map<string, State>()
  let sinceRefusal = 0
  let clock = 0

  /** Microseconds, each time later than the last. */
  const now = (): string => {
    clock = Math.max(clock + 1, Date.now() * 1000)
    return `${new Date(Math.floor(clock / 1000)).toISOString().slice(0, 19)}.${String(clock % 1_000_000).padStart(6, '0')}Z`
  }
  const newRrset = (domain: string, { subname, type, ttl = 0, records = [] }: Written): DesecRrset => ({
    created: now(),
    domain,
    subname,
    name: nameOf(subname, domain),
    records,
    ttl,
    type,
    touched: now(),
  })
  const addDomain = ({ name, minimum_ttl: minimumTtl = MINIMUM_TTL, rrsets }: DesecDomain): State => {
    const nameservers = { subname: '', type: 'NS', ttl: MINIMUM_TTL, records: NAMESERVERS }
    const domain = { created: now(), minimumTtl, published: now(), rrsets: [...(rrsets ?? [newRrset(name, nameservers)])] }
    state.set(name, domain)
    return domain
  }
  for (const domain of options.domains) addDomain(domain)

  const described = (name: string, { created, minimumTtl, published, rrsets }: State, withKeys: boolean): Fields => ({
    created,
    published,
    name,
    ...(withKeys && { keys: [{ dnskey: '257 3 13 aaaa', ds: [`1 13 2 ${'ab'.repeat(32)}`], flags: 257, keytype: 'csk', managed: true }] }),
    minimum_ttl: minimumTtl,
    touched: [published, ...rrsets.map(({ touched }) => touched)].sort().at(-1),
  })

  /** Changes RRsets, all or none. Returns them as the answer shows them. */
  const write = (name: string, domain: State, sent: readonly Fields[], method: string): DesecRrset[] => {
    const keys = sent.map(({ subname = '', type }) => `${subname} ${type}`)
    const find = (key: string): DesecRrset | undefined => domain.rrsets.find((rrset) => `${rrset.subname} ${rrset.type}` === key)
    const checked = eachOf(sent, (fields, index) => {
      const key = keys[index] as string
      if (keys.indexOf(key) !== keys.lastIndexOf(key))
        throw new Refusal(400, { non_field_errors: ['Same subname and type as in position(s), but must be unique.'] })
      if (method === 'POST' && find(key) !== undefined)
        throw new Refusal(400, {
          non_field_errors: ['Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)'],
        })
      if (method === 'POST' && (fields['records'] as unknown[] | undefined)?.length === 0)
        throw new Refusal(400, { records: ['This field must not be empty when using POST.'] })
      return checkedRrset(fields, name, domain.minimumTtl, find(key), method === 'PATCH')
    })
    if (denied.includes('write')) throw forbidden()
    const wanted = new Map(checked.map((rrset) => [`${rrset.subname} ${rrset.type}`, rrset]))
    const kept = domain.rrsets.filter((rrset) => !wanted.has(`${rrset.subname} ${rrset.type}`))
    const remaining = checked.filter(({ records }) => records?.length !== 0)
    eachOf(checked, (rrset) => rrset.records?.length !== 0 && refuseClash(rrset, [...kept, ...remaining]))
    const answers: DesecRrset[] = []
    for (const rrset of checked) {
      const at = domain.rrsets.findIndex((one) => one.subname === rrset.subname && one.type === rrset.type)
      const before = domain.rrsets[at]
      if (rrset.records?.length === 0) {
        if (at !== -1) domain.rrsets.splice(at, 1)
      } else if (before === undefined) {
        const created = newRrset(name, rrset)
        domain.rrsets.unshift(created)
        answers.push(created)
      } else {
        const { records = before.records, ttl = before.ttl } = rrset
        const savesRecords = records.some((record) => !before.records.includes(record))
        // The answer has the time of the last write that goes through the model; one more write follows unless the TTL changes.
        const shown = { ...before, records, ttl, touched: savesRecords || ttl !== before.ttl ? now() : before.touched }
        domain.rrsets[at] = ttl === before.ttl ? { ...shown, touched: now() } : shown
        answers.push(shown)
      }
    }
    domain.published = now()
    return answers
  }

  const page = (items: readonly Fields[], { query, path }: ScriptedRequest): Result => {
    if (items.length <= pageSize) return { status: 200, body: items }
    const url = (cursor: number | null): string => {
      const params = new URLSearchParams(query)
      params.set('cursor', cursor === null ? '' : Buffer.from(`p=${cursor}`).toString('base64'))
      return `<https://desec.io${path}?${params.toString()}>`
    }
    const first = `${url(null)}; rel="first"`
    if (!query.has('cursor')) {
      const detail = `Pagination required. You can query up to ${pageSize} items at a time (${items.length} total). Please use the \`first\` page link (see Link header).`
      return { status: 400, body: { detail }, link: first }
    }
    // A cursor names the item before which the page starts, so that new items move no page.
    const cursor = Buffer.from(query.get('cursor') ?? '', 'base64').toString()
    const end = cursor === '' ? items.length : Number(cursor.slice(2))
    const from = items.length - end
    const next = end - pageSize
    const links = [first, ...(from > 0 ? [`${url(end + pageSize)}; rel="prev"`] : []), ...(next > 0 ? [`${url(next)}; rel="next"`] : [])]
    return { status: 200, body: items.slice(from, from + pageSize), link: links.join(', ') }
  }

  const routeDomains = (request: ScriptedRequest): Result => {
    const { method, query, body } = request
    if (method !== 'POST') {
      const all = [...state].reverse().map(([name, domain]) => described(name, domain, false))
      const owned = query.get('owns_qname')
      const matches = all.filter(({ name }) => owned === null || `.${owned}`.endsWith(`.${name}`))
      return page(
        owned === null ? matches : matches.sort((a, b) => String(b['name']).length - String(a['name']).length).slice(0, 1),
        request,
      )
    }
    const name = String((jsonOf(body) as Fields)['name'] ?? '')
    if (denied.includes('create')) throw forbidden()
    if (state.size >= maxDomains)
      throw new Refusal(403, { detail: 'Domain limit exceeded. Please contact support to create additional domains.' })
    if (!/^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/.test(name) || name.length > 191)
      throw new Refusal(400, {
        name: [
          'Domain names must be labels separated by dots. Labels may consist of up to 63 letters, digits, hyphens, and underscores. The last label may not contain an underscore.',
        ],
      })
    if (state.has(name) || name.endsWith('.internal'))
      throw new Refusal(400, { name: ['This domain name conflicts with an existing domain, or is disallowed by policy.'] })
    return { status: 201, body: described(name, addDomain({ name }), true) }
  }

  const route = (request: ScriptedRequest): Result => {
    const { method, query, body } = request
    const path = request.path.replace(/\/+/g, '/')
    const [, name, list, subname, type] = /^\/api\/v1\/domains\/(?:([^/]+)\/(?:(rrsets)\/(?:([^/]+)\/([^/]+)\/)?)?)?$/.exec(path) ?? []
    if (!path.startsWith('/api/v1/domains/')) throw notFound(null)
    if (name === undefined) return routeDomains(request)
    const domain = state.get(name)
    if (list === undefined) {
      if (method === 'DELETE') {
        if (denied.includes('delete')) throw forbidden()
        state.delete(name)
        return { status: 204 }
      }
      if (domain === undefined) throw notFound('Domain')
      return { status: 200, body: described(name, domain, true) }
    }
    if (domain === undefined) throw notFound(null)
    if (subname === undefined || type === undefined) {
      if (method === 'GET') {
        const matches = domain.rrsets.filter((rrset) =>
          (['subname', 'type'] as const).every((key) => !query.has(key) || rrset[key] === query.get(key)),
        )
        return page(matches as unknown as readonly Fields[], request)
      }
      const sent = jsonOf(body)
      if (method !== 'POST' && !Array.isArray(sent))
        throw new Refusal(400, { non_field_errors: ['Expected a list of items but got dict.'] })
      const written = Array.isArray(sent)
        ? write(name, domain, sent as Fields[], method)
        : single(() => write(name, domain, [sent as Fields], method))
      return { status: method === 'POST' ? 201 : 200, body: Array.isArray(sent) ? written : written[0] }
    }
    const key = subname === '@' ? '' : decodeURIComponent(subname).replace(/\.\.\.$/, '')
    const found = domain.rrsets.find((rrset) => rrset.subname === key && rrset.type === type)
    if (method === 'DELETE') {
      if (found !== undefined) write(name, domain, [{ subname: key, type, records: [] }], 'PATCH')
      return { status: 204 }
    }
    if (found === undefined) throw notFound('RRset')
    if (method === 'GET') return { status: 200, body: found }
    const sent = { ...(jsonOf(body) as Fields), subname: key, type }
    const [written] = single(() => write(name, domain, [sent], method))
    return written === undefined ? { status: 204 } : { status: 200, body: written }
  }

  const service: ScriptedService = (request) => {
    try {
      sinceRefusal += 1
      if (options.requestsPerPause !== undefined && sinceRefusal > options.requestsPerPause) {
        sinceRefusal = 0
        throw new Refusal(429, { detail: `Request was throttled. Expected available in ${pause} second${pause === 1 ? '' : 's'}.` })
      }
      if (request.body.length > MAX_BODY)
        return { status: 413, headers: { 'content-type': 'text/html' }, body: '<html>413 Request Entity Too Large</html>' }
      if (request.headers['authorization'] !== `Token ${options.token}`) throw new Refusal(401, { detail: 'Invalid token.' })
      const { status, body, link } = route(request)
      return respond(status, body, link === undefined ? {} : { link })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return respond(error.status, error.body, error.status === 429 ? { 'retry-after': String(pause) } : {})
    }
  }
  return { service, rrsets: (domain) => state.get(domain)?.rrsets ?? null }
}

/** Makes the answer of a bulk request: one error object per item, empty for items without errors. */
function eachOf<T, U>(items: readonly T[], check: (item: T, index: number) => U): U[] {
  const errors: unknown[] = []
  const results = items.map((item, index) => {
    try {
      return check(item, index)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      errors[index] = error.body
      return undefined
    }
  })
  if (errors.length > 0)
    throw new Refusal(
      400,
      Array.from(items, (_, index) => errors[index] ?? {}),
    )
  return results as U[]
}

/** The error of a request that is no bulk request is that of its only item. */
function single<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof Refusal && Array.isArray(error.body)) throw new Refusal(error.status, error.body[0])
    throw error
  }
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new Refusal(400, { detail: 'JSON parse error - Expecting value: line 1 column 1 (char 0)' })
  }
}

const respond = (status: number, body: unknown, headers: Readonly<Record<string, string>>): ScriptedResponse => ({
  status,
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  body: body === undefined ? '' : JSON.stringify(body),
})
