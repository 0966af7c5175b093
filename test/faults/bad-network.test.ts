/**
 * Applies through a bad network with seeded fault schedules, against a service in a separate process. After every run the report of the
 * reconciler is true, and in the end the zone equals the definition, without duplicates or changed unmanaged records.
 * ZONEWRIGHT_TEST_ROUNDS=20 runs twenty times as many cases.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Provider } from '../../src/providers/provider.ts'
import { type FaultProxy, NONE, startFaultProxy } from '../support/fault-proxy.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { randomZone } from './random-zone.ts'
import { converge, desiredLines, FOREIGN, linesOf, providerAt } from './reconcile.ts'
import { randomFaults, repeatingGateway, type Schedule, storm } from './schedules.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

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

/** Applies several zones in sequence, starting with the zone of the previous schedule. */
async function follow(
  seed: number,
  schedule: (random: Random) => Schedule,
  steps: number,
  more: { repeats?: boolean } = {},
): Promise<void> {
  const random = seededRandom(seed)
  await forget()
  proxy.use(schedule(random))
  for (let step = 0; step < steps; step += 1) {
    const zone = randomZone(random, 40)
    await converge(zone, provider, proxy, service, more)
    if (step === 0) await addForeign()
    const managed = (lines: readonly string[]) => lines.filter((line) => !line.includes('_acme'))
    expect(managed(linesOf(await service.records('example.com')))).toEqual(managed(desiredLines(zone)))
  }
  proxy.use(() => NONE)
  expect(linesOf(await service.records('example.com')).filter((held) => held.includes('_acme'))).toHaveLength(1)
  expect(linesOf(await service.records('example.net'))).toEqual(elsewhere)
}

async function forget(): Promise<void> {
  const { data } = await service.call<{ data: { id: number; domain: string }[] }>('GET', '/domains')
  for (const { id, domain } of data) if (domain === 'example.com') await service.call('DELETE', `/domains/${id}`)
}

async function addForeign(): Promise<void> {
  const { data } = await service.call<{ data: { id: number; domain: string }[] }>('GET', '/domains')
  const id = data.find(({ domain }) => domain === 'example.com')?.id
  await service.call('POST', `/domains/${id}/records`, FOREIGN)
}

const seeds = (count: number): number[] => Array.from({ length: rounds(count) }, (_, index) => index + 1)

const LONG = { timeout: 300_000 }

test.each(seeds(4))('a fault in one of ten requests, seed %i', LONG, (seed) => follow(seed, (random) => randomFaults(random, 0.1), 4))

test.each(seeds(3))('a fault in one of three, seed %i', LONG, (seed) => follow(100 + seed, (random) => randomFaults(random, 0.33), 2))

test.each(seeds(2))('a gateway that repeats calls, seed %i', LONG, (seed) =>
  follow(200 + seed, (random) => repeatingGateway(random, 0.2), 4, { repeats: true }),
)

test.each(seeds(2))('a server that refuses in bursts, seed %i', LONG, (seed) => follow(300 + seed, (random) => storm(random, 30, 12), 3))

test('these tests sent thousands of mutating calls', { tags: ['long'] }, () => expect(proxy.calls()).toBeGreaterThan(rounds(2000)))
