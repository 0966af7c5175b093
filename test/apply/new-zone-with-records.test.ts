/** A target that creates a zone with its records in one call, with lost responses and another client: what becomes of the zone and of each record. */
import { describe, expect, test } from 'vitest'
import { applyZones } from '../../src/apply/apply-zones.ts'
import { describeChange } from '../../src/apply/call-graph.ts'
import { planZoneRollback } from '../../src/apply/rollback/rollback-zone.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { CallRules, Capabilities } from '../../src/plan/capabilities.ts'
import type { ZoneOutcome, ZonePlan } from '../../src/plan/plan.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { type Provider, type ProviderCall, ProviderError, type ZoneReference } from '../../src/providers/provider.ts'
import { CALL_RULES, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, records } from '../support/records.ts'

const REFERENCE: ZoneReference = { name: ORIGIN, id: 1, settings: existingZone(ORIGIN, '').settings, updated: null }
const DESIRED = 'a 300 A 192.0.2.1\nb 300 A 192.0.2.2'

const capabilitiesOf = (calls: CallRules): Capabilities => ({
  ...CLOUD_CAPABILITIES,
  calls,
  servesApexNs: false,
  ttlSteps: null,
  neededToCreate: { master: [], slave: [] },
})

/** What becomes of the first call: carried out without a response, lost, or carried out in part without a response. */
type Fate = 'done' | 'response lost' | 'request lost' | 'partly done'

interface Target {
  readonly provider: Provider
  readonly calls: ProviderCall[]
  contents(): string[] | null
}

function targetOf(rules: CallRules, fate: Fate, foreign: string | null = null): Target {
  let zone: readonly ResourceRecord[] | null = foreign === null ? null : records(ORIGIN, foreign)
  const calls: ProviderCall[] = []
  const lost = (): ProviderError => new ProviderError('provider-unreachable', 'lab: the connection broke', { ambiguous: true })
  const provider: Provider = {
    name: 'lab',
    type: 'lab',
    address: 'lab',
    capabilities: capabilitiesOf(rules),
    parallelism: 4,
    findZones: async () => new Map(zone === null ? [] : [[ORIGIN, REFERENCE]]),
    listZones: async () => ({ zones: [REFERENCE], unusable: [] }),
    readZone: async () => ({ ...REFERENCE, records: zone ?? [], millisecondsSinceLastChange: null }),
    readRendered: async () => null,
    async apply(_, call) {
      calls.push(call)
      const isFirst = calls.length === 1
      if (isFirst && fate === 'request lost') throw lost()
      const [first] = call.changes
      if (first?.subject === 'domain' && zone !== null) throw new ProviderError('provider-conflict', 'lab: the zone exists')
      const sent = call.changes.flatMap(({ subject, desired }) =>
        subject === 'record' && desired !== null ? [desired as ResourceRecord] : [],
      )
      zone = [...(zone ?? []), ...(isFirst && fate === 'partly done' ? sent.slice(0, 1) : sent)]
      if (isFirst && fate !== 'done') throw lost()
      return first?.subject === 'domain' ? { zone: REFERENCE } : {}
    },
    close: async () => undefined,
  }
  return { provider, calls, contents: () => zone?.map(({ name, data }) => `${name} ${data}`) ?? null }
}

async function applied({ provider }: Target): Promise<{ outcomes: string[]; result: ZoneOutcome; plan: ZonePlan }> {
  const plan = planOf(null, '', { desired: desiredZone(ORIGIN, DESIRED), capabilities: provider.capabilities, target: 'lab' })
  const run = { providers: new Map([['lab', provider]]), recoveryPause: 1 }
  const [result] = (await applyZones([{ plan, reference: null, existing: null }], run)) as [ZoneOutcome]
  const outcomes = plan.changes.map((change, index) => `${describeChange(change)}: ${result.outcomes[index]?.state}`)
  return { outcomes, result, plan }
}

const ALL = ['create example.com.: applied', 'create a.example.com. A: applied', 'create b.example.com. A: applied']
const BOTH = ['a.example.com. 192.0.2.1', 'b.example.com. 192.0.2.2']

describe('a zone and its records in one call', () => {
  test.each<[Fate, number]>([
    ['done', 1],
    ['response lost', 1],
    ['request lost', 2],
  ])('%s: all changes are applied', async (fate, count) => {
    const target = targetOf(CALL_RULES.zone, fate)
    const { outcomes, result } = await applied(target)
    expect([outcomes, result.readBack, target.contents()]).toEqual([ALL, 'equal', BOTH])
    expect(target.calls).toHaveLength(count)
    expect(target.calls[0]?.changes.map(({ subject }) => subject)).toEqual(['domain', 'record', 'record'])
  })

  test('a call that was carried out in part is judged per record', async () => {
    const target = targetOf({ ...CALL_RULES.zone, atomic: false }, 'partly done')
    const { outcomes, result } = await applied(target)
    expect(outcomes).toEqual([...ALL.slice(0, 2), 'create b.example.com. A: failed'])
    expect(result.outcomes[2]).toEqual({ state: 'failed', error: 'lab: the connection broke; it was not applied' })
    expect([result.readBack, target.calls.length]).toEqual(['different', 1])
  })

  test('a zone that another client created meanwhile is not touched', async () => {
    const target = targetOf(CALL_RULES.zone, 'done', 'x A 192.0.2.9')
    const { outcomes } = await applied(target)
    expect(outcomes).toEqual(ALL.map((one) => one.replace('applied', 'failed')))
    expect(target.contents()).toEqual(['x.example.com. 192.0.2.9'])
  })

  test('records beyond the first call follow in calls of their own', async () => {
    const target = targetOf({ ...CALL_RULES.zone, maxUnits: 1 }, 'response lost')
    const { outcomes, result } = await applied(target)
    expect([outcomes, result.readBack, target.contents()]).toEqual([ALL, 'equal', BOTH])
    expect(target.calls.map(({ changes }) => changes.length)).toEqual([2, 1])
  })
})

describe('a rollback', () => {
  const rules = {
    capabilities: capabilitiesOf(CALL_RULES.zone),
    thresholds: DEFAULT_THRESHOLDS,
    allow: new Set(['delete-zone'] as const),
    overwrite: false,
  }

  test('deletes the zone that a run created with its records', async () => {
    const { plan, result } = await applied(targetOf(CALL_RULES.zone, 'done'))
    const back = planZoneRollback(
      { before: null, plan, outcomes: result.outcomes },
      { ...REFERENCE, records: records(ORIGIN, DESIRED) },
      rules,
    )
    expect(back.plan.changes.map(describeChange)).toEqual(['delete example.com.'])
    expect(back.whole).toBe(true)
  })

  test('creates the zone that a run deleted with its records in one call', () => {
    const before = existingZone(ORIGIN, DESIRED)
    const { capabilities } = rules
    const plan = planOf(DESIRED, '', { desired: desiredZone(ORIGIN, '', { absent: true }), capabilities, allow: new Set(['delete-zone']) })
    const back = planZoneRollback({ before, plan, outcomes: [{ state: 'applied' }] }, null, rules)
    expect(back.plan.changes.map((change) => `${describeChange(change)} in ${change.call}`)).toEqual([
      'create example.com. in 0',
      'create a.example.com. A in 0',
      'create b.example.com. A in 0',
    ])
  })
})
