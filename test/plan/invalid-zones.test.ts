/**
 * Zones that no service would accept and unchecked definitions: CNAMEs beside other records, several CNAMEs at a name, null MX among others, duplicate
 * records, more records than the limit. Any plan either reports an error, or each of its calls is accepted in every order.
 */
import { expect, it } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Policy } from '../../src/dns/zone.ts'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { orderAlong, randomOrder } from '../support/interleavings.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { attempt, planCase, recordOf, showCase, waitsOf, type ZoneCase } from '../support/zone-cases.ts'
import { identity, refusalOf, type Stage } from '../support/zone-simulator.ts'

const NAMES = ['@', 'a', 'b', 'c', 'd.a', 'theirs']

function anyLine(random: Random): string {
  const type = random.pick(['A', 'A', 'CNAME', 'CNAME', 'CNAME', 'MX', 'MX', 'NS', 'TXT', 'DNAME', 'ALIAS', 'SRV'])
  return `${random.pick(NAMES)} ${random.chance(0.2) ? '300 ' : ''}${type} ${anyData(random, type)}`
}

function anyData(random: Random, type: string): string {
  const target = random.chance(0.85) ? random.pick(NAMES) : 'host.example.net.'
  switch (type) {
    case 'A':
      return random.pick(['192.0.2.1', '192.0.2.2', '198.51.100.1'])
    case 'TXT':
      return random.pick(['"x"', '"unmanaged"'])
    case 'MX':
      return random.pick(['0 .', `0 ${target}`, `10 ${target}`])
    case 'SRV':
      return `0 5 443 ${target}`
    default:
      return target
  }
}

function anyCase(random: Random, size: number): ZoneCase {
  const lines = (most: number): string[] => Array.from({ length: random.below(most + 1) }, () => anyLine(random))
  const existing = lines(size)
  const desired = random.chance(0.3)
    ? [...random.shuffle(existing).slice(0, random.below(existing.length + 1)), ...lines(size / 3)]
    : lines(size)
  return { existing, desired, limit: random.chance(0.5) ? null : random.below(size + 3) }
}

/** The first refusal of a service for the calls in this order; null without one. Only added records are checked: the existing zone may be invalid. */
function refusal(plan: ZonePlan, existing: readonly ResourceRecord[], order: readonly number[], limit: number | null): string | null {
  const present = [...existing]
  for (const at of order) {
    const change = plan.changes[at]
    if (change?.subject !== 'record') continue
    const { existing: removed, desired: added } = change
    if (removed) {
      const found = present.findIndex((record) => identity(record) === identity(removed))
      if (found === -1) return `call ${at} removes a missing record`
      present.splice(found, 1)
    }
    if (!added) continue
    for (const other of present) {
      const problem = other.name === added.name ? refusalOf([other, added], null) : null
      if (problem !== null) return `call ${at}: ${problem}`
    }
    present.push(added)
    if (!removed && limit !== null && present.length > limit) return `call ${at}: ${present.length} records; the limit is ${limit}`
  }
  return null
}

function problemOf(zone: ZoneCase, random: Random): string | null {
  const existing = zone.existing.map(recordOf)
  for (const prefer of ['continuity', 'calls'] as const) {
    for (const policy of ['sync', 'upsert-only', 'create-only'] satisfies Policy[]) {
      const plan = planCase(zone, { prefer, policy })
      const order = orderAlong(waitsOf(plan))
      if (typeof order === 'string') return order
      if (plan.diagnostics.some(({ severity }) => severity === 'error')) continue
      for (const one of randomOrders(plan, random)) {
        const problem = refusal(plan, existing, one, zone.limit)
        if (problem !== null) return `${policy}, ${prefer}: ${problem}`
      }
    }
  }
  return null
}

function randomOrders(plan: ZonePlan, random: Random): number[][] {
  const stage = (record: ResourceRecord | null, before: boolean): Stage | null => record && { record, before, after: !before }
  const calls = plan.changes.map((change) => {
    if (change.subject !== 'record') throw new Error('a change of the zone itself')
    return { removed: stage(change.existing, true), added: stage(change.desired, false) }
  })
  return Array.from({ length: 3 }, () => randomOrder(calls, waitsOf(plan), random))
}

it.each([
  ['few records', 300, 8],
  ['more records', 40, 30],
  ['many records', 4, 400],
])('%s: a plan reports an error, or is accepted', { timeout: 600_000 }, (_, count, size) => {
  const random = seededRandom(size)
  for (let i = rounds(count); i > 0; i -= 1) {
    const zone = anyCase(random, size)
    expect(
      attempt(() => problemOf(zone, random)),
      showCase(zone),
    ).toBeNull()
  }
})

it.each([
  ['two CNAMEs', ['a CNAME b', 'a CNAME c'], 'cname-not-alone'],
  ['a CNAME and an address', ['a A 192.0.2.1', 'a CNAME c'], 'cname-not-alone'],
  ['a null MX and another MX', ['a MX 10 c', 'a MX 0 .'], 'null-mx-not-alone'],
])('reports %s at one name, with the position', (_, desired, code) => {
  const { diagnostics } = planCase({ existing: ['a TXT "x"'], desired, limit: null })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([{ code, at: { line: 1 } }])
})
