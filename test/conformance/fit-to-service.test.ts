/**
 * "Fit to target" predicts what the service will store. Thousands of records, mostly unusual ones, are fitted, created over HTTP through
 * the provider and read back: they must equal the fitted records. Records that fitting refuses are sent as well: the service must
 * refuse them too, or store something else.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isError } from '../../src/base/diagnostic.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type DefinedRecord, type ResourceRecord, recordKey } from '../../src/dns/record.ts'
import { type FittedZone, fitToTarget } from '../../src/plan/fit-to-target.ts'
import { makeZonePlan } from '../../src/plan/make-plan.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import { type Provider, ProviderError, type ZoneReference } from '../../src/providers/provider.ts'
import { type RunningService, startService, UNLIMITED } from '../../src/service/index.ts'
import { makeChange } from '../support/provider-calls.ts'
import { rounds } from '../support/random.ts'
import { desiredZone } from '../support/records.ts'
import { boundaryRecords } from './boundary-records.ts'

const RECORDS_OF_A_ZONE = Math.min(400, rounds(400))
/** With fewer rounds, fewer of them. */
const ZONES = [
  'example.com.',
  'example.net.',
  'sub.example.com.',
  'xn--bcher-kva.example.',
  '2.0.192.in-addr.arpa.',
  '8.b.d.0.1.0.0.2.ip6.arpa.',
  'test.',
  `${'a-long-name-'.repeat(5)}x.${'of-a-zone-'.repeat(6)}y.example.`,
].slice(0, rounds(8)) as DomainName[]

const problems: unknown[] = []
let service: RunningService
let provider: Provider
beforeAll(async () => {
  const settings = { ...UNLIMITED, dataFolder: null, listen: { host: '127.0.0.1', port: 0 }, dns: null }
  service = await startService({ ...settings, onError: (error) => problems.push(error) })
  const token = service.token ?? ''
  provider = createCloudProvider({ provider: 'cloud', baseUrl: new URL(service.baseUrl), token, parallelism: 32, timeout: 30_000 })
})
afterAll(async () => {
  await provider.close()
  await service.stop()
  expect(problems).toEqual([])
})

const common = { existing: null, desired: null, fields: [], after: [] } as const

async function createZone(name: DomainName): Promise<ZoneReference> {
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' } as const
  const change = { ...common, action: 'create', subject: 'domain', name, type: null, id: null, desired: settings } as const
  const { zone } = await makeChange(provider, null, change)
  return zone as ZoneReference
}

async function create(zone: ZoneReference, desired: ResourceRecord): Promise<number | string | null> {
  const change = { ...common, action: 'create', subject: 'record', name: desired.name, type: desired.type, id: null, desired } as const
  return (await makeChange(provider, zone, change)).changes?.[0]?.id ?? null
}

async function remove(zone: ZoneReference, { name, type }: ResourceRecord, id: number | string): Promise<void> {
  await makeChange(provider, zone, { ...common, action: 'delete', subject: 'record', name, type, id })
}

const plain = ({ name, type, ttl, data }: ResourceRecord): ResourceRecord => ({ name, type, ttl, data })

describe.each(ZONES.map((name, seed) => [name, seed] as const))('fitted records of %s', (name, seed) => {
  const wanted = withoutRepeats(boundaryRecords(name, RECORDS_OF_A_ZONE, seed))
  const desired = { ...desiredZone(name, ''), records: wanted, apexNs: 'manage' } as const
  const fitted = fitToTarget(desired, 'cloud', CLOUD_CAPABILITIES)
  const refusals = new Map(fitted.diagnostics.filter(isError).map(({ at, message }) => [at?.line, message]))
  let zone: ZoneReference
  beforeAll(async () => {
    zone = await createZone(name)
  })

  it('exist, and some are refused', () => {
    expect(fitted.records.length + refusals.size).toBe(wanted.length)
    expect(fitted.records.length).toBeGreaterThan(RECORDS_OF_A_ZONE / 4)
    expect(refusals.size).toBeGreaterThan(RECORDS_OF_A_ZONE / 10)
  })

  it('stay as they are when fitted again', () => {
    const again: FittedZone = fitToTarget({ ...desired, records: fitted.records }, 'cloud', CLOUD_CAPABILITIES)
    expect(again.records).toEqual(fitted.records)
    expect(again.diagnostics.filter(({ code }) => code !== 'srv-protocol-subname')).toEqual([])
  })

  it('are refused only if the service refuses them or would store something else', async () => {
    const asked = await Promise.all(
      wanted
        .filter(({ at }) => refusals.has(at.line))
        .map(async (record) => ({ record, why: refusals.get(record.at.line) ?? '', id: await createAnyway(zone, record) })),
    )
    const stored = new Map((await provider.readZone(zone)).records.map((record) => [record.id, record]))
    const sameAfterAll = asked.filter(({ record, id }) => {
      const found = id === null ? undefined : stored.get(id)
      return found !== undefined && recordKey(found) === recordKey(record)
    })
    await Promise.all(asked.map(({ record, id }) => id !== null && remove(zone, record, id)))
    expect(sameAfterAll.map(({ why, record }) => `${why} -- ${record.data}`)).toEqual([])
  })

  it('are stored by the service as fitted, so that the next plan is empty', async () => {
    const created = await Promise.all(
      fitted.records.map(async (record) => ({ record, id: await create(zone, record).catch((error: unknown) => String(error)) })),
    )
    const existing = await provider.readZone(zone)
    const stored = new Map(existing.records.map((record) => [record.id as number | string | null, plain(record)]))
    const different = created.filter(({ record, id }) => JSON.stringify(stored.get(id)) !== JSON.stringify(plain(record)))
    expect(different.map(({ record, id }) => ({ fitted: plain(record), stored: stored.get(id) ?? id }))).toEqual([])
    expect(existing.records.length).toBe(created.length)

    const plan = makeZonePlan({
      desired: { ...desired, records: wanted.filter(({ at }) => !refusals.has(at.line)) },
      existing,
      target: 'cloud',
      capabilities: CLOUD_CAPABILITIES,
      policy: 'sync',
      thresholds: DEFAULT_THRESHOLDS,
      allow: new Set(),
      rendered: 'unavailable',
      servedApexNs: null,
    })
    expect(plan.changes).toEqual([])
  })
})

/** The record's identifier if the service accepts it; null if the service refuses it or the API cannot express it. */
async function createAnyway(zone: ZoneReference, record: DefinedRecord): Promise<number | string | null> {
  try {
    return await create(zone, record)
  } catch (error) {
    // The codec throws if the API cannot express the record, such as an SRV record without a service.
    if (error instanceof ProviderError ? !error.ambiguous : error instanceof Error) return null
    throw error
  }
}

function withoutRepeats(records: readonly DefinedRecord[]): DefinedRecord[] {
  const keys = new Set<string>()
  return records.filter((record) => !keys.has(recordKey(record)) && keys.add(recordKey(record)))
}
