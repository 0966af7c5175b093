/**
 * What becomes of a plan where one difference less is asked for: a record that was to go stays, or never was there; one that was to come is there
 * already, or is not wanted; or all of an RRset is as before, or as after. Proved here, for the minimum itself by brute force and so for the planner:
 *
 * 1. With calls preferred there are never more calls, at the record limit too. A sequence for the larger difference is one for the smaller: records that
 *    stay join each of its states, and clash neither with what was there before nor with what is there after; records that are left out leave each.
 *    Deletes may always go first, so that the limit costs no call.
 * 2. With continuity preferred, and without a limit, neither is more interrupted nor, where as much is, are there more calls, unless something has to be
 *    kept whole that did not before, or loses one of the records that keep it so. The same sequence shows it: it interrupts nothing else.
 * 3. So no address or text that stays, or is there already, ever costs a call: it points at nothing, and what it holds is held at every moment.
 *
 * No planner for which continuity comes before calls can promise more, since the minimum itself grows: a pointer that stays needs its target for longer
 * than one that goes, and brings the pointers of its RRset under the same rule; a record that is not wanted holds no name for the pointers at it; one that
 * stays in a full zone makes no room.
 */
import { describe, expect, it } from 'vitest'
import { fewestCallsByBruteForce, fewestInterruptionsByBruteForce, stateSpace } from '../support/brute-force.ts'
import { ORIGIN } from '../support/plan.ts'
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

/** What is done about the records that go and those that come. */
interface Less {
  readonly goes: 'stay' | 'never were'
  readonly comes: 'are there' | 'are not wanted'
}

const UNDONE: Less = { goes: 'stay', comes: 'are not wanted' }
const DONE: Less = { goes: 'never were', comes: 'are there' }

const differing = (zone: ZoneCase): string[] => [
  ...zone.existing.filter((line) => !isUnmanaged(line) && !zone.desired.includes(line)),
  ...zone.desired.filter((line) => !zone.existing.includes(line)),
]

/** The case with these lines, each of which differs, made equal. */
function without(zone: ZoneCase, lines: readonly string[], { goes, comes }: Less): ZoneCase {
  const going = lines.filter((line) => zone.existing.includes(line))
  const coming = lines.filter((line) => !zone.existing.includes(line))
  return {
    ...zone,
    existing: [...zone.existing.filter((line) => goes === 'stay' || !going.includes(line)), ...(comes === 'are there' ? coming : [])],
    desired: [...zone.desired.filter((line) => comes === 'are there' || !coming.includes(line)), ...(goes === 'stay' ? going : [])],
  }
}

/** One record that differs, or all of an RRset. */
function someDifference(random: Random, zone: ZoneCase): { lines: string[]; less: Less } {
  const lines = differing(zone)
  const line = random.pick(lines)
  const setOf = (one: string): string => `${recordOf(one).name} ${recordOf(one).type}`
  if (random.chance(0.4)) return { lines: lines.filter((one) => setOf(one) === setOf(line)), less: random.pick([UNDONE, DONE]) }
  return { lines: [line], less: { goes: random.pick(['stay', 'never were']), comes: random.pick(['are there', 'are not wanted']) } }
}

/** What has to be kept whole by records that change: whose need it is, during which record, by which others. */
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

/** Whether all that the smaller has to keep whole the larger has to as well, for as long and by no other records. */
function addsNoNeed(smaller: ZoneCase, larger: ZoneCase): boolean {
  const before = needsOf(larger)
  return [...needsOf(smaller)].every(([whose, { during, oneOf, inUse }]) => {
    const same = before.get(whose)
    if (same === undefined || (same.during !== null && same.during !== during) || same.inUse !== inUse) return false
    return [...same.oneOf].every((one) => oneOf.has(one))
  })
}

/** Interruptions of what is in use, of other pointers, and calls, as a number that orders by them in turn. */
function rankOf(zone: ZoneCase): number {
  const { continuous } = fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
  if (continuous !== null) return continuous
  const { inUse, others, calls } = fewestInterruptionsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
  return (inUse * 100 + others) * 100 + calls
}

const accepted = (zone: ZoneCase): number => fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit).accepted

const anyCase = (random: Random): ZoneCase => random.pick([() => randomCase(random), () => tradingCase(random), () => movingCase(random)])()

/** Sound pairs of a zone and the same with a difference less, small enough to be searched. */
function* pairs(
  random: Random,
  count: number,
  limitOf: (zone: ZoneCase) => number | null,
): Generator<[larger: ZoneCase, smaller: ZoneCase]> {
  for (let made = 0; made < rounds(count); ) {
    const any = anyCase(random)
    const zone = { ...any, limit: limitOf(any) }
    const count = differing(zone).length
    if (!isSound(zone) || count === 0 || count > 11 || new Set(zone.existing).size < zone.existing.length) continue
    const { lines, less } = someDifference(random, zone)
    const smaller = without(zone, lines, less)
    if (!isSound(smaller)) continue
    made += 1
    yield [zone, smaller]
  }
}

const show = (larger: ZoneCase, smaller: ZoneCase): string =>
  `${showPlanned(larger)}\n\nand with a difference less\n${showPlanned(smaller)}`

function expectAt(isTrue: boolean, larger: ZoneCase, smaller: ZoneCase): void {
  if (!isTrue) expect.fail(show(larger, smaller))
}

describe('with a difference less', () => {
  it.each([
    ['no limit', () => null],
    ['a full zone, or nearly', (zone: ZoneCase) => Math.max(zone.existing.length, finalLines(zone).length) + (zone.existing.length % 3)],
  ] as const)(
    'there are never more calls where calls come first: %s',
    (name, limitOf) => {
      for (const [larger, smaller] of pairs(seededRandom(name.length), 1000, limitOf)) {
        const calls = [larger, smaller].map((zone) => planCase(zone, { prefer: 'calls' }).calls.total)
        expectAt(calls[0] === accepted(larger) && calls[1] === accepted(smaller), larger, smaller)
        expectAt(accepted(smaller) <= accepted(larger), larger, smaller)
      }
    },
    600_000,
  )

  it('neither more is interrupted nor are there more calls, unless more has to be kept whole', () => {
    const seen = { same: 0, fewer: 0, moreNeeds: 0, moreNeedsAndWorse: 0, interrupted: 0 }
    for (const [larger, smaller] of pairs(seededRandom(3), 2500, () => null)) {
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
    // Most differences add no need, and where one does it is seldom dearer; all kinds are seen.
    expect(seen.same + seen.fewer).toBeGreaterThan(4 * seen.moreNeeds)
    expect(Math.min(...Object.values(seen))).toBeGreaterThanOrEqual(rounds(10))
  }, 600_000)

  it('an address or a text that stays, or is there already, costs no call', () => {
    const random = seededRandom(4)
    for (let made = 0; made < rounds(2000); ) {
      const zone = anyCase(random)
      const lines = differing(zone).filter((line) => ['A', 'AAAA', 'TXT'].includes(recordOf(line).type))
      if (!isSound(zone) || lines.length === 0 || differing(zone).length > 11) continue
      const smaller = without(zone, random.shuffle(lines).slice(0, 1 + random.below(3)), { goes: 'stay', comes: 'are there' })
      if (!isSound(smaller)) continue
      made += 1
      expectAt(rankOf(smaller) <= rankOf(zone) && addsNoNeed(smaller, zone), zone, smaller)
    }
  }, 600_000)
})

/** Why no planner for which continuity comes before calls has fewer calls for every difference less: the minimum itself grows. */
describe('a difference less that costs a call, or an interruption', () => {
  const cases: {
    name: string
    existing: string
    desired: string
    limit?: number
    /** The record that no longer differs, and how. */
    line: string
    less: Less
    /** The fewest calls that interrupt nothing, with the difference and without; null where none do. */
    calls: [larger: number, smaller: number | null]
  }[] = [
    {
      name: 'a pointer that stays needs its target throughout',
      existing: 'a A 192.0.2.1\nc TXT "x"\nu CNAME a\nw CNAME c',
      desired: 'a TXT "x"\nc A 192.0.2.1\nu CNAME a\nx CNAME host.example.net.',
      line: 'w CNAME c',
      less: UNDONE,
      calls: [3, 4],
    },
    {
      name: 'a pointer that stays misses its target, where one that goes could do so before',
      existing: 'www CNAME app\napp A 192.0.2.1',
      desired: 'app CNAME host.example.net.',
      line: 'www CNAME app',
      less: UNDONE,
      calls: [3, null],
    },
    {
      name: 'a pointer that stays brings those of its RRset under the rule',
      existing: 'd CNAME a\n@ MX 20 c\n@ MX 20 d\na A 192.0.2.4\na SRV 0 5 443 d\nc 300 ALIAS host.example.net.',
      desired: 'a CNAME a\nd MX 20 c\nd MX 20 a\nc 300 ALIAS host.example.net.',
      line: '@ MX 20 c',
      less: UNDONE,
      calls: [6, 7],
    },
    {
      name: 'a text that is not wanted holds no name',
      existing: 'w CNAME n\nn A 192.0.2.1\ns TXT "x"',
      desired: 'w CNAME m\nm A 192.0.2.1\nn TXT "x"',
      line: 'n TXT "x"',
      less: UNDONE,
      calls: [3, 4],
    },
    {
      name: 'an address that never was holds no name',
      existing: 'w CNAME b\na AAAA 2001:db8::1\nb A 192.0.2.1',
      desired: 'w CNAME a\ne AAAA 2001:db8::1\na A 192.0.2.1',
      line: 'a AAAA 2001:db8::1',
      less: DONE,
      calls: [3, 4],
    },
    {
      name: 'a text that stays makes no room in a full zone',
      existing: 'a A 192.0.2.1\nwww CNAME a\nc TXT "x"',
      desired: 'b A 192.0.2.1\nwww CNAME b',
      limit: 3,
      line: 'c TXT "x"',
      less: UNDONE,
      calls: [4, null],
    },
  ]
  it.each(cases)('$name', ({ existing, desired, limit = null, line, less, calls }) => {
    const larger: ZoneCase = { existing: existing.split('\n'), desired: desired.split('\n'), limit }
    const smaller = without(larger, [line], less)
    expect([larger, smaller].map(isSound)).toEqual([true, true])
    const least = [larger, smaller].map((zone) => fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, limit))
    expect(least.map(({ continuous }) => continuous)).toEqual(calls)
    expect(accepted(smaller)).toBeLessThanOrEqual(accepted(larger))
    if (limit === null) expect(addsNoNeed(smaller, larger)).toBe(false)
    for (const [at, zone] of [larger, smaller].entries()) if (calls[at] !== null) expect(planCase(zone).calls.total).toBe(calls[at])
  })
})
