/** Limits of calls by records and by characters of their data, and types that exclude each other at a name. */
import { expect, test } from 'vitest'
import { type CallRules, type Capabilities, RRSET_STORE } from '../../src/plan/capabilities.ts'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { ORIGIN, planOf } from '../support/plan.ts'
import { existingZone } from '../support/records.ts'

const limited = (maxValues: CallRules['maxValues'], more: Partial<Capabilities> = {}): Capabilities => {
  return { ...RRSET_STORE, ...more, calls: { ...RRSET_STORE.calls, maxValues } }
}

const plan = (before: string, after: string, capabilities: Capabilities): ZonePlan =>
  planOf(null, after, { existing: existingZone(ORIGIN, before), capabilities })

const hosts = (count: number, data: string): string => Array.from({ length: count }, (_, host) => `h${host} 300 ${data}`).join('\n')

test.each([
  ['new records', '', hosts(10, 'A 192.0.2.1'), { count: 5, characters: 1000 }, 2],
  ['changed records count twice', hosts(10, 'A 192.0.2.1'), hosts(10, 'A 192.0.2.2'), { count: 5, characters: 1000 }, 5],
  ['records of one set', '', 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.2\nother 300 A 192.0.2.1', { count: 2, characters: 1000 }, 2],
  ['characters', '', hosts(10, 'A 192.0.2.1'), { count: 100, characters: 27 }, 4],
  ['characters at the target', '', hosts(10, 'A 192.0.2.1'), { count: 100, characters: 27, lengthOf: () => 13 }, 5],
] as const)('%s', (_, before, after, maxValues, calls) => expect(plan(before, after, limited(maxValues)).calls.total).toBe(calls))

test('an ALIAS and the addresses that it replaces share a call', () => {
  const others = hosts(20, 'A 192.0.2.1')
  const { changes } = plan(
    `${others}\nwww 300 A 192.0.2.9`,
    `${hosts(20, 'A 192.0.2.2')}\nwww 300 ALIAS a.example.net.`,
    limited({ count: 8, characters: 1000 }),
  )
  const calls = changes.flatMap(({ name, call }) => (name.startsWith('www') ? [call] : []))
  expect([calls.length > 0, new Set(calls).size]).toEqual([true, 1])
})

test.each([
  [true, ['record-unsupported']],
  [false, []],
])('an ALIAS beside addresses (aliasExclusive: %s)', (aliasExclusive, codes) => {
  const { diagnostics } = plan('', 'www 300 ALIAS a.example.net.\nwww 300 A 192.0.2.1', limited(undefined, { aliasExclusive }))
  expect(diagnostics.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []))).toEqual(codes)
})
