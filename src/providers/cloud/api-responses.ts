/** The response bodies of the API, checked once on arrival. Unknown fields are ignored. */
import { type Fields, fieldsOf, ShapeError } from '../json-shape.ts'

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

export type ApiDomain = ReturnType<typeof domainShape>

export function domainShape(value: unknown) {
  const what = 'a domain'
  const fields = fieldsOf(value, what)
  const type = text(fields, 'type', what, '')
  const domain = text(fields, 'domain', what, '')
  if (type !== 'master' && type !== 'slave') throw new ShapeError('a domain is neither master nor slave')
  if (domain === '') throw new ShapeError('a domain has no name')
  return {
    id: integer(fields, 'id', what),
    domain,
    type: type as 'master' | 'slave',
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

export type ApiRecord = ReturnType<typeof recordShape>

export function recordShape(value: unknown) {
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

export type ApiInstance = ReturnType<typeof instanceShape>

/** An instance with its addresses. */
export function instanceShape(value: unknown) {
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
export function regionShape(value: unknown) {
  const resolvers = fieldsOf(fieldsOf(value, 'a region')['resolvers'], 'the list of resolvers of a region')
  return { ipv4: text(resolvers, 'ipv4', 'a region', ''), ipv6: text(resolvers, 'ipv6', 'a region', '') }
}

/** A tag, of which only the label matters. */
export const tagShape = (value: unknown) => ({ id: text(fieldsOf(value, 'a tag'), 'label', 'a tag', '') })

/** Types of tagged objects that are load balancers. */
const LOAD_BALANCER = /^(?:node_?|load_?)balancer$/i

export type ApiLoadBalancer = NonNullable<ReturnType<typeof loadBalancerShape>['object']>

/** A tagged object `{type, data}`; null if it is no load balancer. */
export function loadBalancerShape(value: unknown) {
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

export type ApiProfile = ReturnType<typeof profileShape>

/** The acting user. */
export function profileShape(value: unknown) {
  const fields = fieldsOf(value, 'a profile')
  return { username: text(fields, 'username', 'a profile', ''), restricted: fields['restricted'] === true }
}

export type ApiGrants = ReturnType<typeof grantsShape>

/** A restricted user's permissions for domains. */
export function grantsShape(value: unknown) {
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

export type ApiToken = ReturnType<typeof tokenShape>

/** A personal access token. `token` is only the beginning of its text. */
export function tokenShape(value: unknown) {
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

export function zoneFileShape(value: unknown): readonly string[] {
  return texts(fieldsOf(value, 'a zone file'), 'zone_file', 'a zone file')
}

/** The response to an action: an object that is neither a record nor an error. */
export function emptyShape(value: unknown): void {
  const what = 'the response to an action'
  const fields = fieldsOf(value, what)
  if ('id' in fields || 'errors' in fields) throw new ShapeError(`${what} is not empty`)
}
