/** The declaration of an API operation, and the parts of the service that its handler gets. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { Region } from '../catalogue/regions.ts'
import type { FilterFields, ListQuery } from '../filter/filter.ts'
import type { ImageUploads } from '../images/image-uploads.ts'
import type { Quotas } from '../quotas.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { SmsSink } from '../sms/sms-sink.ts'
import type { SharedImages } from '../store/image-store.ts'
import type { Transfers } from '../transfers/transfers.ts'
import type { Actor, AuthenticationService } from './authenticate.ts'
import type { RequiredGrants } from './grants.ts'
import type { RateWindow } from './rate-limit.ts'
import type { RequestProblem } from './request-error.ts'
import type { Scope } from './scopes.ts'

/** The parts of the service that operations use. */
export interface Service extends AuthenticationService {
  readonly limits: Limits
  /** The quotas of accounts without their own. */
  readonly quotas: Quotas
  /** Call it after every committed change of a domain or its records, deletion included. */
  readonly zoneChanged: (domainId: number) => void
  /** The service's name servers, the NS records of every zone; the primary first. */
  readonly nsNames: readonly DomainName[]
  readonly transfers: Pick<Transfers, 'fetchZone' | 'addresses' | 'wake'>
  /** All regions, with the resolvers of this installation. */
  readonly regions: readonly Region[]
  /** The public images of this installation. */
  readonly images: SharedImages
  readonly uploads: ImageUploads
  /** The origin of upload URLs, from the configuration and never from a request. Null if the service listens on all addresses without a public URL. */
  readonly uploadOrigin: () => string | null
  /** Milliseconds of the service's clock. */
  readonly clock: () => number
  /** Encrypts values that the service must read back. */
  readonly secrets: Secrets
  /** Sends messages to phones. */
  readonly sms: SmsSink
  /** Wake it after committing a job. */
  readonly jobs: { readonly wake: () => void }
}

export interface Limits {
  /** Maximum number of records of a domain. */
  readonly recordsPerDomain: number
}

/** A request that has been authenticated, authorised and validated. */
export interface Call<Body> {
  readonly actor: Actor
  /** Numeric path parameters by name. */
  readonly ids: Readonly<Record<string, number>>
  /** Text path parameters by name. */
  readonly texts: Readonly<Record<string, string>>
  readonly body: Body
  /** The requested part of a list. */
  readonly query: ListQuery
  /** The address of the client. */
  readonly remoteAddress: string
}

/** Descriptions of the error statuses. */
export const ERROR_DESCRIPTIONS = {
  '400': 'The request is not valid; the body lists every error.',
  '401': 'The token is missing or not valid, or lacks a scope.',
  '403': 'The user lacks a grant, or the account is suspended.',
  '404': 'The object does not exist in this account.',
  '413': 'The body is too large.',
  '415': 'The body is not application/json.',
  '429': 'Too many requests; Retry-After is the number of seconds to wait.',
  '502': 'Another service that the operation needs failed.',
  '503': 'The operation is not available in this installation, or too many are running.',
} as const

export type ErrorStatus = keyof typeof ERROR_DESCRIPTIONS

/** The complete declaration of one operation. */
export interface Route<Body = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path after the version segment; parameters in braces are whole numbers unless listed in `textParameters`. */
  readonly path: string
  readonly textParameters?: readonly string[]
  /** The text parameter at the end of the path, if it may contain slashes. */
  readonly wildcard?: string
  /** The summary in the OpenAPI document and the reference. */
  readonly summary: string
  /** The name in generated clients, if the path does not give a good one. */
  readonly name?: string
  /** The required scopes, all of them; null if any valid token will do. */
  readonly scope: Scope | readonly Scope[] | null
  /** The grants that a restricted user needs; null for none. */
  readonly grants: RequiredGrants | null
  /** The operation needs no token, but a token that is sent must be valid. Without the scope it is treated as none. */
  readonly open?: true
  /** The operation's own rate limit per caller. */
  readonly rate?: RateWindow
  /** The JSON Schema of the request body. */
  readonly body?: object
  /** The JSON Schema of the response body. */
  readonly response: object
  /** The fields that `X-Filter` accepts. Their presence makes the operation a list with pages. */
  readonly filter?: FilterFields
  /** Error statuses besides those that follow from the other properties; see `errorStatuses`. */
  readonly errors?: readonly ErrorStatus[]
  /** The condition under which the response is 204 without a body, such as `the user is unrestricted`. Then `handle` returns undefined. */
  readonly noContent?: string
  /** Semantic errors of the fields whose form is valid, when the schema has refused other fields. */
  readonly valueProblems?: (call: Call<Partial<Body>>, service: Service) => Promise<readonly RequestProblem[]>
  readonly handle: (call: Call<Body>, service: Service) => Promise<unknown>
}

/** Declares an operation; `Body` is the type of a valid body. */
export const defineRoute = <Body = undefined>(route: Route<Body>): Route => route as Route

/** The error statuses that an operation documents. */
export function errorStatuses({ path, body, filter, errors = [] }: Route): readonly ErrorStatus[] {
  const statuses = new Set<ErrorStatus>(['401', '403', '429', ...errors])
  if (body || filter) statuses.add('400')
  if (path.includes('{')) statuses.add('404')
  if (body) statuses.add('413').add('415')
  return [...statuses].sort()
}

/** The scopes that an operation requires, all of them. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): readonly Scope[] =>
  scope === null ? [] : typeof scope === 'string' ? [scope] : scope
