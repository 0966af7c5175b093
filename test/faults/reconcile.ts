/** Runs the reconciler through the fault proxy, and checks its claims directly at the service. */
import { expect } from 'vitest'
import { applyZones } from '../../src/apply/apply-zones.ts'
import { planZones } from '../../src/apply/plan-zones.ts'
import type { ZoneJob } from '../../src/apply/run-context.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Change, Outcome, ZoneOutcome } from '../../src/plan/plan.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { recordShape } from '../../src/providers/cloud/api-responses.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import { recordFromApi } from '../../src/providers/cloud/record-codec.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { desiredZone, name } from '../support/records.ts'
import { type ServiceProcess, type ServiceRecord, TOKEN } from './service-process.ts'

export const ORIGIN = name('example.com.')
/** An unmanaged record of another client. */
export const FOREIGN = { type: 'TXT', name: '_acme-challenge', target: 'not ours' }

/** Short waits, so that a test can contain many faults. */
export const FAST_RETRIES = { tries: 4, busyTries: 8, firstDelay: 5, maxDelay: 200, maxRetryAfter: 5000 }

export const providerAt = (origin: string, retry = FAST_RETRIES): Provider =>
  createCloudProvider({ provider: 'cloud', baseUrl: new URL(`${origin}/v4`), token: TOKEN, parallelism: 8, timeout: 400, retry })

export const jobOf = (zone: string): ZoneJob => ({
  desired: desiredZone(ORIGIN, zone, { unmanaged: [{ name: '_acme-challenge*' }] }),
  target: 'cloud',
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(['deletes', 'updates', 'empty-zone']),
})

export interface Pass {
  /** Null if the zone could not be read. */
  readonly outcome: ZoneOutcome | null
  /** Whether the plan was empty. */
  readonly converged: boolean
}

/** Plans and applies once, and compares every claim with the records of the service. */
export async function applyOnce(zone: string, provider: Provider, proxy: FaultProxy, service: ServiceProcess): Promise<Pass> {
  const run = { providers: new Map([['cloud', provider]]), now: new Date(0), tool: 'test' }
  await proxy.untilIdle()
  const before = await service.records('example.com')
  const { zones } = await planZones([jobOf(zone)], run)
  const planned = zones[0]
  if (!planned) return { outcome: null, converged: false }
  if (planned.plan.changes.length === 0) return { outcome: null, converged: true }
  const [outcome] = await applyZones([planned], { providers: run.providers, recoveryPause: 100 })
  await proxy.untilIdle()
  const after = await service.records('example.com')
  expect(falseClaims(outcome as ZoneOutcome, before ?? [], after ?? [])).toEqual([])
  return { outcome: outcome as ZoneOutcome, converged: false }
}

/** Applies until the plan is empty. Expects no duplicates, unless a gateway repeats calls. */
export async function converge(
  zone: string,
  provider: Provider,
  proxy: FaultProxy,
  service: ServiceProcess,
  { repeats = false } = {},
): Promise<void> {
  for (let passes = 1; passes <= 40; passes += 1) {
    if ((await applyOnce(zone, provider, proxy, service)).converged) return
    const held = linesOf(await service.records('example.com'))
    if (!repeats) expect(held.filter((text, index) => held.indexOf(text) !== index)).toEqual([])
  }
  throw new Error('it does not converge')
}

const modelOf = (record: ServiceRecord): ResourceRecord => recordFromApi(recordShape(record), ORIGIN)
const line = ({ name: owner, ttl, type, data }: ResourceRecord): string => `${owner} ${ttl ?? '-'} ${type} ${data}`

/** The records of the service as lines, including duplicates. */
export const linesOf = (held: readonly ServiceRecord[] | null): string[] => (held ?? []).map((record) => line(modelOf(record))).sort()

export const desiredLines = (zone: string): string[] =>
  [...jobOf(zone).desired.records.map(line), `_acme-challenge.example.com. - TXT "not ours"`].sort()

/** The false outcomes. No other client writes to the zone. */
function falseClaims({ plan, outcomes }: ZoneOutcome, before: readonly ServiceRecord[], after: readonly ServiceRecord[]): string[] {
  const known = new Set(before.map(({ id }) => id))
  const now = new Map(after.map((record) => [record.id, line(modelOf(record))]))
  const claimed = new Set(outcomes.flatMap((outcome) => (outcome.state === 'applied' && outcome.id !== undefined ? [outcome.id] : [])))
  const is = (change: Change, outcome: Outcome): boolean => {
    if (change.subject === 'domain') return outcome.state !== 'applied' || after.length > 0 || change.action === 'create'
    const applied = outcome.state === 'applied'
    const then = change.existing && line(change.existing)
    const wanted = change.desired && line(change.desired)
    switch (change.action) {
      case 'create':
        if (applied) return outcome.id !== undefined && !known.has(outcome.id as number) && now.get(outcome.id as number) === wanted
        return ![...now].some(([id, text]) => text === wanted && !known.has(id) && !claimed.has(id))
      case 'update':
        return now.get(change.id as number) === (applied ? wanted : then)
      case 'delete':
        return applied ? !now.has(change.id as number) : now.get(change.id as number) === then
    }
  }
  return outcomes.flatMap((outcome, index) => {
    const change = plan.changes[index] as Change
    if (outcome.state === 'unknown' || is(change, outcome)) return []
    return [`${change.action} ${change.name} ${change.type} ${JSON.stringify(outcome)}`]
  })
}
