/** A client of Cloudflare's API v4: errors, complete lists and response bodies. */
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError, tokenHint, usualAddress } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, idOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { type Page, readPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiZone {
  readonly id: string
  /** Without the final dot. */
  readonly name: string
  /** `full`, `partial`, `secondary` or `internal`. */
  readonly type: string
  /** `initializing`, `pending` until its parent delegates it, `active` or `moved`; older zones may have others. Empty if the answer does not have it. */
  readonly status: string
  /** Whether Cloudflare only serves its records, and proxies none. */
  readonly isPaused: boolean
  /** The name servers that the account or Cloudflare gives the zone; empty if the answer does not have them. */
  readonly nameServers: readonly string[]
}

export interface ApiRecord {
  readonly id: string
  /** Absolute, without the final dot. */
  readonly name: string
  readonly type: string
  readonly content: string
  readonly priority: number | null
  /** The parts of structured rdata; null if the API sends none. */
  readonly data: Fields | null
  /** Seconds; 1 if Cloudflare chooses. */
  readonly ttl: number
  readonly proxied: boolean
  readonly comment: string | null
  readonly tags: readonly string[]
  readonly settings: Fields
  /** Whether Cloudflare manages the record itself, as for Email Routing, and refuses every change of it. */
  readonly isReadOnly: boolean
}

export interface CloudflareApi {
  /** The `result` of a response. */
  request<T>(request: ApiRequest, shape: (result: unknown) => T): Promise<T>
  /** Reads all pages of a list. */
  list<T extends { readonly id: string }>(request: ApiRequest, pageSize: number, shape: (item: unknown) => T): Promise<T[]>
  close(): Promise<void>
}

export function createCloudflareApi(connection: ApiConnection): CloudflareApi {
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, CLOUDFLARE_DIALECT)
  return {
    request: async (call, shape) => (await request(call, (body) => shape(fieldsOf(body, 'the response')['result']))).value,
    list: (call, pageSize, shape) =>
      readPages(
        `${connection.provider}: ${call.what}`,
        async (page) =>
          (await request({ ...call, query: { ...call.query, page, per_page: pageSize } }, (body) => pageShape(body, shape))).value,
        ({ id }) => id,
      ),
    close,
  }
}

/** Cloudflare's codes of a malformed token, a full zone, and a zone that exists already. */
const OWN_CODES: Readonly<Record<number, DiagnosticCode>> = {
  6003: 'provider-unauthorized',
  81045: 'limit-exceeded',
  1061: 'provider-conflict',
}

const TOKEN_HINT = tokenHint(
  'needs the permissions Zone:Read and DNS:Edit for the zone; to create and delete zones, Zone:Edit for all zones of the account',
)

const CLOUDFLARE_DIALECT: ApiDialect = {
  errorOfResponse(provider, what, response, mutates) {
    const { code: apiCode, text } = reasonOf(response)
    const code = apiCode === null ? undefined : OWN_CODES[apiCode]
    // A wrong token may have the status of one that lacks a permission.
    const hint = (own: DiagnosticCode): string | undefined => TOKEN_HINT(own === 'provider-forbidden' ? 'provider-unauthorized' : own)
    return statusError(provider, what, response, mutates, { text, code, hint })
  },
  addressHint: usualAddress("Cloudflare's is https://api.cloudflare.com/client/v4"),
}

/** Maximum errors and characters of a reason in a message. */
const MAX_ERRORS = 3
const MAX_REASON = 500

function reasonOf(response: HttpResponse): { readonly code: number | null; readonly text: string | null } {
  const stated = readErrorBody(response, (body) => {
    const { success, errors } = body as { readonly success: unknown; readonly errors: readonly { code: unknown; message: unknown }[] }
    const code = errors[0]?.code
    if (success !== false) return null
    const texts = errors
      .slice(0, MAX_ERRORS)
      .flatMap(({ code: own, message }) => (typeof message === 'string' ? `${message}${typeof own === 'number' ? ` (${own})` : ''}` : []))
    return { code: typeof code === 'number' ? code : null, text: texts.join('; ').slice(0, MAX_REASON) || null }
  })
  return stated ?? { code: null, text: null }
}

function pageShape<T>(body: unknown, shape: (item: unknown) => T): Page<T> {
  const { result, result_info } = fieldsOf(body, 'the response')
  const info = fieldsOf(result_info, 'result_info')
  return {
    items: listOf(result, 'result').map(shape),
    pages: wholeNumberOf(info, 'total_pages', 'result_info'),
    total: wholeNumberOf(info, 'total_count', 'result_info'),
  }
}

/** An identifier, which is a part of paths. */
export const ID = /^[A-Za-z0-9_-]{1,64}$/

export function zoneShape(value: unknown): ApiZone {
  const fields = fieldsOf(value, 'a zone')
  const { type, status, name_servers: given, vanity_name_servers: vanity } = fields
  const [own = [], other = []] = [vanity, given].map((names) =>
    Array.isArray(names) ? names.filter((one) => typeof one === 'string') : [],
  )
  return {
    id: idOf(fields, 'id', 'a zone', ID),
    name: textOf(fields, 'name', 'a zone'),
    type: typeof type === 'string' ? type : 'full',
    status: typeof status === 'string' ? status : '',
    isPaused: fields['paused'] === true,
    nameServers: own.length > 0 ? own : other,
  }
}

export function recordShape(value: unknown): ApiRecord {
  const fields = fieldsOf(value, 'a record')
  const { comment, tags, settings, data, priority, meta } = fields
  return {
    id: idOf(fields, 'id', 'a record', ID),
    name: textOf(fields, 'name', 'a record'),
    type: textOf(fields, 'type', 'a record'),
    content: typeof fields['content'] === 'string' ? fields['content'] : '',
    priority: typeof priority === 'number' ? priority : null,
    data: data == null ? null : fieldsOf(data, 'data'),
    ttl: wholeNumberOf(fields, 'ttl', 'a record'),
    proxied: fields['proxied'] === true,
    comment: typeof comment === 'string' && comment !== '' ? comment : null,
    tags: tags == null ? [] : listOf(tags, 'tags').map(String),
    settings: settings == null ? {} : fieldsOf(settings, 'settings'),
    isReadOnly: meta != null && fieldsOf(meta, 'meta')['read_only'] === true,
  }
}
