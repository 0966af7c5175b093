/** A scripted deSEC: domains and RRsets in memory behind API v1, with tokens, pages, bulk requests and rate limits. */
import { type Fields, isAsked, isDomainName, jsonOf, Refusal, type Result, risingClock, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { checkedRrset, type DesecRrset, nameOf, refuseClash, type Written } from './rrsets.ts'

export interface DesecDomain {
  readonly name: string
  /** Seconds; 3600 if absent. */
  readonly minimum_ttl?: number
  /** The newest first; those of a new domain if absent. */
  readonly rrsets?: readonly DesecRrset[]
}

export interface DesecOptions extends Throttling {
  readonly token: string
  readonly domains: readonly DesecDomain[]
  /** Domains of the account; by default 100. */
  readonly maxDomains?: number
  /** The permissions that the token lacks. */
  readonly denied?: readonly ('create' | 'delete' | 'write')[]
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

type State = { readonly created: string; readonly minimumTtl: number; published: string; rrsets: DesecRrset[] }
const NAMESERVERS = ['ns1.desec.io.', 'ns2.desec.org.']
const MINIMUM_TTL = 3600
const MAX_BODY = 1024 * 1024
const malformed = (...texts: readonly string[]): Refusal => new Refusal(400, { non_field_errors: texts })
const notFound = (what: string | null): Refusal =>
  new Refusal(404, { detail: what === null ? 'Not found.' : `No ${what} matches the given query.` })
const FORBIDDEN = new Refusal(403, { detail: 'You do not have permission to perform this action.' })

export function createDesec(options: DesecOptions): ScriptedDesec {
  const { maxDomains = 100, denied = [], pause = 1, pageSize = 500 } = options
  /** The newest last. */
  const state = new Map<string, State>()
  const now = risingClock()
  const newRrset = (domain: string, { subname, type, ttl = 0, records = [] }: Written): DesecRrset => {
    return { created: now(), domain, subname, name: nameOf(subname, domain), records, ttl, type, touched: now() }
  }
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
      if (keys.indexOf(key) !== keys.lastIndexOf(key)) throw malformed('Same subname and type as in position(s), but must be unique.')
      if (method === 'POST' && find(key) !== undefined)
        throw malformed('Another RRset with the same subdomain and type exists for this domain. (Try modifying it.)')
      if (method === 'POST' && (fields['records'] as unknown[] | undefined)?.length === 0)
        throw new Refusal(400, { records: ['This field must not be empty when using POST.'] })
      return checkedRrset(fields, name, domain.minimumTtl, find(key), method === 'PATCH')
    })
    if (denied.includes('write')) throw FORBIDDEN
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

  const page = (items: readonly object[], { query, path }: ScriptedRequest): Result => {
    if (items.length <= pageSize) return { body: items }
    const url = (cursor: number | null): string => {
      const params = new URLSearchParams(query)
      params.set('cursor', cursor === null ? '' : Buffer.from(`p=${cursor}`).toString('base64'))
      return `<https://desec.io${path}?${params.toString()}>`
    }
    const first = `${url(null)}; rel="first"`
    if (!query.has('cursor')) {
      const detail = `Pagination required. You can query up to ${pageSize} items at a time (${items.length} total). Please use the \`first\` page link (see Link header).`
      throw new Refusal(400, { detail }, { link: first })
    }
    // A cursor names the item before which the page starts, so that new items move no page.
    const cursor = Buffer.from(query.get('cursor') ?? '', 'base64').toString()
    const end = cursor === '' ? items.length : Number(cursor.slice(2))
    const from = items.length - end
    const next = end - pageSize
    const links = [first, ...(from > 0 ? [`${url(end + pageSize)}; rel="prev"`] : []), ...(next > 0 ? [`${url(next)}; rel="next"`] : [])]
    return { headers: { link: links.join(', ') }, body: items.slice(from, from + pageSize) }
  }

  const routeDomains = (request: ScriptedRequest): Result => {
    const { method, query, body } = request
    if (method !== 'POST') {
      const all = [...state].reverse().map(([name, domain]) => described(name, domain, false))
      const owned = query.get('owns_qname')
      const found = all.filter(({ name }) => owned === null || `.${owned}`.endsWith(`.${name}`))
      return page(owned === null ? found : found.sort((a, b) => String(b['name']).length - String(a['name']).length).slice(0, 1), request)
    }
    const name = String((sentIn(body) as Fields)['name'] ?? '')
    if (denied.includes('create')) throw FORBIDDEN
    if (state.size >= maxDomains)
      throw new Refusal(403, { detail: 'Domain limit exceeded. Please contact support to create additional domains.' })
    if (!isDomainName(name) || name.length > 191)
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
        if (denied.includes('delete')) throw FORBIDDEN
        state.delete(name)
        return { status: 204 }
      }
      if (domain === undefined) throw notFound('Domain')
      return { body: described(name, domain, true) }
    }
    if (domain === undefined) throw notFound(null)
    if (subname === undefined || type === undefined) {
      if (method === 'GET') {
        return page(
          domain.rrsets.filter(({ subname, type }) => isAsked(query, { subname, type })),
          request,
        )
      }
      const sent = sentIn(body)
      if (method !== 'POST' && !Array.isArray(sent)) throw malformed('Expected a list of items but got dict.')
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
    if (method === 'GET') return { body: found }
    const sent = { ...(sentIn(body) as Fields), subname: key, type }
    const [written] = single(() => write(name, domain, [sent], method))
    return written === undefined ? { status: 204 } : { body: written }
  }

  const service = scriptedService(options, {
    throttled: new Refusal(
      429,
      { detail: `Request was throttled. Expected available in ${pause} second${pause === 1 ? '' : 's'}.` },
      { 'retry-after': String(pause) },
    ),
    before: ({ body }) =>
      body.length > MAX_BODY
        ? { status: 413, headers: { 'content-type': 'text/html' }, body: '<html>413 Request Entity Too Large</html>' }
        : null,
    answer(request) {
      if (request.headers['authorization'] !== `Token ${options.token}`) throw new Refusal(401, { detail: 'Invalid token.' })
      return route(request)
    },
  })
  return { service, rrsets: (domain) => state.get(domain)?.rrsets ?? null }
}

const sentIn = (body: string): unknown =>
  jsonOf(body, new Refusal(400, { detail: 'JSON parse error - Expecting value: line 1 column 1 (char 0)' }))

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
