/** A client of DigitalOcean's API v2: errors, complete lists, domains and records. */
import { bodyDialect, tokenHint } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { numberedLists } from '../read-pages.ts'

/** Items per page: the maximum of the API. */
export const PER_PAGE = 200

export type DigitalOceanApi = ReturnType<typeof createDigitalOceanApi>

export function createDigitalOceanApi(connection: ApiConnection) {
  const api = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIALECT)
  const list = numberedLists(connection.provider, api.request, ({ meta }) => {
    const total = wholeNumberOf(fieldsOf(meta, 'meta'), 'total', 'meta')
    return { total, pages: Math.max(1, Math.ceil(total / PER_PAGE)) }
  })
  return { ...api, list }
}

const DIALECT = bodyDialect(
  "DigitalOcean's is https://api.digitalocean.com/v2",
  (body) => {
    const { id, message } = body as Fields
    return typeof id === 'string' && typeof message === 'string' ? `${message} (${id})` : null
  },
  tokenHint('needs the scopes domain:read, domain:create, domain:update and domain:delete'),
)

/** The name of a domain is without the final dot. */
export const domainShape = (value: unknown) => ({ name: textOf(fieldsOf(value, 'a domain'), 'name', 'a domain') })

export type ApiRecord = ReturnType<typeof recordShape>

export function recordShape(value: unknown) {
  const fields = fieldsOf(value, 'a record')
  const { tag } = fields
  return {
    id: wholeNumberOf(fields, 'id', 'a record'),
    /** Relative to the domain; `@` for the apex. */
    name: textOf(fields, 'name', 'a record'),
    type: textOf(fields, 'type', 'a record'),
    /** Names without the final dot; `@` for the domain itself. */
    data: textOf(fields, 'data', 'a record'),
    priority: numberOrNull(fields, 'priority'),
    port: numberOrNull(fields, 'port'),
    weight: numberOrNull(fields, 'weight'),
    flags: numberOrNull(fields, 'flags'),
    tag: typeof tag === 'string' ? tag : null,
    /** Seconds. */
    ttl: wholeNumberOf(fields, 'ttl', 'a record'),
  }
}

const numberOrNull = (fields: Fields, key: string): number | null => (fields[key] == null ? null : wholeNumberOf(fields, key, 'a record'))
