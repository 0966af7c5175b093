/** The planner's number of calls against the fewest found by trying every sequence, over thousands of small zones. */
import { describe, expect, it } from 'vitest'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { continuityFaultsOfAny } from '../support/interleavings.ts'
import { leastCallsByForce, leastMissedByForce, lowerBound } from '../support/least-calls-by-force.ts'
import { ORIGIN } from '../support/plan.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import {
  callsOf,
  failuresOf,
  isSound,
  movingCase,
  planCase,
  randomCase,
  showPlanned,
  stagesOfCase,
  tightCase,
  tradingCase,
  waitsOf,
  type ZoneCase,
} from '../support/zone-cases.ts'
import { continuityRules } from '../support/zone-simulator.ts'

const MOST = 6

/** Whether few enough records differ for the search by force. */
function isSmall(zone: ZoneCase): boolean {
  const stages = stagesOfCase(zone)
  return stages.filter(({ after }) => !after).length <= MOST && stages.filter(({ before }) => !before).length <= MOST
}

function faultOf(zone: ZoneCase): string | null {
  const least = leastCallsByForce(stagesOfCase(zone), ORIGIN, zone.limit)
  const plan = planCase(zone)
  const continuous = plan.calls.total
  if (least.continuous !== null && continuous !== least.continuous)
    return `${least.continuous} calls are enough, the plan has ${continuous}`
  if (least.continuous === null) {
    const { missed, calls } = leastMissedByForce(stagesOfCase(zone), ORIGIN, zone.limit)
    const faults = missedOf(zone, plan)
    if (faults.length !== missed) return `${missed} interruptions are enough, the plan has ${faults.length}: ${faults.join('; ')}`
    if (continuous !== calls) return `${calls} calls that interrupt no more than ${missed} are enough, the plan has ${continuous}`
  }
  const halves = plan.changes.filter((change) => change.subject === 'record' && change.split !== undefined).length
  const splits = continuous - lowerBound(stagesOfCase(zone))
  if (halves !== 2 * splits) return `${splits} updates are split, and ${halves} changes say that they are halves of one`
  const few = planCase(zone, { prefer: 'calls' })
  if (few.calls.total !== least.accepted)
    return `${least.accepted} accepted calls are enough, the plan that prefers calls has ${few.calls.total}`
  const interrupts = few.diagnostics.some(({ code }) => code === 'interruption')
  if (interrupts && least.continuous === least.accepted) return 'preferring calls interrupts, and it need not with as few calls'
  return null
}

/** What orders of a plan's calls interrupt. */
function missedOf(zone: ZoneCase, plan: ZonePlan): string[] {
  const stages = stagesOfCase(zone)
  return continuityFaultsOfAny(stages, callsOf(plan, stages), waitsOf(plan), continuityRules(stages, ORIGIN))
}

describe('classics', () => {
  const cases: {
    name: string
    existing: string
    desired: string
    limit?: number
    /** Fewest calls of an accepted sequence, and of one that is continuous too. */
    accepted: number
    continuous: number | null
  }[] = [
    { name: 'nothing', existing: 'a A 192.0.2.1', desired: 'a A 192.0.2.1', accepted: 0, continuous: 0 },
    {
      name: 'a CNAME and an A trade names',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1',
      desired: 'a A 192.0.2.1\nb CNAME host.example.net.',
      accepted: 3,
      continuous: 3,
    },
    {
      name: 'two such trades share one break',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc CNAME host.example.net.\nd A 192.0.2.2',
      desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nc A 192.0.2.2\nd CNAME host.example.net.',
      accepted: 5,
      continuous: 5,
    },
    {
      name: 'a trade that a change in place elsewhere makes free',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc A 192.0.2.2\nc A 192.0.2.3',
      desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nc A 192.0.2.2\nc A 192.0.2.4',
      accepted: 3,
      continuous: 3,
    },
    {
      name: 'a trade that a record renamed elsewhere makes free',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc A 192.0.2.2',
      desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nd A 192.0.2.2',
      accepted: 3,
      continuous: 3,
    },
    {
      name: 'an A renamed while a CNAME follows it',
      existing: 'a A 192.0.2.1\nwww CNAME a',
      desired: 'b A 192.0.2.1\nwww CNAME b',
      accepted: 2,
      continuous: 3,
    },
    {
      name: 'a chain of renames',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc TXT "x"',
      desired: 'b CNAME host.example.net.\nc A 192.0.2.1\nd TXT "x"',
      accepted: 3,
      continuous: 3,
    },
    {
      name: 'three names in a ring',
      existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc CNAME other.example.net.',
      desired: 'b CNAME host.example.net.\nc A 192.0.2.1\na CNAME other.example.net.',
      accepted: 4,
      continuous: 4,
    },
    {
      name: 'glue moves with its delegation',
      existing: 'sub NS ns1.sub\nns1.sub A 192.0.2.1',
      desired: 'sub NS ns2.sub\nns2.sub A 192.0.2.1',
      accepted: 2,
      continuous: 3,
    },
    {
      name: 'glue moves and two name servers take turns',
      existing: 'sub NS ns1.sub\nsub NS ns2.sub\nns1.sub A 192.0.2.1\nns2.sub A 192.0.2.2',
      desired: 'sub NS ns3.sub\nsub NS ns4.sub\nns3.sub A 192.0.2.3\nns4.sub A 192.0.2.4',
      accepted: 4,
      continuous: 5,
    },
    {
      name: 'a pool of MX is pointed elsewhere',
      existing: '@ MX 10 mx1\n@ MX 20 mx2\nmx1 A 192.0.2.1\nmx2 A 192.0.2.2',
      desired: '@ MX 10 mx3\n@ MX 20 mx4\nmx3 A 192.0.2.1\nmx4 A 192.0.2.2',
      accepted: 4,
      continuous: 5,
    },
    {
      name: 'a null MX becomes a pool',
      existing: '@ MX 0 .',
      desired: '@ MX 10 host.example.net.\n@ MX 20 host.example.net.',
      accepted: 2,
      continuous: 2,
    },
    {
      name: 'a pool becomes a null MX',
      existing: '@ MX 10 host.example.net.\n@ MX 20 host.example.net.',
      desired: '@ MX 0 .',
      accepted: 2,
      continuous: 2,
    },
    {
      name: 'a null MX and a pool trade names',
      existing: 'a MX 0 .\nb MX 10 host.example.net.\nb MX 20 host.example.net.',
      desired: 'b MX 0 .\na MX 10 host.example.net.\na MX 20 host.example.net.',
      accepted: 3,
      continuous: 3,
    },
    {
      name: 'a CNAME becomes an A that a CNAME follows: no order avoids the gap',
      existing: 'a CNAME host.example.net.\nwww CNAME a',
      desired: 'a A 192.0.2.1\nwww CNAME a',
      accepted: 2,
      continuous: null,
    },
    {
      name: 'a CNAME and an A trade names while a CNAME follows: one gap, and no split for its sake',
      existing: 'www CNAME a\na CNAME host.example.net.\nb A 192.0.2.1',
      desired: 'www CNAME a\na A 192.0.2.1\nb CNAME host.example.net.',
      accepted: 3,
      continuous: null,
    },
    {
      name: 'a CNAME and much else trade names while a CNAME follows: one gap, and one split',
      existing: 'www CNAME a\na CNAME host.example.net.\nb A 192.0.2.1\nb AAAA 2001:db8::1\nb MX 10 host.example.net.\nb TXT "x"',
      desired: 'www CNAME a\na A 192.0.2.1\na AAAA 2001:db8::1\na MX 10 host.example.net.\na TXT "x"\nb CNAME host.example.net.',
      accepted: 6,
      continuous: null,
    },
    {
      name: 'of two gaps only one cannot be avoided',
      existing: 'b TXT "z"\na 300 CNAME b\nu CNAME b\nc A 192.0.2.1\nc MX 10 a',
      desired: 'a TXT "z"\nu 300 CNAME b\nb CNAME b\nc A 192.0.2.1\nc MX 10 a',
      accepted: 4,
      continuous: null,
    },
    {
      name: 'a TTL change beside a rename',
      existing: 'a 300 A 192.0.2.1\nb A 192.0.2.2',
      desired: 'a 3600 A 192.0.2.1\nc A 192.0.2.2',
      accepted: 2,
      continuous: 2,
    },
    {
      name: 'an unmanaged CNAME follows an A that is replaced by an AAAA',
      existing: 'a A 192.0.2.1\ntheirs CNAME a',
      desired: 'a AAAA 2001:db8::1',
      accepted: 2,
      continuous: 2,
    },
    {
      name: 'a pointer turns to another name while its own changes its type',
      existing: 'c A 192.0.2.2\nb MX 10 c',
      desired: 'c CNAME host.example.net.\nb MX 20 c\nb MX 20 @',
      accepted: 4,
      continuous: 4,
    },
    {
      name: 'an A renamed while a CNAME follows it, in a full zone: no order avoids the gap',
      existing: 'a A 192.0.2.1\nwww CNAME a',
      desired: 'b A 192.0.2.1\nwww CNAME b',
      limit: 2,
      accepted: 2,
      continuous: null,
    },
    {
      name: 'an A renamed while a CNAME follows it, in a full zone: a text that goes makes room at no cost',
      existing: 'a A 192.0.2.1\nwww CNAME a\nc TXT "x"',
      desired: 'b A 192.0.2.1\nwww CNAME b',
      limit: 3,
      accepted: 3,
      continuous: 4,
    },
    {
      name: 'an A renamed while a CNAME follows it, in a full zone: a renamed text is split for room',
      existing: 'a A 192.0.2.1\nwww CNAME a\nc TXT "x"',
      desired: 'b A 192.0.2.1\nwww CNAME b\nd TXT "x"',
      limit: 3,
      accepted: 3,
      continuous: 5,
    },
    {
      name: 'addresses, mail and texts move around in a full zone',
      existing: '@ A 192.0.2.1\nc MX 20 a\nc TXT "y"\nb MX 20 b\nb TXT "x"\na CNAME @',
      desired: '@ 300 MX 20 a\n@ TXT "y"\nc MX 20 b\nc TXT "x"\nb CNAME @\na A 192.0.2.1',
      limit: 6,
      accepted: 6,
      continuous: 8,
    },
    {
      name: 'of three equal records two are too many',
      existing: 'a A 192.0.2.1\na A 192.0.2.1\na A 192.0.2.1',
      desired: 'a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1',
      accepted: 2,
      continuous: 2,
    },
  ]
  it.each(cases)('$name', ({ existing, desired, limit = null, accepted, continuous }) => {
    const lines = (text: string): string[] => text.split('\n')
    const zone: ZoneCase = { existing: lines(existing), desired: lines(desired), limit }
    expect(isSound(zone)).toBe(true)
    expect(leastCallsByForce(stagesOfCase(zone), ORIGIN, limit)).toEqual({ accepted, continuous })
    expect(faultOf(zone), showPlanned(zone)).toBeNull()
  })
})

describe('random zones', () => {
  const suites: [string, number, (random: Random) => ZoneCase][] = [
    ['records kept, changed, renamed, dropped and added', 6000, (random) => randomCase(random)],
    ['a few names with much at each', 3000, (random) => randomCase(random, ['a', 'b', 'c'], 8)],
    ['names that trade what they hold', 6000, (random) => tradingCase(random)],
    [
      'a zone that is full, or nearly',
      4000,
      (random) => {
        const zone = random.chance(0.5) ? randomCase(random) : tradingCase(random)
        const least = Math.max(zone.existing.length, stagesOfCase(zone).filter(({ after }) => after).length)
        return { ...zone, limit: least + random.below(4) }
      },
    ],
    ['a full zone, where something has to come before another goes', 2000, (random) => tightCase(random, random.pick([0, 0, 0, 1, 2, 3]))],
    ['names that move with their pointers', 2000, (random) => movingCase(random)],
  ]
  it.each(suites)(
    '%s',
    (name, count, zoneOf) => {
      const random = seededRandom(name.length)
      const failures = failuresOf(
        rounds(count),
        () => {
          const zone = zoneOf(random)
          return isSound(zone) && isSmall(zone) ? zone : null
        },
        faultOf,
      )
      expect(failures).toBe('')
    },
    600_000,
  )
})

describe('larger zones', () => {
  const isProved = ({ diagnostics }: ZonePlan): boolean => !diagnostics.some(({ code }) => code === 'calls-not-proved')
  const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `s TXT "${index}"`)

  it.each([0, 8, 14, 20])('a trade that another makes free, where %i texts come to its name', (count) => {
    const zone: ZoneCase = {
      existing: ['a CNAME h.example.net.', 'b A 192.0.2.1', 's CNAME g.example.net.', 't A 192.0.2.2'],
      desired: ['a A 192.0.2.1', 'b CNAME h.example.net.', 'r CNAME g.example.net.', 's A 192.0.2.2', ...texts(count)],
      limit: null,
    }
    const plan = planCase(zone)
    expect(plan.calls.total, showPlanned(zone)).toBe(4 + count)
    expect(isProved(plan)).toBe(true)
  })

  it.each([2, 6, 8, 12, 40])('a host that is renamed while %i CNAMEs follow it: the split is forced', (count) => {
    const followers = (host: string): string[] => Array.from({ length: count }, (_, index) => `w${index} CNAME ${host}`)
    const zone = { existing: ['hub A 192.0.2.1', ...followers('hub')], desired: ['hub2 A 192.0.2.1', ...followers('hub2')], limit: null }
    const plan = planCase(zone)
    expect(plan.calls.total).toBe(count + 2)
    expect(plan.diagnostics).toEqual([])
  })

  it.each([1, 2, 3, 8, 30])('%i trades, each with a gap that cannot be avoided, share one split', (count) => {
    const times = (linesOf: (at: number) => string[]): string[] => Array.from({ length: count }, (_, at) => linesOf(at)).flat()
    const zone = {
      existing: times((at) => [`w${at} CNAME a${at}`, `a${at} CNAME h.example.net.`, `b${at} A 192.0.2.1`, `b${at} TXT "${at}"`]),
      desired: times((at) => [`w${at} CNAME a${at}`, `a${at} A 192.0.2.1`, `a${at} TXT "${at}"`, `b${at} CNAME h.example.net.`]),
      limit: null,
    }
    const plan = planCase(zone)
    expect(plan.calls.total).toBe(3 * count + 1)
    expect(missedOf(zone, plan)).toHaveLength(count)
  })
})
