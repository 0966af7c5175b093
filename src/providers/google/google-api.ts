/** A client of the Cloud DNS API v1: tokens, errors, pages and response bodies. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { type AccessTokens, createSignedInApi } from '../access-tokens.ts'
import { type ApiDialect, bodyDialect } from '../api-errors.ts'
import { ownerOf } from '../api-records.ts'
import type { ApiConnection } from '../json-api.ts'
import { type Fields, fieldsOf, idOf, listOf, ShapeError, textOf, textsOf, wholeNumberOf } from '../json-shape.ts'
import { readLinkedPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export interface ApiRrset {
  readonly name: DomainName
  readonly type: string
  /** Seconds. */
  readonly ttl: number
  readonly rrdatas: readonly string[]
  /** The kind of its routing policy (`wrr`, `geo`, …) and the rrdata of all its items; null without a policy. */
  readonly routing: { readonly kind: string; readonly rrdatas: readonly string[] } | null
}

/** An RRset of a change. */
export type SentRrset = Omit<ApiRrset, 'routing'>

/** Items that a request for a page asks for. The service may send fewer. */
const PAGE_SIZE = 1000
const MAX_PAGE_TOKEN = 4096

export type GoogleApi = ReturnType<typeof createGoogleApi>

export function createGoogleApi(connection: ApiConnection, project: string, tokens: AccessTokens) {
  const { request, close } = createSignedInApi(connection, tokens, dialectOf(project))
  /** `path` is below the project. */
  const send = <T>(call: ApiRequest, shape: (body: unknown) => T): Promise<T> =>
    request({ ...call, path: `/dns/v1/projects/${project}${call.path}` }, shape)
  return {
    request: send,
    /** Reads all pages of the list `key`. */
    list: <T>(call: ApiRequest, key: string, shape: (item: unknown) => T): Promise<T[]> =>
      readLinkedPages(`${connection.provider}: ${call.what}`, (pageToken: string | null) => {
        const query = { ...call.query, maxResults: PAGE_SIZE, ...(pageToken !== null && { pageToken }) }
        return send({ ...call, query }, (body) => pageShape(body, key, shape))
      }),
    close,
  }
}

function pageShape<T>(body: unknown, key: string, shape: (item: unknown) => T): { readonly items: T[]; readonly next: string | null } {
  const fields = fieldsOf(body, 'the response')
  const next = fields['nextPageToken'] ?? ''
  if (typeof next !== 'string' || next.length > MAX_PAGE_TOKEN) throw new ShapeError('the token of the next page is no short text')
  // A list that is empty may be absent, but its kind is not.
  if (fields[key] === undefined && typeof fields['kind'] !== 'string') throw new ShapeError(`there is neither "${key}" nor "kind"`)
  return { items: listOf(fields[key] ?? [], key).map(shape), next: next === '' ? null : next }
}

const RATE_LIMITS: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded'])

const dialectOf = (project: string): ApiDialect =>
  bodyDialect('Cloud DNS is at https://dns.googleapis.com', (body, { status }) => {
    const { error } = body as {
      readonly error: { readonly code?: unknown; readonly message?: unknown; readonly errors?: readonly { readonly reason?: unknown }[] }
    }
    if (error.code !== status) return null
    const reason = String(error.errors?.[0]?.reason ?? '').slice(0, 100)
    const text = String(error.message ?? '').slice(0, MAX_MESSAGE)
    // A record set that another client deleted.
    const isGone = status === 404 && text.includes('entity.change.deletions')
    const isLimited = RATE_LIMITS.has(reason)
    return {
      text: reason === '' || text === '' ? text : `${text} (${reason})`,
      code: isLimited ? 'provider-rate-limited' : reason === 'quotaExceeded' ? 'limit-exceeded' : isGone ? 'provider-conflict' : undefined,
      hint: (code) => hintFor(code, reason, project),
      isBusy: status === 403 && isLimited,
    }
  })

/** Maximum characters of a message before its reason. */
const MAX_MESSAGE = 490

function hintFor(code: string, reason: string, project: string): string | undefined {
  if (reason === 'accessNotConfigured') return `enable the Cloud DNS API for the project ${project}`
  if (code === 'provider-unauthorized') return 'the token has expired, or is not one of Google'
  if (code === 'provider-forbidden')
    return `the account needs the role roles/dns.admin in the project ${project}, or roles/dns.reader to plan`
  if (code === 'provider-not-found')
    return `check the project ${project}; if it is right, another client may have deleted the zone: plan again`
  if (code === 'provider-conflict') return 'another client changed the zone; plan again to see the change'
  return undefined
}

/** Settings of zones that have no records of their own. */
const SOURCES: readonly (readonly [setting: string, source: string])[] = [
  ['forwardingConfig', 'forwards queries'],
  ['peeringConfig', 'gets its records from a peer network'],
  ['reverseLookupConfig', 'gets its records from Compute Engine'],
  ['serviceDirectoryConfig', 'gets its records from Service Directory'],
]

export type ApiZone = ReturnType<typeof zoneShape>

export function zoneShape(value: unknown) {
  const fields = fieldsOf(value, 'a zone')
  const { visibility } = fields
  return {
    id: idOf(fields, 'id', 'a zone', /^\d{1,20}$/),
    /** Absolute, with the final dot. */
    name: textOf(fields, 'dnsName', 'a zone'),
    /** Its name at the service, which is not the one in the DNS. */
    ownName: textOf(fields, 'name', 'a zone'),
    visibility: typeof visibility === 'string' ? visibility : 'public',
    /** Where its records come from, if it has none of its own: `forwards queries`. */
    source: SOURCES.find(([setting]) => fields[setting] != null)?.[1] ?? null,
  }
}

export function rrsetShape(value: unknown): ApiRrset {
  const fields = fieldsOf(value, 'a record set')
  const text = textOf(fields, 'name', 'a record set')
  return {
    name: ownerOf(text, parseAbsoluteName(text)),
    type: textOf(fields, 'type', 'a record set'),
    ttl: fields['ttl'] === undefined ? 0 : wholeNumberOf(fields, 'ttl', 'a record set'),
    rrdatas: textsOf(fields['rrdatas'] ?? [], 'rrdatas'),
    routing: fields['routingPolicy'] == null ? null : routingShape(fieldsOf(fields['routingPolicy'], 'a routing policy')),
  }
}

const POLICIES = ['wrr', 'geo', 'geoPolicy', 'wrrPolicy', 'primaryBackup'] as const

function routingShape(policy: Fields): NonNullable<ApiRrset['routing']> {
  const kind = POLICIES.find((one) => policy[one] != null) ?? 'unknown'
  const { items } = (policy[kind] ?? {}) as Fields
  const rrdatas = Array.isArray(items)
    ? items.flatMap((item: unknown) => textsOf((item as Fields | null)?.['rrdatas'] ?? [], 'rrdatas'))
    : []
  return { kind, rrdatas }
}

export type ApiChange = ReturnType<typeof changeShape>

export function changeShape(value: unknown) {
  const fields = fieldsOf(value, 'a change')
  const id = textOf(fields, 'id', 'a change')
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new ShapeError(`there is the change ${JSON.stringify(id.slice(0, 100))}`)
  return { id, status: textOf(fields, 'status', 'a change'), additions: listOf(fields['additions'] ?? [], 'additions').map(rrsetShape) }
}
