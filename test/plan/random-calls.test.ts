/** Random plans for targets that take several records or RRsets per call: every state that a call can leave is accepted. */
import { describe, expect, test } from 'vitest'
import type { ExistingRecord, ResourceRecord } from '../../src/dns/record.ts'
import type { CallRules } from '../../src/plan/capabilities.ts'
import { changesetsOf } from '../../src/plan/changesets.ts'
import type { Change } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { finalLines, isSound, planCase, randomCase, recordOf, tightCase, tradingCase, type ZoneCase } from '../support/zone-cases.ts'
import { identity, refusalOf } from '../support/zone-simulator.ts'

const ONE: CallRules = { unit: 'rrset', maxUnits: 1, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false }

const RULES: Readonly<Record<string, CallRules>> = {
  'one RRset per call': ONE,
  'three RRsets per call': { ...ONE, maxUnits: 3 },
  'three RRsets per call, in any order': { ...ONE, maxUnits: 3, atomic: false },
  'messages of 600 octets': { ...ONE, maxUnits: null, maxOctets: 600, hasPrecondition: true },
  'three records per call': { ...ONE, unit: 'record', maxUnits: 3 },
  'three records per call, in any order': { ...ONE, unit: 'record', maxUnits: 3, atomic: false },
}

function zoneCase(random: Random): ZoneCase | null {
  const kind = random.below(3)
  const zone = kind === 0 ? randomCase(random) : kind === 1 ? tradingCase(random) : tightCase(random, random.below(3))
  const least = Math.max(zone.existing.length, finalLines(zone).length)
  const limited = zone.limit === null && random.chance(0.4) ? { ...zone, limit: least + random.below(3) } : zone
  return isSound(limited) && new Set(zone.existing).size === zone.existing.length ? limited : null
}

/** The first problem of a state that a run along the `after` edges can reach. */
function problemOf(zone: ZoneCase, rules: CallRules, random: Random): string | null {
  const limits = { types: null, ttlSteps: null, rules: [], servesApexNs: false, maxRecords: zone.limit }
  const capabilities = { ...CLOUD_CAPABILITIES, ...limits, calls: rules }
  const plan = planCase(zone, { capabilities })
  const existing = zone.existing.map((line, index): ExistingRecord => ({ id: index + 1, ...recordOf(line) }))
  const calls = changesetsOf(plan.changes, existing, rules)
  if (calls.length !== plan.calls.total || [...calls].some((call) => call === undefined)) return 'the calls are not numbered without a gap'
  let present: readonly ExistingRecord[] = existing
  const done = new Set<number>()
  while (done.size < calls.length) {
    const ready = [...calls.keys()].filter((at) => !done.has(at) && calls[at]?.after.every((before) => done.has(before)))
    if (ready.length === 0) return 'calls wait for one another'
    const at = ready[random.below(ready.length)] as number
    const call = calls[at] as (typeof calls)[number]
    done.add(at)
    if (rules.maxUnits !== null && (rules.unit === 'rrset' ? call.rrsets.length : call.changes.length) > rules.maxUnits)
      return 'a call carries too much'
    const steps = rules.atomic ? [call.changes] : partsOf(call, rules, random)
    for (const step of steps) {
      present = step.reduce(changed, present)
      const refusal = refusalOf(present, zone.limit)
      if (refusal !== null) return refusal
    }
  }
  const texts = (records: readonly ResourceRecord[]): string =>
    records
      .map(({ name, type, data }) => `${name} ${type} ${data}`)
      .sort()
      .join('\n')
  return texts(present) === texts(finalLines(zone).map(recordOf)) ? null : 'the zone is not as desired'
}

function changed(records: readonly ExistingRecord[], change: Change): readonly ExistingRecord[] {
  if (change.subject === 'domain') return records
  const { existing, desired, id } = change
  const at =
    existing === null ? -1 : records.findIndex((record) => (id === null ? identity(record) === identity(existing) : record.id === id))
  return [...records.filter((_, index) => index !== at), ...(desired === null ? [] : [{ ...desired, ...(id === null ? {} : { id }) }])]
}

/** What a target carries out one after another, in any order. */
function partsOf({ changes, rrsets }: ReturnType<typeof changesetsOf>[number], { unit }: CallRules, random: Random): (readonly Change[])[] {
  const parts =
    unit === 'record'
      ? changes.map((change) => [change])
      : rrsets.map(({ name, type }) => changes.filter((change) => change.name === name && change.type === type))
  return random.shuffle(parts)
}

describe.each(Object.entries(RULES))('%s', (_, rules) => {
  test('every state is accepted, within the record limit, and the last is as desired', () => {
    const random = seededRandom(16)
    let count = 0
    for (let round = 0; round < rounds(200); round += 1) {
      const zone = zoneCase(random)
      if (zone === null) continue
      count += 1
      expect([problemOf(zone, rules, random), JSON.stringify(zone)]).toEqual([null, JSON.stringify(zone)])
    }
    expect(count).toBeGreaterThan(rounds(200) / 5)
  })
})
