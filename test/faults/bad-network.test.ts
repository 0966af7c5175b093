/**
 * Applies through a bad network with seeded fault schedules, against a service in a separate process. After every run the report of the
 * reconciler is true, and in the end the zone equals the definition, without duplicates or changed unmanaged records.
 * ZONEWRIGHT_TEST_ROUNDS=20 runs twenty times as many cases.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Change, Outcome, ZoneOutcome } from '../../src/plan/plan.ts'
import type { ZoneJob } from '../../src/plan/planned-zone.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { recordShape } from '../../src/providers/cloud/api-responses.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import { recordFromApi } from '../../src/providers/cloud/record-codec.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { applyZones } from '../../src/run/apply/apply-zones.ts'
import { planZones } from '../../src/run/plan/plan-zones.ts'
import { type FaultProxy, NONE, startFaultProxy } from '../support/fault-proxy.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { desiredZone, name } from '../support/records.ts'
import { randomZone } from './random-zone.ts'
import { randomFaults, repeatingGateway, type Schedule, storm } from './schedules.ts'
import { type ServiceProcess, type ServiceRecord, startServiceProcess, TOKEN } from './service-process.ts'

let service: ServiceProcess
let proxy: FaultProxy
let provider: Provider
let elsewhere: string[]

beforeAll(async () => {
  service = await startServiceProcess()
  proxy = await startFaultProxy(service.origin)
  provider = providerAt(proxy.origin)
  const zone = { domain: 'example.net', type: 'master', soa_email: 'a@example.net' }
  const other = await service.call<{ id: number }>('POST', '/domains', zone)
  for (const target of ['192.0.2.1', '192.0.2.2'])
    await service.call('POST', `/domains/${other.id}/records`, { type: 'A', name: 'www', target })
  elsewhere = linesOf(await service.records('example.net'))
})

afterAll(async () => {
  await provider?.close()
  await proxy?.close()
  await service?.stop()
})

const ORIGIN = name('example.com.')
/** An unmanaged record of another client. */
const FOREIGN = { type: 'TXT', name: '_acme-challenge', target: 'not ours' }

/** Short waits, so that a test can contain many faults. */
const FAST_RETRIES = { tries: 4, busyTries: 8, firstDelay: 5, maxDelay: 200, maxRetryAfter: 5000 }

const providerAt = (origin: string): Provider => {
  const baseUrl = new URL(`${origin}/v4`)
  return createCloudProvider({ provider: 'cloud', baseUrl, token: TOKEN, parallelism: 8, timeout: 1000, retry: FAST_RETRIES })
}

const jobOf = (zone: string): ZoneJob => ({
  desired: desiredZone(ORIGIN, zone, { unmanaged: [{ name: '_acme-challenge*' }] }),
  target: 'cloud',
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(['deletes', 'updates', 'empty-zone']),
})

/** Plans and applies once, and compares every claim with the records of the service. Returns whether the plan was empty. */
async function applyOnce(zone: string): Promise<boolean> {
  const providers = new Map([['cloud', provider]])
  await proxy.untilIdle()
  const before = await service.records('example.com')
  const [planned] = (await planZones([jobOf(zone)], { providers, now: new Date(0), tool: 'test' })).zones
  if (!planned || planned.plan.changes.length === 0) return planned !== undefined
  const [outcome] = await applyZones([planned], { providers, recoveryPause: 300 })
  await proxy.untilIdle()
  const after = await service.records('example.com')
  expect(falseClaims(outcome as ZoneOutcome, before ?? [], after ?? [])).toEqual([])
  return false
}

/** Applies until the plan is empty. Expects no duplicates, unless a gateway repeats calls. */
async function converge(zone: string, { repeats = false } = {}): Promise<void> {
  for (let passes = 1; passes <= 40; passes += 1) {
    if (await applyOnce(zone)) return
    const held = linesOf(await service.records('example.com'))
    if (!repeats) expect(held.filter((text, index) => held.indexOf(text) !== index)).toEqual([])
  }
  throw new Error('it does not converge')
}

const modelOf = (record: ServiceRecord): ResourceRecord => recordFromApi(recordShape(record), ORIGIN)
const line = ({ name: owner, ttl, type, data }: ResourceRecord): string => `${owner} ${ttl ?? '-'} ${type} ${data}`

/** The records of the service as lines, including duplicates. */
const linesOf = (held: readonly ServiceRecord[] | null): string[] => (held ?? []).map((record) => line(modelOf(record))).sort()

const desiredLines = (zone: string): string[] =>
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

/** Applies several zones in sequence, starting with the zone of the previous schedule. */
async function follow(seed: number, schedule: (random: Random) => Schedule, steps: number, more: { repeats?: boolean } = {}) {
  const random = seededRandom(seed)
  await forget()
  proxy.use(schedule(random))
  for (let step = 0; step < steps; step += 1) {
    const zone = randomZone(random, 40)
    await converge(zone, more)
    if (step === 0) await addForeign()
    const managed = (lines: readonly string[]) => lines.filter((line) => !line.includes('_acme'))
    expect(managed(linesOf(await service.records('example.com')))).toEqual(managed(desiredLines(zone)))
  }
  proxy.use(() => NONE)
  expect(linesOf(await service.records('example.com')).filter((held) => held.includes('_acme'))).toHaveLength(1)
  expect(linesOf(await service.records('example.net'))).toEqual(elsewhere)
}

const domains = async () => (await service.call<{ data: { id: number; domain: string }[] }>('GET', '/domains')).data

async function forget(): Promise<void> {
  for (const { id, domain } of await domains()) if (domain === 'example.com') await service.call('DELETE', `/domains/${id}`)
}

async function addForeign(): Promise<void> {
  const id = (await domains()).find(({ domain }) => domain === 'example.com')?.id
  await service.call('POST', `/domains/${id}/records`, FOREIGN)
}

const seeds = (count: number): number[] => Array.from({ length: rounds(count) }, (_, index) => index + 1)
test.each(seeds(4))('a fault in one of ten requests, seed %i', (seed) =>
  follow(seed, (random) => randomFaults(random, 0.1), Math.min(4, 1 + rounds(4))),
)
test.each(seeds(3))('a fault in one of three, seed %i', (seed) => follow(100 + seed, (random) => randomFaults(random, 0.33), 2))

/** Variations of the faults above, for `npm run test:long`. */
const LONG = { tags: ['long'] }

test.each(seeds(2))('a gateway that repeats calls, seed %i', LONG, (seed) =>
  follow(200 + seed, (random) => repeatingGateway(random, 0.2), 4, { repeats: true }),
)

test.each(seeds(2))('a server that refuses in bursts, seed %i', LONG, (seed) => follow(300 + seed, (random) => storm(random, 30, 12), 3))
test('these tests sent thousands of mutating calls', { tags: ['long'] }, () => expect(proxy.calls()).toBeGreaterThan(rounds(2000)))
