/** The reconciler against a service behind the fault proxy, and the truth of what it says, seen past the proxy. */
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
import { type HeldRecord, type ServiceProcess, TOKEN } from './service-process.ts'

export const ORIGIN = name('example.com.')
/** What somebody else keeps in the zone. */
export const FOREIGN = { type: 'TXT', name: '_acme-challenge', target: 'not ours' }

/** Impatient, so that many faults fit into a test. */
export const HASTY = { tries: 4, busyTries: 8, firstDelay: 5, maxDelay: 200, maxRetryAfter: 5000 }

export const providerAt = (origin: string, retry = HASTY): Provider =>
  createCloudProvider({ provider: 'cloud', baseUrl: new URL(`${origin}/v4`), token: TOKEN, parallelism: 8, timeout: 400, retry })

export const jobOf = (zone: string): ZoneJob => ({
  desired: desiredZone(ORIGIN, zone, { unmanaged: [{ name: '_acme-challenge*' }] }),
  target: 'cloud',
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(['deletes', 'updates', 'empty-zone']),
})

export interface Pass {
  /** Null where the zone could not be read. */
  readonly outcome: ZoneOutcome | null
  /** Nothing was left to do, by its own account. */
  readonly converged: boolean
}

/** One plan and apply, with every claim held against what the service really has. */
export async function applyOnce(zone: string, provider: Provider, proxy: FaultProxy, service: ServiceProcess): Promise<Pass> {
  const run = { providers: new Map([['cloud', provider]]), now: new Date(0), tool: 'test' }
  await proxy.untilIdle()
  const before = await service.held('example.com')
  const { zones } = await planZones([jobOf(zone)], run)
  const planned = zones[0]
  if (!planned) return { outcome: null, converged: false }
  if (planned.plan.changes.length === 0) return { outcome: null, converged: true }
  const [outcome] = await applyZones([planned], { providers: run.providers, recoveryPause: 100 })
  await proxy.untilIdle()
  const after = await service.held('example.com')
  expect(falseClaims(outcome as ZoneOutcome, before ?? [], after ?? [])).toEqual([])
  return { outcome: outcome as ZoneOutcome, converged: false }
}

/** Applies until nothing is left to do. Between network and service nothing comes about twice, unless a gateway repeats calls. */
export async function converge(
  zone: string,
  provider: Provider,
  proxy: FaultProxy,
  service: ServiceProcess,
  { repeats = false } = {},
): Promise<void> {
  for (let passes = 1; passes <= 40; passes += 1) {
    if ((await applyOnce(zone, provider, proxy, service)).converged) return
    const held = linesHeld(await service.held('example.com'))
    if (!repeats) expect(held.filter((text, index) => held.indexOf(text) !== index)).toEqual([])
  }
  throw new Error('it does not converge')
}

const modelOf = (record: HeldRecord): ResourceRecord => recordFromApi(recordShape(record), ORIGIN)
const line = ({ name: owner, ttl, type, data }: ResourceRecord): string => `${owner} ${ttl ?? '-'} ${type} ${data}`

/** The records of the service as lines, each as often as it is there. */
export const linesHeld = (held: readonly HeldRecord[] | null): string[] => (held ?? []).map((record) => line(modelOf(record))).sort()

export const linesDesired = (zone: string): string[] =>
  [...jobOf(zone).desired.records.map(line), `_acme-challenge.example.com. - TXT "not ours"`].sort()

/** What an outcome says that is not so. Nobody else writes to the zone. */
function falseClaims({ plan, outcomes }: ZoneOutcome, before: readonly HeldRecord[], after: readonly HeldRecord[]): string[] {
  const known = new Set(before.map(({ id }) => id))
  const now = new Map(after.map((record) => [record.id, line(modelOf(record))]))
  const claimed = new Set(outcomes.flatMap((outcome) => (outcome.state === 'applied' && outcome.id !== undefined ? [outcome.id] : [])))
  const is = (change: Change, outcome: Outcome): boolean => {
    if (change.subject === 'domain') return outcome.state !== 'applied' || after.length > 0 || change.action === 'create'
    const carriedOut = outcome.state === 'applied'
    const then = change.existing && line(change.existing)
    const wanted = change.desired && line(change.desired)
    switch (change.action) {
      case 'create':
        if (carriedOut) return outcome.id !== undefined && !known.has(outcome.id as number) && now.get(outcome.id as number) === wanted
        return ![...now].some(([id, text]) => text === wanted && !known.has(id) && !claimed.has(id))
      case 'update':
        return now.get(change.id as number) === (carriedOut ? wanted : then)
      case 'delete':
        return carriedOut ? !now.has(change.id as number) : now.get(change.id as number) === then
    }
  }
  return outcomes.flatMap((outcome, index) => {
    const change = plan.changes[index] as Change
    if (outcome.state === 'unknown' || is(change, outcome)) return []
    return [`${change.action} ${change.name} ${change.type} ${JSON.stringify(outcome)}`]
  })
}
