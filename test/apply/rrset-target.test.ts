/** Applies plans at a target that replaces whole RRsets and has no record identifiers, with lost responses and another client. */
import { describe, expect, test } from 'vitest'
import { type ApplicableZone, applyZones } from '../../src/apply/apply-zones.ts'
import { describeChange } from '../../src/apply/call-graph.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../../src/dns/record.ts'
import type { Capabilities } from '../../src/plan/capabilities.ts'
import type { RrsetChange } from '../../src/plan/changesets.ts'
import type { ZoneOutcome } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { type Provider, ProviderError, type ZoneReference } from '../../src/providers/provider.ts'
import { CALL_RULES, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, records } from '../support/records.ts'

type Kind = keyof typeof CALL_RULES

/** The fate of the nth call: it is carried out and the response is lost, or the request is lost. */
type Loss = 'response' | 'request' | 'late'

interface Target {
  readonly provider: Provider
  /** The RRsets of each call that arrived. */
  readonly calls: string[]
  /** How often the zone was read. */
  reads(): number
  /** Changes the zone as another client. */
  set(text: string): void
  contents(): string[]
}

const { settings } = existingZone(ORIGIN, '')
const REFERENCE: ZoneReference = { name: ORIGIN, id: 1, settings, updated: null }

function targetWith(
  text: string,
  kind: Kind,
  losses: readonly (Loss | null)[] = [],
  beforeCall?: (target: Target, nth: number) => void,
  /** The records that the response to the nth call states, of those that the call stored. */
  states: (stored: readonly ResourceRecord[], nth: number) => readonly ResourceRecord[] | undefined = () => undefined,
): Target {
  let zone = groupRrsets<ResourceRecord>(records(ORIGIN, text))
  const rules = CALL_RULES[kind]
  const capabilities: Capabilities = { ...CLOUD_CAPABILITIES, calls: rules, servesApexNs: false, ttlSteps: null }
  const dataOf = (rrset: { readonly data: readonly string[] } | null): string => (rrset?.data ?? []).join(', ')
  const replace = ({ name, type, desired }: RrsetChange): void => {
    const key = rrsetKey({ name, type })
    if (desired === null) zone.delete(key)
    else
      zone.set(
        key,
        desired.data.map((data) => ({ name, type, ttl: desired.ttl, data })),
      )
  }
  const isAsExpected = ({ name, type, existing }: RrsetChange): boolean =>
    (zone.get(rrsetKey({ name, type })) ?? [])
      .map(({ data }) => data)
      .sort()
      .join(', ') === dataOf(existing)
  const calls: string[] = []
  let reads = 0
  const target: Target = {
    calls,
    reads: () => reads,
    set: (other) => {
      zone = groupRrsets<ResourceRecord>(records(ORIGIN, other))
    },
    contents: () =>
      [...zone.values()]
        .flat()
        .map(({ name, type, data }) => `${name} ${type} ${data}`)
        .sort(),
    provider: {
      name: 'lab',
      type: 'lab',
      address: 'lab',
      capabilities,
      parallelism: 4,
      findZones: async () => new Map([[ORIGIN, REFERENCE]]),
      listZones: async () => ({ zones: [REFERENCE], unusable: [] }),
      async readZone() {
        reads += 1
        return { ...REFERENCE, id: 1, records: [...zone.values()].flat(), millisecondsSinceLastChange: null }
      },
      readRendered: async () => null,
      async apply(_, { rrsets }) {
        const nth = calls.length
        beforeCall?.(target, nth)
        calls.push(rrsets.map(({ name, type, desired }) => `${name} ${type} ${dataOf(desired)}`).join('; '))
        const loss = losses[nth] ?? null
        if (loss === 'request' || loss === 'late')
          throw new ProviderError('provider-unreachable', 'lab: the connection broke', {
            ambiguous: true,
            mayCompleteLater: loss === 'late',
          })
        if (rules.hasPrecondition && !rrsets.every(isAsExpected))
          throw new ProviderError('provider-conflict', 'lab: another client changed the zone')
        rrsets.forEach(replace)
        if (loss === 'response') throw new ProviderError('provider-unreachable', 'lab: the connection broke', { ambiguous: true })
        const stored = rrsets.flatMap((rrset) => zone.get(rrsetKey(rrset)) ?? [])
        return { storedRecords: states(stored, nth) }
      },
      close: async () => undefined,
    },
  }
  return target
}

async function applied(
  target: Target,
  before: string,
  after: string,
  { readAt }: Pick<ApplicableZone, 'readAt'> = {},
): Promise<{ outcomes: string[]; result: ZoneOutcome }> {
  const { provider } = target
  const existing = { ...(await provider.readZone(REFERENCE)), records: records(ORIGIN, before) }
  const plan = planOf(before, '', {
    existing,
    desired: desiredZone(ORIGIN, after, { apexNs: 'manage' }),
    capabilities: provider.capabilities,
    allow: new Set(['deletes', 'updates', 'empty-zone']),
    target: 'lab',
  })
  const zone: ApplicableZone = { plan, reference: REFERENCE, existing, readAt }
  const [result] = (await applyZones([zone], {
    providers: new Map([['lab', provider]]),
    recoveryPause: 1,
    ...(readAt === undefined && { freshFor: 0 }),
  })) as [ZoneOutcome]
  const outcomes = plan.changes.map((change, index) => {
    const outcome = result.outcomes[index]
    return `${describeChange(change)}: ${outcome?.state}${outcome && 'error' in outcome ? ` (${outcome.error})` : ''}`
  })
  return { outcomes, result }
}

const BEFORE = 'a 300 A 192.0.2.1\nb 300 A 192.0.2.2'
const AFTER = 'a 300 A 192.0.2.1\na 300 A 192.0.2.3\na 300 A 192.0.2.4\nb 300 A 192.0.2.5'
const DONE = ['a.example.com. A 192.0.2.1', 'a.example.com. A 192.0.2.3', 'a.example.com. A 192.0.2.4', 'b.example.com. A 192.0.2.5']

test.each(['rrset', 'message', 'zone'] as const)('two values added to one RRset both arrive (%s)', async (kind) => {
  const target = targetWith(BEFORE, kind)
  const { outcomes, result } = await applied(target, BEFORE, AFTER)
  expect([outcomes.every((one) => one.endsWith(': applied')), result.readBack]).toEqual([true, 'equal'])
  expect(target.contents()).toEqual(DONE)
  expect(target.calls).toHaveLength(kind === 'rrset' ? 2 : 1)
})

test.each(['rrset', 'message', 'zone'] as const)('a call whose response is lost was applied, and is sent once (%s)', async (kind) => {
  const target = targetWith(BEFORE, kind, ['response', 'response'])
  const { outcomes, result } = await applied(target, BEFORE, AFTER)
  expect(outcomes).toEqual(outcomes.map((one) => one.replace(/: .*/, ': applied')))
  expect([result.readBack, result.diagnostics]).toEqual(['equal', []])
  expect(target.calls).toHaveLength(kind === 'rrset' ? 2 : 1)
})

test.each(['rrset', 'message', 'zone'] as const)('a call whose request is lost is sent again (%s)', async (kind) => {
  const target = targetWith(BEFORE, kind, ['request', 'late'])
  const { result } = await applied(target, BEFORE, AFTER)
  expect(result.readBack).toBe('equal')
  expect(target.contents()).toEqual(DONE)
})

test('a call that never arrives is not applied after three attempts', async () => {
  const target = targetWith(BEFORE, 'message', ['request', 'request', 'request'])
  const { outcomes } = await applied(target, BEFORE, AFTER)
  expect(target.calls).toHaveLength(3)
  expect(outcomes.every((one) => one.endsWith('failed (lab: the connection broke; it was not applied)'))).toBe(true)
})

const FOREIGN = 'a 300 A 192.0.2.1\na 300 A 192.0.2.99\nb 300 A 192.0.2.2'

test("a failed precondition keeps another client's change", async () => {
  const target = targetWith(BEFORE, 'message', [], (own) => own.set(FOREIGN))
  const { outcomes, result } = await applied(target, BEFORE, AFTER)
  expect(outcomes.every((one) => one.endsWith('failed (lab: another client changed the zone)'))).toBe(true)
  expect(target.contents()).toContain('a.example.com. A 192.0.2.99')
  expect(result.outcomes.some(({ state }) => state === 'applied')).toBe(false)
})

test('without preconditions, an RRset that another client changed before the call is kept', async () => {
  const target = targetWith(FOREIGN, 'rrset')
  const { outcomes } = await applied(target, BEFORE, AFTER)
  expect(outcomes.filter((one) => one.startsWith('create a.'))).toEqual(
    Array(2).fill(
      expect.stringMatching(/failed \(not sent: another client changed it to .*192\.0\.2\.99.* after a\.example\.com\. A was read/),
    ),
  )
  expect(target.contents()).toEqual(['a.example.com. A 192.0.2.1', 'a.example.com. A 192.0.2.99', 'b.example.com. A 192.0.2.5'])
})

test('a lost response and a change by another client leave the outcome unknown', async () => {
  const target = targetWith(BEFORE, 'rrset', ['response', 'response'])
  const { provider } = target
  const original = provider.apply
  const lossy: Provider = {
    ...provider,
    async apply(...call) {
      try {
        return await original(...call)
      } finally {
        target.set(FOREIGN)
      }
    },
  }
  const { outcomes } = await applied({ ...target, provider: lossy }, BEFORE, 'a 300 A 192.0.2.1\na 300 A 192.0.2.3\nb 300 A 192.0.2.2')
  expect(outcomes).toEqual(['create a.example.com. A: unknown (lab: the connection broke; another client changed the records)'])
})

describe('responses that state what is stored', () => {
  type States = Parameters<typeof targetWith>[4]
  const other: States = (stored) => stored.map((record) => ({ ...record, data: '203.0.113.9' }))
  test.each<readonly [string, States, readonly (Loss | null)[], readonly [reads: number, readBack: string]]>([
    ['are the reading after the calls', (stored) => stored, [], [0, 'equal']],
    ['are compared with the plan', other, [], [0, 'different']],
    ['are not enough if one call has none', (stored, nth) => (nth === 0 ? stored : undefined), [], [1, 'equal']],
    // The first read is that before a repetition.
    ['are not enough after a lost response', (stored) => stored, ['response'], [2, 'equal']],
  ])('%s', async (_, states, losses, expected) => {
    const target = targetWith(BEFORE, 'rrset', losses, undefined, states)
    const { result } = await applied(target, BEFORE, AFTER, { readAt: performance.now() })
    // One read is that of the plan.
    expect([target.reads() - 1, result.readBack]).toEqual(expected)
    expect(result.diagnostics.some(({ code }) => code === 'apply-unconfirmed')).toBe(expected[1] === 'different')
  })
})

test('a call that could overwrite a change is not sent if the zone cannot be read again', async () => {
  const target = targetWith(BEFORE, 'rrset')
  let reads = 0
  const { readZone } = target.provider
  const provider: Provider = {
    ...target.provider,
    readZone: (zone) => {
      reads += 1
      return reads === 2 ? Promise.reject(new ProviderError('provider-failed', 'lab: reading: 503')) : readZone(zone)
    },
  }
  const { outcomes } = await applied({ ...target, provider }, BEFORE, AFTER)
  expect(outcomes.some((one) => one.endsWith('(not sent: the zone could not be read again before it: lab: reading: 503)'))).toBe(true)
  expect(target.calls.length).toBeLessThan(2)
})
