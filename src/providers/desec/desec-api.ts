/** A client of deSEC's API v1: errors, complete lists and response bodies. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError, usualAddress } from '../api-errors.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { fieldsOf, listOf, ShapeError, textOf, wholeNumberOf } from '../json-shape.ts'
import { readLinkedPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiDomain {
  /** Without the final dot. */
  readonly name: string
  /** Seconds. */
  readonly minimumTtl: number
}

export interface ApiRrset {
  /** Absolute. */
  readonly name: string
  readonly type: string
  /** Seconds. */
  readonly ttl: number
  readonly records: readonly string[]
}

export interface DesecApi {
  readonly request: SendAndCheck
  /** Reads all pages of a list. */
  list<T>(request: ApiRequest, shape: (item: unknown) => T): Promise<T[]>
  close(): Promise<void>
}

export function createDesecApi(connection: ApiConnection): DesecApi {
  const { request, close } = createJsonApi(connection, { authorization: `Token ${connection.token}` }, DESEC_DIALECT)
  return { request, list: (call, shape) => readList(request, connection.provider, call, shape), close }
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'create a token in the account at deSEC, under Token Management',
  403: 'the token or the account does not permit it: see perm_create_domain, perm_delete_domain and the policies of the token',
  429: 'deSEC accepts 15 changes of a domain in a minute, 100 in an hour and 300 in a day',
}

const DESEC_DIALECT: ApiDialect = {
  errorOfResponse: (provider, what, response, mutates) =>
    statusError(provider, what, response, mutates, { text: reasonOf(response), hint: HINTS[response.status] }),
  addressHint: usualAddress("deSEC's is https://desec.io/api/v1"),
}

/** Maximum errors, nesting and characters of a reason in a message. */
const MAX_ERRORS = 3
const MAX_DEPTH = 5
const MAX_REASON = 500

/** The keys of an error: those of the service, and the fields of domains and RRsets. */
const FIELDS = new Set(['detail', 'non_field_errors', 'name', 'subname', 'type', 'ttl', 'records'])

/** The texts of an error: `detail`, those of fields, or those of the items of a bulk request, which are numbered from 0. */
function reasonOf(response: HttpResponse): string | null {
  const texts = readErrorBody(response, (body) =>
    Array.isArray(body) ? body.flatMap((item, index) => textsOf(item).map((text) => `item ${index}: ${text}`)) : textsOf(body),
  )
  return texts?.slice(0, MAX_ERRORS).join('; ').slice(0, MAX_REASON) || null
}

function textsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!Array.isArray(value) && !FIELDS.has(key)) return []
    const texts = textsOf(inner, depth + 1)
    return Array.isArray(value) || key === 'detail' || key === 'non_field_errors' ? texts : texts.map((text) => `${key}: ${text}`)
  })
}

const readList = <T>(request: SendAndCheck, provider: string, call: ApiRequest, shape: (item: unknown) => T): Promise<T[]> =>
  readLinkedPages(`${provider}: ${call.what}`, async (cursor: string | null) => {
    const query = { ...call.query, cursor: cursor ?? '' }
    const { value, headers } = await request({ ...call, query }, (body) => listOf(body, 'the list').map(shape))
    return { items: value, next: nextCursor(headers['link'] ?? '') }
  })

/** The cursor of the next page (RFC 8288); null on the last one. Only the cursor of the address is used. */
function nextCursor(link: string): string | null {
  const [, address] = /<([^<>]{1,4000})>;\s*rel="next"/.exec(link) ?? []
  return address === undefined ? null : new URLSearchParams(address.slice(address.indexOf('?') + 1)).get('cursor')
}

export function domainShape(value: unknown): ApiDomain {
  const what = 'a domain'
  const fields = fieldsOf(value, what)
  return { name: textOf(fields, 'name', what), minimumTtl: wholeNumberOf(fields, 'minimum_ttl', what) }
}

export function rrsetShape(value: unknown): ApiRrset {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  const records = listOf(fields['records'], 'the records of a record set').map((record) => {
    if (typeof record !== 'string') throw new ShapeError('a record is not a text')
    return record
  })
  return { name: textOf(fields, 'name', what), type: textOf(fields, 'type', what), ttl: wholeNumberOf(fields, 'ttl', what), records }
}
