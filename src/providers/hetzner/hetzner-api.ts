/** A client of the Hetzner Cloud API: errors, complete lists and response bodies of zones, RRsets and actions. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError, usualAddress } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, listOf, ShapeError, textOf, wholeNumberOf } from '../json-shape.ts'
import { type Page, readPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiZone {
  readonly id: number
  /** Without the final dot. */
  readonly name: string
  readonly isSecondary: boolean
  /** Seconds: the TTL of RRsets without one. */
  readonly ttl: number
  /** The primaries of a secondary zone, each with its `address`. */
  readonly primaries: readonly Fields[]
  /** Whether the zone is protected against deletion. */
  readonly isProtected: boolean
}

export interface ApiRecord {
  /** Rdata in presentation form. Names without the final dot are relative to the zone. */
  readonly value: string
  /** Empty if there is none. */
  readonly comment: string
}

export interface ApiRrset {
  /** Relative to the zone; `@` for the apex. */
  readonly name: string
  readonly type: string
  /** Seconds; null for the TTL of the zone. */
  readonly ttl: number | null
  readonly records: readonly ApiRecord[]
  /** Whether it is protected against changes. */
  readonly isProtected: boolean
}

/** What becomes of an accepted change. */
export interface ApiAction {
  readonly id: number
  readonly status: 'running' | 'success' | 'error'
  /** Why it failed, in Hetzner's words; null unless its status is `error`. */
  readonly failure: string | null
}

export interface HetznerApi {
  /** Sends a request and converts the body of the response. */
  request<T>(request: ApiRequest, shape: (body: unknown) => T): Promise<T>
  /** Reads all pages of the list `key`. */
  list<T>(request: ApiRequest, key: 'zones' | 'rrsets', shape: (item: unknown) => T, idOf: (item: T) => unknown): Promise<T[]>
  close(): Promise<void>
}

/** Items per page: the maxima of the API. */
const PER_PAGE = { zones: 50, rrsets: 100 } as const

export function createHetznerApi(connection: ApiConnection): HetznerApi {
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, HETZNER_DIALECT)
  return {
    request: async (call, shape) => (await request(call, shape)).value,
    list: (call, key, shape, idOf) =>
      readPages(
        `${connection.provider}: ${call.what}`,
        async (page) =>
          (await request({ ...call, query: { ...call.query, page, per_page: PER_PAGE[key] } }, (body) => pageShape(body, key, shape)))
            .value,
        idOf,
      ),
    close,
  }
}

/** What to do about some of the API's error codes. */
const HINTS: Readonly<Record<string, string>> = {
  unauthorized:
    'check that the token is complete and still exists: an API token of the project that has the zone, with the permission Read & Write',
  forbidden: 'the token needs the permission Read & Write',
  token_readonly: 'the token may only read: create one with the permission Read & Write',
  protected: 'remove the protection in the Hetzner Console',
  incorrect_zone_mode: 'the zone is in the other mode, primary or secondary',
}

const HETZNER_DIALECT: ApiDialect = {
  errorOfResponse(provider, what, response, mutates) {
    const { code, text } = reasonOf(response)
    return statusError(provider, what, response, mutates, {
      text,
      code: code === 'resource_limit_exceeded' ? 'limit-exceeded' : undefined,
      hint: code === null ? undefined : HINTS[code],
    })
  },
  // Another action of the zone is running.
  isBusy: (response) => response.status === 423 && reasonOf(response).code === 'locked',
  addressHint: usualAddress("Hetzner's is https://api.hetzner.cloud/v1"),
}

/** Maximum characters of a reason in a message. */
const MAX_REASON = 500

function reasonOf(response: HttpResponse): { readonly code: string | null; readonly text: string | null } {
  const stated = readErrorBody(response, (body) => {
    const { error } = body as { readonly error: { readonly code: unknown; readonly message: unknown } }
    const { code, message } = error
    if (typeof code !== 'string' || typeof message !== 'string') return null
    return { code, text: `${message} (${code})`.slice(0, MAX_REASON) }
  })
  return stated ?? { code: null, text: null }
}

function pageShape<T>(body: unknown, key: string, shape: (item: unknown) => T): Page<T> {
  const fields = fieldsOf(body, 'the response')
  const pagination = fieldsOf(fieldsOf(fields['meta'], 'meta')['pagination'], 'pagination')
  return {
    items: listOf(fields[key], key).map(shape),
    pages: wholeNumberOf(pagination, 'last_page', 'pagination'),
    total: wholeNumberOf(pagination, 'total_entries', 'pagination'),
  }
}

const isProtectedAgainst = (fields: Fields, what: string): boolean =>
  typeof fields['protection'] === 'object' && fields['protection'] !== null && (fields['protection'] as Fields)[what] === true

export function zoneShape(value: unknown): ApiZone {
  const fields = fieldsOf(value, 'a zone')
  const { primary_nameservers: primaries } = fields
  return {
    id: wholeNumberOf(fields, 'id', 'a zone'),
    name: textOf(fields, 'name', 'a zone'),
    isSecondary: fields['mode'] === 'secondary',
    ttl: wholeNumberOf(fields, 'ttl', 'a zone'),
    primaries: primaries == null ? [] : listOf(primaries, 'primary_nameservers').map((primary) => fieldsOf(primary, 'a primary')),
    isProtected: isProtectedAgainst(fields, 'delete'),
  }
}

export function rrsetShape(value: unknown): ApiRrset {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  return {
    name: textOf(fields, 'name', what),
    type: textOf(fields, 'type', what),
    ttl: fields['ttl'] == null ? null : wholeNumberOf(fields, 'ttl', what),
    records: listOf(fields['records'], 'records').map((item) => {
      const record = fieldsOf(item, 'a record')
      return { value: textOf(record, 'value', 'a record'), comment: typeof record['comment'] === 'string' ? record['comment'] : '' }
    }),
    isProtected: isProtectedAgainst(fields, 'change'),
  }
}

export function actionShape(value: unknown): ApiAction {
  const fields = fieldsOf(value, 'an action')
  const status = textOf(fields, 'status', 'an action')
  if (status !== 'running' && status !== 'success' && status !== 'error')
    throw new ShapeError(`an action has the status ${JSON.stringify(status.slice(0, 50))}`)
  return { id: wholeNumberOf(fields, 'id', 'an action'), status, failure: status === 'error' ? failureOf(fields['error']) : null }
}

function failureOf(error: unknown): string {
  const { message, code } = (typeof error === 'object' && error !== null ? error : {}) as Fields
  return typeof message === 'string' ? `${message} (${String(code)})`.slice(0, MAX_REASON) : 'it gives no reason'
}

/** The action of a change. */
export const actionOf = (body: unknown): ApiAction => actionShape(fieldsOf(body, 'the response')['action'])
