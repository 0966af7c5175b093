/** A client of DigitalOcean's API v2: errors, complete lists, domains and records. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError, tokenHint, usualAddress } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { type Page, readPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiRecord {
  readonly id: number
  /** Relative to the domain; `@` for the apex. */
  readonly name: string
  readonly type: string
  /** Names without the final dot; `@` for the domain itself. */
  readonly data: string
  readonly priority: number | null
  readonly port: number | null
  readonly weight: number | null
  readonly flags: number | null
  readonly tag: string | null
  /** Seconds. */
  readonly ttl: number
}

export interface DigitalOceanApi {
  /** Sends a request and converts the body of the response. */
  request<T>(request: ApiRequest, shape: (body: unknown) => T): Promise<T>
  /** Reads all pages of the list `key`. */
  list<T>(request: ApiRequest, key: 'domains' | 'domain_records', shape: (item: unknown) => T, idOf: (item: T) => unknown): Promise<T[]>
  close(): Promise<void>
}

/** Items per page: the maximum of the API. */
const PER_PAGE = 200

export function createDigitalOceanApi(connection: ApiConnection): DigitalOceanApi {
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIGITALOCEAN_DIALECT)
  return {
    request: async (call, shape) => (await request(call, shape)).value,
    list: (call, key, shape, idOf) =>
      readPages(
        `${connection.provider}: ${call.what}`,
        async (page) =>
          (await request({ ...call, query: { ...call.query, page, per_page: PER_PAGE } }, (body) => pageShape(body, key, shape))).value,
        idOf,
      ),
    close,
  }
}

const TOKEN_HINT = tokenHint('needs the scopes domain:read, domain:create, domain:update and domain:delete')

const DIGITALOCEAN_DIALECT: ApiDialect = {
  errorOfResponse: (provider, what, response, mutates) =>
    statusError(provider, what, response, mutates, { text: reasonOf(response), hint: TOKEN_HINT }),
  addressHint: usualAddress("DigitalOcean's is https://api.digitalocean.com/v2"),
}

/** Maximum characters of a reason in a message. */
const MAX_REASON = 500

function reasonOf(response: HttpResponse): string | null {
  return readErrorBody(response, (body) => {
    const { id, message } = body as { readonly id?: unknown; readonly message?: unknown }
    return typeof id === 'string' && typeof message === 'string' ? `${message} (${id})`.slice(0, MAX_REASON) : null
  })
}

function pageShape<T>(body: unknown, key: string, shape: (item: unknown) => T): Page<T> {
  const fields = fieldsOf(body, 'the response')
  const total = wholeNumberOf(fieldsOf(fields['meta'], 'meta'), 'total', 'meta')
  return { items: listOf(fields[key], key).map(shape), pages: Math.max(1, Math.ceil(total / PER_PAGE)), total }
}

/** The name of a domain, without the final dot. */
export const domainShape = (value: unknown): string => textOf(fieldsOf(value, 'a domain'), 'name', 'a domain')

export function recordShape(value: unknown): ApiRecord {
  const fields = fieldsOf(value, 'a record')
  const { tag } = fields
  return {
    id: wholeNumberOf(fields, 'id', 'a record'),
    name: textOf(fields, 'name', 'a record'),
    type: textOf(fields, 'type', 'a record'),
    data: textOf(fields, 'data', 'a record'),
    priority: numberOrNull(fields, 'priority'),
    port: numberOrNull(fields, 'port'),
    weight: numberOrNull(fields, 'weight'),
    flags: numberOrNull(fields, 'flags'),
    tag: typeof tag === 'string' ? tag : null,
    ttl: wholeNumberOf(fields, 'ttl', 'a record'),
  }
}

const numberOrNull = (fields: Fields, key: string): number | null => (fields[key] == null ? null : wholeNumberOf(fields, key, 'a record'))
