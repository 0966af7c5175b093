import { checkHealth, type Health, type HealthCheck } from './health.ts'
import { createLog, type Log, type LogOptions } from './log.ts'
import { createMetrics, type Metrics, NO_METRICS } from './metrics.ts'
import { listenForObservability } from './observability-listener.ts'

export interface ObservabilityOptions {
  /** Where pages for operators are served; null for nowhere. Port 0 takes a free one. */
  readonly address: { readonly host: string; readonly port: number } | null
  readonly log: LogOptions | null
  /** How many zones the name server answers for. */
  readonly zones: () => number
}

/** What operators see of the service. */
export interface Observability {
  readonly log: Log
  readonly metrics: Metrics
  /** `http://127.0.0.1:9353`; null where nothing is served. */
  readonly origin: string | null
  /** The service takes requests: from now on its health is what these say. */
  started(checks: Readonly<Record<string, HealthCheck>>): void
  /** The service takes no more requests. */
  stopping(): void
  close(): Promise<void>
}

/** Opens the listener at once, so that a start that takes long can be told from one that failed. */
export async function startObservability({ address, log, zones }: ObservabilityOptions): Promise<Observability> {
  let health: () => Promise<Health> = async () => ({ status: 'starting', checks: {} })
  const page = address && (await createMetrics(zones))
  const listener = address && page && (await listenForObservability(address, { metrics: page, health: () => health() }))
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
