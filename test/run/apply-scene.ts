/** Applies one plan at a scripted server or a real service; returns the outcomes, diagnostics and requests. */
import { onTestFinished } from 'vitest'
import type { Outcome, ZoneOutcome } from '../../src/plan/plan.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { type ApplyZonesOptions, applyZones } from '../../src/run/apply/apply-zones.ts'
import { describeChange } from '../../src/run/apply/call-graph.ts'
import { errors, type Handler, json, page, type SeenRequest, scriptedServer } from '../providers/cloud/scripted-server.ts'
import { ORIGIN, planOf } from '../support/plan.ts'
import { existing } from '../support/records.ts'

export const TOKEN = 'apply-token'
export const FAST_RETRIES = { tries: 3, busyTries: 4, firstDelay: 1, maxDelay: 20, maxRetryAfter: 60_000 }

export function providerAt(baseUrl: URL, parallelism = 4, timeout = 15_000): Provider {
  const provider = createCloudProvider({ provider: 'cloud', baseUrl, token: TOKEN, parallelism, timeout, retry: FAST_RETRIES })
  onTestFinished(() => provider.close())
  return provider
}

export interface ApplyReport {
  /** `create www.example.com. A: applied`, in the order of the plan. */
  readonly outcomes: string[]
  readonly diagnostics: string[]
  readonly readBack: ZoneOutcome['readBack']
  /** Mutating calls, in the order of their arrival. */
  readonly calls: string[]
  readonly requests: readonly SeenRequest[]
}

const words = (outcome: Outcome): string =>
  outcome.state === 'skipped'
    ? `skipped: ${outcome.because}`
    : outcome.state === 'applied'
      ? 'applied'
      : `${outcome.state}: ${outcome.error.replaceAll(/cloud: [a-z ]+ \S+ [A-Z]+: /g, '')}`

export interface Script {
  readonly before: string
  readonly desired: string
  /** Answers a request and returns true; otherwise the default server performs it. */
  readonly handler: (request: SeenRequest, response: Parameters<Handler>[1], store: Store) => boolean | undefined
  readonly run?: Partial<ApplyZonesOptions>
  readonly parallelism?: number
  /** Milliseconds to wait for a response. */
  readonly timeout?: number
}

/** Records of the scripted server, by ID. */
export type Store = Map<number, Record<string, unknown>>

/** Applies the change from `before` to `desired` at a server that performs every request that the script does not handle. */
export async function applyScripted({ before, desired, handler, run = {}, parallelism = 1, timeout }: Script): Promise<ApplyReport> {
  const store: Store = new Map()
  for (const { id, name, type, ttl, data } of existing(ORIGIN, before)) {
    const relative = name === ORIGIN ? '' : name.slice(0, -ORIGIN.length - 1)
    const target = type === 'TXT' ? data.slice(1, -1) : data.replace(/\.$/, '')
    store.set(id as number, { id, type, name: relative, target, ttl_sec: ttl ?? 0 })
  }
  const server = await scriptedServer((request, response) => {
    if (handler(request, response, store)) return
    performRequest(request, response, store)
  })
  onTestFinished(() => server.close())
  const provider = providerAt(server.baseUrl, parallelism, timeout)
  const plan = planOf(before, desired, { allow: new Set(['deletes', 'updates', 'empty-zone']) })
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' } as const
  const reference = { name: ORIGIN, id: 7, settings }
  const snapshot = { ...reference, records: existing(ORIGIN, before) }
  const zone = { plan, reference, existing: snapshot, readAt: performance.now() }
  const [outcome] = await applyZones([zone], { providers: new Map([['cloud', provider]]), recoveryPause: 5, ...run })
  return reportOf(outcome as ZoneOutcome, server.seen)
}

export function reportOf({ plan, outcomes, diagnostics, readBack }: ZoneOutcome, requests: readonly SeenRequest[]): ApplyReport {
  return {
    outcomes: outcomes.map((outcome, i) => `${describeChange(plan.changes[i] as (typeof plan.changes)[number])}: ${words(outcome)}`),
    diagnostics: diagnostics.map(({ severity, code, message }) => `${severity}[${code}] ${message}`),
    readBack,
    calls: requests
      .filter(({ method }) => method !== 'GET')
      .map(
        ({ method, path, body }) => `${method} ${path.replace(/^.*records\/?/, '')}${(body as { name?: string } | undefined)?.name ?? ''}`,
      ),
    requests,
  }
}

export function performRequest(request: SeenRequest, response: Parameters<Handler>[1], store: Store): void {
  const [status, answer] = responseTo(request, store)
  json(response, status, answer)
}

function responseTo({ method, path, body }: SeenRequest, store: Store): readonly [status: number, answer: unknown] {
  const id = Number(/\/records\/([0-9]+)$/.exec(path)?.[1])
  if (method === 'POST') return [200, storeRecord(store, body as Record<string, unknown>)]
  if (method === 'GET') return [200, page([...store.values()])]
  if (!store.has(id)) return [404, errors('Not found')]
  if (method === 'DELETE') {
    store.delete(id)
    return [200, {}]
  }
  store.set(id, { ...store.get(id), ...(body as object) })
  return [200, store.get(id)]
}

/** Stores a new record and returns it. */
export function storeRecord(store: Store, body: Record<string, unknown>): Record<string, unknown> {
  const id = Math.max(100, ...store.keys()) + 1
  store.set(id, { id, ...body })
  return store.get(id) as Record<string, unknown>
}
