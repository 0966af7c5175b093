/** Compares the planner's number of calls with the minimum by brute force, for thousands of small zones. */
import { describe, expect, it } from 'vitest'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { interruptionsOfPlan, problemOfPlan } from '../support/check-plan.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import {
  failuresOf,
  isSound,
  movingCase,
  planCase,
  randomCase,
  showPlanned,
  stagesOfCase,
  tightCase,
  tradingCase,
  type ZoneCase,
} from '../support/zone-cases.ts'

const MOST = 6

/** Whether few enough records differ for brute force. */
function isSmall(zone: ZoneCase): boolean {
  const stages = stagesOfCase(zone)
  return stages.filter(({ after }) => !after).length <= MOST && stages.filter(({ before }) => !before).length <= MOST
}

describe('random zones', () => {
  const suites: [name: string, seed: number, count: number, (random: Random) => ZoneCase][] = [
    ['records kept, changed, renamed, removed and added', 49, 500, (random) => randomCase(random)],
    ['a few names with many records', 29, 250, (random) => randomCase(random, ['a', 'b', 'c'], 8)],
    ['names that swap their records', 31, 500, (random) => tradingCase(random)],
    [
      'a full or nearly full zone',
      30,
      400,
      (random) => {
        const zone = random.chance(0.5) ? randomCase(random) : tradingCase(random)
        const least = Math.max(zone.existing.length, stagesOfCase(zone).filter(({ after }) => after).length)
        return { ...zone, limit: least + random.below(4) }
      },
    ],
    ['a full zone in which an addition must precede a removal', 60, 200, (random) => tightCase(random, random.pick([0, 0, 0, 1, 2, 3]))],
    ['names that move with their pointers', 35, 200, (random) => movingCase(random)],
  ]
  it.each(suites)('%s', { timeout: 600_000 }, (_, seed, count, zoneOf) => {
    const random = seededRandom(seed)
    const usable = (zone: ZoneCase): ZoneCase | null => (isSound(zone) && isSmall(zone) ? zone : null)
    const failures = failuresOf(rounds(count), () => usable(zoneOf(random)), problemOfPlan)
    expect(failures).toBe('')
  })
})

describe('larger zones', () => {
  const isProved = ({ diagnostics }: ZonePlan): boolean => !diagnostics.some(({ code }) => code === 'calls-not-proved')
  const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `s TXT "${index}"`)

  it.each([0, 8, 14, 20])('a swap without extra calls, with %i texts added at its name', (count) => {
    const zone: ZoneCase = {
      existing: ['a CNAME h.example.net.', 'b A 192.0.2.1', 's CNAME g.example.net.', 't A 192.0.2.2'],
      desired: ['a A 192.0.2.1', 'b CNAME h.example.net.', 'r CNAME g.example.net.', 's A 192.0.2.2', ...texts(count)],
      limit: null,
    }
    const plan = planCase(zone)
    expect(plan.calls.total, showPlanned(zone)).toBe(4 + count)
    expect(isProved(plan)).toBe(true)
  })

  it.each([2, 6, 8, 12, 40])('a renamed host with %i CNAMEs that follow it needs a split', (count) => {
    const followers = (host: string): string[] => Array.from({ length: count }, (_, index) => `w${index} CNAME ${host}`)
    const zone = { existing: ['hub A 192.0.2.1', ...followers('hub')], desired: ['hub2 A 192.0.2.1', ...followers('hub2')], limit: null }
    const plan = planCase(zone)
    expect(plan.calls.total).toBe(count + 2)
    // The search is not exact for more than 14 interdependent records.
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(2 * count + 2 > 14 ? ['calls-not-proved'] : [])
  })

  it('a set of many addresses that swaps names with a CNAME', () => {
    const pool = (name: string): string[] => Array.from({ length: 1000 }, (_, at) => `${name} A 192.0.${2 + (at >> 8)}.${at & 255}`)
    const zone = {
      existing: ['w CNAME b', 'a CNAME h.example.net.', ...pool('b')],
      desired: ['w CNAME a', 'b CNAME h.example.net.', ...pool('a')],
      limit: null,
    }
    expect(planCase(zone).calls.total).toBe(1003)
  })

  it.each([1, 2, 3, 8, 30])('%i swaps, each with an unavoidable interruption, share one split', (count) => {
    const times = (linesOf: (at: number) => string[]): string[] => Array.from({ length: count }, (_, at) => linesOf(at)).flat()
    const zone = {
      existing: times((at) => [`w${at} CNAME a${at}`, `a${at} CNAME h.example.net.`, `b${at} A 192.0.2.1`, `b${at} TXT "${at}"`]),
      desired: times((at) => [`w${at} CNAME a${at}`, `a${at} A 192.0.2.1`, `a${at} TXT "${at}"`, `b${at} CNAME h.example.net.`]),
      limit: null,
    }
    const plan = planCase(zone)
    expect(plan.calls.total).toBe(3 * count + 1)
    expect(interruptionsOfPlan(zone, plan)).toMatchObject({ inUse: count, others: 0 })
  })
})
