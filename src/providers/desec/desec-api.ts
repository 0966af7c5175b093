/** A client of deSEC's API v1: errors, complete lists and response bodies. */
import { bodyDialect } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { fieldsOf, listOf, textOf, textsOf, wholeNumberOf } from '../json-shape.ts'
import { readLinkedPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export type DesecApi = ReturnType<typeof createDesecApi>

export function createDesecApi(connection: ApiConnection) {
  const api = createJsonApi(connection, { authorization: `Token ${connection.token}` }, DIALECT)
  return {
    ...api,
    /** Reads all pages of a list. */
    list: <T>(call: ApiRequest, shape: (item: unknown) => T): Promise<T[]> =>
      readLinkedPages(`${connection.provider}: ${call.what}`, (cursor: string | null) =>
        api.request({ ...call, query: { cursor: cursor ?? '' } }, (body, { headers }) => ({
          items: listOf(body, 'the list').map(shape),
          next: nextCursor(headers['link'] ?? ''),
        })),
      ),
  }
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'create a token in the account at deSEC, under Token Management',
  403: 'the token or the account does not permit it: see perm_create_domain, perm_delete_domain and the policies of the token',
  429: 'deSEC accepts 15 changes of a domain in a minute, 100 in an hour and 300 in a day',
}

/** `detail`, the texts of fields, or those of the items of a bulk request, which are numbered from 0. */
const DIALECT = bodyDialect("deSEC's is https://desec.io/api/v1", (body, { status }) => {
  const texts = Array.isArray(body)
    ? body.flatMap((item, index) => reasonsOf(item).map((text) => `item ${index}: ${text}`))
    : reasonsOf(body)
  return { text: texts.slice(0, MAX_ERRORS).join('; '), hint: HINTS[status] }
})

/** Maximum errors in a message, and their nesting. */
const MAX_ERRORS = 3
const MAX_DEPTH = 5

/** The keys of an error: those of the service, and the fields of domains and RRsets. */
const FIELDS = new Set(['detail', 'non_field_errors', 'name', 'subname', 'type', 'ttl', 'records'])

function reasonsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (!Array.isArray(value) && !FIELDS.has(key)) return []
    const texts = reasonsOf(inner, depth + 1)
    return Array.isArray(value) || key === 'detail' || key === 'non_field_errors' ? texts : texts.map((text) => `${key}: ${text}`)
  })
}

/** The cursor of the next page (RFC 8288); null on the last one. Only the cursor of the address is used. */
function nextCursor(link: string): string | null {
  const [, address] = /<([^<>]{1,4000})>;\s*rel="next"/.exec(link) ?? []
  return address === undefined ? null : new URLSearchParams(address.slice(address.indexOf('?') + 1)).get('cursor')
}

/** The name is without the final dot, the TTL in seconds. */
export function domainShape(value: unknown) {
  const fields = fieldsOf(value, 'a domain')
  return { name: textOf(fields, 'name', 'a domain'), minimumTtl: wholeNumberOf(fields, 'minimum_ttl', 'a domain') }
}

/** The name is absolute, the TTL in seconds. */
export function rrsetShape(value: unknown) {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  const records = textsOf(fields['records'], 'records')
  return { name: textOf(fields, 'name', what), type: textOf(fields, 'type', what), ttl: wholeNumberOf(fields, 'ttl', what), records }
}
