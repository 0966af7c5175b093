import { describe, expect, test } from 'vitest'
import type { ExistingRecord } from '../../../src/dns/record.ts'
import type { Outcome } from '../../../src/plan/plan.ts'
import { unexpectedDifferences } from '../../../src/run/apply/read-back.ts'
import { checkPlan } from '../../../src/run/load/check-plan.ts'
import { read } from '../../checks/policies/policies.ts'
import { ORIGIN, planOf, withAddresses } from '../../support/plan.ts'
import { desiredZone, existingZone } from '../../support/records.ts'

test('the rules that wait for the values of sources see all targets of a zone', async () => {
  const at = { file: 'zones/example.com.yaml', line: 1, column: 1 }
  const record = { name: 'www.example.com.', type: 'A', ttl: 300, data: '192.0.2.1', at }
  const sourced = [{ name: 'www.example.com.', type: 'A', ttl: 300, at, query: { provider: null, kind: 'instances' } }]
  const desired = { name: 'example.com.', at, settings: {}, defaultTtl: null, records: [record] }
  const plan = { zone: 'example.com.', target: 'one', changes: [], diagnostics: [] }
  const zone = {
    plan,
    existing: null,
    job: { desired, target: 'one', targets: ['one', 'two'], owner: null },
    filled: { defined: { ...desired, records: [], sourced }, untouched: [] },
  }
  const rules = `- {name: two, each: zone, require: {properties: {targets: {minItems: 2}}}}
- {name: three, each: record_set, require: {properties: {targets: {minItems: 3}}}}
`
  const environment = { env: {}, now: () => new Date('2026-11-23T12:00:00Z') }
  const context = { environment, workspace: { config: {}, policies: read(rules) } }
  const planned = { created: '', tool: '', zones: [zone], diagnostics: [] }
  const checked = await checkPlan(context as never, planned as unknown as Parameters<typeof checkPlan>[1])
  expect(checked.zones[0]?.plan.diagnostics.map(({ code }) => code)).toEqual(['policy-three'])
})

const SETTINGS = { type: 'master', soa_email: 'hostmaster@example.com' } as const

/** The diagnostics for the zone `live`, lines with record IDs; `outcome` is the outcome of every change. */
function differences(before: string, desired: string, live: readonly string[], outcome: Outcome['state'] = 'applied', ids: number[] = []) {
  const plan = planOf(before, '', { desired: desiredZone(ORIGIN, desired, { unmanaged: [{ type: 'CAA' }] }) })
  const creations = [...ids]
  const outcomes = plan.changes.map(({ action, id }): Outcome => {
    if (outcome !== 'applied') return { state: 'unknown', error: 'no answer' }
    return { state: 'applied', id: action === 'create' ? creations.shift() : (id ?? undefined) }
  })
  const records = live.map((line): ExistingRecord => {
    const [, id, text = ''] = /^([0-9]+) (.*)$/.exec(line) ?? []
    const [{ name, type, ttl, data }] = existingZone(ORIGIN, withAddresses(text)).records as [ExistingRecord]
    return { id: Number(id), name, type, ttl, data }
  })
  const after = { name: ORIGIN, id: 1, settings: SETTINGS, records }
  return unexpectedDifferences(plan, outcomes, existingZone(ORIGIN, before), after).map(
    ({ code, message }) => `${code}: ${message.replace('example.com. at cloud: ', '')}`,
  )
}

/** Without what all of them have. */
const short = (one: string): string =>
  one
    .replace(/^apply-/, '')
    .replaceAll('.example.com.', '')
    .replaceAll('192.0.2.', '')

const BEFORE = 'www A 192.0.2.1\nmail A 192.0.2.9'
const AFTER = 'www A 192.0.2.2\nmail A 192.0.2.9\nnew TXT "a"'

describe('read-back', () => {
  test.each<[name: string, live: string, expected: string[]]>([
    ['as planned', '1 www A 2, 2 mail A 9, 3 new TXT "a"', []],
    ['unmanaged records are ignored', '1 www A 2, 2 mail A 9, 3 new TXT "a", 4 x CAA 0 issue "ca.example"', []],
    ['an update was overwritten', '1 www A 7, 2 mail A 9, 3 new TXT "a"', ['unconfirmed: www A was set to 2, but is 7']],
    ['an updated record was renamed', '1 web A 2, 2 mail A 9, 3 new TXT "a"', ['unconfirmed: www A was set to 2, but is web A 2']],
    ['a created record is missing', '1 www A 2, 2 mail A 9', ['unconfirmed: new TXT was set to "a", but does not exist']],
    [
      'another client changed another record',
      '1 www A 2, 2 mail 300 A 9, 3 new TXT "a"',
      ['drift: another client changed mail A from 9 to 9 (TTL 300) meanwhile'],
    ],
    ['another client deleted another record', '1 www A 2, 3 new TXT "a"', ['drift: another client deleted mail A 9 meanwhile']],
    ['another client created one', '1 www A 2, 2 mail A 9, 3 new TXT "a", 4 ftp A 5', ['drift: another client created ftp A 5 meanwhile']],
    ['a creation done twice', '1 www A 2, 2 mail A 9, 3 new TXT "a", 4 new TXT "a"', ['unconfirmed: new TXT "a" exists more than once']],
  ])('%s', (_, live, expected) => expect(differences(BEFORE, AFTER, live.split(', '), 'applied', [3]).map(short)).toEqual(expected))

  test.each<[string, string[]]>([
    ['carried out', ['1 www A 192.0.2.2', '2 mail A 192.0.2.9', '3 new TXT "a"']],
    ['not carried out', ['1 www A 192.0.2.1', '2 mail A 192.0.2.9']],
  ])('a call with an unknown outcome may have been %s', (_, live) => expect(differences(BEFORE, AFTER, live, 'unknown')).toEqual([]))

  test('summarises many differences', () => {
    const live = Array.from({ length: 50 }, (_, index) => `${index + 10} h${index} A 192.0.2.1`)
    const reported = differences(BEFORE, BEFORE, ['1 www A 192.0.2.1', '2 mail A 192.0.2.9', ...live])
    expect(reported).toHaveLength(21)
    expect(reported.at(-1)).toBe('apply-drift: there are 30 more differences')
  })
})

test('the NS records that a target gives a new zone are no difference, unless the definition has its own', () => {
  const created = (desired: string): string[] => {
    const plan = planOf(null, desired)
    const outcomes = plan.changes.map((): Outcome => ({ state: 'applied' }))
    const live = { ...existingZone(ORIGIN, 'www A 192.0.2.1\n@ NS ns1.example.net.'), settings: SETTINGS }
    return unexpectedDifferences(plan, outcomes, null, live).map(({ message }) => message)
  }
  expect(created('www A 192.0.2.1')).toEqual([])
  expect(created('www A 192.0.2.1\nwww A 192.0.2.3')).toHaveLength(1)
})
