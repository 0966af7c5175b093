import { describe, expect, it } from 'vitest'
import type { UpdatePart } from '../../src/dns/wire/message.ts'
import { type Changeset, changesetsOf } from '../../src/plan/changesets.ts'
import type { PlanInput } from '../../src/plan/make-plan.ts'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { updateContent } from '../../src/providers/rfc2136/rfc2136-provider.ts'
import { CALL_RULES, changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existing } from '../support/records.ts'

const at = (rules: PlanInput['capabilities']['calls'], desired: string, maxRecords: number | null = null): Partial<PlanInput> => ({
  capabilities: { ...CLOUD_CAPABILITIES, calls: rules, maxRecords, servesApexNs: false },
  desired: desiredZone(ORIGIN, desired, { apexNs: 'manage' }),
})

const planAt = (rules: PlanInput['capabilities']['calls'], before: string, after: string, limit: number | null = null): ZonePlan =>
  planOf(before, '', at(rules, after, limit))

const callsOf = (plan: ZonePlan, rules: PlanInput['capabilities']['calls'], before: string): Changeset[] =>
  changesetsOf(plan.changes, existing(ORIGIN, before), rules)

const owner = (name: string): string => (name === ORIGIN ? '@' : name.slice(0, -ORIGIN.length - 1))

/** RRsets as a reader writes them: `= www 300 A 192.0.2.1, 192.0.2.2`, `- www A`. */
const rrsetTexts = ({ rrsets }: Changeset): string[] =>
  rrsets.map(({ name, type, desired }) =>
    desired === null ? `- ${owner(name)} ${type}` : `= ${owner(name)} ${desired.ttl ?? '-'} ${type} ${desired.data.join(', ')}`,
  )

/** Calls in an order along what they wait for, as texts. */
function replacements(before: string, after: string): string[] {
  const rules = CALL_RULES.rrset
  const calls = callsOf(planAt(rules, before, after), rules, before)
  for (const [number, { after: waits }] of calls.entries()) expect(waits.every((other) => other < number)).toBe(true)
  return calls.flatMap(rrsetTexts)
}

function updates(before: string, after: string): string[] {
  const calls = callsOf(planAt(CALL_RULES.message, before, after), CALL_RULES.message, before)
  return calls.flatMap(({ rrsets }) => updateContent(rrsets, ORIGIN).updates.map(partText))
}

function partText(part: UpdatePart): string {
  if (part.action === 'delete-rrset') return `- ${owner(part.name)} ${part.type}`
  const { name, ttl, type, data } = part.record
  return part.action === 'add' ? `+ ${owner(name)} ${ttl ?? '-'} ${type} ${data}` : `- ${owner(name)} ${type} ${data}`
}

it.each([
  [
    'adds apex NS records before it deletes others, one by one',
    '@ NS a.example.net.\n@ NS b.example.net.\nx A 192.0.2.1',
    '@ NS c.example.net.\nx A 192.0.2.2',
    ['+ @ - NS c.example.net.', '- @ NS a.example.net.', '- @ NS b.example.net.', '- x A', '+ x - A 192.0.2.2'],
  ],
  [
    'changes the TTL of apex NS records with a temporary one, which Knot DNS needs',
    '@ 600 NS a.example.net.',
    '@ 300 NS a.example.net.',
    ['+ @ 300 NS a.example.net.', '+ @ 300 NS ttl.invalid.', '- @ NS ttl.invalid.'],
  ],
  ['treats NS below the apex like others', 's NS a.example.net.', 's NS b.example.net.', ['- s NS', '+ s - NS b.example.net.']],
  ['adds a record to an RRset', 'x A 192.0.2.1', 'x A 192.0.2.1\nx A 192.0.2.2', ['+ x - A 192.0.2.2']],
  ['a smaller RRset', 'x A 192.0.2.1\nx A 192.0.2.2', 'x A 192.0.2.2\nx A 192.0.2.3', ['- x A', '+ x - A 192.0.2.2', '+ x - A 192.0.2.3']],
  ['deletes records before it adds a CNAME', 'x A 192.0.2.1', 'x CNAME h.example.net.', ['- x A', '+ x - CNAME h.example.net.']],
  ['an RRset that cannot have its TTLs', 'x 300 A 192.0.2.1\nx 300 A 192.0.2.2', 'x 300 A 192.0.2.1\nx 600 A 192.0.2.2', []],
])('an UPDATE message: %s', (_, before, after, expected) => {
  expect(updates(before, after)).toEqual(expected)
  expect(planAt(CALL_RULES.message, before, after).calls.total).toBe(expected.length > 0 ? 1 : 0)
})

describe('replacements of RRsets', () => {
  it.each([
    ['TTLs become one', 'x 300 A 192.0.2.1\nx 600 A 192.0.2.2', 'x 300 A 192.0.2.1\nx 300 A 192.0.2.2', ['= x 300 A 192.0.2.1, 192.0.2.2']],
    [
      'creates a target before its pointer changes, and deletes the previous target after',
      'z A 192.0.2.1\nm MX 10 z',
      'a A 192.0.2.1\nm MX 10 a',
      ['= a - A 192.0.2.1', '= m - MX 10 a.example.com.', '- z A'],
    ],
    [
      'creates a chain from its end and deletes it from its start',
      'p CNAME q\nq CNAME r\nr A 192.0.2.1',
      'a CNAME b\nb CNAME c\nc A 192.0.2.1',
      ['= c - A 192.0.2.1', '= b - CNAME c.example.com.', '= a - CNAME b.example.com.', '- p CNAME', '- q CNAME', '- r A'],
    ],
    [
      'deletes a CNAME before its replacement, and creates the replacement before its pointer',
      'x CNAME h.example.net.',
      'a CNAME x\nx A 192.0.2.1',
      ['- x CNAME', '= x - A 192.0.2.1', '= a - CNAME x.example.com.'],
    ],
    [
      'two names swap records',
      'a CNAME h.example.net.\nb A 192.0.2.1',
      'a A 192.0.2.1\nb CNAME h.example.net.',
      ['- a CNAME', '= a - A 192.0.2.1', '- b A', '= b - CNAME h.example.net.'],
    ],
    ['glue', 's NS n.s\nn.s A 192.0.2.1', 's NS m.s\nm.s A 192.0.2.2', ['= m.s - A 192.0.2.2', '= s - NS m.s.example.com.', '- n.s A']],
    ['creates before it deletes at one name', 'x A 192.0.2.1', 'x AAAA 2001:db8::1', ['= x - AAAA 2001:db8::1', '- x A']],
  ])('%s', (_, before, after, expected) => {
    expect(replacements(before, after)).toEqual(expected)
    expect(planAt(CALL_RULES.rrset, before, after).calls.total).toBe(expected.length)
  })

  it('order a chain of names, whatever its length', () => {
    const chain = (name: string): string =>
      Array.from({ length: 800 }, (_, i) => `${name}${i} CNAME ${i === 799 ? 'h.example.net.' : `${name}${i + 1}`}`).join('\n')
    const all = replacements(chain('a'), chain('b'))
    expect([all[0], all.at(-1)]).toEqual(['= b799 - CNAME h.example.net.', '- a799 CNAME'])
  })
})

describe.each(['message', 'zone'] as const)('a plan for a target that takes all changes as one %s', (kind) => {
  const rules = CALL_RULES[kind]
  it.each([
    ['a CNAME that another CNAME points at becomes an A record', 'a CNAME h.example.net.\nw CNAME a', 'a A 192.0.2.1\nw CNAME a', 2],
    ['two names swap records', 'a CNAME h.example.net.\nb A 192.0.2.1', 'a A 192.0.2.1\nb CNAME h.example.net.', 4],
    ['a target is renamed with its pointer', 'a A 192.0.2.1\nw CNAME a', 'b A 192.0.2.1\nw CNAME b', 3],
  ])('splits and interrupts nothing, in one call: %s', (_, before, after, changes) => {
    const plan = planAt(rules, before, after)
    expect(plan.diagnostics).toEqual([])
    expect(changesOf(plan)).toHaveLength(changes)
    expect(plan.changes.map((change) => [change.after, 'split' in change])).toEqual(Array(changes).fill([[], false]))
    expect(plan.calls.total).toBe(1)
  })
})

describe('a new zone', () => {
  const DESIRED = 'a A 192.0.2.1\nb A 192.0.2.1\nw CNAME a'
  /** The call of each change, after `<` the changes that it waits for. */
  const callsFor = (rules: PlanInput['capabilities']['calls']): string[] =>
    planOf(null, '', at(rules, DESIRED)).changes.map(({ call, after }) => `${call}${after.length > 0 ? ` < ${after.join(',')}` : ''}`)

  it.each([
    ['comes before its records in a separate call', CALL_RULES.message, ['0', '1 < 0', '1 < 0', '1 < 0']],
    ['is created with its records in one call', CALL_RULES.zone, ['0', '0', '0', '0']],
    ['is created with as many RRsets as a call takes', { ...CALL_RULES.zone, maxUnits: 2 }, ['0', '0', '0', '1 < 0,1']],
    ['is created with as many records as a call takes', { ...CALL_RULES.zone, unit: 'record', maxUnits: 2 }, ['0', '0', '0', '1 < 0,1']],
    ['is created with its first record', { ...CALL_RULES.rrset, createsZoneWithRecords: true }, ['0', '0', '1 < 0', '2 < 0,1']],
  ] as const)('%s', (_, rules, expected) => {
    expect(callsFor(rules)).toEqual(expected)
    const { changes, calls } = planOf(null, '', at(rules, DESIRED))
    expect(calls).toEqual({ create: 4, update: 0, delete: 0, total: 1 + Math.max(...changes.map(({ call }) => call)) })
  })

  it('is expected to be empty', () => {
    const [call] = callsOf(planOf(null, '', at(CALL_RULES.zone, DESIRED)), CALL_RULES.zone, '') as [Changeset]
    expect([call.indexes, call.rrsets.map(({ existing: before }) => before)]).toEqual([
      [0, 1, 2, 3],
      [null, null, null],
    ])
  })
})

describe('the deletion of a zone', () => {
  const BEFORE = 'a A 192.0.2.1\na A 192.0.2.2\nb TXT "b"'
  it.each([
    ['has all RRsets that it removes', CALL_RULES.zone, ['- a A', '- b TXT']],
    ['has them also at a target of single records', CALL_RULES.record, ['- a A', '- b TXT']],
  ])('%s', (_, rules, expected) => {
    const desired = desiredZone(ORIGIN, '', { absent: true })
    const plan = planOf(BEFORE, '', { ...at(rules, ''), desired, allow: new Set(['delete-zone']) })
    const calls = callsOf(plan, rules, BEFORE)
    expect(calls.map(({ changes }) => changes.map(({ action, subject }) => `${action} ${subject}`))).toEqual([['delete domain']])
    expect(calls.flatMap(rrsetTexts)).toEqual(expected)
    expect(calls[0]?.rrsets[0]?.existing?.data).toEqual(['192.0.2.1', '192.0.2.2'])
  })
})

describe('batches', () => {
  const batch = { unit: 'rrset', maxUnits: 3, maxOctets: null, atomic: true, hasPrecondition: true, createsZoneWithRecords: false } as const
  /** Each call as its RRsets, after `<` the calls that it follows. */
  const batches = (rules: PlanInput['capabilities']['calls'], before: string, after: string, limit: number | null = null): string[] =>
    callsOf(planAt(rules, before, after, limit), rules, before).map(
      (call) => `${rrsetTexts(call).join('; ')}${call.after.length > 0 ? ` < ${call.after.join(',')}` : ''}`,
    )

  it('hold RRsets up to the limit, and follow each other only if their RRsets do', () => {
    expect(batches(batch, '', 'a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1\nd A 192.0.2.1')).toEqual([
      '= a - A 192.0.2.1; = b - A 192.0.2.1; = c - A 192.0.2.1',
      '= d - A 192.0.2.1',
    ])
    expect(batches(batch, '', 'a CNAME d\nb A 192.0.2.1\nc A 192.0.2.1\nd A 192.0.2.1\ne A 192.0.2.1')).toEqual([
      '= a - CNAME d.example.com.; = b - A 192.0.2.1; = d - A 192.0.2.1',
      '= c - A 192.0.2.1; = e - A 192.0.2.1',
    ])
  })

  it('keep a CNAME and its replacement in one call, so that the name is never empty', () => {
    const before = 'a A 192.0.2.1\nb A 192.0.2.1\nx CNAME h.example.net.'
    const plan = planAt(batch, before, 'x A 192.0.2.1\nc A 192.0.2.1')
    const shared = callsOf(plan, batch, before).map((call) => call.rrsets.filter(({ name }) => name === 'x.example.com.').length)
    expect(shared.filter((count) => count > 0)).toEqual([2])
    expect(plan.diagnostics).toEqual([])
  })

  it('report a name that is empty between two calls', () => {
    const plan = planAt(CALL_RULES.rrset, 'x CNAME h.example.net.', 'x A 192.0.2.1')
    expect(plan.diagnostics).toMatchObject([{ code: 'interruption', message: expect.stringContaining('x.example.com.') }])
  })

  it('free room before they use it if the zone is full', () => {
    const before = 'a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1'
    expect(batches({ ...batch, maxUnits: 1 }, before, 'd A 192.0.2.1\ne A 192.0.2.1\nc A 192.0.2.1', 3)).toEqual([
      '- a A',
      '- b A < 0',
      '= d - A 192.0.2.1 < 1',
      '= e - A 192.0.2.1 < 2',
    ])
  })

  it('are limited in octets', () => {
    const text = Array.from({ length: 100 }, (_, index) => `t${index} TXT "${'x'.repeat(200)}"`).join('\n')
    const rules = { ...CALL_RULES.message, maxOctets: 10_000 }
    const calls = callsOf(planAt(rules, '', text), rules, '')
    expect(calls.length).toBeGreaterThan(2)
    for (const { rrsets } of calls) expect(rrsets.length * 250).toBeLessThan(10_000)
    expect(calls.flatMap(({ indexes }) => indexes).toSorted((a, b) => a - b)).toEqual([...Array(100).keys()])
  })
})

describe('batches of records', () => {
  const rules = { ...CALL_RULES.record, maxUnits: 2 }
  const numbers = (plan: ZonePlan): string[] => plan.changes.map(({ call }, index) => `${changesOf(plan)[index]} in ${call}`)

  it('carry everything in one call without order or split if it fits', () => {
    const plan = planAt({ ...rules, maxUnits: 4 }, 'a CNAME h.example.net.\nb A 192.0.2.1', 'a A 192.0.2.1\nb CNAME h.example.net.')
    expect([plan.calls, plan.changes.map(({ after }) => after)]).toEqual([{ create: 0, update: 2, delete: 0, total: 1 }, [[], []]])
  })

  it('follow each other in the order of their changes', () => {
    const plan = planAt(rules, '', 'a CNAME b\nb CNAME c\nc CNAME d\nd A 192.0.2.1')
    expect(numbers(plan)).toEqual([
      '+ a CNAME b.example.com. in 1',
      '+ b CNAME c.example.com. < 2 in 1',
      '+ c CNAME d.example.com. in 0',
      '+ d A 192.0.2.1 in 0',
    ])
  })

  it('never hold a change and one that it waits for if a call may be carried out in part', () => {
    const plan = planAt({ ...rules, atomic: false }, '', 'a CNAME b\nb CNAME c\nc A 192.0.2.1')
    expect(plan.changes.map(({ call }) => call)).toEqual([2, 1, 0])
  })

  it('hold both if the target orders the changes of a call itself', () => {
    const plan = planAt({ ...rules, atomic: false, maxUnits: 3, ordersChanges: true }, '', 'a CNAME b\nb CNAME c\nc A 192.0.2.1')
    expect(plan.changes.map(({ call }) => call)).toEqual([0, 0, 0])
  })
})
