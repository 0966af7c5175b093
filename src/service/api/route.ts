import type { Filter, FilterFields } from '../filter/filter.ts'
import type { Database } from '../store/database.ts'
import type { Actor } from './authenticate.ts'
import type { Paging } from './paging.ts'
import type { Scope } from './scopes.ts'

/** What the operations of the interface work on. */
export interface Service {
  readonly database: Database
  /** The time as the interface writes it: UTC, `2026-01-31T09:00:00`. */
  readonly now: () => string
  readonly limits: Limits
  /** To be told of every committed change of a domain or its records, deletion included. */
  readonly zoneChanged: (domainId: number) => void
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
  /** Below the version segment; path parameters in braces are whole numbers. */
  readonly path: string
  /** In words, for the OpenAPI document. */
  readonly summary: string
  readonly scope: Scope | null
  /** The JSON Schema of the request's body, for operations that have one. */
  readonly body?: object
  /** The JSON Schema of the answer. */
  readonly response: object
  /** For a list: the fields that `X-Filter` can name. A list has pages. */
  readonly filter?: FilterFields
  readonly handle: (call: Call<Body>, service: Service) => Promise<unknown>
}

/** Declares an operation; `Body` is what its schema lets through. */
export const defineRoute = <Body = undefined>(route: Route<Body>): Route => route as Route
