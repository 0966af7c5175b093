/** Applies plans at targets that replace whole RRsets and have no record identifiers, with lost responses and another client. */
import { describe, expect, test } from 'vitest'
import type { ExistingRecord } from '../../src/dns/record.ts'
import type { CallRules, Capabilities } from '../../src/plan/capabilities.ts'
import type { ZoneOutcome, ZonePlan } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { createMemory, type FaultChoice, type Memory, type MemoryRequest } from '../../src/providers/memory/memory-provider.ts'
import type { Provider, ZoneReference } from '../../src/providers/provider.ts'
import { type ApplicableZone, applyZones } from '../../src/run/apply/apply-zones.ts'
import { describeChange } from '../../src/run/apply/call-graph.ts'
import { CALL_RULES, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, records } from '../support/records.ts'

const { settings } = existingZone(ORIGIN, '')
const REFERENCE: ZoneReference = { name: ORIGIN, id: 1, settings }
const capabilitiesOf = (calls: CallRules): Capabilities => ({ ...CLOUD_CAPABILITIES, calls, servesApexNs: false, ttlSteps: null })

interface Case {
  readonly rules: CallRules
  /** The zone of the plan; null if it does not exist. */
  readonly before?: string | null
  readonly after?: string
  /** The zone when the plan is applied, if another client has changed it. */
  readonly live?: string | null
  readonly fault?: FaultChoice
  /** The records that the response to the nth call states, of those that the call stored. */
  readonly states?: (stored: readonly ExistingRecord[], nth: number) => readonly ExistingRecord[] | undefined
  /** Acts as another client after each call. */
  readonly afterCall?: (memory: Memory) => void
  readonly readAt?: ApplicableZone['readAt']
}

/** The fate of the nth call: it is carried out and the response is lost, or the request is lost, or seems so for a second. */
type Loss = 'response' | 'request' | 'late'

const losing =
  (...losses: readonly Loss[]): FaultChoice =>
  ({ kind, nth }) => {
    const loss = kind === 'write' ? losses[nth - 1] : undefined
    return loss === undefined ? null : { kind: 'lost', carriedOut: { response: true, request: false, late: 1000 }[loss] }
  }

const BEFORE = 'a 300 A 192.0.2.1\nb 300 A 192.0.2.2'
const AFTER = 'a 300 A 192.0.2.1\na 300 A 192.0.2.3\na 300 A 192.0.2.4\nb 300 A 192.0.2.5'
const FOREIGN = 'a 300 A 192.0.2.1\na 300 A 192.0.2.99\nb 300 A 192.0.2.2'

interface Applied {
  readonly outcomes: string[]
  readonly result: ZoneOutcome
  readonly plan: ZonePlan
  readonly contents: string[] | null
  readonly calls: MemoryRequest[]
  /** How often the zone was read. */
  readonly reads: number
}

async function applied({ rules, before = BEFORE, after = AFTER, live = before, fault, states, afterCall, readAt }: Case): Promise<Applied> {
  const zones: Readonly<Record<string, string>> = live === null ? {} : { 'example.com': live }
  const memory = createMemory({ capabilities: capabilitiesOf(rules), settings, zones, fault, statesRecords: states !== undefined })
  // Without a search for records, as most targets of this kind are.
  const { findRecords: _, ...opened } = memory.open('lab')
  let count = 0
  const provider: Provider = {
    ...opened,
    async apply(...call) {
      count += 1
      const nth = count
      try {
        const answer = await opened.apply(...call)
        return states === undefined ? answer : { storedRecords: states(answer.storedRecords ?? [], nth) }
      } finally {
        afterCall?.(memory)
      }
    },
  }
  const existing = before === null ? null : { ...REFERENCE, records: records(ORIGIN, before) }
  const plan = planOf(before, '', {
    existing,
    desired: desiredZone(ORIGIN, after, { apexNs: 'manage' }),
    capabilities: provider.capabilities,
    allow: new Set(['deletes', 'updates', 'empty-zone']),
    target: 'lab',
  })
  const zone: ApplicableZone = { plan, reference: existing && REFERENCE, existing, readAt }
  const [result] = (await applyZones([zone], {
    providers: new Map([['lab', provider]]),
    recoveryPause: 1,
    ...(readAt === undefined && { freshFor: 0 }),
  })) as [ZoneOutcome]
  const outcomes = plan.changes.map((change, index) => {
    const outcome = result.outcomes[index]
    return `${describeChange(change)}: ${outcome?.state}${outcome && 'error' in outcome ? ` (${outcome.error})` : ''}`
  })
  const kinds = (kind: MemoryRequest['kind']): MemoryRequest[] => memory.requests.filter((one) => one.kind === kind)
  return { outcomes, result, plan, contents: memory.zone('example.com'), calls: kinds('write'), reads: kinds('read').length }
}

const DONE = [
  'a.example.com. 300 A 192.0.2.1',
  'a.example.com. 300 A 192.0.2.3',
  'a.example.com. 300 A 192.0.2.4',
  'b.example.com. 300 A 192.0.2.5',
]

describe.each(['rrset', 'message', 'zone'] as const)('two values added to one RRset (%s)', (kind) => {
  test.each<[string, FaultChoice | undefined]>([
    ['both arrive', undefined],
    ['a call whose response is lost was applied, and is sent once', losing('response', 'response')],
  ])('%s', async (_, fault) => {
    const { outcomes, result, contents, calls } = await applied({ rules: CALL_RULES[kind], ...(fault && { fault }) })
    expect([outcomes.every((one) => one.endsWith(': applied')), result.readBack, result.diagnostics]).toEqual([true, 'equal', []])
    expect(contents).toEqual(DONE)
    expect(calls).toHaveLength(kind === 'rrset' ? 2 : 1)
  })

  test('a call whose request is lost is sent again', async () => {
    const { result, contents } = await applied({ rules: CALL_RULES[kind], fault: losing('request', 'late') })
    expect([result.readBack, contents]).toEqual(['equal', DONE])
  })
})

test('a call that never arrives is not applied after three attempts', async () => {
  const { outcomes, calls } = await applied({ rules: CALL_RULES.message, fault: losing('request', 'request', 'request') })
  expect(calls).toHaveLength(3)
  expect(outcomes.every((one) => / failed \(lab: .*the connection was reset; it was not applied\)$/.test(one))).toBe(true)
})

test("a failed precondition keeps another client's change", async () => {
  const { outcomes, contents } = await applied({ rules: CALL_RULES.message, live: FOREIGN })
  expect(outcomes.every((one) => / failed \(lab: another client changed the zone .*\)$/.test(one))).toBe(true)
  expect(contents).toContain('a.example.com. 300 A 192.0.2.99')
})

test('without preconditions, an RRset that another client changed before the call is kept', async () => {
  const { outcomes, contents } = await applied({ rules: CALL_RULES.rrset, live: FOREIGN })
  expect(outcomes.filter((one) => one.startsWith('create a.'))).toEqual(
    Array(2).fill(
      expect.stringMatching(/failed \(not sent: another client changed it to .*192\.0\.2\.99.* after a\.example\.com\. A was read/),
    ),
  )
  expect(contents).toEqual(['a.example.com. 300 A 192.0.2.1', 'a.example.com. 300 A 192.0.2.99', 'b.example.com. 300 A 192.0.2.5'])
})

test('a lost response and a change by another client leave the outcome unknown', async () => {
  const { outcomes } = await applied({
    rules: CALL_RULES.rrset,
    after: 'a 300 A 192.0.2.1\na 300 A 192.0.2.3\nb 300 A 192.0.2.2',
    fault: losing('response', 'response'),
    afterCall: (memory) => memory.set('example.com', FOREIGN),
  })
  expect(outcomes).toEqual([
    expect.stringMatching(/^create a\.example\.com\. A: unknown \(lab: .*the connection was reset; another client changed the records\)$/),
  ])
})

describe('responses that state what is stored', () => {
  const other: Case['states'] = (stored) => stored.map((record) => ({ ...record, data: '203.0.113.9' }))
  test.each<readonly [string, Case['states'], readonly Loss[], readonly [reads: number, readBack: string]]>([
    ['are the reading after the calls', (stored) => stored, [], [0, 'equal']],
    ['are compared with the plan', other, [], [0, 'different']],
    ['are not enough if one call has none', (stored, nth) => (nth === 1 ? stored : undefined), [], [1, 'equal']],
    // The first read is that before a repetition.
    ['are not enough after a lost response', (stored) => stored, ['response'], [2, 'equal']],
  ])('%s', async (_, states, losses, expected) => {
    const { result, reads } = await applied({
      rules: CALL_RULES.rrset,
      fault: losing(...losses),
      ...(states && { states }),
      readAt: performance.now(),
    })
    expect([reads, result.readBack]).toEqual(expected)
    expect(result.diagnostics.some(({ code }) => code === 'apply-unconfirmed')).toBe(expected[1] === 'different')
  })
})

const ALL = ['create example.com.: applied', 'create a.example.com. A: applied', 'create b.example.com. A: applied']
const BOTH = ['a.example.com. 300 A 192.0.2.1', 'b.example.com. 300 A 192.0.2.2']
const NEW_ZONE = { rules: CALL_RULES.zone, before: null, after: BEFORE }

describe('a zone and its records in one call', () => {
  test.each<[string, FaultChoice, number]>([
    ['a response', losing(), 1],
    ['a lost response', losing('response'), 1],
    ['a lost request', losing('request'), 2],
  ])('%s: all changes are applied', async (_, fault, count) => {
    const { outcomes, result, contents, calls } = await applied({ ...NEW_ZONE, fault })
    expect([outcomes, result.readBack, contents]).toEqual([ALL, 'equal', BOTH])
    expect(calls).toHaveLength(count)
    expect(calls[0]?.changes.map(({ subject }) => subject)).toEqual(['domain', 'record', 'record'])
  })

  test('a call that was carried out in part is judged per record', async () => {
    const { outcomes, result, calls } = await applied({
      ...NEW_ZONE,
      rules: { ...CALL_RULES.zone, atomic: false },
      fault: losing('response'),
      afterCall: (memory) => memory.remove('example.com', 'b.example.com'),
    })
    expect(outcomes).toEqual([...ALL.slice(0, 2), expect.stringMatching(/^create b\.example\.com\. A: failed .*; it was not applied\)$/)])
    expect([result.readBack, calls.length]).toEqual(['different', 1])
  })

  test('a zone that another client created meanwhile is not touched', async () => {
    const { outcomes, contents } = await applied({ ...NEW_ZONE, live: 'x A 192.0.2.9' })
    expect(outcomes.every((one) => one.includes(': failed'))).toBe(true)
    expect(contents).toEqual(['x.example.com. - A 192.0.2.9'])
  })

  test('records beyond the first call follow in calls of their own', async () => {
    const rules = { ...CALL_RULES.zone, maxUnits: 1 }
    const { outcomes, result, contents, calls } = await applied({ ...NEW_ZONE, rules, fault: losing('response') })
    expect([outcomes, result.readBack, contents]).toEqual([ALL, 'equal', BOTH])
    expect(calls.map(({ changes }) => changes.length)).toEqual([2, 1])
  })
})
