/** Requests to the API of GitHub or GitLab: retries, rate limits and pages. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { oneLine } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { addSecret, type LoadedSecrets } from '../base/secret-guard.ts'
import { endpointOfUrl, readHostPolicy } from '../transport/allowed-hosts.ts'
import { createHttpClient, type HttpRequest, type HttpResponse, TransportError } from '../transport/http-client.ts'
import { proxyFor } from '../transport/proxy.ts'
import { DEFAULT_RETRY, parseRateLimit, parseRetryAfter, type RetryPolicy, retryDelay, sleep } from '../transport/retry.ts'

/** Maximum octets of a response. 100 comments of GitLab, with 1,000,000 characters each, would exceed it, so a page of them has 20. */
const MAX_RESPONSE = 64 * 1024 * 1024
/** A request fails after this many milliseconds without an octet. */
const TIMEOUT = 30_000
const CONNECT_TIMEOUT = 10_000
/** Maximum pages of a list; a longer list is an error. */
const MAX_PAGES = 200
/** Milliseconds to wait if a secondary rate limit does not say how long. GitHub's documentation asks for at least a minute. */
const UNNAMED_PAUSE = 60_000
/** Milliseconds to wait if the rate limit was reset just now. */
const JUST_RESET = 1000
const MAX_MESSAGE = 300

/** A request that failed. */
export class SiteError extends Error {
  readonly code: DiagnosticCode
  /** The HTTP status; null without a response. */
  readonly status: number | null
  /** Whether the site may have executed the request. */
  readonly mayBeDone: boolean
  constructor(message: string, { status, mayBeDone = false, cause }: { status: number | null; mayBeDone?: boolean; cause?: unknown }) {
    super(message, { cause })
    this.name = 'SiteError'
    this.code = 'site-failed'
    this.status = status
    this.mayBeDone = mayBeDone
  }
}

export const diagnosticOfSite = ({ code, message, status }: SiteError): Diagnostic => ({
  severity: 'error',
  code,
  message,
  hint: status === null ? undefined : HINTS[status],
})

const HINTS: Readonly<Record<number, string>> = {
  401: 'the token is wrong or has expired',
  403: 'the token lacks a permission: see the permissions of each job in docs/tasks/ci.md',
  404: 'the repository or object does not exist, or the token may not see it',
}

export interface SiteRequest {
  readonly method: HttpRequest['method']
  /** Relative to the base URL of the API, with a leading slash. */
  readonly path: string
  readonly body?: unknown
  /** The purpose of the request, for messages: `read the comments`. */
  readonly what: string
  /** Error statuses that the caller handles. */
  readonly expected?: readonly number[]
}

export interface SiteResponse {
  readonly status: number
  /** Parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown
  readonly text: string
  readonly headers: HttpResponse['headers']
}

export interface SiteClient {
  readonly baseUrl: URL
  /** Throws `SiteError`. */
  send(request: SiteRequest): Promise<SiteResponse>
  /** Reads all pages of a list and returns their entries. `entries` extracts them from the body of a page; if absent, the body is the list. */
  list(path: string, what: string, entries?: (body: unknown) => unknown, expected?: readonly number[]): Promise<readonly unknown[]>
  /** Like `list`, but repeats the request while the list is empty: after a push, the site may need a moment to link its commits to pull requests. */
  listUntilFound(path: string, what: string): Promise<readonly unknown[]>
  close(): Promise<void>
}

export interface SiteConnection {
  /** The variable with the address of the API, and its value. */
  readonly urlVariable: string
  readonly url: string
  /** Includes the header with the token, such as `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly token: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secrets: LoadedSecrets
  readonly retry?: RetryPolicy
  readonly random?: () => number
}

/** Creates a client. Fails if ZONEWRIGHT_ALLOWED_HOSTS does not allow the host. */
export function createSiteClient(connection: SiteConnection): Result<SiteClient> {
  const { env, secrets, token, url, urlVariable, retry = DEFAULT_RETRY, random = Math.random } = connection
  const baseUrl = URL.canParse(url) ? new URL(url) : null
  if (baseUrl === null || !/^https?:$/.test(baseUrl.protocol)) return failure(`${urlVariable} is not the address of an API`)
  const policy = readHostPolicy(env)
  const refused = policy.diagnostics[0] ?? policy.check(urlVariable, endpointOfUrl(baseUrl))
  if (refused) return failure(`${refused.message} (${refused.hint})`)
  const problems: Diagnostic[] = []
  const proxy = proxyFor(baseUrl, env, problems)
  if (problems[0]) return failure(problems[0].message)
  addSecret(secrets, 'the token of the CI job', token)
  const http = createHttpClient({
    baseUrl,
    headers: { ...connection.headers, 'user-agent': 'zonewright' },
    connections: 4,
    timeout: TIMEOUT,
    connectTimeout: CONNECT_TIMEOUT,
    maxResponse: MAX_RESPONSE,
    proxy,
  })
  const send = async (request: SiteRequest): Promise<SiteResponse> => {
    for (let attempt = 1; ; attempt += 1) {
      const tried = await sendOnce(request)
      if (!('wait' in tried)) return tried
      if (attempt >= tried.tries) throw tried.error
      const pause = retryDelay(retry, attempt, tried.wait, random)
      if (pause > retry.maxRetryAfter) throw tried.error
      await sleep(pause)
    }
  }
  /** Sends a request once. Returns the response, or an error with the milliseconds to wait (null: usual backoff). Throws if a retry is pointless or unsafe. */
  const sendOnce = async (
    request: SiteRequest,
  ): Promise<SiteResponse | { readonly error: SiteError; readonly wait: number | null; readonly tries: number }> => {
    const { method, path, body, what, expected = [] } = request
    const isRepeatable = method !== 'POST'
    const fail = (problem: string, status: number | null, mayBeDone: boolean, cause?: unknown): SiteError =>
      new SiteError(`cannot ${what}: ${problem}`, { status, mayBeDone, cause })
    let response: HttpResponse
    try {
      response = await http.request({ method, path, ...(body !== undefined && { body }) })
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause
      const error = fail(cause.message, null, method !== 'GET' && cause.sent, cause)
      if (cause.problem === 'too-large' || (cause.sent && !isRepeatable)) throw error
      return { error, wait: null, tries: retry.tries }
    }
    const { status, headers, text } = response
    if (status < 300 || expected.includes(status)) return { status, headers, text, body: jsonOf(text) }
    const problem = `${baseUrl.host} answers ${status}${reasonOf(text)}`
    const pause = pauseOf(response)
    // A rate limit refuses a request before the site executes it.
    if (pause !== null) return { error: fail(problem, status, false), wait: pause, tries: retry.busyTries }
    if (status < 500) throw fail(problem, status, false)
    const error = fail(problem, status, method !== 'GET')
    if (!isRepeatable) throw error
    return { error, wait: null, tries: retry.tries }
  }
  const list: SiteClient['list'] = (path, what, entries = (body) => body, expected = []) =>
    listAll(send, baseUrl, { path, what, entries, expected })
  return ok({
    baseUrl,
    send,
    list,
    listUntilFound: async (path, what) => {
      for (let attempt = 1; ; attempt += 1) {
        const found = await list(path, what)
        if (found.length > 0 || attempt >= retry.tries) return found
        await sleep(retryDelay(retry, attempt, null, random))
      }
    },
    close: () => http.close(),
  })
}

interface ListRequest {
  readonly path: string
  readonly what: string
  readonly entries: (body: unknown) => unknown
  readonly expected: readonly number[]
}

async function listAll(
  send: SiteClient['send'],
  baseUrl: URL,
  { path, what, entries, expected }: ListRequest,
): Promise<readonly unknown[]> {
  const all: unknown[] = []
  let next: string | null = path
  for (let page = 0; next !== null; page += 1) {
    // If the list were cut off here, the comment to update could be missing.
    if (page >= MAX_PAGES) throw new SiteError(`cannot ${what}: there are more than ${MAX_PAGES} pages`, { status: null })
    const { body, headers }: SiteResponse = await send({ method: 'GET', path: next, what, expected })
    const found = entries(body)
    if (!Array.isArray(found)) throw new SiteError(`cannot ${what}: the response of ${baseUrl.host} is not a list`, { status: null })
    all.push(...found)
    next = nextPage(headers['link'], baseUrl)
  }
  return all
}

/** The path of the next page in a Link header (RFC 8288); null if there is none, or if it is not below the base URL. */
function nextPage(header: string | undefined, baseUrl: URL): string | null {
  const [, target] = /<([^<>]*)>\s*;[^<]*?\brel="?next"?/i.exec(header ?? '') ?? []
  if (target === undefined || !URL.canParse(target, baseUrl.href)) return null
  const { origin, pathname, search } = new URL(target, baseUrl.href)
  const prefix = baseUrl.pathname.replace(/\/$/, '')
  return origin === baseUrl.origin && pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) + search : null
}

/** The milliseconds to wait for a rate limit; null if the response reports no rate limit. */
function pauseOf({ status, headers, text }: HttpResponse): number | null {
  if (status !== 429 && status !== 403 && status !== 503) return null
  const serverNow = Date.parse(headers['date'] ?? '')
  const now = Number.isNaN(serverNow) ? Date.now() : serverNow
  const asked = parseRetryAfter(headers['retry-after'], now)
  if (asked !== null) return asked
  if (status === 503) return null
  // The limit may have been reset already.
  if (headers['x-ratelimit-remaining'] === '0') return parseRateLimit(headers, now)?.resetIn ?? JUST_RESET
  return status === 429 || /secondary rate limit|abuse detection/i.test(text) ? UNNAMED_PAUSE : null
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The reason in the body of an error response, on one line; empty if there is none. */
function reasonOf(text: string): string {
  const body = jsonOf(text)
  if (typeof body !== 'object' || body === null) return ''
  const { message, error } = body as Record<string, unknown>
  const reason = message ?? error
  if (reason === undefined) return ''
  return `: ${oneLine(typeof reason === 'string' ? reason : JSON.stringify(reason)).slice(0, MAX_MESSAGE)}`
}

/** A field of a response. Throws `SiteError` if it is missing or has another type. */
export function fieldOf<T extends 'string' | 'number' | 'boolean'>(
  body: unknown,
  type: T,
  ...path: readonly string[]
): { string: string; number: number; boolean: boolean }[T] {
  const value = valueAt(body, ...path)
  if (typeof value !== type || (type === 'number' && !Number.isSafeInteger(value)))
    throw new SiteError(`the response of the site has no ${path.join('.')}`, { status: null })
  return value as never
}

/** A value of a response; undefined if a part of its path is missing. */
export const valueAt = (body: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined,
    body,
  )
