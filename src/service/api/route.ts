import type { DomainName } from '../../dns/domain-name.ts'
import type { Region } from '../catalogue/regions.ts'
import type { Filter, FilterFields } from '../filter/filter.ts'
import type { ImageUploads } from '../images/image-uploads.ts'
import type { Quotas } from '../quotas.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { SmsSink } from '../sms/sms-sink.ts'
import type { OwnedZone } from '../transfers/transfer-keys.ts'
import type { TransferredZone } from '../transfers/transfer-zone.ts'
import type { Actor, AuthenticationService } from './authenticate.ts'
import type { RequiredGrants } from './grants.ts'
import type { Paging } from './paging.ts'
import type { RateWindow } from './rate-limit.ts'
import type { RequestProblem } from './request-error.ts'
import type { Scope } from './scopes.ts'

/** What the operations of the interface work on. */
export interface Service extends AuthenticationService {
  readonly limits: Limits
  /** Of accounts that have none of their own. */
  readonly quotas: Quotas
  /** To be told of every committed change of a domain or its records, deletion included. */
  readonly zoneChanged: (domainId: number) => void
  /** The service's name servers, which every zone has at its apex; the primary first. */
  readonly nsNames: readonly DomainName[]
  readonly transfers: ZoneTransfers
  /** All regions, with the resolvers that the installation has. */
  readonly regions: readonly Region[]
  readonly uploads: ImageUploads
  /**
   * The origin of the addresses that uploads are sent to: that of the configuration, never of a request. Null where the service listens on
   * all addresses and has no public URL.
   */
  readonly uploadOrigin: () => string | null
  /** Milliseconds of the service's clock. */
  readonly clock: () => number
  /** Seals what is stored and must be read again. */
  readonly secrets: Secrets
  /** Takes messages to phones. */
  readonly sms: SmsSink
  /** To be woken when a job has been committed. */
  readonly jobs: { readonly wake: () => void }
}

/** What the operations need of zone transfers. */
export interface ZoneTransfers {
  /** A zone from a name server, given by address or name, with the keys of the account. Rejects with a `TransferFailure`. */
  readonly fetchZone: (nameserver: string, zone: OwnedZone) => Promise<TransferredZone>
  /** The addresses that zones are transferred to, as far as they are known. */
  readonly addresses: readonly string[]
  /** To be told when a slave has changed. */
  readonly wake: () => void
}

export interface Limits {
  /** Records a domain can have. */
  readonly recordsPerDomain: number
}

/** A request that has been authenticated, authorised and validated. */
export interface Call<Body> {
  readonly actor: Actor
  /** Path parameters by name: numbers of objects. */
  readonly ids: Readonly<Record<string, number>>
  /** The path parameters that are no numbers. */
  readonly texts: Readonly<Record<string, string>>
  readonly body: Body
  /** Of a list. */
  readonly paging: Paging
  /** Of a list; null for all of it. */
  readonly filter: Filter | null
  /** The address of the peer. */
  readonly remoteAddress: string
}

/** One operation of the interface: all there is to say about it. */
export interface Route<Body = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the version segment; path parameters in braces are whole numbers, unless `texts` names them. */
  readonly path: string
  readonly textParameters?: readonly string[]
  /** The text at the end of the path, where it may hold slashes. */
  readonly wildcard?: string
  /** In words, for the OpenAPI document. */
  readonly summary: string
  /** What generated clients call it, where the path gives no good name. */
  readonly name?: string
  /** What the token must be good for, all of it; null where any valid token will do. */
  readonly scope: Scope | readonly Scope[] | null
  /** What a restricted user must have been granted; null where any user may do it. */
  readonly grants: RequiredGrants | null
  /** No token is needed; one that is sent must be valid. */
  readonly open?: true
  /** How often one caller may ask for this in place of the limit for every operation. */
  readonly rate?: RateWindow
  /** The JSON Schema of the request's body, for operations that have one. */
  readonly body?: object
  /** The JSON Schema of the answer. */
  readonly response: object
  /** For a list: the fields that `X-Filter` can name. A list has pages. */
  readonly filter?: FilterFields
  /** When the answer is 204 without a body: `handle` gives undefined. */
  readonly noContent?: string
  /** What is wrong with the values of a body that has faults of form, to be told with those: without the fields that have them. */
  readonly valueProblems?: (call: Call<Partial<Body>>, service: Service) => Promise<readonly RequestProblem[]>
  readonly handle: (call: Call<Body>, service: Service) => Promise<unknown>
}

/** An operation that is open to all: `actor` is null for a request without a token. */
export interface OpenRoute<Body = unknown> extends Omit<Route, 'open' | 'handle' | 'valueFaults'> {
  readonly handle: (call: Omit<Call<Body>, 'actor'> & { readonly actor: Actor | null }, service: Service) => Promise<unknown>
}

/** Declares an operation; `Body` is what its schema lets through. */
export const defineRoute = <Body = undefined>(route: Route<Body>): Route => route as Route

/** Declares an operation for which no token is needed. */
export const defineOpenRoute = <Body = undefined>(route: OpenRoute<Body>): Route => ({ ...route, open: true }) as unknown as Route

/** The scopes that an operation requires, all of them. */
export const scopesOf = ({ scope }: Pick<Route, 'scope'>): readonly Scope[] =>
  scope === null ? [] : typeof scope === 'string' ? [scope] : scope
