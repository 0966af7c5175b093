/** A scripted Gandi: domains and record sets in memory behind the LiveDNS API v5, with tokens, pages and rate limits. */
import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import {
  besideCname,
  checkToken,
  compare,
  type Fields,
  fieldsOf,
  isWholeNumber,
  pageOf,
  Refusal,
  type Result,
  scriptedService,
  type Throttling,
} from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'

export interface GandiRrset {
  readonly rrset_name: string
  readonly rrset_type: string
  readonly rrset_ttl: number
  readonly rrset_values: readonly string[]
}

export interface GandiOptions extends Throttling {
  readonly token: string
  readonly domains: readonly string[]
  /** Those of each domain; by default the NS records of Gandi. */
  readonly rrsets?: readonly GandiRrset[]
}

const BASE = 'https://api.gandi.net/v5/livedns'
const ALIASES = 'A AAAA ALIAS CAA CDS CNAME DNAME DS HTTPS KEY LOC MX NAPTR NS OPENPGPKEY PTR RP SPF SRV SSHFP SVCB TLSA TXT'
const TYPES: ReadonlySet<string> = new Set(ALIASES.split(' '))
const NAME = /^(?:@|(?:\*|(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}))$/
const refusal = (code: number, message: string, object: string, cause: string, more: object = {}): Refusal =>
  new Refusal(code, { code, message, object, cause, ...more })
const NO_DOMAIN = refusal(404, 'The resource could not be found.', 'HTTPNotFound', 'Not Found')
const invalid = (name: string, description: string): Refusal =>
  refusal(400, 'Bad Request', 'HTTPBadRequest', 'Bad Request', { errors: [{ location: 'body', name, description }] })
const DEFAULT: GandiRrset = {
  rrset_name: '@',
  rrset_type: 'NS',
  rrset_ttl: 10_800,
  rrset_values: ['ns-1-a.gandi.net.', 'ns-2-b.gandi.net.', 'ns-3-c.gandi.net.'],
}

export function createGandi(options: GandiOptions) {
  const state = new Map(options.domains.map((domain) => [domain, [...(options.rrsets ?? [DEFAULT])]]))
  const described = (domain: string): Fields => ({
    fqdn: domain,
    domain_href: `${BASE}/domains/${domain}`,
    domain_keys_href: `${BASE}/domains/${domain}/keys`,
    domain_records_href: `${BASE}/domains/${domain}/records`,
    automatic_snapshots: true,
  })
  const shown = (domain: string, rrset: GandiRrset): Fields => {
    const { rrset_name: name, rrset_type: type } = rrset
    return { ...rrset, rrset_href: `${BASE}/domains/${domain}/records/${encodeURIComponent(name)}/${type}` }
  }
  const route = ({ method, path, query, body }: ScriptedRequest): Result => {
    const [, , root, domain, part, name, type] = path.slice(1).split('/').map(decodeURIComponent)
    if (root !== 'domains') throw NO_DOMAIN
    if (domain === undefined) return list([...state.keys()].map(described), query)
    const rrsets = state.get(domain)
    if (rrsets === undefined) throw NO_DOMAIN
    if (part === undefined) return { body: described(domain) }
    if (name === undefined && method === 'POST') {
      const { rrset_name, rrset_type } = fieldsOf(body, invalid('body', 'no JSON'))
      return route({ method, query, body, headers: {}, path: `${path}/${encodeURIComponent(String(rrset_name))}/${String(rrset_type)}` })
    }
    if (name === undefined) {
      const sorted = rrsets.toSorted((a, b) => compare(orderOf(a), orderOf(b)))
      return list(
        sorted.map((rrset) => shown(domain, rrset)),
        query,
      )
    }
    const isAsked = (one: GandiRrset): boolean => one.rrset_name === name && (type === undefined || one.rrset_type === type)
    const found = rrsets.find(isAsked)
    const others = rrsets.filter((one) => !isAsked(one))
    if (method === 'PUT' || method === 'POST') {
      const stored = checked(name, type ?? '', fieldsOf(body, invalid('body', 'no JSON')), others)
      if (method === 'POST' && found !== undefined)
        throw refusal(409, 'A DNS Record already exists with same value', 'HTTPConflict', 'Conflict')
      state.set(domain, [...others, stored])
      return { status: 201, body: { message: 'DNS Record Created' } }
    }
    if (found === undefined) throw refusal(404, `Can't find the DNS record ${name}/${type} in the zone`, 'dns-record', 'Not Found')
    if (method === 'GET') return { body: shown(domain, found) }
    state.set(domain, others)
    return { status: 204 }
  }
  const service: ScriptedService = scriptedService(options, {
    contentType: 'application/json; charset=utf-8',
    throttled: new Refusal(
      429,
      { code: 429, message: 'Too Many Requests', object: 'HTTPTooManyRequests', cause: 'Too Many Requests' },
      { 'retry-after': '1' },
    ),
    answer(request) {
      const { status = 200, headers, body } = checkAndRoute(request)
      if (body === undefined) return { status }
      const hash = createHash('sha1').update(JSON.stringify(body)).digest('base64').slice(0, 27)
      return { status, body, headers: { ...headers, etag: `W/"${JSON.stringify(body).length.toString(16)}-${hash}"` } }
    },
  })
  const checkAndRoute = (request: ScriptedRequest): Result => {
    const { authorization } = request.headers
    checkToken(
      // The scheme of older keys.
      { ...request, headers: { ...request.headers, authorization: authorization?.replace(/^Apikey /, 'Bearer ') } },
      options.token,
      refusal(401, 'The server could not verify that you authorized to access the document.', 'HTTPUnauthorized', 'Unauthorized'),
    )
    return route(request)
  }
  return { service, rrsets: (domain: string): readonly GandiRrset[] => state.get(domain) ?? [] }
}

/** Names that begin with an underscore are last. */
const orderOf = ({ rrset_name: name, rrset_type: type }: GandiRrset): string => `${name.replaceAll('_', '~')} ${type}`

/** Items of a page, unless a request asks for fewer. */
const EVERY = 1_000_000

function list(items: readonly unknown[], query: URLSearchParams): Result {
  const { items: body } = pageOf(items, query, { size: 'per_page', usual: EVERY, most: EVERY, refuse: (name) => invalid(name, 'invalid') })
  return { body, headers: { 'total-count': String(items.length) } }
}

/** The record set of a request as it is stored. */
function checked(
  name: string,
  type: string,
  { rrset_ttl: ttl = 10_800, rrset_values: values }: Fields,
  others: readonly GandiRrset[],
): GandiRrset {
  if (!NAME.test(name)) throw invalid('rrset_name', 'invalid name')
  if (!TYPES.has(type)) throw invalid('rrset_type', `"${type}" is not one of ${ALIASES}`)
  if (!isWholeNumber(ttl, 300, 2_592_000)) throw invalid('rrset_ttl', 'must be between 300 and 2592000')
  if (!Array.isArray(values) || values.length === 0) throw invalid('rrset_values', 'Shorter than minimum length 1')
  const texts = values.map((value) => {
    const text = type === 'TXT' && !String(value).startsWith('"') ? `"${value}"` : String(value)
    const isMalformed = text === '""' || (type === 'A' && !isIPv4(text)) || (type === 'AAAA' && !isIPv6(text))
    if (isMalformed || /[^\x20-\x7e]/.test(text)) throw invalid('rrset_values', `invalid value for ${type}: ${text}`)
    return text
  })
  if (new Set(texts).size < texts.length) throw invalid('rrset_values', 'duplicate values')
  const owned = others.map((one) => ({ name: one.rrset_name, type: one.rrset_type }))
  const isApexCname = type === 'CNAME' && (name === '@' || texts.length > 1)
  if (isApexCname || besideCname({ name, type }, owned)) throw invalid('rrset_type', `${type} cannot be at ${name} with these records`)
  return { rrset_name: name, rrset_type: type, rrset_ttl: ttl, rrset_values: texts }
}
