import type { Dispatcher, Pool } from 'undici'

/** How a request failed before there was an answer to speak of. */
export type TransportProblem = 'unreachable' | 'timeout' | 'reset' | 'garbled' | 'too-large'

/**
 * A request without a usable answer. `sent` tells whether the server may have acted on it: false only where the request
 * certainly never left.
 */
export class TransportError extends Error {
  readonly problem: TransportProblem
  readonly sent: boolean
  constructor(problem: TransportProblem, message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'TransportError'
    this.problem = problem
    this.sent = options.sent
  }
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  /** Below the base URL, beginning with a slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  /** Milliseconds of silence this request bears, instead of the client's `timeout`. */
  readonly silenceTimeout?: number | undefined
  /** Milliseconds for all of it, connecting and the whole answer included, where that is less than the client would give it. */
  readonly totalTimeout?: number | undefined
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case; of a repeated header the first value. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>
  /** Gives the open connections up once their requests have ended: after an answer that was not to its request, none on them can be trusted. */
  reset(): void
  close(): Promise<void>
}

export interface HttpClientOptions {
  readonly baseUrl: URL
  readonly headers: Readonly<Record<string, string>>
  /** Connections kept open to the server. */
  readonly connections: number
  /** Milliseconds for the answer to begin, and between two pieces of it; all of a request may take four times as long. */
  readonly timeout: number
  /** Milliseconds for connecting; `timeout` if absent. */
  readonly connectTimeout?: number
  /** Octets of the largest answer that is read. */
  readonly maxResponse: number
}

const CONNECT_FAULTS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_INVALID_URL',
])
const TIMEOUT_FAULTS: ReadonlySet<string> = new Set(['UND_ERR_BODY_TIMEOUT', 'ABORT_ERR'])
/** How many times the time for silence all of a request may take. */
const WHOLE_ANSWER = 4

const TLS_FAULT = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** A client with a keep-alive pool to one server. Redirects are not followed: they would carry the token elsewhere. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  let opened: Promise<Pool> | null = null
  const pool = (): Promise<Pool> => {
    opened ??= import('./undici-pool.ts').then(
      ({ Pool }) =>
        new Pool(options.baseUrl.origin, {
          connections: options.connections,
          pipelining: 1,
          connect: { timeout: options.connectTimeout ?? options.timeout },
          maxResponseSize: options.maxResponse,
        }),
    )
    return opened
  }
  const prefix = options.baseUrl.pathname.replace(/\/$/, '')

  return {
    async request({
      method,
      path,
      headers,
      body,
      signal,
      silenceTimeout: silence = options.timeout,
      totalTimeout: within = Number.POSITIVE_INFINITY,
    }) {
      const client = await pool()
      const host = options.baseUrl.host
      const whole = Math.min(silence * WHOLE_ANSWER, within)
      const patience = patienceOf(silence, whole, signal)
      try {
        const response = await client.request({
          method,
          path: prefix + path,
          headers: {
            accept: 'application/json',
            ...options.headers,
            ...headers,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          // Until the answer begins, our own clock rules: that of undici is a second wide.
          headersTimeout: 0,
          bodyTimeout: silence,
          signal: patience.signal,
        })
        patience.begun()
        return { status: response.statusCode, headers: firstHeaders(response), text: await response.body.text() }
      } catch (error) {
        throw transportError(error, host, { connect: options.connectTimeout ?? options.timeout, silence, whole, over: patience.over() })
      } finally {
        patience.end()
      }
    },
    reset() {
      opened?.then((given) => given.close()).catch(() => undefined)
      opened = null
    },
    async close() {
      if (opened) await (await opened).close()
    },
  }
}

type Lack = 'beginning' | 'end'

interface Patience {
  readonly signal: AbortSignal
  /** The answer has begun. */
  begun(): void
  /** What did not come in time: the beginning of an answer, or its end; null where no time ran out. */
  over(): Lack | null
  end(): void
}

/**
 * Aborts with the given signal, after `silence` milliseconds without the beginning of an answer, and after `whole` in any case: an answer
 * that trickles in never falls silent.
 */
function patienceOf(silence: number, whole: number, signal: AbortSignal | undefined): Patience {
  const controller = new AbortController()
  let hasBegun = false
  let over: Lack | null = null
  const abort = (): void => controller.abort()
  const run = (): void => {
    over = hasBegun ? 'end' : 'beginning'
    abort()
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  let timer = setTimeout(run, Math.min(silence, whole))
  const start = performance.now()
  return {
    signal: controller.signal,
    begun: () => {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(run, Math.max(0, whole - (performance.now() - start)))
    },
    over: () => over,
    end: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

function firstHeaders(response: Dispatcher.ResponseData): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) headers[name] = first
  }
  return headers
}

/** Milliseconds a request was given, and which of them ran out by our own clock. */
interface Times {
  readonly connect: number
  readonly silence: number
  readonly whole: number
  readonly over: Lack | null
}

/** Milliseconds as a reader likes them. */
export const formatSeconds = (milliseconds: number): string =>
  `${milliseconds < 9950 ? Math.round(milliseconds / 100) / 10 : Math.round(milliseconds / 1000)} s`

/** What did not come in time. */
function lateness(code: string, { silence, whole, over }: Times): string {
  if (over === 'beginning') return `: nothing came within ${formatSeconds(Math.min(silence, whole))}`
  if (over === 'end') return `: its answer had no end within ${formatSeconds(whole)}`
  return code === 'UND_ERR_BODY_TIMEOUT' ? `: it fell silent in the middle of its answer for ${formatSeconds(silence)}` : ''
}

function transportError(error: unknown, host: string, times: Times): TransportError {
  const known = (error as { code?: unknown }).code ?? (error as { cause?: { code?: unknown } }).cause?.code
  // What undici and the system throw has a code or a name of its own.
  if (known === undefined && error instanceof TypeError) throw error
  const code = String(known ?? (error as Error).name)
  const detail = (error as Error).message
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new TransportError('unreachable', `${host} cannot be reached: no connection within ${formatSeconds(times.connect)}`, {
      sent: false,
      cause: error,
    })
  if (CONNECT_FAULTS.has(code))
    return new TransportError('unreachable', `${host} cannot be reached (${code})`, { sent: false, cause: error })
  if (TLS_FAULT.test(code))
    return new TransportError('unreachable', `no secure connection to ${host} (${code})`, { sent: false, cause: error })
  if (TIMEOUT_FAULTS.has(code) || (error as Error).name === 'AbortError')
    return new TransportError('timeout', `${host} did not answer in time${lateness(code, times)}`, { sent: true, cause: error })
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new TransportError('too-large', `the answer of ${host} is larger than any of the interface`, { sent: true, cause: error })
  if (code.startsWith('HPE_') || (error as Error).name === 'HTTPParserError')
    return new TransportError('garbled', `${host} does not speak HTTP (${code})`, { sent: true, cause: error })
  return new TransportError('reset', `the connection to ${host} broke (${code}: ${detail})`, { sent: true, cause: error })
}
