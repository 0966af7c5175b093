/** RRsets that a target holds in a form that plans do not change, and types of which it holds one record per name. */
import { expect, test } from 'vitest'
import type { ExistingZone, UnplannedRecord } from '../../src/dns/zone.ts'
import { RRSET_STORE } from '../../src/plan/capabilities.ts'
import { changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, name } from '../support/records.ts'

const KEEP = 'keep 300 A 192.0.2.1'

/** A zone in which one RRset is held. */
function holding(owner: string, type: string, data: string): ExistingZone {
  const held: UnplannedRecord = { name: name(`${owner}.example.com.`), type, data, reason: 'is dynamic', holdsRrset: true }
  return { ...existingZone(ORIGIN, KEEP), unplanned: [held] }
}

const planAt = (existing: ExistingZone, desired: string) => planOf(null, desired, { existing, capabilities: RRSET_STORE })

test('a definition of a held record set is ignored, with a warning', () => {
  const plan = planAt(holding('www', 'A', '192.0.2.9'), `${KEEP}\nwww 300 A 192.0.2.2\nwww 300 TXT "x"`)
  expect(changesOf(plan)).toEqual(['+ www 300 TXT "x"'])
  expect(
    plan.diagnostics.filter(({ code }) => code === 'record-unplanned').map(({ severity, message }) => `${severity} ${message}`),
  ).toEqual([
    'notice www.example.com. A 192.0.2.9 is dynamic at cloud, and stays as it is',
    'warning www.example.com. A of the definition is ignored: the one at cloud is dynamic, and stays as it is',
  ])
})

test('no record is added beside a held CNAME', () => {
  const plan = planAt(holding('www', 'CNAME', 'a.example.net.'), `${KEEP}\nwww 300 A 192.0.2.2`)
  expect(plan.diagnostics.map(({ code, message }) => `${code} ${message}`)).toContainEqual(
    'cname-not-alone www.example.com. A cannot be added to cloud beside www.example.com. CNAME a.example.net., which is not managed',
  )
})

test.each([
  ['error', 'error'],
  ['skip', 'warning'],
] as const)('a second record of a type that has one per name (unsupported: %s)', (unsupported, severity) => {
  const plan = planOf(KEEP, '', {
    desired: desiredZone(ORIGIN, `${KEEP}\np 300 PTR b.example.net.\np 300 PTR a.example.net.`, { unsupported, settings: {} }),
    capabilities: { ...RRSET_STORE, singleValueTypes: new Set(['PTR']) },
  })
  expect(changesOf(plan)).toEqual(['+ p 300 PTR a.example.net.'])
  expect(plan.diagnostics).toMatchObject([
    { severity, code: 'record-unsupported', message: expect.stringContaining('beside a.example.net.') },
  ])
})
