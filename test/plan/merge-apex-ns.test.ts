import { expect, test } from 'vitest'
import { type RecordRule, RRSET_STORE } from '../../src/plan/capabilities.ts'
import { type ApexNsTarget, apexNsOfTargets, withApexNs } from '../../src/plan/merge-apex-ns.ts'
import { ORIGIN } from '../support/plan.ts'
import { desiredZone, existingZone, name } from '../support/records.ts'

const plain = (records: string): ApexNsTarget => {
  return { target: 'plain', capabilities: RRSET_STORE, existing: existingZone(ORIGIN, records), servedApexNs: null }
}

/** Sets its own NS records, and lists others as records. */
const serving = (servedApexNs: readonly string[] | null, records = ''): ApexNsTarget => {
  return { target: 'serving', capabilities: { ...RRSET_STORE, servesApexNs: true }, existing: existingZone(ORIGIN, records), servedApexNs }
}

const DESIRED = desiredZone(ORIGIN, 'www 300 A 192.0.2.1', { apexNs: 'all-targets' })

/** The apex NS records that are desired at each target, with their TTLs, and the messages. */
function merged(desired: typeof DESIRED, targets: readonly ApexNsTarget[]) {
  const names = apexNsOfTargets(desired, targets)
  return targets.map((target) => {
    const { desired: own, diagnostics } = withApexNs(desired, target, names)
    const records = own.records.filter(({ type }) => type === 'NS').map(({ ttl, data }) => `${ttl} ${data}`)
    return { apexNs: own.apexNs, records, messages: diagnostics.map(({ message }) => message) }
  })
}

test('every target gets the names of all, with its own TTL', () => {
  const targets = [plain('@ 300 NS a.example.net.\nwww 300 A 192.0.2.1'), plain('@ 7200 NS b.example.net.')]
  expect(merged(DESIRED, targets)).toEqual([
    { apexNs: 'manage', records: ['300 a.example.net.', '300 b.example.net.'], messages: [] },
    { apexNs: 'manage', records: ['7200 a.example.net.', '7200 b.example.net.'], messages: [] },
  ])
})

test('names of the definition are added', () => {
  const desired = desiredZone(ORIGIN, '@ 600 NS c.example.net.', { apexNs: 'all-targets' })
  expect(merged(desired, [plain('@ 300 NS a.example.net.'), plain('')]).map(({ records }) => records)).toEqual([
    ['300 a.example.net.', '300 c.example.net.'],
    ['600 a.example.net.', '600 c.example.net.'],
  ])
})

test('a target that sets its own names gets those of the others; without its own being known it stays', () => {
  const other = plain('@ 300 NS a.example.net.')
  expect(merged(DESIRED, [serving(['s.example.net.'], '@ 900 NS a.example.net.'), other]).map(({ records }) => records)).toEqual([
    ['900 a.example.net.'],
    ['300 a.example.net.', '300 s.example.net.'],
  ])
  const [unknown] = merged(DESIRED, [serving(null), other])
  expect(unknown).toEqual({
    apexNs: 'keep',
    records: [],
    messages: [expect.stringContaining('serving: its own apex NS records are not known, so those of the other targets are not added')],
  })
})

test('a target that does not support NS records at the apex is reported and stays', () => {
  const refuse: RecordRule = (record) => ({ record: record.type === 'NS' ? null : record, diagnostics: [] })
  const closed: ApexNsTarget = { ...plain(''), target: 'closed', capabilities: { ...RRSET_STORE, rules: [refuse] } }
  const [, second] = merged(DESIRED, [plain('@ 300 NS a.example.net.'), closed])
  expect(second).toEqual({
    apexNs: 'keep',
    records: [],
    messages: ['example.com. at closed: it does not support NS records at the apex: a.example.net.'],
  })
})

test('a new zone contributes the names that its provider has for it', () => {
  const fresh: ApexNsTarget = {
    ...plain(''),
    existing: null,
    capabilities: { ...RRSET_STORE, newZoneNameservers: [name('new.example.net.')] },
  }
  expect(merged(DESIRED, [plain('@ 300 NS a.example.net.'), fresh]).map(({ records }) => records)).toEqual([
    ['300 a.example.net.', '300 new.example.net.'],
    ['null a.example.net.', 'null new.example.net.'],
  ])
})

test('a target that gives a new zone names of its own keeps them: they are known only later', () => {
  const assigning = { ...plain(''), target: 'assigning', capabilities: { ...RRSET_STORE, assignsNameservers: true }, existing: null }
  const [other, created] = merged(DESIRED, [plain('@ 300 NS a.example.net.'), assigning])
  expect(other?.records).toEqual(['300 a.example.net.'])
  expect(created).toMatchObject({ apexNs: 'keep', records: [], messages: [expect.stringContaining('known only when the zone exists')] })
})
