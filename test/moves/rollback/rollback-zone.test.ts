import { describe, expect, it, test } from 'vitest'
import type { ExistingRecord } from '../../../src/dns/record.ts'
import type { ExistingZone, RefusalName, ZoneSettings } from '../../../src/dns/zone.ts'
import { planZoneRollback, type RollbackRules, type ZoneRollback } from '../../../src/moves/rollback/rollback-zone.ts'
import { finalRecords, type Outcome, type ZonePlan } from '../../../src/plan/plan.ts'
import { DEFAULT_THRESHOLDS } from '../../../src/plan/safety-limits.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { changesOf, ORIGIN, planOf, withAddresses, zoneChange } from '../../support/plan.ts'
import { rounds } from '../../support/random.ts'
import { desiredZone, existingZone } from '../../support/records.ts'
import { identity } from '../../support/zone-simulator.ts'

const EVERYTHING: readonly RefusalName[] = ['deletes', 'updates', 'empty-zone', 'apex-ns', 'delete-zone']

const rules = (more: Partial<RollbackRules> = {}): RollbackRules => {
  return { capabilities: CLOUD_CAPABILITIES, thresholds: DEFAULT_THRESHOLDS, allow: new Set(EVERYTHING), overwrite: false, ...more }
}

const APPLIED: Outcome = { state: 'applied' }

/** A zone with these records; null for no zone. */
const zoneOf = (text: string | null, settings: ZoneSettings = {}): ExistingZone | null => {
  if (text === null) return null
  const zone = existingZone(ORIGIN, text)
  return { ...zone, settings: { ...zone.settings, ...settings } }
}

/** Plans the rollback of a run from `before` to `after`, with all changes applied unless `outcomes` is given; the zone is now `live`. */
function rollBack(before: string | null, after: string, live: string | null, more: Partial<RollbackRules> = {}, outcomes?: Outcome[]) {
  const plan = planOf(before, after, { desired: desiredZone(ORIGIN, after, { apexNs: 'manage' }) })
  const run = { before: zoneOf(before), plan, outcomes: outcomes ?? plan.changes.map(() => APPLIED) }
  return planZoneRollback(run, zoneOf(live), rules(more))
}

const messages = ({ plan }: ZoneRollback): string[] =>
  plan.diagnostics.filter(({ code }) => code.startsWith('rollback-')).map(({ code, message }) => `${code} ${message}`)

test('deletes and changes nothing at a target where plans only create records, and says so', () => {
  const capabilities = { ...CLOUD_CAPABILITIES, onlyCreates: 'its list is unknown' }
  const rollback = rollBack('www A 192.0.2.1\ngone TXT "a"', 'www A 192.0.2.9\nnew A 192.0.2.2', 'www A 192.0.2.9\nnew A 192.0.2.2', {
    capabilities,
    overwrite: true,
  })
  expect(changesOf(rollback.plan)).toEqual(['+ gone TXT "a"'])
  expect(messages(rollback)).toEqual([
    'rollback-conflict example.com. at cloud: plans only create records, because its list is unknown, and keep new.example.com. A and www.example.com. A',
  ])
  expect(rollback.whole).toBe(false)
})

describe('records', () => {
  type Reported = [expected?: RegExp[], overwritten?: string[]]
  const cases: [name: string, before: string, after: string, live: string, back: string[], ...Reported][] = [
    ['removes what the run added', 'www A 1', 'www A 1\nx A 2', 'www A 1\nx A 2', ['- x A 2']],
    ['restores what the run removed', 'www A 1\nx TXT "a"', 'www A 1', 'www A 1', ['+ x TXT "a"']],
    ['reverts an update with an update', 'www 300 A 1', 'www 3600 A 9', 'www 3600 A 9', ['~ www 3600 A 9 -> www 300 A 1']],
    [
      'keeps an undefinable TTL of a record that the run did not change',
      'odd 30 A 7\nwww A 1',
      'odd 300 A 7\nwww A 2',
      'odd 300 A 7\nwww A 2\nother 30 A 8',
      ['~ www A 2 -> www A 1'],
      [/rollback-kept .*other\.example\.com\. A \(30 192\.0\.2\.8, was nothing\)/],
    ],
    [
      'keeps and reports a record that another client added',
      'www A 1',
      'www A 2',
      'www A 2\nnew A 3',
      ['~ www A 2 -> www A 1'],
      [
        /^rollback-kept example\.com\. at cloud: another client changed new\.example\.com\. A \(192\.0\.2\.3, was nothing\) since the run; it is kept$/,
      ],
    ],
    [
      'reports and does not restore a record that another client removed',
      'www A 1\nx A 5',
      'www A 2\nx A 5',
      'www A 2',
      ['~ www A 2 -> www A 1'],
      [/rollback-kept .*x\.example\.com\. A \(nothing, was 192\.0\.2\.5\)/],
    ],
    [
      'keeps an RRset that another client changed',
      'www A 1',
      'www A 2',
      'www A 2\nwww A 3',
      [],
      [/^rollback-conflict .*www\.example\.com\. A was changed by the run, and again since: .*192\.0\.2\.3.*left as it is$/],
      ['~ www A 2 -> www A 1', '- www A 3'],
    ],
    ['keeps an extended RRset', 'www A 1', 'www A 1\nx A 2', 'www A 1\nx A 2\nx A 3', [], [/conflict .*x\./], ['- x A 2', '- x A 3']],
    ['changes nothing if another client already reverted the change', 'www A 1', 'www A 2', 'www A 1', []],
    ['ignores the order of the records', 'www A 1', 'www A 2\nwww A 3', 'www A 3\nwww A 2', ['~ www A 2 -> www A 1', '- www A 3']],
    ['does not restore a duplicate', 'www A 1\nwww A 1\nx A 2', 'www A 1', 'www A 1', ['+ x A 2']],
    ['a CNAME after the addresses', 'www CNAME x.\nk A 1', 'www A 2\nk A 1', 'www A 2\nk A 1', ['- www A 2', '+ www CNAME x. < 0']],
    [
      'does not restore a CNAME beside a record of another client',
      'www CNAME x.\nk A 1',
      'www A 2\nk A 1',
      'www A 2\nwww TXT "theirs"\nk A 1',
      [],
      [
        /rollback-conflict .*www\.example\.com\. .*A is not restored/,
        /rollback-conflict .*www\.example\.com\. .*CNAME is not restored/,
        /rollback-kept .*"theirs"/,
      ],
      ['- www A 2', '+ www CNAME x. < 0,2', '- www TXT "theirs"'],
    ],
    [
      'keeps a CNAME that another client created at the name of a removed record',
      'www A 2\nk A 1',
      'k A 1',
      'www CNAME x.\nk A 1',
      [],
      [/rollback-conflict .*A is not restored/, /rollback-kept .*CNAME/],
      ['+ www A 2 < 1', '- www CNAME x.'],
    ],
    [
      'restores a null MX after it removes the other MX records',
      '@ MX 0 .\nk A 1',
      '@ MX 10 a.\n@ MX 20 b.\nk A 1',
      '@ MX 10 a.\n@ MX 20 b.\nk A 1',
      ['~ @ MX 10 a. -> @ MX 0 . < 1', '- @ MX 20 b.'],
    ],
  ]
  test.each(cases)('%s', (_, before, after, live, back, expected = [], overwritten = undefined) => {
    const zones = [withAddresses(before), withAddresses(after), withAddresses(live)] as const
    const rollback = rollBack(...zones)
    expect(changesOf(rollback.plan)).toEqual(back.map(withAddresses))
    const reported = messages(rollback)
    expect(reported).toHaveLength(expected.length)
    for (const pattern of expected) expect(reported).toContainEqual(expect.stringMatching(pattern))
    expect(rollback.whole).toBe(overwritten === undefined)
    if (overwritten === undefined) return
    const forced = rollBack(...zones, { overwrite: true })
    expect(changesOf(forced.plan)).toEqual(overwritten.map(withAddresses))
    expect(forced.whole).toBe(true)
    expect(messages(forced).join('\n')).toMatch(/overwritten/)
  })

  it('reverts only applied changes', () => {
    const before = 'a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1'
    const after = 'a A 192.0.2.2\nb A 192.0.2.2\nc A 192.0.2.2'
    const outcomes: Outcome[] = [APPLIED, { state: 'failed', error: 'x' }, { state: 'skipped', because: 'y' }]
    const rollback = rollBack(before, after, 'a A 192.0.2.2\nb A 192.0.2.1\nc A 192.0.2.1', {}, outcomes)
    expect(changesOf(rollback.plan)).toEqual(['~ a A 192.0.2.2 -> a A 192.0.2.1'])
    expect(messages(rollback)).toEqual([])
  })

  it('compares a call with an unknown outcome with the live zone: reverts it if it was applied', () => {
    const outcomes: Outcome[] = [{ state: 'unknown', error: 'no answer' }]
    const [before, after] = ['a A 192.0.2.1', 'a A 192.0.2.2']
    expect(changesOf(rollBack(before, after, after, {}, outcomes).plan)).toEqual(['~ a A 192.0.2.2 -> a A 192.0.2.1'])
    const not = rollBack(before, after, before, {}, outcomes)
    expect(changesOf(not.plan)).toEqual([])
    expect([not.whole, messages(not)]).toEqual([true, []])
  })

  it('rounds a restored TTL that the target does not store, and reports it', () => {
    const rollback = rollBack('a 30 A 192.0.2.1\nk A 192.0.2.9', 'k A 192.0.2.9', 'k A 192.0.2.9')
    expect(changesOf(rollback.plan)).toEqual(['+ a 300 A 192.0.2.1'])
    expect(rollback.plan.diagnostics.map(({ code }) => code)).toContain('ttl-rounded')
  })

  it('reports and skips a record that no provider would accept', () => {
    const before = existingZone(ORIGIN, 'k A 192.0.2.9\na TXT "x"')
    const broken: ExistingZone = {
      ...before,
      records: before.records.map((record): ExistingRecord => (record.type === 'TXT' ? { ...record, data: 'no quotes (' } : record)),
    }
    const plan = planOf('k A 192.0.2.9\na TXT "x"', 'k A 192.0.2.9')
    const changes = plan.changes.map((change) => ({ ...change, existing: broken.records[1] as never }))
    const run = { before: broken, plan: { ...plan, changes }, outcomes: [APPLIED] }
    const rollback = planZoneRollback(run, zoneOf('k A 192.0.2.9'), rules())
    expect(changesOf(rollback.plan)).toEqual([])
    expect(rollback.whole).toBe(false)
    expect(messages(rollback)).toEqual([expect.stringMatching(/a\.example\.com\. TXT cannot be restored/)])
  })

  const lines = (address: string, count = 12): string => Array.from({ length: count }, (_, index) => `h${index} A ${address}`).join('\n')
  const NS = '@ NS ns1.example.net.\n@ NS ns2.example.net.\n'

  it.each<[name: string, before: string, after: string]>([
    ['all added', 'k A 192.0.2.9', `k A 192.0.2.9\n${lines('192.0.2.1')}`],
    ['all changed', lines('192.0.2.1'), lines('192.0.2.2')],
    ['all deleted', `k A 192.0.2.9\n${lines('192.0.2.1')}`, 'k A 192.0.2.9'],
    ['all records, fewer before', 'k A 192.0.2.9', lines('192.0.2.1')],
    ['apex NS records', `${NS}k A 192.0.2.9`, '@ NS ns3.example.net.\nk A 192.0.2.9'],
    ['added apex NS records', 'k A 192.0.2.9', `${NS}k A 192.0.2.9`],
  ])('is not refused for its size: %s', (_, before, after) => {
    const thresholds = { ...DEFAULT_THRESHOLDS, max_deletes: 0, max_updates: 0, min_existing: 1 }
    for (const overwrite of [false, true]) {
      const { plan, whole } = rollBack(before, after, after, { allow: new Set(), thresholds, overwrite })
      expect(plan.refusals).toEqual([])
      expect(whole).toBe(true)
      expect(plan.changes).not.toEqual([])
    }
  })

  it('refuses to empty the zone, also after an incomplete run', () => {
    const plan = planOf('', lines('192.0.2.1'))
    for (const applied of [1, 5, 12]) {
      const outcomes = plan.changes.map((_, index): Outcome => (index < applied ? APPLIED : { state: 'skipped', because: 'interrupted' }))
      const live = zoneOf(
        plan.changes
          .slice(0, applied)
          .map(({ name }) => `${name} A 192.0.2.1`)
          .join('\n'),
      )
      const rollback = planZoneRollback({ before: zoneOf(''), plan, outcomes }, live, rules({ allow: new Set() }))
      expect(changesOf(rollback.plan)).toHaveLength(applied)
      expect(rollback.plan.refusals).toEqual([expect.objectContaining({ name: 'empty-zone', allowed: false })])
    }
  })

  it('does not refuse to empty the zone if records of other clients remain', () => {
    const live = `${lines('192.0.2.1')}\nnew A 192.0.2.3`
    const { plan } = rollBack('', lines('192.0.2.1'), live, { allow: new Set() })
    expect(plan.refusals).toEqual([])
    expect(changesOf(plan)).toHaveLength(12)
    expect(changesOf(plan).join()).not.toContain('new')
  })

  it.each<[name: string, before: string, after: string, live: string, refused: string[]]>([
    ['updates', lines('192.0.2.1'), lines('192.0.2.2'), lines('192.0.2.3'), ['updates']],
    ['deletions', 'k A 192.0.2.9', `k A 192.0.2.9\n${lines('192.0.2.2')}`, `k A 192.0.2.9\n${lines('192.0.2.3')}`, ['deletes']],
    ['all records, fewer before', 'k A 192.0.2.9', lines('192.0.2.2'), lines('192.0.2.3'), ['empty-zone']],
    ['few of many', lines('192.0.2.1'), lines('192.0.2.2'), `${lines('192.0.2.2', 10)}\nh10 A 192.0.2.3\nh11 A 192.0.2.3`, []],
    ['apex NS records', `${NS}k A 192.0.2.9`, '@ NS ns3.example.net.\nk A 192.0.2.9', '@ NS ns4.example.net.\nk A 192.0.2.9', ['apex-ns']],
  ])('with --overwrite, too many changes to records of other clients are refused: %s', (_, before, after, live, refused) => {
    expect(rollBack(before, after, live, { allow: new Set(), overwrite: true }).plan.refusals.map(({ name }) => name)).toEqual(refused)
    expect(rollBack(before, after, live, { allow: new Set() }).plan.refusals).toEqual([])
  })

  it('reports the first RRsets that other clients changed and the number of the rest', () => {
    const others = Array.from({ length: 25 }, (_, index) => `o${index} A 192.0.2.8`).join('\n')
    const reported = messages(rollBack('a A 192.0.2.1', 'a A 192.0.2.2', `a A 192.0.2.2\n${others}`))
    expect(reported).toHaveLength(11)
    expect(reported.at(-1)).toMatch(/15 more record sets/)
  })
})

describe('settings', () => {
  const update = (existing: ZoneSettings, desired: ZoneSettings): ZonePlan => {
    const fields = Object.keys(desired) as (keyof ZoneSettings)[]
    const plan = planOf('a A 192.0.2.1', 'a A 192.0.2.1')
    return { ...plan, changes: [zoneChange({ action: 'update', existing, desired, fields } as const)] }
  }
  const [before, desired] = [
    { ttl_sec: 300, tags: ['a'] },
    { ttl_sec: 3600, tags: ['b'] },
  ]
  const back = (live: ZoneSettings, more: Partial<RollbackRules> = {}, outcome: Outcome = APPLIED): ZoneRollback =>
    planZoneRollback(
      { before: zoneOf('a A 192.0.2.1', before), plan: update(before, desired), outcomes: [outcome] },
      zoneOf('a A 192.0.2.1', live),
      rules(more),
    )

  it('are reverted field by field', () => {
    const { plan, whole } = back(desired)
    const fields = ['ttl_sec', 'tags']
    expect(plan.changes).toMatchObject([{ action: 'update', subject: 'domain', id: 1, existing: desired, desired: before, fields }])
    expect(whole).toBe(true)
  })

  it('stay if another client changed them, unless overwritten', () => {
    const live = { ttl_sec: 3600, tags: ['c'], description: 'theirs' }
    const left = back(live)
    expect(left.plan.changes).toEqual([expect.objectContaining({ fields: ['ttl_sec'], desired: { ttl_sec: 300 } })])
    expect([left.whole, messages(left)]).toEqual([false, [expect.stringMatching(/its tags was changed by the run, and is \["c"\] since/)]])
    expect(back(live, { overwrite: true }).plan.changes).toEqual([expect.objectContaining({ desired: before })])
  })

  it('need no change if they are as before, in any order and letter case of tags', () =>
    expect(back({ ttl_sec: 300, tags: ['A'] }).plan.changes).toEqual([]))

  it('of a call with an unknown outcome are compared like those of an applied call', () => {
    const doubt: Outcome = { state: 'unknown', error: 'no answer' }
    expect(back(desired, {}, doubt).plan.changes).toHaveLength(1)
    expect(back(before, {}, doubt)).toMatchObject({ whole: true, plan: { changes: [] } })
  })
})

describe('zone', () => {
  const created = planOf(null, 'a A 192.0.2.1')
  const creation = { before: null, plan: created, outcomes: created.changes.map(() => APPLIED) }

  it('that the run created is deleted only if allowed', () => {
    const refused = planZoneRollback(creation, zoneOf('a A 192.0.2.1'), rules({ allow: new Set() }))
    expect(changesOf(refused.plan)).toEqual(['delete zone []'])
    expect(refused.plan.refusals).toEqual([expect.objectContaining({ name: 'delete-zone', allowed: false })])
    expect(planZoneRollback(creation, zoneOf('a A 192.0.2.1'), rules()).plan.refusals).toEqual([expect.objectContaining({ allowed: true })])
  })

  it('that the run created and another client changed is kept', () => {
    const left = planZoneRollback(creation, zoneOf('a A 192.0.2.1\ntheirs A 192.0.2.2'), rules())
    expect([left.plan.changes, left.whole]).toEqual([[], false])
    expect(messages(left)).toEqual([expect.stringMatching(/the run created it, and another client changed theirs\.example\.com\. A/)])
    const forced = planZoneRollback(creation, zoneOf('a A 192.0.2.1\ntheirs A 192.0.2.2'), rules({ overwrite: true }))
    expect(changesOf(forced.plan)).toEqual(['delete zone []'])
    expect(planZoneRollback(creation, zoneOf('a A 192.0.2.1', { soa_email: 'theirs@example.com' }), rules()).plan.changes).toEqual([])
  })

  it('that the run created and that no longer exists needs no change', () =>
    expect(planZoneRollback(creation, null, rules())).toMatchObject({ whole: true, plan: { changes: [], refusals: [], diagnostics: [] } }))

  it('whose creation failed needs no change', () => {
    const outcomes: Outcome[] = [
      { state: 'failed', error: 'x' },
      { state: 'skipped', because: 'y' },
    ]
    expect(planZoneRollback({ ...creation, outcomes }, null, rules())).toMatchObject({ whole: true, plan: { changes: [] } })
  })

  const existing = zoneOf('a A 192.0.2.1\nb A 192.0.2.2', { ttl_sec: 300, description: '', master_ips: [] }) as ExistingZone
  const gone: ZonePlan = {
    ...planOf('a A 192.0.2.1\nb A 192.0.2.2', 'a A 192.0.2.1\nb A 192.0.2.2'),
    changes: [zoneChange({ action: 'delete', existing: existing.settings } as const)],
  }
  const deletion = { before: existing, plan: gone, outcomes: [APPLIED] }

  it('that the run deleted is restored with its settings and records', () => {
    const { plan, whole } = planZoneRollback(deletion, null, rules())
    expect(plan.changes[0]).toMatchObject({
      action: 'create',
      subject: 'domain',
      desired: { type: 'master', soa_email: 'hostmaster@example.com', ttl_sec: 300 },
    })
    expect(Object.keys(plan.changes[0]?.desired ?? {})).not.toContain('description')
    expect(changesOf(plan).slice(1)).toEqual(['+ a A 192.0.2.1 < 0', '+ b A 192.0.2.2 < 0'])
    expect([whole, plan.exists]).toEqual([true, false])
  })

  it('that the run deleted and another client created again is kept', () => {
    const live = zoneOf('b A 192.0.2.9\nc A 192.0.2.3', { ttl_sec: 7200, description: '' })
    const left = planZoneRollback(deletion, live, rules())
    expect([left.plan.changes, left.whole]).toEqual([[], false])
    expect(messages(left)).toEqual([expect.stringMatching(/the run deleted it, and it was created again since/)])
    const forced = planZoneRollback(deletion, live, rules({ overwrite: true }))
    expect(changesOf(forced.plan)).toEqual(['update zone [ttl_sec]', '+ a A 192.0.2.1', '~ b A 192.0.2.9 -> b A 192.0.2.2'])
  })

  it('that another client deleted is not restored, unless overwritten', () => {
    const left = rollBack('a A 192.0.2.1', 'a A 192.0.2.2', null)
    expect([left.plan.changes, left.whole]).toEqual([[], false])
    expect(messages(left)).toEqual([expect.stringMatching(/it was deleted since/)])
    expect(changesOf(rollBack('a A 192.0.2.1', 'a A 192.0.2.2', null, { overwrite: true }).plan)).toEqual([
      'create zone [soa_email type]',
      '+ a A 192.0.2.1 < 0',
    ])
  })
})

describe('for any run', () => {
  const line = fc
    .tuple(fc.constantFrom('@', 'a', 'b', 'c.a'), fc.constantFrom(300, 3600), fc.constantFrom('A', 'TXT', 'AAAA'), fc.nat(3))
    .map(
      ([owner, ttl, type, n]) => `${owner} ${ttl} ${type} ${type === 'A' ? `192.0.2.${n}` : type === 'TXT' ? `"t${n}"` : `2001:db8::${n}`}`,
    )
  const unique = (lines: string[]): string[] => [...new Map(lines.map((one) => [one.replace(/ \d+ /, ' '), one])).values()]
  const zone = fc.array(line, { maxLength: 10 }).map(unique)
  const lines = (records: Iterable<Parameters<typeof identity>[0]>): string[] => [...records].map(identity).sort()

  it('restores the state before the run and keeps changes of other clients', () => {
    forAll(
      rounds(200),
      zone,
      zone,
      fc.array(fc.constantFrom('x', 'y').map((owner) => `${owner} 300 A 192.0.2.9`)),
      (before, after, theirs) => {
        const [text, others] = [before.join('\n'), [...new Set(theirs)]]
        const plan = planOf(text, after.join('\n'))
        const base = finalRecords(existingZone(ORIGIN, text).records, plan.changes)
        const live: ExistingZone = {
          ...(zoneOf('') as ExistingZone),
          records: [...base, ...existingZone(ORIGIN, others.join('\n')).records].map((record, index) => ({ ...record, id: 100 + index })),
        }
        const run = { before: zoneOf(text), plan, outcomes: plan.changes.map(() => APPLIED) }
        const back = planZoneRollback(run, live, rules())
        const expected = existingZone(ORIGIN, [...before, ...others].join('\n')).records
        expect(lines(finalRecords(live.records, back.plan.changes))).toEqual(lines(expected))
        expect(back.whole).toBe(true)
        // Rolling back the rollback restores the result of the run.
        const after2: ExistingZone = {
          ...live,
          records: finalRecords(live.records, back.plan.changes).map((record, index) => ({ ...record, id: 200 + index })),
        }
        const again = planZoneRollback({ before: live, plan: back.plan, outcomes: back.plan.changes.map(() => APPLIED) }, after2, rules())
        expect(lines(finalRecords(after2.records, again.plan.changes))).toEqual(lines(live.records))
      },
    )
  })
})
