import type { HttpRequest } from '../../transport/http-client.ts'
import type { ProviderCallOptions } from '../provider.ts'

export interface ApiRequest extends ProviderCallOptions {
  readonly method: HttpRequest['method']
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly filter?: unknown
  readonly body?: unknown
  /** What the request is for, in words, for messages. */
  readonly what: string
}

/** An answer with the server's clock, in milliseconds since 1970; null where it does not send a date. */
export interface Answer<T> {
  readonly value: T
  readonly serverTime: number | null
  /** The scopes of the token as the server tells them (`*` for all); null where it does not. */
  readonly grantedScopes: string | null
}

/** Sends a request, with its retries, and gives what `shape` makes of the answer. Throws `ProviderError`. */
export type SendAndCheck = <T>(request: ApiRequest, shape: (body: unknown) => T) => Promise<Answer<T>>
