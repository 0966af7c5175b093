/** The log, metrics, health and query counts of the service for its operators, and the listener that serves all but the log. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostProblem, originForm } from '../host-header.ts'
import { createLog, type Log, type LogOptions } from './log.ts'
import { createMetrics, type Metrics, type MetricsPage, NO_METRICS } from './metrics.ts'
import { type UsageSource, usagePage } from './usage-page.ts'

export interface ObservabilityOptions {
  /** The address of `/metrics`, `/healthz` and `/usage`; null for none. Port 0 picks a free port. */
  readonly address: { readonly host: string; readonly port: number } | null
  readonly log: LogOptions | null
  /** Returns the number of zones that the name server serves. */
  readonly zones: () => number
  readonly usage: UsageSource
}

/** The log, the metrics and the state of the listener. */
export interface Observability {
  readonly log: Log
  readonly metrics: Metrics
  /** Such as `http://127.0.0.1:9353`; null if there is no listener. */
  readonly origin: string | null
  /** Call it when the service accepts requests. From then on, these checks determine its health. */
  started(checks: Readonly<Record<string, HealthCheck>>): void
  /** Call it when the service stops accepting requests. */
  stopping(): void
  close(): Promise<void>
}

/** Opens the listener immediately, so that operators can distinguish a slow startup from a failed one. */
export async function startObservability({ address, log, zones, usage }: ObservabilityOptions): Promise<Observability> {
  let health: () => Promise<Health> = async () => ({ status: 'starting', checks: {} })
  const page = address && (await createMetrics(zones))
  const listener = address && page && (await listenForObservability(address, { metrics: page, health: () => health(), usage }))
  return {
    log: await createLog(log),
    metrics: page ?? NO_METRICS,
    origin: listener?.origin ?? null,
    started: (checks) => {
      health = () => checkHealth(checks)
    },
    stopping: () => {
      health = async () => ({ status: 'stopping', checks: {} })
    },
    close: async () => {
      await listener?.close()
      page?.close()
    },
  }
}

interface ObservabilityListener {
  /** Such as `http://127.0.0.1:9353`. */
  readonly origin: string
  close(): Promise<void>
}

interface ObservabilityPages {
  readonly metrics: MetricsPage
  readonly health: () => Promise<Health>
  readonly usage: UsageSource
}

/**
 * Serves `/metrics`, `/healthz` and `/usage`, separate from the API and without authentication, for the machine itself and its operators' network.
 * `/healthz` returns 200 only if all checks pass and the service accepts requests. Rejects if the address is not available.
 */
async function listenForObservability(address: { host: string; port: number }, pages: ObservabilityPages): Promise<ObservabilityListener> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8192, requireHostHeader: false }, (request, response) => {
    respond(request, response, pages).catch(() => response.destroy())
  })
  server.maxConnections = 64
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/healthz', '/usage'])

async function respond(request: IncomingMessage, response: ServerResponse, { metrics, health, usage }: ObservabilityPages): Promise<void> {
  const { method, url: target = '' } = request
  const [path = '', query = ''] = originForm(target).split('?', 2)
  const send = (status: number, contentType: string, text: string): void => {
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    response.end(method === 'HEAD' ? undefined : text)
  }
  const problem = hostProblem({ rawHeaders: request.rawHeaders, httpVersion: request.httpVersion, target })
  if (problem !== null) return send(400, 'text/plain', `${problem}\n`)
  if (!PATHS.has(path)) return send(404, 'text/plain', 'Not found\n')
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    return send(405, 'text/plain', 'Method not allowed\n')
  }
  if (path === '/metrics') {
    const { contentType, text } = await metrics.page()
    return send(200, contentType, text)
  }
  if (path === '/usage') {
    const { status, contentType, text } = usagePage(query, usage)
    return send(status, contentType, text)
  }
  const state = await health()
  send(state.status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`)
}

/** Checks one part of the service: resolves if it works, and rejects or hangs if it does not. */
type HealthCheck = () => Promise<unknown>

interface Health {
  readonly status: 'ok' | 'starting' | 'stopping' | 'failing'
  /** The result for each part. */
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>
}

/** Milliseconds after which a check fails. */
const CHECK_TIMEOUT = 2000

/** Runs all checks concurrently. */
export async function checkHealth(checks: Readonly<Record<string, HealthCheck>>): Promise<Health> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => [part, (await works(check)) ? 'ok' : 'failing'] as const),
  )
  return { status: results.every(([, result]) => result === 'ok') ? 'ok' : 'failing', checks: Object.fromEntries(results) }
}

async function works(check: HealthCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT)
  })
  const done = check().then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, timeout])
  } finally {
    clearTimeout(timer)
  }
}
