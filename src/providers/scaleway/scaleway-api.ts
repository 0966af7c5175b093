/** A client of Scaleway's Domains and DNS API v2beta1: errors, complete lists and response bodies. */
import { bodyDialect, tokenHint } from '../api-errors.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { type Fields, fieldsOf, idOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { numberedLists, totalsOf } from '../read-pages.ts'

export type ScalewayApi = ReturnType<typeof createScalewayApi>

export function createScalewayApi(connection: ApiConnection) {
  const api = createJsonApi(connection, { 'x-auth-token': connection.token }, DIALECT)
  const totals = (fields: Fields, count: number) => totalsOf(wholeNumberOf(fields, 'total_count', 'the response'), count)
  return { ...api, list: numberedLists(connection.provider, api.request, totals, 'page_size') }
}

/** The answer about a zone that does not exist, or that belongs to others. */
const NO_ZONE = 'domain not found'

const KEY_HINT = tokenHint(
  'needs the permission set DomainsDNSFullAccess for the project of the zone; DomainsDNSReadOnly is enough for plans',
  'secret key',
)

/** Maximum details of an error in a message. */
const MAX_DETAILS = 3

const DIALECT = bodyDialect(
  "Scaleway's is https://api.scaleway.com/domain/v2beta1",
  (body, { status }) => {
    const { type, message, details } = body as Fields
    if (typeof message !== 'string' || (typeof type !== 'string' && message !== NO_ZONE)) return null
    const texts = (Array.isArray(details) ? (details as readonly Fields[]).slice(0, MAX_DETAILS) : []).map((detail) =>
      ['argument_name', 'resource', 'action', 'help_message', 'reason']
        .flatMap((key) => (detail[key] ? [String(detail[key])] : []))
        .join(' '),
    )
    return {
      text: [message, ...texts].join('; '),
      code: message === NO_ZONE ? 'provider-not-found' : type === 'quotas_exceeded' ? 'limit-exceeded' : undefined,
      // An earlier change of the zone is not published yet.
      isBusy: status === 409 && type === 'transient_state',
    }
  },
  KEY_HINT,
)

export type ApiZone = ReturnType<typeof zoneShape>

/** A zone is `subdomain` and `domain` without the final dot; `domain` belongs to the account. */
export function zoneShape(value: unknown) {
  const what = 'a zone'
  const fields = fieldsOf(value, what)
  const domain = textOf(fields, 'domain', what)
  const subdomain = textOf(fields, 'subdomain', what)
  return { name: subdomain === '' ? domain : `${subdomain}.${domain}`, domain, project: textOf(fields, 'project_id', what) }
}

const ID = /^[0-9A-Za-z-]{1,64}$/
const CONFIGS = ['geo_ip_config', 'http_service_config', 'weighted_config', 'view_config'] as const

export type ApiRecord = ReturnType<typeof recordShape>

export function recordShape(value: unknown) {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  return {
    id: idOf(fields, 'id', what, ID),
    /** Relative to the zone; empty at its apex. */
    name: textOf(fields, 'name', what),
    type: textOf(fields, 'type', what).toUpperCase(),
    data: textOf(fields, 'data', what),
    /** Seconds. */
    ttl: wholeNumberOf(fields, 'ttl', what),
    comment: typeof fields['comment'] === 'string' ? fields['comment'] : null,
    /** The field that makes the record a dynamic one; null for a plain record. */
    config: CONFIGS.find((key) => fields[key] != null) ?? null,
  }
}
