import { createAdaptiveLimit } from '../../transport/adaptive-limit.ts'
import { createHttpClient, type HttpClient, type HttpResponse } from '../../transport/http-client.ts'
import type { RetryPolicy } from '../../transport/retry.ts'
import { createAnswerWatch, sleep } from '../../transport/retry.ts'
import { ProviderError } from '../provider.ts'
import { garbled } from './api-errors.ts'
import { type ApiPage, pageShape, ShapeError } from './api-shapes.ts'
import type { Answer, ApiRequest, SendAndCheck } from './send-request.ts'
import { type Sender, sendRequest } from './send-request.ts'

/** Octets of the largest answer: a page of 500 records with targets of 65,535 characters. */
const MAX_RESPONSE = 128 * 1024 * 1024
/** Milliseconds for connecting, at the most: a server that is there accepts at once, however long its answer takes. */
const CONNECT_TIMEOUT = 5000
const READ_DEADLINE = 30_000

export interface CloudApiOptions {
  /** The provider's name in the config, for messages. */
  readonly provider: string
  readonly baseUrl: URL
  readonly token: string
  /** Requests under way at once, at the most: the server may make them fewer. */
  readonly parallelism: number
  /** Milliseconds of silence after which a request is given up. */
  readonly timeout: number
  /** The same for a read, which can be tried again at no risk; `timeout` if absent. */
  readonly readTimeout?: number
  /** Milliseconds after which a read is given up, all its tries together; what the server asks to wait is not counted. 30,000 if absent. */
  readonly readDeadline?: number
  readonly retry?: RetryPolicy
  /** Told of each longer wait that the server asks for, with its milliseconds. */
  readonly onThrottled?: ((milliseconds: number) => void) | undefined
}

export interface CloudApi {
  readonly request: SendAndCheck
  /** Every item of a list: all pages after the first in parallel, read anew where the list shifted meanwhile. */
  list<T extends { readonly id: number | string }>(request: ApiRequest, shape: (item: unknown) => T): Promise<Answer<T[]>>
  close(): Promise<void>
}

/** Requests to the interface: retries what may be repeated, checks every answer, and turns each failure into a `ProviderError`. */
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
    answers: createAnswerWatch(),
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
      // An answer that is not to its request may be to another one on the same connection.
      if ((error as ProviderError).code === 'provider-garbled') client.reset()
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

/** Before anything of a refusal is cut to a length, in which a part of the token could be left. */
function withoutEcho(response: HttpResponse, token: string): HttpResponse {
  if (response.status < 400 || token === '') return response
  const headers = Object.entries(response.headers).map(([name, value]) => [name, value.replaceAll(token, '***')])
  return { ...response, headers: Object.fromEntries(headers), text: response.text.replaceAll(token, '***') }
}

/** A server may say anything in an error, the token included. */
function withoutSecret(error: unknown, token: string): unknown {
  if (error instanceof Error && token !== '' && error.message.includes(token)) error.message = error.message.replaceAll(token, '***')
  return error
}

/** Items on a page: the most the interface gives (conventions, 4). */
const PAGE_SIZE = 500
/** Pages of the longest list that is read: a million items. */
const MAX_PAGES = 2000
/** Times a list is read anew when it shifts while it is read. */
const LIST_TRIES = 4
/** Milliseconds before a list is read anew; more each time. */
const SHIFT_PAUSE = 50

/** Every item of a list: all pages after the first in parallel, read anew where the list shifted meanwhile. */
async function readList<T extends { readonly id: number | string }>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<Answer<T[]>> {
  const page = (number: number): Promise<Answer<ApiPage<T>>> =>
    request({ ...call, query: { ...call.query, page: number, page_size: PAGE_SIZE } }, (body) => pageShape(body, shape))
  for (let attempt = 1; attempt <= LIST_TRIES; attempt += 1) {
    if (attempt > 1) await sleep(SHIFT_PAUSE * (attempt - 1))
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
    if (steady) return { ...first, value: items }
  }
  throw new ProviderError('provider-garbled', `${provider}: ${call.what}: the list changed each of the ${LIST_TRIES} times it was read`, {
    hint: 'somebody else is changing it; try again when they are done',
  })
}

/** Whether the first page can be that of a list with as many pages and items as it says. A server may give fewer on a page than it was asked for. */
const isPlausible = ({ data, pages, results }: ApiPage<unknown>): boolean =>
  pages <= 1 ? data.length === results : data.length > 0 && Math.ceil(results / data.length) === pages
