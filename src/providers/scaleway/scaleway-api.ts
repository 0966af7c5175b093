/** A client of Scaleway's Domains and DNS API v2beta1: errors, complete lists and response bodies. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError, tokenHint, usualAddress } from '../api-errors.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { type Fields, fieldsOf, idOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { readPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiZone {
  /** The zone: `subdomain` and `domain` without the final dot. */
  readonly name: string
  /** The domain of the account that the zone belongs to. */
  readonly domain: string
  readonly project: string
}

export interface ApiRecord {
  readonly id: string
  /** Relative to the zone; empty at its apex. */
  readonly name: string
  readonly type: string
  readonly data: string
  /** Seconds. */
  readonly ttl: number
  readonly comment: string | null
  /** The field that makes the record a dynamic one; null for a plain record. */
  readonly config: string | null
}

export interface ScalewayApi {
  readonly request: SendAndCheck
  /** Reads all pages of a list. `key` names it in the response, `identity` tells its items apart. */
  list<T>(request: ApiRequest, list: ListShape<T>): Promise<T[]>
  close(): Promise<void>
}

export interface ListShape<T> {
  readonly key: 'dns_zones' | 'records'
  readonly pageSize: number
  readonly parameters?: readonly [name: string, value: string][]
  readonly shape: (item: unknown) => T
  readonly identity: (item: T) => string
}

export function createScalewayApi(connection: ApiConnection): ScalewayApi {
  const { request, close } = createJsonApi(connection, { 'x-auth-token': connection.token }, SCALEWAY_DIALECT)
  return { request, list: (call, list) => readList(request, connection.provider, call, list), close }
}

/** The answer about a zone that does not exist, or that belongs to others. */
export const NO_ZONE = 'domain not found'

const KEY_HINT = tokenHint(
  'needs the permission set DomainsDNSFullAccess for the project of the zone; DomainsDNSReadOnly is enough for plans',
  'secret key',
)

const SCALEWAY_DIALECT: ApiDialect = {
  errorOfResponse(provider, what, response, mutates) {
    const { type, message, text } = reasonOf(response)
    const code = message === NO_ZONE ? 'provider-not-found' : type === 'quotas_exceeded' ? 'limit-exceeded' : undefined
    return statusError(provider, what, response, mutates, { text, code, hint: KEY_HINT })
  },
  // An earlier change of the zone is not published yet.
  isBusy: (response) => response.status === 409 && reasonOf(response).type === 'transient_state',
  addressHint: usualAddress("Scaleway's is https://api.scaleway.com/domain/v2beta1"),
}

/** Maximum details and characters of a reason in a message. */
const MAX_DETAILS = 3
const MAX_REASON = 500

function reasonOf(response: HttpResponse): { readonly type: string; readonly message: string; readonly text: string | null } {
  const stated = readErrorBody(response, (value) => {
    const body = value as Fields
    const { type, message } = body
    if (typeof message !== 'string' || (typeof type !== 'string' && message !== NO_ZONE)) return null
    const details = Array.isArray(body['details']) ? (body['details'] as readonly Fields[]).slice(0, MAX_DETAILS) : []
    const texts = details.map((detail) =>
      ['argument_name', 'resource', 'action', 'help_message', 'reason']
        .flatMap((key) => (detail[key] ? [String(detail[key])] : []))
        .join(' '),
    )
    return { type: String(type ?? ''), message, text: [message, ...texts].join('; ').slice(0, MAX_REASON) }
  })
  return stated ?? { type: '', message: '', text: null }
}

/** Reads all pages. */
const readList = <T>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  { key, pageSize, parameters = [], shape, identity }: ListShape<T>,
): Promise<T[]> =>
  readPages(
    `${provider}: ${call.what}`,
    async (page) => {
      const query = new URLSearchParams([...parameters, ['page', String(page)], ['page_size', String(pageSize)]])
      const { value } = await request({ ...call, path: `${call.path}?${query.toString()}` }, (body) => {
        const fields = fieldsOf(body, 'the response')
        const total = wholeNumberOf(fields, 'total_count', 'the response')
        const items = listOf(fields[key], key).map(shape)
        // The service may send fewer items per page than were asked for.
        return { items, total, pages: items.length === 0 ? 0 : Math.ceil(total / items.length) }
      })
      return value
    },
    identity,
  )

export function zoneShape(value: unknown): ApiZone {
  const what = 'a zone'
  const fields = fieldsOf(value, what)
  const domain = textOf(fields, 'domain', what)
  const subdomain = textOf(fields, 'subdomain', what)
  return { name: subdomain === '' ? domain : `${subdomain}.${domain}`, domain, project: textOf(fields, 'project_id', what) }
}

const ID = /^[0-9A-Za-z-]{1,64}$/
const CONFIGS = ['geo_ip_config', 'http_service_config', 'weighted_config', 'view_config'] as const

export function recordShape(value: unknown): ApiRecord {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  return {
    id: idOf(fields, 'id', what, ID),
    name: textOf(fields, 'name', what),
    type: textOf(fields, 'type', what).toUpperCase(),
    data: textOf(fields, 'data', what),
    ttl: wholeNumberOf(fields, 'ttl', what),
    comment: typeof fields['comment'] === 'string' ? fields['comment'] : null,
    config: CONFIGS.find((key) => fields[key] != null) ?? null,
  }
}
