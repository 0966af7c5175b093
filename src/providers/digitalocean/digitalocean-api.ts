/** A client of DigitalOcean's API v2: errors, complete lists, domains and records. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, describeBody } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { ProviderError } from '../provider.ts'
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

const CODES = {
  401: 'provider-unauthorized',
  403: 'provider-forbidden',
  404: 'provider-not-found',
  409: 'provider-conflict',
  413: 'limit-exceeded',
  429: 'provider-rate-limited',
} as const

const TOKEN_HINT = 'the token needs the scopes domain:read, domain:create, domain:update and domain:delete'

const DIGITALOCEAN_DIALECT: ApiDialect = {
  errorOfResponse(provider, what, response, mutates) {
    const { status } = response
    const code = CODES[status as keyof typeof CODES] ?? (status < 500 ? 'provider-rejected' : 'provider-failed')
    return new ProviderError(code, `${provider}: ${what}: ${status} ${reasonOf(response)}`, {
      status: String(status),
      ambiguous: mutates && (status >= 500 || status === 408),
      // After a gateway's timeout the server behind it may still be working.
      mayCompleteLater: mutates && status >= 504,
      hint: code === 'provider-unauthorized' || code === 'provider-forbidden' ? TOKEN_HINT : undefined,
    })
  },
  addressHint: (provider) =>
    `check base_url of ${provider}: DigitalOcean's is https://api.digitalocean.com/v2, which is used without the setting`,
  startHint: 'start the server',
}

/** Maximum characters of a reason in a message. */
const MAX_REASON = 500

function reasonOf(response: HttpResponse): string {
  try {
    const { id, message } = JSON.parse(response.text) as { readonly id?: unknown; readonly message?: unknown }
    if (typeof message === 'string') return `${message} (${String(id)})`.slice(0, MAX_REASON)
  } catch {
    // No JSON of the API: described by its type below.
  }
  return `the response is not from the API (${describeBody(response)})`
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
