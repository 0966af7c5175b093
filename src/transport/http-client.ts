import type { Dispatcher, Pool } from 'undici'

/** How a request failed before there was an answer to speak of. */
export type TransportFault = 'unreachable' | 'timeout' | 'reset' | 'garbled' | 'too-large'

/**
 * A request without a usable answer. `sent` tells whether the server may have acted on it: false only where the request
 * certainly never left.
 */
export class TransportError extends Error {
  readonly fault: TransportFault
  readonly sent: boolean
  constructor(fault: TransportFault, message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'TransportError'
    this.fault = fault
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
  /** Milliseconds for connecting, for the answer to begin, and between two pieces of it; the whole answer may take four times as long. */
  readonly timeout: number
  /** Octets of the largest answer that is read. */
  readonly maxResponse: number
}

const CONNECT_FAULTS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
])
const TIMEOUT_FAULTS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ABORT_ERR'])
/** How many times the time for silence a whole answer may take. */
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
          connect: { timeout: options.timeout },
          headersTimeout: options.timeout,
          bodyTimeout: options.timeout,
          maxResponseSize: options.maxResponse,
        }),
    )
    return opened
  }
  const prefix = options.baseUrl.pathname.replace(/\/$/, '')

  return {
    async request({ method, path, headers, body, signal }) {
      const client = await pool()
      const host = options.baseUrl.host
      const deadline = deadlineOf(options.timeout * WHOLE_ANSWER, signal)
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
          signal: deadline.signal,
        })
        return { status: response.statusCode, headers: firstHeaders(response), text: await response.body.text() }
      } catch (error) {
        throw transportError(error, host)
      } finally {
        deadline.clear()
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

/** Aborts with the given signal, and after the given milliseconds: an answer that trickles in never falls silent. */
function deadlineOf(milliseconds: number, signal: AbortSignal | undefined): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  const timer = setTimeout(abort, milliseconds)
  return {
    signal: controller.signal,
    clear: () => {
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

function transportError(error: unknown, host: string): TransportError {
  const known = (error as { code?: unknown }).code ?? (error as { cause?: { code?: unknown } }).cause?.code
  // What undici and the system throw has a code or a name of its own.
  if (known === undefined && error instanceof TypeError) throw error
  const code = String(known ?? (error as Error).name)
  const detail = (error as Error).message
  if (CONNECT_FAULTS.has(code))
    return new TransportError('unreachable', `${host} cannot be reached (${code})`, { sent: false, cause: error })
  if (TLS_FAULT.test(code))
    return new TransportError('unreachable', `no secure connection to ${host} (${code})`, { sent: false, cause: error })
  if (TIMEOUT_FAULTS.has(code) || (error as Error).name === 'AbortError')
    return new TransportError('timeout', `${host} did not answer in time`, { sent: true, cause: error })
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new TransportError('too-large', `the answer of ${host} is larger than any of the interface`, { sent: true, cause: error })
  if (code.startsWith('HPE_') || (error as Error).name === 'HTTPParserError')
    return new TransportError('garbled', `${host} does not speak HTTP (${code})`, { sent: true, cause: error })
  return new TransportError('reset', `the connection to ${host} broke (${code}: ${detail})`, { sent: true, cause: error })
}
