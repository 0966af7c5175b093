/** The metrics of the service in the format of Prometheus. */
import type { Registry } from 'prom-client'

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

export interface MetricsPage extends Metrics {
  /** The metrics in Prometheus text format. */
  page(): Promise<{ readonly contentType: string; readonly text: string }>
  close(): void
}

const nothing = (): void => undefined

export const NO_METRICS: Metrics = { request: nothing, query: nothing, rendered: nothing, problem: nothing }

/** In seconds. A read takes about a millisecond; a write waits for the disk. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Creates the metrics. `zones` returns the number of served zones. */
export async function createMetrics(zones: () => number): Promise<MetricsPage> {
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
