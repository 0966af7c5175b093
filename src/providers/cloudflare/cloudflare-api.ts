/** A client of Cloudflare's API v4: errors, complete lists and response bodies. */
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { bodyDialect, tokenHint } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { fieldsOf, idOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { numberedLists } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export type CloudflareApi = ReturnType<typeof createCloudflareApi>

export function createCloudflareApi(connection: ApiConnection) {
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIALECT)
  const list = numberedLists(connection.provider, request, ({ result_info }) => {
    const info = fieldsOf(result_info, 'result_info')
    return { pages: wholeNumberOf(info, 'total_pages', 'result_info'), total: wholeNumberOf(info, 'total_count', 'result_info') }
  })
  return {
    /** The shape is that of the `result` of a response. */
    request: <T>(call: ApiRequest, shape: (result: unknown) => T): Promise<T> =>
      request(call, (body) => shape(fieldsOf(body, 'the response')['result'])),
    list: <T extends { readonly id: string }>(call: ApiRequest, perPage: number, shape: (item: unknown) => T): Promise<T[]> =>
      list(call, { key: 'result', perPage, shape, idOf: ({ id }) => id }),
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

/** Maximum errors of a reason in a message. */
const MAX_ERRORS = 3

const DIALECT = bodyDialect("Cloudflare's is https://api.cloudflare.com/client/v4", (body) => {
  const { success, errors } = body as { readonly success: unknown; readonly errors: readonly { code: unknown; message: unknown }[] }
  if (success !== false) return null
  const code = errors[0]?.code
  const texts = errors
    .slice(0, MAX_ERRORS)
    .flatMap(({ code: own, message }) => (typeof message === 'string' ? `${message}${typeof own === 'number' ? ` (${own})` : ''}` : []))
  return {
    text: texts.join('; '),
    code: typeof code === 'number' ? OWN_CODES[code] : undefined,
    // A wrong token may have the status of one that lacks a permission.
    hint: (stated) => TOKEN_HINT(stated === 'provider-forbidden' ? 'provider-unauthorized' : stated),
  }
})

/** An identifier, which is a part of paths. */
export const ID = /^[A-Za-z0-9_-]{1,64}$/

export type ApiZone = ReturnType<typeof zoneShape>

export function zoneShape(value: unknown) {
  const fields = fieldsOf(value, 'a zone')
  const { type, status, name_servers: given, vanity_name_servers: vanity } = fields
  const [own = [], other = []] = [vanity, given].map((names) =>
    Array.isArray(names) ? names.filter((one: unknown) => typeof one === 'string') : [],
  )
  return {
    id: idOf(fields, 'id', 'a zone', ID),
    /** Without the final dot. */
    name: textOf(fields, 'name', 'a zone'),
    /** `full`, `partial`, `secondary` or `internal`. */
    type: typeof type === 'string' ? type : 'full',
    /** `initializing`, `pending` until its parent delegates it, `active` or `moved`; older zones may have others. Empty if the answer does not have it. */
    status: typeof status === 'string' ? status : '',
    /** Whether Cloudflare only serves its records, and proxies none. */
    isPaused: fields['paused'] === true,
    /** The name servers that the account or Cloudflare gives the zone; empty if the answer does not have them. */
    nameServers: own.length > 0 ? own : other,
  }
}

export type ApiRecord = ReturnType<typeof recordShape>

export function recordShape(value: unknown) {
  const fields = fieldsOf(value, 'a record')
  const { comment, tags, settings, data, priority, meta } = fields
  return {
    id: idOf(fields, 'id', 'a record', ID),
    /** Absolute, without the final dot. */
    name: textOf(fields, 'name', 'a record'),
    type: textOf(fields, 'type', 'a record'),
    content: typeof fields['content'] === 'string' ? fields['content'] : '',
    priority: typeof priority === 'number' ? priority : null,
    /** The parts of structured rdata; null if the API sends none. */
    data: data == null ? null : fieldsOf(data, 'data'),
    /** Seconds; 1 if Cloudflare chooses. */
    ttl: wholeNumberOf(fields, 'ttl', 'a record'),
    proxied: fields['proxied'] === true,
    comment: typeof comment === 'string' && comment !== '' ? comment : null,
    tags: tags == null ? [] : listOf(tags, 'tags').map(String),
    settings: settings == null ? {} : fieldsOf(settings, 'settings'),
    /** Whether Cloudflare manages the record itself, as for Email Routing, and refuses every change of it. */
    isReadOnly: meta != null && fieldsOf(meta, 'meta')['read_only'] === true,
  }
}
