/** A client of an HTTP API with JSON bodies: requests with retries, and checked responses. */
import { createAdaptiveLimit } from '../transport/adaptive-limit.ts'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from '../transport/http-client.ts'
import { createSilenceClock } from '../transport/read-deadline.ts'
import type { RetryPolicy } from '../transport/retry.ts'
import { type ApiDialect, garbled } from './api-errors.ts'
import { ShapeError } from './json-shape.ts'
import { ProviderError } from './provider.ts'
import { type ApiRequest, changes, DELETED, type Sender, sendRequest } from './send-request.ts'

/** Maximum octets of a response: a page of 500 records with targets of 65,535 characters, each of up to four octets. */
const MAX_RESPONSE = 128 * 1024 * 1024
/** Maximum milliseconds for connecting. A running server accepts connections fast, however long its responses take. */
const CONNECT_TIMEOUT = 5000
/** Milliseconds after which a read fails, retries included. */
const READ_DEADLINE = 30_000

/** What every HTTP API needs. */
export interface ApiConnection {
  /** The provider's name in the config, for messages. */
  readonly provider: string
  readonly baseUrl: URL
  /** Kept out of errors; a getter if it changes. */
  readonly token: string
  /** Maximum concurrent requests. The server may lower the number. */
  readonly parallelism: number
  /** Milliseconds of silence after which a request fails. */
  readonly timeout: number
  /** Milliseconds of silence after which one attempt of a read fails; `timeout` if absent. */
  readonly readTimeout?: number
  /** Milliseconds after which a read fails; 30,000 if absent. Includes retries, excludes pauses that the server asks for. */
  readonly readDeadline?: number
  readonly retry?: RetryPolicy
  /** The proxy between; null or absent for none. */
  readonly proxy?: URL | null | undefined
  /** Called with the milliseconds of each longer pause that the server asks for. */
  readonly onThrottled?: ((milliseconds: number) => void) | undefined
  /** Called before each attempt of a request. */
  readonly onRequest?: ((isRetry: boolean) => void) | undefined
}

/** What a response says beside its body. `serverTime` is in milliseconds since 1970; null if the server sends no date. */
export interface ResponseHead {
  readonly serverTime: number | null
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** Sends a request with its retries, and returns the response body converted by `shape`: parsed JSON, or undefined for status 204 of a change, and an empty answer to DELETE. Throws `ProviderError`. */
export type SendAndCheck = <T>(request: ApiRequest, shape: ApiShape<T>) => Promise<T>

/** Converts a response body. Throws a `ShapeError` if it has another shape. */
export type ApiShape<T> = (body: unknown, head: ResponseHead) => T

export interface JsonApi {
  readonly request: SendAndCheck
  close(): Promise<void>
}

/** More headers for one attempt of a request, such as its signature. */
type SignRequest = (request: HttpRequest) => Readonly<Record<string, string>>

/** Creates a client that sends `headers` with every request, and keeps the token of the connection out of errors. */
export function createJsonApi(
  connection: ApiConnection,
  headers: Readonly<Record<string, string>>,
  dialect: ApiDialect,
  sign?: SignRequest,
): JsonApi {
  const { provider, retry, timeout } = connection
  const http = createHttpClient({
    baseUrl: connection.baseUrl,
    headers: { ...headers, 'user-agent': 'zonewright' },
    connections: connection.parallelism,
    timeout,
    connectTimeout: Math.min(CONNECT_TIMEOUT, timeout),
    maxResponse: MAX_RESPONSE,
    proxy: connection.proxy,
  })
  const client: HttpClient = {
    ...http,
    request: async (sent) =>
      withoutEcho(await http.request(sign ? { ...sent, headers: { ...sent.headers, ...sign(sent) } } : sent), connection.token),
  }
  const sender: Sender = {
    provider,
    dialect,
    client,
    limit: createAdaptiveLimit(connection.parallelism, { longestPause: retry?.maxRetryAfter, onPause: connection.onThrottled }),
    silence: createSilenceClock(),
    readTimeout: connection.readTimeout ?? timeout,
    readDeadline: connection.readDeadline ?? READ_DEADLINE,
    writeTimeout: timeout,
    retry,
    onRequest: connection.onRequest,
  }
  return {
    async request<T>(call: ApiRequest, shape: ApiShape<T>) {
      try {
        const response = await sendRequest(sender, call)
        // There is no body to check; it is missing, as `nullIfMissing` says it.
        if (response === DELETED) return null as T
        return readBody(sender, call, response, shape)
      } catch (error) {
        // An unexpected response may belong to another request on the connection.
        if (error instanceof ProviderError && error.code === 'provider-garbled') client.reset()
        throw withoutSecret(error, connection.token)
      }
    },
    close: () => client.close(),
  }
}

function readBody<T>({ provider, dialect }: Sender, call: ApiRequest, response: HttpResponse, shape: ApiShape<T>): T {
  const fail = (problem: string): ProviderError => garbled(dialect, provider, call.what, problem, response, changes(call))
  if (response.status >= 300) throw fail(`the server redirects (${response.status}), which is not followed`)
  try {
    const isEmpty = response.status === 204 ? call.method !== 'GET' : call.method === 'DELETE' && response.text === ''
    const body = isEmpty ? undefined : call.plain ? response.text : jsonOf(response, fail)
    return shape(body, { serverTime: serverTime(response), headers: response.headers })
  } catch (error) {
    if (error instanceof ShapeError) throw fail(`the response does not match the API: ${error.message}`)
    throw error
  }
}

function jsonOf({ headers, text }: HttpResponse, fail: (problem: string) => ProviderError): unknown {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) throw fail('the response is not JSON')
  try {
    return JSON.parse(text)
  } catch {
    throw fail('the response is malformed JSON')
  }
}

function serverTime({ headers }: HttpResponse): number | null {
  const time = Date.parse(headers['date'] ?? '')
  return Number.isNaN(time) ? null : time
}

/** Removes the token from an error response before its text is shortened, which could leave a part of the token. */
function withoutEcho(response: HttpResponse, token: string): HttpResponse {
  if (response.status < 400 || token === '') return response
  const headers = Object.entries(response.headers).map(([name, value]) => [name, value.replaceAll(token, '***')])
  return { ...response, headers: Object.fromEntries(headers), text: response.text.replaceAll(token, '***') }
}

/** Removes the token from an error message, because a server may echo it. */
function withoutSecret(error: unknown, token: string): unknown {
  if (error instanceof Error && token !== '' && error.message.includes(token)) error.message = error.message.replaceAll(token, '***')
  return error
}
