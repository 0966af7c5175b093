/** The response bodies of the API, checked once on arrival. Unknown fields are ignored. */
import { type Fields, fieldsOf, ShapeError } from '../json-shape.ts'

export interface ApiDomain {
  readonly id: number
  readonly domain: string
  readonly type: 'master' | 'slave'
  readonly status: string
  readonly description: string
  readonly group: string
  readonly tags: readonly string[]
  readonly soa_email: string
  readonly master_ips: readonly string[]
  readonly axfr_ips: readonly string[]
  readonly expire_sec: number
  readonly refresh_sec: number
  readonly retry_sec: number
  readonly ttl_sec: number
  readonly updated: string | null
}

export interface ApiRecord {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly target: string
  readonly priority: number
  readonly weight: number
  readonly port: number
  readonly service: string | null
  readonly protocol: string | null
  readonly tag: string | null
  readonly ttl_sec: number
  readonly updated: string | null
}

/** An instance with its addresses. */
export interface ApiInstance {
  readonly id: number
  readonly label: string
  readonly group: string
  readonly tags: readonly string[]
  readonly region: string
  readonly status: string
  readonly ipv4: readonly string[]
  readonly ipv6: string | null
}

export interface ApiLoadBalancer {
  readonly id: number
  readonly label: string
  readonly tags: readonly string[]
  readonly region: string
  readonly ipv4: string | null
  readonly ipv6: string | null
}

/** The acting user. */
export interface ApiProfile {
  readonly username: string
  readonly restricted: boolean
}

/** A restricted user's permissions for domains. */
export interface ApiGrants {
  readonly addDomains: boolean
  readonly domains: readonly { readonly id: number; readonly permissions: string | null }[]
}

/** A personal access token. `token` is only the beginning of its text. */
export interface ApiToken {
  readonly id: number
  readonly label: string
  readonly scopes: string
  readonly token: string
  readonly expiry: string | null
}

export interface ApiPage<T> {
  readonly data: readonly T[]
  readonly page: number
  readonly pages: number
  readonly results: number
}

function integer(fields: Fields, key: string, what: string, fallback?: number): number {
  const value = fields[key] ?? fallback
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new ShapeError(`${what} has no whole number "${key}"`)
  return value
}

/** A string; `fallback` for null and absence, because the API uses both for empty settings. */
function text<F extends string | null>(fields: Fields, key: string, what: string, fallback: F): string | F {
  const value = fields[key] ?? fallback
  if (value !== null && typeof value !== 'string') throw new ShapeError(`${what} has no text "${key}"`)
  return value as string | F
}

function texts(fields: Fields, key: string, what: string): readonly string[] {
  const value = fields[key] ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw new ShapeError(`${what} has no list of texts "${key}"`)
  return value
}

export function domainShape(value: unknown): ApiDomain {
  const what = 'a domain'
  const fields = fieldsOf(value, what)
  const type = text(fields, 'type', what, '')
  const domain = text(fields, 'domain', what, '')
  if (type !== 'master' && type !== 'slave') throw new ShapeError('a domain is neither master nor slave')
  if (domain === '') throw new ShapeError('a domain has no name')
  return {
    id: integer(fields, 'id', what),
    domain,
    type,
    status: text(fields, 'status', what, 'active'),
    description: text(fields, 'description', what, ''),
    group: text(fields, 'group', what, ''),
    tags: texts(fields, 'tags', what),
    soa_email: text(fields, 'soa_email', what, ''),
    master_ips: texts(fields, 'master_ips', what),
    axfr_ips: texts(fields, 'axfr_ips', what),
    expire_sec: integer(fields, 'expire_sec', what, 0),
    refresh_sec: integer(fields, 'refresh_sec', what, 0),
    retry_sec: integer(fields, 'retry_sec', what, 0),
    ttl_sec: integer(fields, 'ttl_sec', what, 0),
    updated: text(fields, 'updated', what, null),
  }
}

export function recordShape(value: unknown): ApiRecord {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  const type = text(fields, 'type', what, '')
  if (type === '') throw new ShapeError('a record has no type')
  return {
    id: integer(fields, 'id', what),
    type,
    name: text(fields, 'name', what, ''),
    target: text(fields, 'target', what, ''),
    priority: integer(fields, 'priority', what, 0),
    weight: integer(fields, 'weight', what, 0),
    port: integer(fields, 'port', what, 0),
    service: text(fields, 'service', what, null),
    protocol: text(fields, 'protocol', what, null),
    tag: text(fields, 'tag', what, null),
    ttl_sec: integer(fields, 'ttl_sec', what, 0),
    updated: text(fields, 'updated', what, null),
  }
}

export function instanceShape(value: unknown): ApiInstance {
  const what = 'an instance'
  const fields = fieldsOf(value, what)
  return {
    id: integer(fields, 'id', what),
    label: text(fields, 'label', what, ''),
    group: text(fields, 'group', what, ''),
    tags: texts(fields, 'tags', what),
    region: text(fields, 'region', what, ''),
    status: text(fields, 'status', what, ''),
    ipv4: texts(fields, 'ipv4', what),
    ipv6: text(fields, 'ipv6', what, null),
  }
}

/** The addresses of a region's resolvers, separated by commas. */
export function regionShape(value: unknown): { readonly ipv4: string; readonly ipv6: string } {
  const resolvers = fieldsOf(fieldsOf(value, 'a region')['resolvers'], 'the list of resolvers of a region')
  return { ipv4: text(resolvers, 'ipv4', 'a region', ''), ipv6: text(resolvers, 'ipv6', 'a region', '') }
}

/** A tag, of which only the label matters. */
export const tagShape = (value: unknown): { readonly id: string } => ({ id: text(fieldsOf(value, 'a tag'), 'label', 'a tag', '') })

/** Types of tagged objects that are load balancers. */
const LOAD_BALANCER = /^(?:node_?|load_?)balancer$/i

/** A tagged object `{type, data}`; null if it is no load balancer. */
export function loadBalancerShape(value: unknown): { readonly id: string; readonly object: ApiLoadBalancer | null } {
  const tagged = fieldsOf(value, 'a tagged object')
  const type = text(tagged, 'type', 'a tagged object', '')
  const what = 'a load balancer'
  const fields = fieldsOf(tagged['data'], what)
  const number = integer(fields, 'id', 'a tagged object')
  const id = `${type} ${number}`
  if (!LOAD_BALANCER.test(type)) return { id, object: null }
  const object = {
    id: number,
    label: text(fields, 'label', what, ''),
    tags: texts(fields, 'tags', what),
    region: text(fields, 'region', what, ''),
    ipv4: text(fields, 'ipv4', what, null),
    ipv6: text(fields, 'ipv6', what, null),
  }
  return { id, object }
}

export function profileShape(value: unknown): ApiProfile {
  const fields = fieldsOf(value, 'a profile')
  return { username: text(fields, 'username', 'a profile', ''), restricted: fields['restricted'] === true }
}

export function grantsShape(value: unknown): ApiGrants {
  const what = 'the grants'
  const fields = fieldsOf(value, what)
  const domains = fields['domain'] ?? []
  if (!Array.isArray(domains)) throw new ShapeError('the grants have no list "domain"')
  return {
    addDomains: fieldsOf(fields['global'], 'the global grants')['add_domains'] === true,
    domains: domains.map((entry) => {
      const grant = fieldsOf(entry, 'a grant')
      return { id: integer(grant, 'id', 'a grant'), permissions: text(grant, 'permissions', 'a grant', null) }
    }),
  }
}

export function tokenShape(value: unknown): ApiToken {
  const what = 'a token'
  const fields = fieldsOf(value, what)
  return {
    id: integer(fields, 'id', what),
    label: text(fields, 'label', what, ''),
    scopes: text(fields, 'scopes', what, ''),
    token: text(fields, 'token', what, ''),
    expiry: text(fields, 'expiry', what, null),
  }
}

export function pageShape<T>(value: unknown, item: (value: unknown) => T): ApiPage<T> {
  const what = 'a list'
  const fields = fieldsOf(value, what)
  const data = fields['data']
  if (!Array.isArray(data)) throw new ShapeError('a list has no "data"')
  return {
    data: data.map(item),
    page: integer(fields, 'page', what),
    pages: integer(fields, 'pages', what),
    results: integer(fields, 'results', what),
  }
}

export function zoneFileShape(value: unknown): readonly string[] {
  return texts(fieldsOf(value, 'a zone file'), 'zone_file', 'a zone file')
}

/** The response to an action: an object that is neither a record nor an error. */
export function emptyShape(value: unknown): void {
  const what = 'the response to an action'
  const fields = fieldsOf(value, what)
  if ('id' in fields || 'errors' in fields) throw new ShapeError(`${what} is not empty`)
}
