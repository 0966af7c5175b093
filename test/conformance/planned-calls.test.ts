/**
 * Small zones with changes that create cycles in a plan, applied over HTTP with as many concurrent calls as the plan
 * allows, each after a random pause so that they arrive in any order: the service must accept every call and end with the records of
 * the definition. Then the same in full zones.
 */
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { applyZones } from '../../src/apply/apply-zones.ts'
import { type PlannedJobs, planZones } from '../../src/apply/plan-zones.ts'
import type { ZoneJob } from '../../src/apply/run-context.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { compareRecords, type ResourceRecord } from '../../src/dns/record.ts'
import { REFUSAL_NAMES } from '../../src/dns/zone.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import type { Provider, ZoneReference } from '../../src/providers/provider.ts'
import { type RunningService, startService, UNLIMITED } from '../../src/service/index.ts'
import { makeChange } from '../support/provider-calls.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { desiredZone, name, records } from '../support/records.ts'
import { finalLines, isSound, randomCase, showCase, tradingCase, UNMANAGED, type ZoneCase } from '../support/zone-cases.ts'

const CASES = rounds(32)
/** Zones that change at the same time. */
const BATCH = 40
/** The maximum pause before a call, in milliseconds. */
const LONGEST_PAUSE = 4

describe('every call of a plan is accepted in any order', () => {
  it('in zones with room', () => applyCases(null))
  it('in full zones', () => applyCases(7))
})

/** Applies all cases; `limit` is the service's maximum number of records per zone. */
async function applyCases(limit: number | null): Promise<void> {
  const problems: unknown[] = []
  const service = await startService({
    ...UNLIMITED,
    dataFolder: null,
    listen: { host: '127.0.0.1', port: 0 },
    dns: null,
    limits: limit === null ? {} : { recordsPerDomain: limit },
    onError: (error) => problems.push(error),
  })
  const provider = hastyProvider(service, limit, seededRandom(7))
  try {
    const cases = Array.from({ length: CASES }, (_, seed) => serviceCase(seededRandom(seed), limit)).filter((zone) => zone !== null)
    expect(cases.length).toBeGreaterThan(CASES / 2)
    for (let from = 0; from < cases.length; from += BATCH) {
      const batch = cases.slice(from, from + BATCH).map((zone, index) => ({ zone, origin: name(`z${from + index}.example.com.`) }))
      expect(await failuresOf(batch, provider)).toEqual([])
    }
  } finally {
    await provider.close()
    await service.stop()
  }
  expect(problems).toEqual([])
}

/** The provider, with a random pause before every change. */
function hastyProvider(service: RunningService, limit: number | null, random: Random): Provider {
  const options = { provider: 'cloud', baseUrl: new URL(service.baseUrl), token: service.token ?? '', parallelism: 32, timeout: 30_000 }
  const provider = createCloudProvider(options)
  return {
    ...provider,
    capabilities: { ...provider.capabilities, maxRecords: limit ?? provider.capabilities.maxRecords },
    apply: async (...request) => {
      await setTimeout(random.below(LONGEST_PAUSE + 1))
      return provider.apply(...request)
    },
  }
}

/** A case without records that the service cannot express; with a limit, one whose zone is full before or after. Null if there is none. */
function serviceCase(random: Random, limit: number | null): ZoneCase | null {
  const made = random.chance(0.5) ? randomCase(random) : tradingCase(random)
  const zone: ZoneCase = { existing: made.existing.flatMap(serviceLine), desired: made.desired.flatMap(serviceLine), limit }
  const hasTwoNullMx = zone.existing.some((line, index) => line.endsWith(' MX 0 .') && zone.existing.indexOf(line) < index)
  if (hasTwoNullMx || !isSound({ ...zone, limit: null })) return null
  if (limit === null) return zone
  const fillers = limit - Math.max(zone.existing.length, finalLines(zone).length)
  if (fillers < 0) return null
  const filler = Array.from({ length: fillers }, (_, index) => `filler${index} TXT "x"`)
  return { ...zone, existing: [...zone.existing, ...filler], desired: [...zone.desired, ...filler] }
}

/** Whether the service supports the record: SRV at a valid name, no unsupported type, no CNAME at the apex. */
function serviceLine(line: string): string[] {
  const [owner, rest = ''] = splitOnce(line)
  if (/\b(?:ALIAS|DNAME) /.test(rest) || (owner === '@' && rest.includes('CNAME '))) return []
  return rest.includes('SRV ') ? [`_x._tcp${owner === '@' ? '' : `.${owner}`} ${rest}`] : [line]
}

const splitOnce = (line: string): string[] => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
type PlacedCase = { readonly zone: ZoneCase; readonly origin: DomainName }

/** The failures, each with its case; the cases are applied concurrently. */
async function failuresOf(batch: readonly PlacedCase[], provider: Provider): Promise<string[]> {
  await Promise.all(batch.map((one) => createExisting(one, provider)))
  const providers = new Map([['cloud', provider]])
  const plan = (): Promise<PlannedJobs> => planZones(batch.map(jobOf), { providers, now: new Date(0), tool: 'test' })
  const planned = await plan()
  const outcomes = await applyZones(planned.zones, { providers })
  const again = await plan()
  return batch.flatMap(({ zone, origin }) => {
    const at = planned.zones.findIndex((one) => one.plan.zone === origin)
    const problems = (planned.zones[at]?.plan.diagnostics ?? [])
      .filter(({ severity }) => severity === 'error')
      .map(({ message }) => `not planned: ${message}`)
    for (const [index, outcome] of (outcomes[at]?.outcomes ?? []).entries()) {
      if (outcome.state !== 'applied')
        problems.push(`call ${index} ${outcome.state}: ${'error' in outcome ? outcome.error : outcome.because}`)
    }
    const second = again.zones.find((one) => one.plan.zone === origin)
    if (second?.plan.changes.length !== 0) problems.push(`a second plan has ${second?.plan.changes.length} changes`)
    const wanted = recordsText(records(origin, finalLines(zone).join('\n')))
    if (recordsText(second?.existing?.records ?? []) !== wanted) problems.push('the records differ from the definition')
    return problems.length === 0 ? [] : [`${problems.join('\n')}\n${showCase(zone, planned.zones[at]?.plan)}`]
  })
}

const recordsText = (list: readonly ResourceRecord[]): string =>
  list
    .toSorted(compareRecords)
    .map(({ name: owner, ttl, type, data }) => `${owner} ${ttl ?? '-'} ${type} ${data}`)
    .join('\n')

async function createExisting({ zone, origin }: PlacedCase, provider: Provider): Promise<void> {
  const common = { action: 'create', id: null, existing: null, fields: [], after: [] } as const
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' } as const
  const created = await makeChange(provider, null, { ...common, subject: 'domain', name: origin, type: null, desired: settings })
  const reference = created.zone as ZoneReference
  const existing = records(origin, zone.existing.join('\n'))
  await Promise.all(
    existing.map((desired) =>
      makeChange(provider, reference, { ...common, subject: 'record', name: desired.name, type: desired.type, desired }),
    ),
  )
}

const jobOf = ({ zone, origin }: PlacedCase): ZoneJob => ({
  desired: { ...desiredZone(origin, zone.desired.join('\n')), unmanaged: UNMANAGED, apexNs: 'manage' },
  target: 'cloud',
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(REFUSAL_NAMES),
})
