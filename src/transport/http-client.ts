/** HTTP requests to one server over kept-alive connections, with a time limit for each step. Redirects are not followed, since they could send the token to another host. */
import { isUtf8 } from 'node:buffer'
import type { Agent, AgentOptions, IncomingMessage, RequestOptions } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { loadProxyAgent, ProxyError } from './proxy.ts'

/** Why a request has no usable response. */
export type TransportProblem = 'unreachable' | 'timeout' | 'reset' | 'garbled' | 'too-large'

/** A request without a usable response. */
export class TransportError extends Error {
  readonly problem: TransportProblem
  /** Whether the server may have acted on the request: false only if the request certainly never left. */
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
  /** Below the base URL, with a leading slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of a body. Its content type is among the headers. */
  readonly text?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without an octet from the server; the client's `timeout` if absent. */
  readonly silenceTimeout?: number | undefined
  /** Milliseconds for connecting and the whole response, if less than four times `silenceTimeout`. */
  readonly totalTimeout?: number | undefined
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case; the first value of a repeated header. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface HttpClient {
  /** Rejects with a `TransportError`. */
  request(request: HttpRequest): Promise<HttpResponse>
  /** Closes each open connection after its request: after a response to another request, no response on them can be trusted. */
  reset(): void
  close(): Promise<void>
}

export interface HttpClientOptions {
  readonly baseUrl: URL
  readonly headers: Readonly<Record<string, string>>
  /** Maximum open connections. */
  readonly connections: number
  /** Milliseconds until the response starts, and between two pieces of it. A whole request may take four times as long. */
  readonly timeout: number
  /** Milliseconds for connecting; `timeout` if absent. */
  readonly connectTimeout?: number
  /** Maximum octets of a response. */
  readonly maxResponse: number
  /** The proxy for HTTPS requests, with user name and password if it needs them; null or absent for direct connections. */
  readonly proxy?: URL | null | undefined
}

/** How many times its silence timeout a whole request may take. */
const TOTAL_FACTOR = 4

/** Milliseconds after which an idle connection is closed. Servers close theirs after five seconds or more. */
const IDLE_TIMEOUT = 4000

/** Creates a client of the server at `baseUrl`. */
export function createHttpClient({ baseUrl, timeout, connectTimeout = timeout, ...options }: HttpClientOptions): HttpClient {
  const isTls = baseUrl.protocol === 'https:'
  const proxy = isTls ? (options.proxy ?? null) : null
  const prefix = baseUrl.pathname.replace(/\/$/, '')
  let agent: Agent | null = null
  return {
    async request({ method, path, headers, body, text, signal, silenceTimeout = timeout, totalTimeout = Number.POSITIVE_INFINITY }) {
      const http = await (isTls ? import('node:https') : import('node:http'))
      const settings = { keepAlive: true, maxSockets: options.connections, timeout: IDLE_TIMEOUT }
      const openAgent = proxy === null ? (all: AgentOptions) => new http.Agent(all) : await loadProxyAgent(proxy)
      agent ??= openAgent(settings)
      const json = body === undefined ? undefined : JSON.stringify(body)
      const exchange: Exchange = {
        open: http.request,
        target: {
          agent,
          method,
          // Node takes the host of an IPv6 address without its brackets.
          host: baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
          port: baseUrl.port,
          path: prefix + path,
          headers: {
            host: baseUrl.host,
            accept: 'application/json',
            ...options.headers,
            ...headers,
            ...(json !== undefined && { 'content-type': 'application/json' }),
          },
        },
        body: json ?? text,
        isTls,
        proxyHost: proxy?.host ?? null,
        maxResponse: options.maxResponse,
        signal,
      }
      const limits = { connect: connectTimeout, silence: silenceTimeout, total: Math.min(silenceTimeout * TOTAL_FACTOR, totalTimeout) }
      return await runExchange(exchange, limits, baseUrl.host)
    },
    reset() {
      if (agent) closeWhenIdle(agent)
      agent = null
    },
    async close() {
      agent?.destroy()
    },
  }
}

function closeWhenIdle(agent: Agent): void {
  agent.maxFreeSockets = 0
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
}

interface Exchange {
  readonly open: typeof import('node:http').request
  readonly target: RequestOptions
  readonly body: string | undefined
  readonly isTls: boolean
  /** Null for a direct connection. */
  readonly proxyHost: string | null
  readonly maxResponse: number
  readonly signal: AbortSignal | undefined
}

/** Milliseconds. */
interface Limits {
  readonly connect: number
  readonly silence: number
  readonly total: number
}

/** The step of an exchange whose time ran out. */
type Expired = 'connecting' | 'start' | 'silence' | 'end'

class TooLarge extends Error {}

function runExchange(
  { open, target, body, isTls, proxyHost, maxResponse, signal }: Exchange,
  limits: Limits,
  server: string,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const timers = new Map<Expired, NodeJS.Timeout>()
    let expired: Expired | null = null
    // A tunnel is opened before the request has a socket.
    let isConnecting = proxyHost !== null
    const host = proxyHost === null ? server : `${server} (through the proxy ${proxyHost})`
    const request = open(target)
    const finish = (): void => {
      for (const timer of timers.values()) clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const fail = (error: unknown): void => {
      finish()
      request.destroy()
      reject(expired === null && !signal?.aborted ? failure(error, host, isConnecting) : timeoutFailure(expired, limits, host, error))
    }
    const abort = (): void => fail(signal?.reason)
    const start = (step: Expired, milliseconds: number): void => {
      stop(step)
      timers.set(
        step,
        setTimeout(() => {
          expired = step
          fail(undefined)
        }, milliseconds),
      )
    }
    const stop = (step: Expired): void => clearTimeout(timers.get(step))

    if (limits.total < limits.silence) start('start', limits.total)
    else start('start', limits.silence)
    const began = performance.now()
    signal?.addEventListener('abort', abort)
    request.on('error', fail)
    if (isConnecting) start('connecting', limits.connect)
    request.on('socket', (socket) => {
      isConnecting = socket.connecting || (socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting === true
      if (!isConnecting) return stop('connecting')
      start('connecting', limits.connect)
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        isConnecting = false
        stop('connecting')
      })
    })
    request.on('response', (response) => {
      stop('start')
      start('silence', limits.silence)
      start('end', Math.max(0, limits.total - (performance.now() - began)))
      const chunks: Buffer[] = []
      let octets = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        timers.get('silence')?.refresh()
        octets += chunk.length
        if (octets > maxResponse) fail(new TooLarge())
        else chunks.push(chunk)
      })
      response.on('end', () => {
        finish()
        const { statusCode: status = 0 } = response
        const content = Buffer.concat(chunks)
        // A page of a proxy may have another encoding; data may not.
        if (status < 300 && !isUtf8(content))
          reject(new TransportError('garbled', `the response of ${host} is not UTF-8 text`, { sent: true }))
        else resolve({ status, headers: firstValues(response), text: new TextDecoder().decode(content) })
      })
    })
    if (signal?.aborted) abort()
    else request.end(body)
  })
}

/** Read from `rawHeaders`, since the other forms cost several times as much per response. */
function firstValues({ rawHeaders }: IncomingMessage): Record<string, string> {
  const values: Record<string, string> = Object.create(null)
  for (let i = 0; i < rawHeaders.length; i += 2) values[(rawHeaders[i] as string).toLowerCase()] ??= rawHeaders[i + 1] as string
  return values
}

/** `1.5 s`, or whole seconds from ten on. */
export const formatSeconds = (milliseconds: number): string =>
  `${milliseconds < 9950 ? Math.round(milliseconds / 100) / 10 : Math.round(milliseconds / 1000)} s`

function timeoutFailure(expired: Expired | null, { connect, silence, total }: Limits, host: string, cause: unknown): TransportError {
  if (expired === 'connecting')
    return new TransportError('unreachable', `${host} cannot be reached: no connection within ${formatSeconds(connect)}`, { sent: false })
  const detail = {
    start: `: it sent nothing within ${formatSeconds(Math.min(silence, total))}`,
    silence: `: it stopped sending in the middle of its response for ${formatSeconds(silence)}`,
    end: `: its response was not complete within ${formatSeconds(total)}`,
  }
  return new TransportError('timeout', `${host} did not respond in time${expired === null ? '' : detail[expired]}`, { sent: true, cause })
}

const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const TLS_PROBLEM = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

function failure(cause: unknown, host: string, isConnecting: boolean): unknown {
  if (cause instanceof TooLarge)
    return new TransportError('too-large', `the response of ${host} is larger than any response of the API`, { sent: true, cause })
  if (cause instanceof ProxyError)
    return new TransportError('unreachable', `${host} cannot be reached: ${cause.message}`, { sent: false, cause })
  const { code: known, message, name } = cause as Error & { code?: string }
  // An error of the system has a code; any other is a bug.
  if (known === undefined && cause instanceof TypeError) return cause
  const code = known ?? name
  if (UNREACHABLE.has(code)) return new TransportError('unreachable', `${host} cannot be reached (${code})`, { sent: false, cause })
  // EPROTO during the handshake: the server does not use TLS.
  if (TLS_PROBLEM.test(code) || (isConnecting && code === 'EPROTO'))
    return new TransportError('unreachable', `no secure connection to ${host} (${code})`, { sent: false, cause })
  if (code.startsWith('HPE_')) return new TransportError('garbled', `${host} does not speak HTTP (${code})`, { sent: true, cause })
  return new TransportError('reset', `the connection to ${host} broke (${code}: ${message})`, { sent: true, cause })
}
