/** Fitting to the cloud target, with generated records at the limits of its capabilities. */
import { describe, expect, it } from 'vitest'
import { txtRdataToOctets } from '../../src/dns/character-string.ts'
import { type DefinedRecord, type ExistingRecord, type ResourceRecord, recordKey } from '../../src/dns/record.ts'
import type { DesiredZone } from '../../src/dns/zone.ts'
import { fitToTarget } from '../../src/plan/fit-to-target.ts'
import { CLOUD_CAPABILITIES, RECORD_TTLS } from '../../src/providers/cloud/capabilities.ts'
import { fc } from '../support/fast-check.ts'
import { CALL_RULES, changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { rounds } from '../support/random.ts'
import { randomRecords } from '../support/random-records.ts'
import { desiredZone, existingZone } from '../support/records.ts'

const runs = (count: number): { numRuns: number } => ({ numRuns: rounds(count) })
const zoneOf = (list: readonly DefinedRecord[], more: Partial<DesiredZone> = {}) => ({ ...desiredZone(ORIGIN, ''), records: list, ...more })

const asExisting = (list: readonly ResourceRecord[]): ExistingRecord[] =>
  list.map(({ name, type, ttl, data }, index) => ({ id: index + 1, name, type, ttl, data }))

describe('fit to target, for every zone', () => {
  it('reports dropped records; kept records differ only in TTL and text segments', () => {
    fc.assert(
      fc.property(randomRecords, (list) => {
        const fitted = fitToTarget(zoneOf(list, { apexNs: 'manage' }), 'cloud', CLOUD_CAPABILITIES)
        const problems = fitted.diagnostics.filter(({ severity }) => severity === 'error')
        const alone = list.map((record) => fitToTarget(zoneOf([record], { apexNs: 'manage' }), 'cloud', CLOUD_CAPABILITIES))
        expect(problems).toHaveLength(alone.filter((one) => one.records.length === 0).length)
        expect(new Set(fitted.records.map(recordKey))).toEqual(new Set(alone.flatMap((one) => one.records).map(recordKey)))
        alone.forEach((one, index) => {
          const record = list[index] as DefinedRecord
          for (const kept of one.records) {
            expect([kept.name, kept.type, meaning(kept)]).toEqual([record.name, record.type, meaning(record)])
            expect(kept.ttl).toBe(nearestTtl(record.ttl))
          }
        })
      }),
      runs(300),
    )
  })
})

/** A text as one string; other rdata unchanged. */
const meaning = (record: ResourceRecord): string =>
  record.type === 'TXT' ? Buffer.from(txtRdataToOctets(record.data)).toString('hex') : record.data

/** The nearest TTL of the service, the lower of two equally near ones; 0 means none. */
function nearestTtl(ttl: number | null): number | null {
  if (ttl === null || ttl === 0) return null
  return RECORD_TTLS.reduce<number>((best, step) => (Math.abs(step - ttl) < Math.abs(best - ttl) ? step : best), RECORD_TTLS[0])
}

describe.each(['rrset', 'message'] as const)('fit to a target that replaces whole RRsets (%s)', (granularity) => {
  const capabilities = { ...CLOUD_CAPABILITIES, calls: CALL_RULES[granularity], ttlSteps: null, servesApexNs: false }
  const zone = (text: string): DesiredZone => ({ ...desiredZone(ORIGIN, text), apexNs: 'manage' })

  it('gives all records of an RRset the lowest TTL, and then the plan is empty', () => {
    const desired = zone('a 3600 A 192.0.2.1\na 300 A 192.0.2.2\na 600 A 192.0.2.3\nb 600 A 192.0.2.1')
    const { records, diagnostics } = fitToTarget(desired, 'cloud', capabilities)
    expect(records.map(({ ttl }) => ttl)).toEqual([300, 300, 300, 600])
    expect(diagnostics).toMatchObject([
      { severity: 'notice', code: 'ttl-rounded', message: expect.stringContaining('a.example.com. A, 300, not also 3600') },
    ])
    const plan = planOf('', '', { desired, existing: { ...existingZone(ORIGIN, ''), records: asExisting(records) }, capabilities })
    expect(changesOf(plan)).toEqual([])
    expect(plan.calls.total).toBe(0)
  })

  it('keeps RRsets with one TTL or none', () => {
    const { records, diagnostics } = fitToTarget(zone('a A 192.0.2.1\na A 192.0.2.2\nb 600 A 192.0.2.1'), 'cloud', capabilities)
    expect([records.map(({ ttl }) => ttl), diagnostics]).toEqual([[null, null, 600], []])
  })
})
