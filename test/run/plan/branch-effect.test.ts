import { describe, expect, test } from 'vitest'
import { contentKey, type ResourceRecord } from '../../../src/dns/record.ts'
import type { Capabilities } from '../../../src/plan/capabilities.ts'
import type { ZonePlan } from '../../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import type { ZoneSnapshot } from '../../../src/providers/provider.ts'
import { stateAfter } from '../../../src/run/plan/branch-effect.ts'
import { ORIGIN, planOf } from '../../support/plan.ts'
import { type Random, rounds, seededRandom } from '../../support/random.ts'
import { desiredZone, existingZone, name } from '../../support/records.ts'

const CAPABILITIES: Readonly<Record<string, Capabilities>> = {
  'one record per call': CLOUD_CAPABILITIES,
  'whole RRsets': { ...CLOUD_CAPABILITIES, calls: { ...CLOUD_CAPABILITIES.calls, unit: 'rrset', maxUnits: null } },
}

const snapshotOf = (text: string): ZoneSnapshot => ({ ...existingZone(ORIGIN, text), id: 1 })

/** Up to ten records of few names and values, so that plans have much in common. */
function randomZone(random: Random): string {
  const lines = new Set<string>()
  const addresses = new Map<string, string>()
  for (let count = random.below(10); count > 0; count -= 1) {
    const owner = random.pick(['@', 'a', 'b', 'c'])
    const ttl = addresses.get(owner) ?? random.pick(['', '300', '3600'])
    addresses.set(owner, ttl)
    lines.add(`${owner} ${ttl} A 192.0.2.${random.below(5)}`)
  }
  return [...lines].join('\n')
}

/** The sum of signed records: 1 for each that a plan adds, -1 for each that it removes. */
function signedRecords(...terms: readonly (readonly [sign: number, plan: ZonePlan])[]): Record<string, number> {
  const sum = new Map<string, number>()
  const add = (record: ResourceRecord | null, sign: number): void => {
    if (record !== null) sum.set(contentKey(record), (sum.get(contentKey(record)) ?? 0) + sign)
  }
  for (const [sign, { changes }] of terms)
    for (const change of changes) {
      if (change.subject === 'domain') continue
      add(change.existing, -sign)
      add(change.desired, sign)
    }
  return Object.fromEntries([...sum].filter(([, count]) => count !== 0).sort())
}

describe.each(Object.entries(CAPABILITIES))('%s', (_, capabilities) => {
  test('the effect of a branch is its plan less that of the base, record by record', () => {
    const random = seededRandom(1)
    let common = 0
    for (let round = 0; round < rounds(100); round += 1) {
      const live = snapshotOf(randomZone(random))
      const plan = (existing: ZoneSnapshot | null, text: string): ZonePlan =>
        planOf('', '', { existing, desired: desiredZone(ORIGIN, text), capabilities, allow: new Set(['deletes', 'updates', 'empty-zone']) })
      const [ofBase, ofHead] = [randomZone(random), randomZone(random)]
      const [base, head] = [plan(live, ofBase), plan(live, ofHead)]
      const after = stateAfter(live, base)
      expect(plan(after, ofBase).changes).toEqual([])
      const effect = plan(after, ofHead)
      expect(signedRecords([1, effect])).toEqual(signedRecords([1, head], [-1, base]))
      if (effect.changes.length < head.changes.length) common += 1
    }
    expect(common).toBeGreaterThan(rounds(20))
  })
})

describe('the state after a plan', () => {
  const zone = (text: string, more = {}) => desiredZone(ORIGIN, text, more)
  test('of a new zone has its settings and records', () => {
    const after = stateAfter(null, planOf(null, 'www A 192.0.2.1'))
    expect(after).toMatchObject({ name: ORIGIN, settings: { type: 'master' }, records: [{ name: name('www', ORIGIN), data: '192.0.2.1' }] })
    expect(planOf('', '', { existing: after, desired: zone('www A 192.0.2.1') }).changes).toEqual([])
  })

  test('of a deleted zone is none, and so is that of a zone that nothing creates', () => {
    const plan = planOf('www A 192.0.2.1', '', { desired: zone('', { absent: true }), allow: new Set(['delete-zone']) })
    expect(stateAfter(snapshotOf('www A 192.0.2.1'), plan)).toBeNull()
    expect(stateAfter(null, { ...plan, changes: [] })).toBeNull()
  })

  test('keeps identifiers, settings of records and fixed TTLs', () => {
    const [record] = existingZone(ORIGIN, 'www 300 A 192.0.2.1').records
    const more = { id: 7, settings: { proxied: true, comment: 'c' }, fixedTtlTypes: ['A'] }
    const existing = { ...snapshotOf(''), records: [{ ...(record as ResourceRecord), ...more }] }
    const plan = planOf('', '', { existing, desired: zone('www 300 A 192.0.2.2') })
    expect(stateAfter(existing, plan)?.records).toMatchObject([{ data: '192.0.2.2', ...more }])
  })
})
