/** A client of the PowerDNS HTTP API: its paths, errors and response bodies. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, readErrorBody, statusError } from '../api-errors.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { type Fields, fieldsOf, idOf, listOf, ShapeError, textOf, wholeNumberOf } from '../json-shape.ts'

export interface PowerDnsApi {
  readonly request: SendAndCheck
  /** The path of the server: `/api/v1/servers/localhost`. */
  readonly path: string
  close(): Promise<void>
}

/** `server`: the identifier of the server at the API, `localhost` for PowerDNS itself. */
export function createPowerDnsApi(connection: ApiConnection, server: string): PowerDnsApi {
  const { request, close } = createJsonApi(connection, { 'x-api-key': connection.token, accept: 'application/json' }, POWERDNS_DIALECT)
  return { request, close, path: `/api/v1/servers/${encodeURIComponent(server)}` }
}

const addressHint = (provider: string): string =>
  `check base_url and server of ${provider}: the API of PowerDNS is at http://HOST:8081 or behind a proxy, without /api/v1`

const POWERDNS_DIALECT: ApiDialect = {
  errorOfResponse: (provider, what, response, mutates) =>
    statusError(provider, what, response, mutates, { text: reasonOf(response), hint: hintFor(provider, response.status) }),
  addressHint,
  startHint: 'start PowerDNS with "api=yes" and "webserver=yes"',
}

/** Maximum characters of a reason in a message. */
const MAX_REASON = 500

function reasonOf(response: HttpResponse): string | null {
  return readErrorBody(response, (body) => {
    const { error } = body as { readonly error?: unknown }
    return typeof error === 'string' ? error.slice(0, MAX_REASON) : null
  })
}

function hintFor(provider: string, status: number): string | undefined {
  if (status === 401) return 'the key is not the "api-key" of the server'
  if (status === 404) return addressHint(provider)
  if (status === 400 || status === 413) return 'the server refuses bodies above its "webserver-max-bodysize" (2 megabytes if it is not set)'
  // The response does not have the row that the parser of the server refuses, and "pdnsutil check-zone" accepts it.
  if (status === 500)
    return 'the database may have a row that the server cannot read, such as a TXT record without quotes: the log of the server quotes it'
  return undefined
}

function list<T>(fields: Fields, key: string, what: string, shape: (item: unknown) => T): T[] {
  const value = fields[key] ?? []
  if (!Array.isArray(value)) throw new ShapeError(`${what} has no list "${key}"`)
  return value.map(shape)
}

const textItem = (value: unknown): string => {
  if (typeof value !== 'string') throw new ShapeError('a list of texts has another value')
  return value
}

const ID = /^[A-Za-z0-9=._-]{1,1100}$/

export type ApiZone = ReturnType<typeof zoneShape>

/** A zone; without RRsets in lists. */
export function zoneShape(value: unknown) {
  const what = 'a zone'
  const fields = fieldsOf(value, what)
  return {
    /** Its name with some characters escaped, for paths. */
    id: idOf(fields, 'id', what, ID),
    name: textOf(fields, 'name', what),
    /** `Master`, `Native`, `Slave`, …; later versions may write `Primary` and `Secondary`. */
    kind: textOf(fields, 'kind', what),
    masters: list(fields, 'masters', what, textItem),
    dnssec: fields['dnssec'] === true,
    /** How the server raises the serial after a change by the API; empty if it does not. */
    soaEditApi: typeof fields['soa_edit_api'] === 'string' ? fields['soa_edit_api'] : '',
    /** Whether the zone's own setting has the server rectify it after each change. */
    rectifies: fields['api_rectify'] === true,
    rrsets: list(fields, 'rrsets', what, rrsetShape),
  }
}

/** A zone whose record sets were requested: without the list, it would seem to be empty. */
export function zoneWithRecordsShape(value: unknown): ApiZone {
  if (!Array.isArray(fieldsOf(value, 'a zone')['rrsets'])) throw new ShapeError('a zone has no list "rrsets"')
  return zoneShape(value)
}

export type ApiRrset = ReturnType<typeof rrsetShape>

function rrsetShape(value: unknown) {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  return {
    /** Absolute. */
    name: textOf(fields, 'name', what),
    type: textOf(fields, 'type', what),
    ttl: wholeNumberOf(fields, 'ttl', what),
    records: list(fields, 'records', what, recordShape),
  }
}

export type ApiRecord = ReturnType<typeof recordShape>

function recordShape(value: unknown) {
  const fields = fieldsOf(value, 'a record')
  return { content: textOf(fields, 'content', 'a record'), disabled: fields['disabled'] === true }
}

export const zonesShape = (value: unknown): ApiZone[] => listOf(value, 'the list of zones').map(zoneShape)

/** Name and version of the program. */
export function serverShape(value: unknown) {
  const fields = fieldsOf(value, 'the server')
  return { program: textOf(fields, 'daemon_type', 'the server'), version: textOf(fields, 'version', 'the server').slice(0, 50) }
}

/** The names of TSIG keys, without their final dot. */
export function keysShape(value: unknown): string[] {
  return listOf(value, 'the list of keys').map((key) => textOf(fieldsOf(key, 'a key'), 'name', 'a key').replace(/\.$/, ''))
}
