import pLimit from 'p-limit'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse, TransportError } from '../../transport/http-client.ts'
import { DEFAULT_RETRY, parseRetryAfter, type RetryPolicy, retryDelay, sleep } from '../../transport/retry.ts'
import { ProviderError } from '../provider.ts'
import { errorOfResponse, errorOfTransport, garbled, isBusy } from './api-errors.ts'
import { type ApiPage, pageShape, ShapeError } from './api-shapes.ts'

/** Items on a page: the most the interface gives (conventions, 4). */
const PAGE_SIZE = 500
/** Pages of the longest list that is read: a million items. */
const MAX_PAGES = 2000
/** Octets of the largest answer: a page of 500 records with targets of 65,535 characters. */
const MAX_RESPONSE = 128 * 1024 * 1024
/** Times a list is read anew when it shifts while it is read. */
const LIST_TRIES = 4

export interface CloudApiOptions {
  /** The provider's name in the config, for messages. */
  readonly provider: string
  readonly baseUrl: URL
  readonly token: string
  /** Requests under way at once. */
  readonly parallelism: number
  /** Milliseconds of silence after which a request is given up. */
  readonly timeout: number
  readonly retry?: RetryPolicy
}

export interface ApiRequest {
  readonly method: HttpRequest['method']
  readonly path: string
  readonly query?: Readonly<Record<string, string | number>>
  readonly filter?: unknown
  readonly body?: unknown
  /** What the request is for, in words, for messages. */
  readonly what: string
  readonly signal?: AbortSignal | undefined
}

/** An answer with the server's clock, in milliseconds since 1970; null where it does not send a date. */
export interface Answer<T> {
  readonly value: T
  readonly serverTime: number | null
}

export interface CloudApi {
  request<T>(request: ApiRequest, shape: (body: unknown) => T): Promise<Answer<T>>
  /** Every item of a list: all pages after the first in parallel, read anew where the list shifted meanwhile. */
  list<T extends { readonly id: number }>(request: ApiRequest, shape: (item: unknown) => T): Promise<Answer<T[]>>
  close(): Promise<void>
}

/** Requests to the interface: retries what may be repeated, checks every answer, and turns each failure into a `ProviderError`. */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const client = createHttpClient({
    baseUrl: options.baseUrl,
    headers: { authorization: `Bearer ${options.token}`, 'user-agent': 'zonewright' },
    connections: options.parallelism,
    timeout: options.timeout,
    maxResponse: MAX_RESPONSE,
  })
  const limit = pLimit(options.parallelism)

  const request: CloudApi['request'] = (call, shape) =>
    limit(async () => {
      try {
        const response = await send(client, options, call)
        return { value: readBody(options.provider, call, response, shape), serverTime: serverTime(response) }
      } catch (error) {
        throw withoutSecret(error, options.token)
      }
    })

  return {
    request,
    list: (call, shape) => readList(request, options.provider, call, shape),
    close: () => client.close(),
  }
}

/** One request with its retries. A request that changes something is repeated only where it cannot be done twice by that. */
async function send(client: HttpClient, { provider, retry = DEFAULT_RETRY }: CloudApiOptions, call: ApiRequest): Promise<HttpResponse> {
  const mutates = call.method !== 'GET'
  const repeatable = call.method !== 'POST'
  const message = httpRequest(call)
  let mayHaveActed = false
  for (let attempt = 1; ; attempt += 1) {
    let failure: ProviderError
    let retryAfter: number | null = null
    try {
      const response = await client.request(message)
      if (response.status < 400) return response
      // The deletion was done by an earlier try whose answer was lost.
      if (response.status === 404 && call.method === 'DELETE' && mayHaveActed)
        return { ...response, status: 200, headers: { 'content-type': 'application/json' }, text: '{}' }
      failure = errorOfResponse(provider, call.what, response, mutates)
      if (!mayRetryStatus(response, repeatable)) throw failure
      mayHaveActed ||= response.status >= 500
      retryAfter = parseRetryAfter(response.headers['retry-after'], Date.now())
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
      failure = errorOfTransport(provider, call.what, error, mutates)
      mayHaveActed ||= error.sent
      const retryable = error.fault !== 'garbled' && error.fault !== 'too-large' && !call.signal?.aborted && (repeatable || !error.sent)
      if (!retryable) throw failure
    }
    if (attempt >= retry.tries) throw failure
    await sleep(retryDelay(retry, attempt, retryAfter, Math.random), call.signal).catch(() => undefined)
    if (call.signal?.aborted) throw failure
  }
}

function httpRequest(call: ApiRequest): HttpRequest {
  const parameters = Object.entries(call.query ?? {}).map(([key, value]): [string, string] => [key, String(value)])
  const query = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
  return {
    method: call.method,
    path: call.path + query,
    ...(call.filter === undefined ? {} : { headers: { 'x-filter': JSON.stringify(call.filter) } }),
    ...(call.body === undefined ? {} : { body: call.body }),
    signal: call.signal,
  }
}

const TRANSIENT: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])

/** 429 and "busy" mean that nothing was done, so that even a creation may be sent again. */
const mayRetryStatus = (response: HttpResponse, repeatable: boolean): boolean =>
  response.status === 429 ||
  isBusy(response) ||
  (repeatable && TRANSIENT.has(response.status) && response.headers['x-maintenance-mode'] === undefined)

function readBody<T>(provider: string, call: ApiRequest, response: HttpResponse, shape: (body: unknown) => T): T {
  const fail = (problem: string): ProviderError => garbled(provider, call.what, problem, response, call.method !== 'GET')
  if (response.status >= 300) throw fail(`a redirect (${response.status}), which is not followed`)
  if (!/^application\/json\b/i.test(response.headers['content-type'] ?? '')) throw fail('the answer is not JSON')
  let body: unknown
  try {
    body = JSON.parse(response.text)
  } catch {
    throw fail('the answer is broken JSON')
  }
  try {
    return shape(body)
  } catch (error) {
    if (error instanceof ShapeError) throw fail(`the answer is not what the interface promises: ${error.message}`)
    throw error
  }
}

function serverTime({ headers }: HttpResponse): number | null {
  const time = Date.parse(headers['date'] ?? '')
  return Number.isNaN(time) ? null : time
}

async function readList<T extends { readonly id: number }>(
  request: CloudApi['request'],
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<Answer<T[]>> {
  const page = (number: number): Promise<Answer<ApiPage<T>>> =>
    request({ ...call, query: { ...call.query, page: number, page_size: PAGE_SIZE } }, (body) => pageShape(body, shape))
  for (let attempt = 1; attempt <= LIST_TRIES; attempt += 1) {
    const first = await page(1)
    if (first.value.pages > MAX_PAGES) {
      throw new ProviderError('provider-garbled', `${provider}: ${call.what}: a list of ${first.value.pages} pages is longer than any`)
    }
    if (!isPlausible(first.value)) continue
    const rest = await Promise.all(Array.from({ length: Math.max(0, first.value.pages - 1) }, (_, index) => page(index + 2)))
    const pages = [first, ...rest].map((answer) => answer.value)
    const items = pages.flatMap((one) => one.data)
    const distinct = new Set(items.map((item) => item.id)).size
    const steady =
      pages.every((one) => one.results === first.value.results) && distinct === first.value.results && items.length === distinct
    if (steady) return { value: items, serverTime: first.serverTime }
  }
  throw new ProviderError('provider-garbled', `${provider}: ${call.what}: the list changed each of the ${LIST_TRIES} times it was read`, {
    hint: 'somebody else is changing it; try again when they are done',
  })
}

/** Whether the first page can be that of a list with as many pages and items as it says. A server may give fewer on a page than it was asked for. */
const isPlausible = ({ data, pages, results }: ApiPage<unknown>): boolean =>
  pages <= 1 ? data.length === results : data.length > 0 && Math.ceil(results / data.length) === pages

/** A server may say anything in an error, the token included. */
function withoutSecret(error: unknown, token: string): unknown {
  if (error instanceof Error && token !== '' && error.message.includes(token)) error.message = error.message.replaceAll(token, '***')
  return error
}
