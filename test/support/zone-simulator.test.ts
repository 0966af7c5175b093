/** Checks the test oracles against each other: bit masks against the simulator, and the interleaving analysis against a full enumeration. */
import { expect, it } from 'vitest'
import { findInterruption, findRefusedState, orderAlong, randomOrder } from './interleavings.ts'
import { ORIGIN } from './plan.ts'
import { type Random, rounds, seededRandom } from './random.ts'
import { isSound, randomCase, showCase, stagesOfCase, tradingCase, type ZoneCase } from './zone-cases.ts'
import type { ContinuityRules, SimulatedCall, Stage } from './zone-simulator.ts'
import { continuityRules, interruptionOf, refusalOf, simulate } from './zone-simulator.ts'

function smallCase(random: Random, most: number): ZoneCase {
  for (;;) {
    const zone = {
      ...(random.chance(0.5) ? randomCase(random) : tradingCase(random)),
      limit: random.chance(0.5) ? null : 5 + random.below(4),
    }
    if (isSound(zone) && stagesOfCase(zone).filter(({ before, after }) => before !== after).length <= most) return zone
  }
}

it('the analysis finds a bad state if and only if the enumeration does', () => {
  const random = seededRandom(2)
  const seen = { refused: 0, accepted: 0, interrupted: 0, continuous: 0 }
  for (let round = rounds(800); round > 0; round -= 1) {
    const zone = smallCase(random, 9)
    const stages = stagesOfCase(zone)
    const calls = randomCalls(random, stages)
    const after = randomGraph(random, calls.length)
    const rules = continuityRules(stages, ORIGIN)
    const listed = listFaults(zone, stages, calls, after, rules)
    const found = {
      accepted: findRefusedState(stages, calls, after, zone.limit) === null,
      continuous: findInterruption(stages, calls, after, rules) === null,
    }
    expect(found, `${JSON.stringify(after)}\n${showCase(zone)}`).toEqual(listed)
    seen[listed.accepted ? 'accepted' : 'refused'] += 1
    seen[listed.continuous ? 'continuous' : 'interrupted'] += 1
    const run = simulate(stages, calls, randomOrder(calls, after, random), zone.limit, rules)
    if (listed.accepted) expect(run.accepted).toBeNull()
    if (listed.continuous) expect(run.continuous).toBeNull()
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(rounds(20))
})

it('detects a cycle, a wait for a missing call and a wait of a call for itself', () => {
  expect(orderAlong([[1], [2], []])).toEqual([2, 1, 0])
  expect(orderAlong([[1], [0], []])).toBe('calls wait for each other in a cycle, 2 of them')
  expect(orderAlong([[0]])).toBe('calls wait for each other in a cycle, 1 of them')
  expect(orderAlong([[7]])).toBe('call 0 waits for 7, which is no call')
  expect(orderAlong([[], [0, 0]])).toBe('call 1 waits twice for the same')
})

/** Random calls: any pairs of one type, in any order. */
function randomCalls(random: Random, stages: readonly Stage[]): SimulatedCall[] {
  const coming = stages.filter(({ before }) => !before)
  const calls: SimulatedCall[] = stages
    .filter(({ after }) => !after)
    .map((removed) => {
      const added = random.chance(0.6) ? coming.find(({ record }) => record.type === removed.record.type) : undefined
      if (added) coming.splice(coming.indexOf(added), 1)
      return { removed, added: added ?? null }
    })
  return random.shuffle([...calls, ...coming.map((added) => ({ removed: null, added }))])
}

function randomGraph(random: Random, size: number): number[][] {
  const density = random.pick([0.1, 0.3, 0.6, 0.9])
  const place = random.shuffle([...Array(size).keys()])
  return place.map((at) => [...place.keys()].filter((other) => (place[other] as number) < at && random.chance(density)))
}

/** Checks every state of every interleaving. */
function listFaults(
  { limit }: ZoneCase,
  stages: readonly Stage[],
  calls: readonly SimulatedCall[],
  after: readonly (readonly number[])[],
  rules: ContinuityRules,
): { accepted: boolean; continuous: boolean } {
  const judged = { accepted: true, continuous: true }
  for (let done = 0; done < 2 ** calls.length; done += 1) {
    const has = (index: number): boolean => (done & (1 << index)) !== 0
    if (after.some((list, index) => has(index) && !list.every(has))) continue
    const present = new Set(stages.filter(({ before }) => before))
    calls.forEach(({ removed, added }, index) => {
      if (!has(index)) return
      if (removed) present.delete(removed)
      if (added) present.add(added)
    })
    const records = [...present].map(({ record }) => record)
    if (refusalOf(records, limit) !== null) judged.accepted = false
    if (interruptionOf([...present], rules) !== null) judged.continuous = false
  }
  return judged
}
