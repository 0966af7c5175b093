/** Properties of every plan, with generated zones. */
import { describe, expect, it } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { fc } from '../support/fast-check.ts'
import { changesOf } from '../support/plan.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { finalLines, isSound, planCase, randomCase, recordOf, tradingCase, type ZoneCase } from '../support/zone-cases.ts'
import { identity } from '../support/zone-simulator.ts'

const runs = (count: number): { numRuns: number } => ({ numRuns: rounds(count) })

/** Seeded cases of all kinds, with 1 to about 40 records. */
const cases: fc.Arbitrary<ZoneCase> = fc
  .record({ seed: fc.nat(), kind: fc.constantFrom('small', 'trading', 'large', 'full'), size: fc.integer({ min: 1, max: 40 }) })
  .map(({ seed, kind, size }) => {
    const random = seededRandom(seed)
    const names = ['@', 'a', 'b', 'c', 'd.a', 'e', 'f.e', 'g', 'h.g.e'].slice(0, 3 + random.below(7))
    const zone = kind === 'small' ? randomCase(random) : kind === 'trading' ? tradingCase(random) : randomCase(random, names, size)
    return kind === 'full' ? { ...zone, limit: Math.max(zone.existing.length, finalLines(zone).length) } : zone
  })
  .filter(isSound)

/** The records after a plan. */
function applied(existing: readonly ResourceRecord[], plan: ZonePlan): string[] {
  const there = existing.map(identity)
  for (const change of plan.changes) {
    if (change.subject !== 'record') continue
    if (change.existing && !there.includes(identity(change.existing))) throw new Error(`${identity(change.existing)} is not there`)
    if (change.existing) there.splice(there.indexOf(identity(change.existing)), 1)
    if (change.desired) there.push(identity(change.desired))
  }
  return there.sort()
}

describe('for every zone', () => {
  it('the plan results in exactly the desired and the unmanaged records, and a second plan is empty', () => {
    fc.assert(
      fc.property(cases, fc.constantFrom('continuity' as const, 'calls' as const), (zone, prefer) => {
        const plan = planCase(zone, { prefer })
        expect(applied(zone.existing.map(recordOf), plan)).toEqual(finalLines(zone).map(recordOf).map(identity).sort())
        expect(changesOf(planCase({ ...zone, existing: finalLines(zone) }))).toEqual([])
      }),
      runs(300),
    )
  })

  it('the plan does not depend on the order of the inputs', () => {
    fc.assert(
      fc.property(cases, fc.nat(), fc.constantFrom('continuity' as const, 'calls' as const), (zone, seed, prefer) => {
        const random = seededRandom(seed)
        const shuffled = { ...zone, existing: random.shuffle(zone.existing), desired: random.shuffle(zone.desired) }
        expect(changesOf(planCase(shuffled, { prefer }))).toEqual(changesOf(planCase(zone, { prefer })))
      }),
      runs(300),
    )
  })

  it('nor if several plans of a full zone are equally good', () => {
    const zone = { existing: ['@ CNAME a', 'a NS @'], desired: ['@ AAAA 2001:db8::1', 'a 300 TXT "y"'], limit: 2 }
    expect(changesOf(planCase({ ...zone, desired: zone.desired.toReversed() }))).toEqual(changesOf(planCase(zone)))
  })

  it('each ID is that of the changed record, and is in one call', () => {
    fc.assert(
      fc.property(cases, (zone) => {
        const plan = planCase(zone)
        const ids = plan.changes.flatMap(({ id }) => (id === null ? [] : [id]))
        expect(new Set(ids).size).toBe(ids.length)
        for (const change of plan.changes) {
          expect(change.id === null).toBe(change.action === 'create')
          const line = change.id === null ? undefined : zone.existing[Number(change.id) - 1]
          if (line !== undefined) expect(change.existing).toEqual(recordOf(line))
        }
      }),
      runs(200),
    )
  })

  it('the totals match the changes', () => {
    fc.assert(
      fc.property(cases, (zone) => {
        const { changes, calls } = planCase(zone)
        const count = (action: string): number => changes.filter((change) => change.action === action).length
        expect(calls).toEqual({ create: count('create'), update: count('update'), delete: count('delete'), total: changes.length })
      }),
      runs(150),
    )
  })
})
