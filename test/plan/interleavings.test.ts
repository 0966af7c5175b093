/**
 * A concurrent apply may make the calls of a plan in any order along its `after` edges. No such order passes through a state that the
 * service refuses, none interrupts what some sequence of calls need not interrupt, and all end with the desired zone.
 */
import { describe, expect, it } from 'vitest'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { fewestCallsByBruteForce, fewestInterruptionsByBruteForce, lowerBound } from '../support/brute-force.ts'
import { findInterruption, findInterruptions, findRefusedState, orderAlong, randomOrder } from '../support/interleavings.ts'
import { ORIGIN } from '../support/plan.ts'
import { interruptionsOfPlan } from '../support/plan-judge.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import {
  attempt,
  callsOf,
  failuresOf,
  finalLines,
  isSound,
  movingCase,
  planCase,
  randomCase,
  recordOf,
  showPlanned,
  stagesOfCase,
  tightCase,
  tradingCase,
  waitsOf,
  type ZoneCase,
} from '../support/zone-cases.ts'
import { continuityRules, identity, simulate } from '../support/zone-simulator.ts'

/** What is wrong with some order of the plan's calls, told for all orders and seen in a few; null if nothing is. */
function faultOf(zone: ZoneCase, continuous: boolean, prefer: 'continuity' | 'calls', orders = 2): string | null {
  const stages = stagesOfCase(zone)
  const plan = planCase(zone, { prefer })
  const calls = callsOf(plan, stages)
  const after = waitsOf(plan)
  const order = orderAlong(after)
  if (typeof order === 'string') return order
  const rules = continuityRules(stages, ORIGIN)
  const problem = findRefusedState(stages, calls, after, zone.limit) ?? (continuous ? findInterruption(stages, calls, after, rules) : null)
  if (problem !== null) return problem
  const random = seededRandom(calls.length)
  const wanted = finalLines(zone).map(recordOf).map(identity).sort()
  for (let i = 0; i < orders; i += 1) {
    const run = simulate(stages, calls, randomOrder(calls, after, random), zone.limit, rules)
    if (run.accepted !== null) return run.accepted
    if (continuous && run.continuous !== null) return run.continuous
    if (run.present.map(identity).sort().join('\n') !== wanted.join('\n')) return 'the zone at the end is not the desired one'
  }
  return null
}

/** Continuity is asked for where the search by force finds a sequence that has it. */
function faultOfSmall(zone: ZoneCase): string | null {
  const stages = stagesOfCase(zone)
  const possible = fewestCallsByBruteForce(stages, ORIGIN, zone.limit).continuous !== null
  const problem = faultOf(zone, possible, 'continuity')
  if (problem !== null) return problem
  const careless = faultOf(zone, false, 'calls')
  return careless === null ? null : `preferring calls: ${careless}`
}

const differing = (zone: ZoneCase): number => stagesOfCase(zone).filter(({ before, after }) => before !== after).length

/** The case with the target full at the larger of its two zones, or with a little room. */
function limited(zone: ZoneCase, random: Random): ZoneCase {
  const final = finalLines(zone).length
  return { ...zone, limit: Math.max(zone.existing.length, final) + random.pick([0, 0, 1, 2, 3]) }
}

describe('small zones, in every order', () => {
  const suites: [string, number, (random: Random) => ZoneCase][] = [
    ['records kept, changed, renamed, dropped and added', 2500, (random) => randomCase(random)],
    ['a few names with much at each', 1500, (random) => randomCase(random, ['a', 'b', 'c'], 8)],
    ['names that trade what they hold', 2500, (random) => tradingCase(random)],
    ['a zone that is full, or nearly', 2500, (random) => limited(random.chance(0.5) ? randomCase(random) : tradingCase(random), random)],
    ['a full zone, where something has to come before another goes', 1200, (random) => tightCase(random, random.pick([0, 0, 0, 1, 2, 3]))],
    ['names that move with their pointers', 1000, (random) => movingCase(random)],
  ]
  it.each(suites)(
    '%s',
    (name, count, zoneOf) => {
      const random = seededRandom(name.length)
      const failures = failuresOf(
        rounds(count),
        () => {
          const zone = zoneOf(random)
          return isSound(zone) && differing(zone) <= 12 ? zone : null
        },
        faultOfSmall,
      )
      expect(failures).toBe('')
    },
    600_000,
  )
})

/** Interruptions that no plan of the zone goes without, those of what is in use counting more than all others. */
function leastWeight(zone: ZoneCase): number {
  const stages = stagesOfCase(zone)
  if (fewestCallsByBruteForce(stages, ORIGIN, zone.limit).continuous !== null) return 0
  const { inUse, others } = fewestInterruptionsByBruteForce(stages, ORIGIN, zone.limit)
  return inUse * 100 + others
}

/** The names that a plan says it may interrupt, by message. */
const announced = (plan: ZonePlan): { names: string[]; message: string }[] =>
  plan.diagnostics.flatMap(({ code, message }) =>
    code === 'interruption'
      ? [
          {
            names:
              message
                .slice(0, message.indexOf(' may lack'))
                .split(': ')[1]
                ?.split(/, | and /) ?? [],
            message,
          },
        ]
      : [],
  )

/** The names that some order of a plan's calls interrupts. */
function interruptedNames(zone: ZoneCase, plan: ZonePlan): string[] {
  const stages = stagesOfCase(zone)
  const problems = findInterruptions(stages, callsOf(plan, stages), waitsOf(plan), continuityRules(stages, ORIGIN))
  return [...new Set(problems.map(emptyNameOf))].sort()
}

/** What the plan says of itself about interruptions, against what its orders do, and what other plans would. */
function noticeFault(zone: ZoneCase, prefer: 'continuity' | 'calls'): string | null {
  const plan = planCase(zone, { prefer })
  const told = announced(plan)
  const names = interruptedNames(zone, plan).join(', ')
  const toldNames = told
    .flatMap((notice) => notice.names)
    .sort()
    .join(', ')
  if (names !== toldNames) return `the plan says that it interrupts ${toldNames || 'nothing'}, and it does ${names || 'nothing'}`
  const { inUse, others } = interruptionsOfPlan(zone, plan)
  const [least, withRoom] = [leastWeight(zone), leastWeight({ ...zone, limit: null })]
  const isBlamed = (reason: string): boolean => told.some(({ message }) => message.includes(reason))
  if (isBlamed('fewer calls come first') !== least < inUse * 100 + others) return 'whether fewer calls are why is not said rightly'
  if (isBlamed('has room for') && withRoom >= least) return 'the room is blamed for what happens with room as well'
  if (isBlamed('no order avoids it') && withRoom === 0) return 'no order is said to avoid what one does with room'
  return null
}

/** The owner of the RRset that a fault says is empty, or the name it says is pointed at in vain. */
const emptyNameOf = (problem: string): string =>
  (/ points at (\S+), /.exec(problem) ?? /: (\S+) \S+ is empty$/.exec(problem))?.[1] ?? problem

it('a plan says what it interrupts, and why, and no more', () => {
  const random = seededRandom(11)
  const failures = failuresOf(
    rounds(2000),
    () => {
      const zone = random.chance(0.5) ? randomCase(random) : tradingCase(random)
      const maybeFull = random.chance(0.3) ? limited(zone, random) : zone
      return isSound(maybeFull) && differing(maybeFull) <= 12 ? maybeFull : null
    },
    (zone) => noticeFault(zone, 'continuity') ?? noticeFault(zone, 'calls'),
  )
  expect(failures).toBe('')
}, 600_000)

/** A small zone of which a sequence without a gap is known, at names below one of its own, and the fewest calls of such a sequence. */
function continuousPart(random: Random, part: number): { zone: ZoneCase; least: number } {
  const names = ['', 'a.', 'b.', 'c.', 'd.a.'].map((label) => `${label}z${part}`)
  for (;;) {
    const zone = random.chance(0.5) ? randomCase(random, names) : tradingCase(random, names)
    // The names that are somebody else's would be the same in each part.
    if (!isSound(zone) || differing(zone) > 12 || zone.existing.some((line) => line.startsWith('theirs'))) continue
    const { continuous } = fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, null)
    if (continuous !== null) return { zone, least: continuous }
  }
}

const sideBySide = (parts: readonly { zone: ZoneCase }[]): ZoneCase => ({
  existing: parts.flatMap(({ zone }) => zone.existing),
  desired: parts.flatMap(({ zone }) => zone.desired),
  limit: null,
})

/** A full zone of which a sequence without a gap is known, at names of its own. */
function fullPart(random: Random, part: number): ZoneCase {
  for (;;) {
    const zone = random.chance(0.7) ? tightCase(random, 0) : limited(random.chance(0.5) ? tradingCase(random) : movingCase(random), random)
    if (!isSound(zone) || differing(zone) > 10 || zone.existing.some((line) => line.startsWith('theirs'))) continue
    if (fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit).continuous === null) continue
    const below = (line: string): string => {
      const words = line.split(' ').map((word) => (word === '@' ? `z${part}` : /^([a-hw]|d\.a)$/.test(word) ? `${word}.z${part}` : word))
      return words.join(' ')
    }
    return { ...zone, existing: zone.existing.map(below), desired: zone.desired.map(below) }
  }
}

/** The records that the parts need at most where they are done in turn, those that lose records first. */
function roomInTurn(parts: readonly ZoneCase[]): number {
  let present = parts.reduce((sum, { existing }) => sum + existing.length, 0)
  let most = present
  const growth = ({ existing, desired }: ZoneCase): number => desired.length - existing.length
  for (const part of parts.toSorted((a, b) => growth(a) - growth(b))) {
    most = Math.max(most, present - part.existing.length + (part.limit ?? 0))
    present += growth(part)
  }
  return most
}

describe('zones of 50 to 300 records', () => {
  it('small changes side by side: no gap where none has one, and no more calls than all of them', () => {
    const random = seededRandom(5)
    const judge = (parts: readonly { zone: ZoneCase; least: number }[]): string | null => {
      const zone = sideBySide(parts)
      const problem = faultOf(zone, true, 'continuity', 1)
      if (problem !== null) return problem
      const calls = planCase(zone).calls.total
      const most = parts.reduce((sum, { least }) => sum + least, 0)
      return calls > most || calls < lowerBound(stagesOfCase(zone))
        ? `${calls} calls, where ${lowerBound(stagesOfCase(zone))} to ${most} can be`
        : null
    }
    const faultOfParts = (parts: readonly { zone: ZoneCase; least: number }[]): string | null => attempt(() => judge(parts))
    for (let round = rounds(40); round > 0; round -= 1) {
      let parts = Array.from({ length: 12 + random.below(40) }, (_, part) => continuousPart(random, part))
      if (faultOfParts(parts) === null) continue
      for (const part of parts) {
        const fewer = parts.filter((one) => one !== part)
        if (faultOfParts(fewer) !== null) parts = fewer
      }
      expect.fail(`${faultOfParts(parts)}\n${showPlanned(sideBySide(parts))}`)
    }
  }, 600_000)

  it.each([
    {
      name: 'knots that are searched one after another',
      existing:
        '*.w.z0 ALIAS *.w.z0\nd.z0 CNAME *.w.z0\n*.w.z0 ALIAS d.z0\n*.w.z0 NS *.w.z0\nx.a.z18 SRV 0 5 443 b.z18\nb.z18 CNAME x.a.z18\nx.a.z18 ALIAS b.z18\nz18 A 192.0.2.3\nd.z21 300 NS ns.z21\nd.z21 NS ns2.d.z21\ng.z21 NS ns.z21\nns.d.z21 A 192.0.2.3',
      desired:
        '*.w.z0 CNAME *.w.z0\nd.z0 A 192.0.2.3\ne.z18 SRV 0 5 443 b.z18\nb.z18 CNAME e.z18\ne.z18 ALIAS b.z18\nz18 A 192.0.2.3\nd.z21 NS h.z21\nd.z21 NS ns2.d.z21\ng.z21 NS h.z21\nns.d.z21 CNAME ns2.d.z21\nns.z21 AAAA 2001:db8::1\nns2.d.z21 AAAA 2001:db8::1\nz21 MX 10 h.z21',
      most: 16,
    },
    {
      name: 'halves of updates of two knots joined',
      existing:
        'a.z0 A 192.0.2.1\nx.z0 SRV 0 5 443 host.example.net.\nns.z0 DNAME x.z0\na.z0 MX 10 w.z0\nx.z1 A 192.0.2.3\nx.z1 NS host.example.net.\na.z1 300 CNAME x.z1\nz2 A 192.0.2.3\nz2 MX 20 z2\nw.z2 CNAME a.z2\na.z2 ALIAS w.z2',
      desired:
        'a.z0 MX 10 w.z0\nns.z0 A 192.0.2.2\nx.z0 SRV 0 5 443 host.example.net.\nw.z0 NS z0\nx.z1 CNAME x.z1\na.z1 A 192.0.2.3\na.z1 NS host.example.net.\nz2 CNAME a.z2\nw.z2 ALIAS w.z2\na.z2 A 192.0.2.3\na.z2 MX 20 z2',
      most: 13,
    },
  ])('$name: no gap, and no more calls than apart', ({ existing, desired, most }) => {
    const zone = { existing: existing.split('\n'), desired: desired.split('\n'), limit: null }
    expect(faultOf(zone, true, 'continuity')).toBeNull()
    expect(planCase(zone).calls.total).toBeLessThanOrEqual(most)
  })

  it('full zones side by side: accepted at every moment, and every name that is interrupted is announced', () => {
    const random = seededRandom(6)
    for (let round = rounds(150); round > 0; round -= 1) {
      const parts = Array.from({ length: 2 + random.below(random.pick([3, 8])) }, (_, part) => fullPart(random, part))
      const zone = { ...sideBySide(parts.map((part) => ({ zone: part }))), limit: roomInTurn(parts) }
      const plan = planCase(zone)
      const names = announced(plan).flatMap((notice) => notice.names)
      expect(
        attempt(() => faultOf(zone, false, 'continuity', 1)),
        showPlanned(zone),
      ).toBeNull()
      expect(names.sort(), showPlanned(zone)).toEqual(interruptedNames(zone, plan))
    }
  }, 600_000)

  const names = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? `a.n${index}` : `n${index}`))
  it.each([
    ['all names far apart', 60],
    ['all at a few names', 12],
  ])(
    'one change of everything, %s: accepted at every moment, also where the zone is full',
    (_, count) => {
      const random = seededRandom(count)
      const failures = failuresOf(
        rounds(60),
        () => limited(randomCase(random, names.slice(0, count), 70 + random.below(280)), random),
        (zone) => faultOf(zone, false, 'continuity') ?? faultOf(zone, false, 'calls'),
        1,
      )
      expect(failures).toBe('')
    },
    600_000,
  )
})
