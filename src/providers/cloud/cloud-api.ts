/** A client of the cloud API: requests with retries, checked responses, and complete lists. */
import { counted } from '../../report/english.ts'
import { createAdaptiveLimit } from '../../transport/adaptive-limit.ts'
import { createHttpClient, type HttpClient, type HttpResponse } from '../../transport/http-client.ts'
import { createSilenceClock } from '../../transport/read-deadline.ts'
import type { RetryPolicy } from '../../transport/retry.ts'
import { sleep } from '../../transport/retry.ts'
import { ProviderError } from '../provider.ts'
import { garbled } from './api-errors.ts'
import { type ApiPage, pageShape, ShapeError } from './api-responses.ts'
import type { ApiRequest, ApiResponse, SendAndCheck } from './send-request.ts'
import { type Sender, sendRequest } from './send-request.ts'

/** Maximum octets of a response: a page of 500 records with targets of 65,535 characters, each of up to four octets. */
const MAX_RESPONSE = 128 * 1024 * 1024
/** Maximum milliseconds for connecting. A running server accepts connections fast, however long its responses take. */
const CONNECT_TIMEOUT = 5000
/** Milliseconds after which a read fails, retries included. */
const READ_DEADLINE = 30_000

export interface CloudApiOptions {
  /** The provider's name in the config, for messages. */
  readonly provider: string
  readonly baseUrl: URL
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
  /** Called with the milliseconds of each longer pause that the server asks for. */
  readonly onThrottled?: ((milliseconds: number) => void) | undefined
}

export interface CloudApi {
  readonly request: SendAndCheck
  /** Reads all items of a list: pages after the first in parallel, and all again if the list changed. */
  list<T extends { readonly id: number | string }>(request: ApiRequest, shape: (item: unknown) => T): Promise<ApiResponse<T[]>>
  close(): Promise<void>
}

/** Creates a client of the API. It retries requests that are safe to repeat, checks every response, and throws `ProviderError`. */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const { provider, retry } = options
  const http = createHttpClient({
    baseUrl: options.baseUrl,
    headers: { authorization: `Bearer ${options.token}`, 'user-agent': 'zonewright' },
    connections: options.parallelism,
    timeout: options.timeout,
    connectTimeout: Math.min(CONNECT_TIMEOUT, options.timeout),
    maxResponse: MAX_RESPONSE,
  })
  const client: HttpClient = { ...http, request: async (sent) => withoutEcho(await http.request(sent), options.token) }
  const sender: Sender = {
    provider,
    client,
    limit: createAdaptiveLimit(options.parallelism, { longestPause: retry?.maxRetryAfter, onPause: options.onThrottled }),
    silence: createSilenceClock(),
    readTimeout: options.readTimeout ?? options.timeout,
    readDeadline: options.readDeadline ?? READ_DEADLINE,
    retry,
  }

  const request: SendAndCheck = async (call, shape) => {
    try {
      const response = await sendRequest(sender, call)
      return {
        value: readBody(provider, call, response, shape),
        serverTime: serverTime(response),
        grantedScopes: response.headers['x-oauth-scopes'] ?? null,
      }
    } catch (error) {
      // An unexpected response may belong to another request on the connection.
      if (error instanceof ProviderError && error.code === 'provider-garbled') client.reset()
      throw withoutSecret(error, options.token)
    }
  }

  return {
    request,
    list: (call, shape) => readList(request, provider, call, shape),
    close: () => client.close(),
  }
}

function readBody<T>(provider: string, call: ApiRequest, response: HttpResponse, shape: (body: unknown) => T): T {
  const fail = (problem: string): ProviderError => garbled(provider, call.what, problem, response, call.method !== 'GET')
  if (response.status >= 300) throw fail(`the server redirects (${response.status}), which is not followed`)
  if (!/^application\/json\b/i.test(response.headers['content-type'] ?? '')) throw fail('the response is not JSON')
  let body: unknown
  try {
    body = JSON.parse(response.text)
  } catch {
    throw fail('the response is malformed JSON')
  }
  try {
    return shape(body)
  } catch (error) {
    if (error instanceof ShapeError) throw fail(`the response does not match the API: ${error.message}`)
    throw error
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

/** Items per page: the maximum of the API. */
const PAGE_SIZE = 500
/** Maximum pages of a list: a million items. */
const MAX_PAGES = 2000
/** Attempts to read a list that changes during the read. */
const LIST_ATTEMPTS = 4
/** Milliseconds before the second attempt to read a list; each further pause is longer by as much. */
const LIST_PAUSE = 50

/**
 * Reads page 1 of a list, then the others in parallel. Accepts the result only if all pages state the same total and no item is missing or double. Otherwise
 * the list changed meanwhile, and is read again.
 */
async function readList<T extends { readonly id: number | string }>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<ApiResponse<T[]>> {
  const page = (number: number): Promise<ApiResponse<ApiPage<T>>> =>
    request({ ...call, query: { ...call.query, page: number, page_size: PAGE_SIZE } }, (body) => pageShape(body, shape))
  let contradiction: string | null = null
  for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await sleep(LIST_PAUSE * (attempt - 1))
    const first = await page(1)
    if (first.value.pages > MAX_PAGES) {
      throw new ProviderError(
        'provider-garbled',
        `${provider}: ${call.what}: the list has ${first.value.pages} pages; at most ${MAX_PAGES} are read`,
      )
    }
    if (!hasConsistentTotals(first.value)) {
      contradiction = contradictionOf(first.value)
      continue
    }
    contradiction = null
    const rest = await Promise.all(Array.from({ length: Math.max(0, first.value.pages - 1) }, (_, index) => page(index + 2)))
    const pages = [first, ...rest].map((response) => response.value)
    const items = pages.flatMap((one) => one.data)
    const distinct = new Set(items.map((item) => item.id)).size
    const isConsistent =
      pages.every((one) => one.results === first.value.results) && distinct === first.value.results && items.length === distinct
    if (isConsistent) return { ...first, value: items }
  }
  if (contradiction !== null) throw new ProviderError('provider-garbled', `${provider}: ${call.what}: ${contradiction}`)
  throw new ProviderError('provider-garbled', `${provider}: ${call.what}: the list changed during each of ${LIST_ATTEMPTS} reads`, {
    hint: 'another client is changing it; try again later',
  })
}

const contradictionOf = ({ data, pages, results }: ApiPage<unknown>): string =>
  `the first page of the list has ${data.length} items and states ${results} items on ${counted(pages, 'page')}`

/** Whether the number of items on the first page fits the stated totals. A server may return fewer items per page than requested. */
const hasConsistentTotals = ({ data, pages, results }: ApiPage<unknown>): boolean =>
  pages <= 1 ? data.length === results : data.length > 0 && Math.ceil(results / data.length) === pages
