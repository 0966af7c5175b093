/**
 * Plans for a change with one difference removed: a record to remove is kept or never existed, a record to add already exists or is not desired, or a
 * whole RRset stays as before or is already as after. Brute force proves the following for the minimum, and so for the planner:
 *
 * 1. If calls are preferred, the plan never has more calls, also at the record limit. Every sequence for the larger change works for the smaller one:
 *    kept records are added to each state and conflict neither with the existing nor with the desired records; undesired records are left out of each
 *    state. Deletes may always be first, so the limit costs no call.
 * 2. If continuity is preferred, without a limit, the plan has neither more interruptions nor, with equal interruptions, more calls, unless a new need
 *    for continuity arises or a need loses one of the records that meet it. The same sequence proves it: it interrupts nothing else.
 * 3. So an address or a text that is kept, or already exists, never costs a call: it points at nothing, and its name always has a record.
 *
 * No planner that prefers continuity to calls can do better, since the minimum itself grows: a pointer that is kept needs its target longer than one
 * that is removed, and makes the pointers of its RRset needed; a record that is not desired does not keep its name for pointers; a record that is kept in
 * a full zone makes no room.
 */
import { describe, expect, it } from 'vitest'
import { fewestCallsByBruteForce, fewestInterruptionsByBruteForce, stateSpace } from '../support/brute-force.ts'
import { ORIGIN, withAddresses } from '../support/plan.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import {
  finalLines,
  isSound,
  isUnmanaged,
  movingCase,
  planCase,
  randomCase,
  recordOf,
  showPlanned,
  stagesOfCase,
  tradingCase,
  type ZoneCase,
} from '../support/zone-cases.ts'
import { identity, type Stage } from '../support/zone-simulator.ts'

/** The removed difference: the state of the records to remove and of the records to add. */
type Less = { readonly removals: 'kept' | 'absent'; readonly additions: 'exist' | 'not desired' }
const UNDONE: Less = { removals: 'kept', additions: 'not desired' }
const DONE: Less = { removals: 'absent', additions: 'exist' }

const differing = (zone: ZoneCase): string[] => [
  ...zone.existing.filter((line) => !isUnmanaged(line) && !zone.desired.includes(line)),
  ...zone.desired.filter((line) => !zone.existing.includes(line)),
]

/** The case without the differences of these lines. */
function without(zone: ZoneCase, lines: readonly string[], { removals, additions }: Less): ZoneCase {
  const removed = lines.filter((line) => zone.existing.includes(line))
  const added = lines.filter((line) => !zone.existing.includes(line))
  return {
    ...zone,
    existing: [...zone.existing.filter((line) => removals === 'kept' || !removed.includes(line)), ...(additions === 'exist' ? added : [])],
    desired: [...zone.desired.filter((line) => additions === 'exist' || !added.includes(line)), ...(removals === 'kept' ? removed : [])],
  }
}

/** One differing record, or all of an RRset. */
function someDifference(random: Random, zone: ZoneCase): { lines: string[]; less: Less } {
  const lines = differing(zone)
  const line = random.pick(lines)
  const setOf = (one: string): string => `${recordOf(one).name} ${recordOf(one).type}`
  if (random.chance(0.4)) return { lines: lines.filter((one) => setOf(one) === setOf(line)), less: random.pick([UNDONE, DONE]) }
  return { lines: [line], less: { removals: random.pick(['kept', 'absent']), additions: random.pick(['exist', 'not desired']) } }
}

/** The continuity needs that changing records meet: the owner of the need, the record during which it exists, and the records that meet it. */
function needsOf(zone: ZoneCase): Map<string, { during: string | null; oneOf: Set<string>; inUse: boolean }> {
  const { needs, changing } = stateSpace(stagesOfCase(zone), ORIGIN, null)
  const nameOf = (stage: Stage): string => identity(stage.record)
  const ofMask = (mask: number): string[] => changing.filter((_, bit) => (mask & (1 << bit)) !== 0).map(nameOf)
  return new Map(
    needs.map(({ whose, during, one, inUse }) => [
      typeof whose === 'string' ? whose : nameOf(whose),
      { during: during === null ? null : (ofMask(during)[0] as string), oneOf: new Set(ofMask(one)), inUse },
    ]),
  )
}

/** Whether the larger case has every continuity need of the smaller one, for as long and met by the same records. */
function addsNoNeed(smaller: ZoneCase, larger: ZoneCase): boolean {
  const before = needsOf(larger)
  return [...needsOf(smaller)].every(([whose, { during, oneOf, inUse }]) => {
    const same = before.get(whose)
    if (same === undefined || (same.during !== null && same.during !== during) || same.inUse !== inUse) return false
    return [...same.oneOf].every((one) => oneOf.has(one))
  })
}

/** Interruptions in use, other interruptions, and calls, as one number that compares them in this order. */
function rankOf(zone: ZoneCase): number {
  const { continuous } = fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
  if (continuous !== null) return continuous
  const { inUse, others, calls } = fewestInterruptionsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
  return (inUse * 100 + others) * 100 + calls
}

const accepted = (zone: ZoneCase): number => fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit).accepted
const anyCase = (random: Random): ZoneCase => random.pick([() => randomCase(random), () => tradingCase(random), () => movingCase(random)])()

/** Valid pairs of a case and the same with one difference less, small enough for brute force. */
function* pairs(random: Random, count: number, limitOf: (zone: ZoneCase) => number | null): Generator<[ZoneCase, ZoneCase]> {
  for (let checked = 0; checked < rounds(count); ) {
    const any = anyCase(random)
    const zone = { ...any, limit: limitOf(any) }
    const count = differing(zone).length
    if (!isSound(zone) || count === 0 || count > 11 || new Set(zone.existing).size < zone.existing.length) continue
    const { lines, less } = someDifference(random, zone)
    const smaller = without(zone, lines, less)
    if (!isSound(smaller)) continue
    checked += 1
    yield [zone, smaller]
  }
}

const show = (larger: ZoneCase, smaller: ZoneCase): string =>
  `${showPlanned(larger)}\n\nand with one difference less\n${showPlanned(smaller)}`

function expectAt(isTrue: boolean, larger: ZoneCase, smaller: ZoneCase): void {
  if (!isTrue) expect.fail(show(larger, smaller))
}

describe('with one difference less', () => {
  it.each([
    ['no limit', 8, () => null],
    ['a (nearly) full zone', 23, (zone: ZoneCase) => Math.max(zone.existing.length, finalLines(zone).length) + (zone.existing.length % 3)],
  ] as const)('a plan that prefers calls never has more calls: %s', { timeout: 600_000 }, (_, seed, limitOf) => {
    for (const [larger, smaller] of pairs(seededRandom(seed), 160, limitOf)) {
      const calls = [larger, smaller].map((zone) => planCase(zone, { prefer: 'calls' }).calls.total)
      expectAt(calls[0] === accepted(larger) && calls[1] === accepted(smaller), larger, smaller)
      expectAt(accepted(smaller) <= accepted(larger), larger, smaller)
    }
  })

  it('a plan never has more interruptions or calls without new continuity needs', { timeout: 600_000 }, () => {
    const seen = { same: 0, fewer: 0, moreNeeds: 0, moreNeedsAndWorse: 0, interrupted: 0 }
    for (const [larger, smaller] of pairs(seededRandom(3), 800, () => null)) {
      const [before, after] = [rankOf(larger), rankOf(smaller)]
      if (!addsNoNeed(smaller, larger)) {
        seen.moreNeeds += 1
        if (after > before) seen.moreNeedsAndWorse += 1
        continue
      }
      seen[after === before ? 'same' : 'fewer'] += 1
      if (before >= 100) seen.interrupted += 1
      expectAt(after <= before, larger, smaller)
      if (before < 100) expectAt(planCase(smaller).calls.total <= planCase(larger).calls.total, larger, smaller)
    }
    // Most differences add no need, and a new need seldom costs more; every kind occurs.
    expect(seen.same + seen.fewer).toBeGreaterThan(4 * seen.moreNeeds)
    expect(Math.min(...Object.values(seen))).toBeGreaterThanOrEqual(rounds(4))
  })

  it('an address or a text that is kept, or already exists, costs no call', { timeout: 600_000 }, () => {
    const random = seededRandom(4)
    for (let checked = 0; checked < rounds(250); ) {
      const zone = anyCase(random)
      const lines = differing(zone).filter((line) => ['A', 'AAAA', 'TXT'].includes(recordOf(line).type))
      if (!isSound(zone) || lines.length === 0 || differing(zone).length > 11) continue
      const smaller = without(zone, random.shuffle(lines).slice(0, 1 + random.below(3)), { removals: 'kept', additions: 'exist' })
      if (!isSound(smaller)) continue
      checked += 1
      expectAt(rankOf(smaller) <= rankOf(zone) && addsNoNeed(smaller, zone), zone, smaller)
    }
  })
})

/** No planner that prefers continuity can always have fewer calls for fewer differences: the minimum itself grows. */
describe('one difference less that costs a call or an interruption', () => {
  /** The record that no longer differs, its state, and the fewest calls without interruption: with the difference and without; null if there are none. */
  type Change = [line: string, less: Less, calls: [larger: number, smaller: number | null]]
  const cases: [name: string, ...Change, existing: string, desired: string, limit?: number | null][] = [
    [
      'a kept pointer needs its target at every moment',
      'w CNAME c',
      UNDONE,
      [3, 4],
      'a A 1\nc TXT "x"\nu CNAME a\nw CNAME c',
      'a TXT "x"\nc A 1\nu CNAME a\nx CNAME h.',
    ],
    ['a kept pointer loses its target; another is removed', 'www CNAME app', UNDONE, [3, null], 'www CNAME app\napp A 1', 'app CNAME h.'],
    [
      'a kept pointer makes the other pointers of its RRset needed',
      '@ MX 20 c',
      UNDONE,
      [6, 7],
      'd CNAME a\n@ MX 20 c\n@ MX 20 d\na A 4\na SRV 0 5 443 d\nc 300 ALIAS h.',
      'a CNAME a\nd MX 20 c\nd MX 20 a\nc 300 ALIAS h.',
    ],
    ['an undesired text does not keep its name', 'n TXT "x"', UNDONE, [3, 4], 'w CNAME n\nn A 1\ns TXT "x"', 'w CNAME m\nm A 1\nn TXT "x"'],
    [
      'an address that never existed does not keep its name',
      'a AAAA 2001:db8::1',
      DONE,
      [3, 4],
      'w CNAME b\na AAAA 2001:db8::1\nb A 1',
      'w CNAME a\ne AAAA 2001:db8::1\na A 1',
    ],
    ['a kept text makes no room in a full zone', 'c TXT "x"', UNDONE, [4, null], 'a A 1\nwww CNAME a\nc TXT "x"', 'b A 1\nwww CNAME b', 3],
  ]
  it.each(cases)('%s', (_, line, less, calls, existing, desired, limit = null) => {
    const larger: ZoneCase = { existing: withAddresses(existing).split('\n'), desired: withAddresses(desired).split('\n'), limit }
    const smaller = without(larger, [line], less)
    expect([larger, smaller].map(isSound)).toEqual([true, true])
    const least = [larger, smaller].map((zone) => fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, limit))
    expect(least.map(({ continuous }) => continuous)).toEqual(calls)
    expect(accepted(smaller)).toBeLessThanOrEqual(accepted(larger))
    if (limit === null) expect(addsNoNeed(smaller, larger)).toBe(false)
    for (const [at, zone] of [larger, smaller].entries()) if (calls[at] !== null) expect(planCase(zone).calls.total).toBe(calls[at])
  })
})
