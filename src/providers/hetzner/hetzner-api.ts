/** A client of the Hetzner Cloud API: errors, complete lists and response bodies of zones, RRsets and actions. */
import { bodyDialect } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, listOf, ShapeError, textOf, wholeNumberOf } from '../json-shape.ts'
import { numberedLists } from '../read-pages.ts'

export type HetznerApi = ReturnType<typeof createHetznerApi>

export function createHetznerApi(connection: ApiConnection) {
  const api = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIALECT)
  const list = numberedLists(connection.provider, api.request, ({ meta }) => {
    const pagination = fieldsOf(fieldsOf(meta, 'meta')['pagination'], 'pagination')
    return {
      pages: wholeNumberOf(pagination, 'last_page', 'pagination'),
      total: wholeNumberOf(pagination, 'total_entries', 'pagination'),
    }
  })
  return { ...api, list }
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

const DIALECT = bodyDialect("Hetzner's is https://api.hetzner.cloud/v1", (body, { status }) => {
  const { code, message } = (body as Fields)['error'] as Fields
  if (typeof code !== 'string' || typeof message !== 'string') return null
  return {
    text: `${message} (${code})`,
    code: code === 'resource_limit_exceeded' ? 'limit-exceeded' : undefined,
    hint: HINTS[code],
    // Another action of the zone is running.
    isBusy: status === 423 && code === 'locked',
  }
})

const isProtectedAgainst = (fields: Fields, what: string): boolean =>
  typeof fields['protection'] === 'object' && fields['protection'] !== null && (fields['protection'] as Fields)[what] === true

export type ApiZone = ReturnType<typeof zoneShape>

export function zoneShape(value: unknown) {
  const fields = fieldsOf(value, 'a zone')
  const { primary_nameservers: primaries } = fields
  return {
    id: wholeNumberOf(fields, 'id', 'a zone'),
    /** Without the final dot. */
    name: textOf(fields, 'name', 'a zone'),
    isSecondary: fields['mode'] === 'secondary',
    /** Seconds: the TTL of RRsets without one. */
    ttl: wholeNumberOf(fields, 'ttl', 'a zone'),
    /** The primaries of a secondary zone, each with its `address`. */
    primaries: primaries == null ? [] : listOf(primaries, 'primary_nameservers').map((primary) => fieldsOf(primary, 'a primary')),
    /** Whether the zone is protected against deletion. */
    isProtected: isProtectedAgainst(fields, 'delete'),
  }
}

/** The zone of a response. */
export const zoneOf = (response: unknown): ApiZone => zoneShape(fieldsOf(response, 'the response')['zone'])

export type ApiRrset = ReturnType<typeof rrsetShape>

export function rrsetShape(value: unknown) {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  return {
    /** Relative to the zone; `@` for the apex. */
    name: textOf(fields, 'name', what),
    type: textOf(fields, 'type', what),
    /** Seconds; null for the TTL of the zone. */
    ttl: fields['ttl'] == null ? null : wholeNumberOf(fields, 'ttl', what),
    /** `value`: rdata in presentation form. Names without the final dot are relative to the zone. */
    records: listOf(fields['records'], 'records').map((item) => {
      const record = fieldsOf(item, 'a record')
      return { value: textOf(record, 'value', 'a record'), comment: typeof record['comment'] === 'string' ? record['comment'] : '' }
    }),
    /** Whether it is protected against changes. */
    isProtected: isProtectedAgainst(fields, 'change'),
  }
}

/** What becomes of an accepted change. */
export type ApiAction = ReturnType<typeof actionShape>

export function actionShape(value: unknown) {
  const fields = fieldsOf(value, 'an action')
  const status = textOf(fields, 'status', 'an action')
  if (status !== 'running' && status !== 'success' && status !== 'error')
    throw new ShapeError(`an action has the status ${JSON.stringify(status.slice(0, 50))}`)
  /** Why it failed, in Hetzner's words; null unless its status is `error`. */
  const failure = status === 'error' ? failureOf(fields['error']) : null
  return { id: wholeNumberOf(fields, 'id', 'an action'), status, failure }
}

function failureOf(error: unknown): string {
  const { message, code } = (typeof error === 'object' && error !== null ? error : {}) as Fields
  return typeof message === 'string' ? `${message} (${String(code)})`.slice(0, 500) : 'it gives no reason'
}

/** The action of a change. */
export const actionOf = (body: unknown): ApiAction => actionShape(fieldsOf(body, 'the response')['action'])
