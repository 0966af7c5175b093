/** The answers of the interface that the provider reads, checked once where they come in. Fields beyond these are ignored. */

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

export interface ApiPage<T> {
  readonly data: readonly T[]
  readonly page: number
  readonly pages: number
  readonly results: number
}

/** What an answer lacks to be of its shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError(`${what} is not an object`)
  return value as Fields
}

function integer(fields: Fields, key: string, what: string, fallback?: number): number {
  const value = fields[key] ?? fallback
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new ShapeError(`${what} has no whole number "${key}"`)
  return value
}

/** A string; null and absence read as `fallback`, since empty settings come either way. */
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

/** The answer to an action: an object that is no record and no error. */
export function emptyShape(value: unknown): void {
  const what = 'the answer to an action'
  const fields = fieldsOf(value, what)
  if ('id' in fields || 'errors' in fields) throw new ShapeError(`${what} is not empty`)
}
