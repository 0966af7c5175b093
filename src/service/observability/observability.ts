/** The log, metrics, health and query counts of the service for its operators, and the listener that serves all but the log. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { hostProblem, originForm } from '../host-header.ts'
import type { ServedCounts } from '../nameserver/name-server.ts'
import { createLog, type Log, type LogOptions } from './log.ts'

/** Counters of the service. All functions are cheap and synchronous. */
export interface Metrics {
  /** Counts a finished HTTP request; `route` is the declared path, or `none`. */
  request(of: { readonly method: string; readonly route: string; readonly status: number; readonly seconds: number }): void
  /** Counts a DNS message; `rcode` is null if it was dropped. */
  query(of: { readonly transport: 'udp' | 'tcp'; readonly rcode: string | null }): void
  /** Counts a zone that was rendered and has changed. */
  rendered(): void
  /** Counts an internal error. */
  problem(): void
}

interface MetricsPage extends Metrics {
  /** The metrics in Prometheus text format. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>
  close(): void
}

const nothing = (): void => undefined

const NO_METRICS: Metrics = { request: nothing, query: nothing, rendered: nothing, problem: nothing }

/** In seconds. A read takes about a millisecond; a write waits for the disk. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Creates the metrics. `zones` returns the number of served zones. */
async function createMetrics(zones: () => number): Promise<MetricsPage> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await import('prom-client')
  const registry: Registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'zonewright_' })
  const requests = new Histogram({
    name: 'zonewright_http_request_duration_seconds',
    help: 'Time from the request to the end of the response',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const queries = new Counter({
    name: 'zonewright_dns_queries_total',
    help: 'DNS messages received, by response code',
    labelNames: ['transport', 'rcode'],
    registers,
  })
  const renderings = new Counter({ name: 'zonewright_zone_renderings_total', help: 'Zones rendered with a change', registers })
  const problems = new Counter({ name: 'zonewright_faults_total', help: 'Internal errors of the service; see the log', registers })
  new Gauge({
    name: 'zonewright_zones',
    help: 'Zones the name server answers for',
    registers,
    collect() {
      this.set(zones())
    },
  })
  return {
    request: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    query: ({ transport, rcode }) => queries.inc({ transport, rcode: rcode ?? 'dropped' }),
    rendered: () => renderings.inc(),
    problem: () => problems.inc(),
    page: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => registry.clear(),
  }
}

/** Returns the counts of a served zone, or of all; null if the zone is not served. */
type UsageSource = (zone: DomainName | null) => ServedCounts | null

/** A response with its HTTP status. */
interface UsagePage {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** The page for a query string such as `zone=example.com`. Without a zone, it has all zones. */
export function usagePage(query: string, source: UsageSource): UsagePage {
  const plain = (status: number, text: string): UsagePage => ({ status, contentType: 'text/plain; charset=utf-8', text: `${text}\n` })
  const wanted = new URLSearchParams(query).get('zone')
  const zone = wanted === null ? null : parseAbsoluteName(wanted)
  if (zone !== null && !zone.ok) return plain(400, 'zone is not the name of a zone')
  const counts = source(zone?.value ?? null)
  return counts === null
    ? plain(404, 'The name server does not serve this zone')
    : { status: 200, contentType: 'text/csv; charset=utf-8', text: usageCsv(counts) }
}

/** Each zone has a row for its SOA record even if nobody asked, so that a zone without queries differs from one that is not served. */
function usageCsv({ from, to, incomplete, zones, counts }: ServedCounts): string {
  const asked = new Set(counts.map(({ name, type }) => `${name} ${type}`))
  const lines = [`# from ${timeText(from)} to ${timeText(to)}`]
  for (const zone of incomplete) lines.push(`# incomplete ${zone}`)
  lines.push('name,type,count,last_asked')
  for (const zone of zones) if (!asked.has(`${zone} SOA`)) lines.push(`${field(zone)},SOA,0,`)
  for (const { name, type, count, lastAsked } of counts) lines.push(`${field(name)},${type},${count},${timeText(lastAsked)}`)
  return `${lines.join('\n')}\n`
}

const timeText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** A name can contain a comma or quote (RFC 4180 section 2). */
const field = (name: DomainName): string => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)

interface ObservabilityOptions {
  /** The address of `/metrics`, `/healthz`, `/readyz` and `/usage`; null for none. Port 0 picks a free port. */
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
 * Serves `/metrics`, `/healthz`, `/readyz` and `/usage`, separate from the API and without authentication, for the machine itself and its operators'
 * network. `/readyz` returns 200 only if all checks pass and the service accepts requests; `/healthz` as long as the process runs, because a restart mends
 * no database. Rejects if the address is not available.
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

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/healthz', '/readyz', '/usage'])

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
  send(path === '/healthz' || state.status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`)
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
