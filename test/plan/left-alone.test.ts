/** Records that plans leave alone: no definition could describe them, another client shares their RRset, or the policy keeps them. */
import { describe, expect, test } from 'vitest'
import type { Ttl } from '../../src/dns/ttl.ts'
import type { ExistingZone } from '../../src/dns/zone.ts'
import { RRSET_STORE } from '../../src/plan/capabilities.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, name } from '../support/records.ts'

const KEEP = 'keep 300 A 192.0.2.1'
const notices = (plan: ReturnType<typeof planOf>, code: string): string[] =>
  plan.diagnostics.filter((one) => one.code === code).map(({ severity, message }) => `${severity} ${message}`)

describe('a record that no definition could describe at the target', () => {
  const live = (type: string, data: string, owner = 'odd.example.com.') => ({
    ...existingZone(ORIGIN, KEEP),
    records: [...existingZone(ORIGIN, KEEP).records, { name: name(owner), type, ttl: null, data, id: 9 }],
  })
  test.each([
    ['a type that the target does not manage', 'CERT', '1 0 0 AA==', 'has a type that is not managed'],
    ['a type that nobody knows', 'TYPE65280', '\\# 1 00', 'has a type that is not managed'],
    ['malformed data', 'A', '192.0.2.256', 'has data that no definition can have'],
    ['data that the target refuses', 'CAA', '128 issue "ca.example.net"', 'cannot be in a definition'],
  ])('%s', (_, type, data, reason) => {
    const plan = planOf(null, KEEP, { existing: live(type, data), allow: new Set(['deletes', 'empty-zone']) })
    expect(changesOf(plan)).toEqual([])
    expect(notices(plan, 'record-unplanned')).toEqual([expect.stringContaining(`notice odd.example.com. ${type} ${data} ${reason}`)])
    expect(plan.records.unmanaged).toBe(1)
  })

  test.each<[string, ExistingZone, string[]]>([
    ['if it is of such a type', live('CERT', '1 0 0 AA=='), ['odd.example.com. CERT (has a type that is not managed)']],
    [
      'if the target reports it',
      {
        ...existingZone(ORIGIN, KEEP),
        unplanned: [{ name: name('odd.example.com.'), type: 'A', data: '192.0.2.9', reason: 'is disabled' }],
      },
      ['odd.example.com. A (is disabled)'],
    ],
    ['but not a slave, whose records its masters have', { ...live('CERT', '1 0 0 AA=='), settings: { type: 'slave' } }, []],
  ])('keeps an absent zone, %s', (_, existing, named) => {
    const desired = desiredZone(ORIGIN, '', { absent: true })
    const plan = planOf(null, '', { desired, existing, allow: new Set(['delete-zone']) })
    expect(changesOf(plan)).toEqual(['delete zone []'])
    expect(notices(plan, 'record-unplanned')).toEqual(
      named.map((one) => `error example.com. at cloud: deleting the zone would delete 1 record that plans leave alone: ${one}`),
    )
  })

  test('keeps a CNAME from its name', () => {
    const plan = planOf(null, `${KEEP}\nodd 300 CNAME keep`, { existing: live('CERT', '1 0 0 AA==') })
    expect(plan.diagnostics).toContainEqual(expect.objectContaining({ severity: 'error', code: 'cname-not-alone' }))
  })

  test('stays in an RRset that is replaced as a whole', () => {
    const existing = live('A', '192.0.2.256')
    const capabilities = { ...RRSET_STORE, types: null }
    const plan = planOf(null, `${KEEP}\nodd 300 A 192.0.2.7`, { existing, capabilities })
    expect(changesOf(plan)).toEqual(['+ odd 300 A 192.0.2.7'])
    const withTtl = { ...existing, records: existing.records.map((record) => ({ ...record, ttl: 600 as Ttl })) }
    const beside = planOf(null, 'keep 600 A 192.0.2.1\nodd 900 A 192.0.2.7', { existing: withTtl, capabilities })
    expect(changesOf(beside)).toEqual(['+ odd 600 A 192.0.2.7'])
  })
})

describe('unmanaged and managed records of one RRset', () => {
  const unmanaged = [{ type: 'TXT', target: 'theirs*' }]
  test.each([
    ['record', CLOUD_CAPABILITIES],
    ['rrset', RRSET_STORE],
  ] as const)('have the live TTL (%s)', (_, capabilities) => {
    const existing = existingZone(ORIGIN, '@ 3600 TXT "theirs"')
    const desired = desiredZone(ORIGIN, '@ 300 TXT "ours"', { unmanaged })
    const plan = planOf(null, '', { desired, existing, capabilities })
    expect(changesOf(plan)).toEqual(['+ @ 3600 TXT "ours"'])
    expect(notices(plan, 'ttl-rounded')).toEqual([
      'notice example.com. TXT "ours" has TTL 3600 at cloud, not 300: it shares its record set with the unmanaged "theirs"',
    ])
    const after = existingZone(ORIGIN, '@ 3600 TXT "theirs"\n@ 3600 TXT "ours"')
    expect(changesOf(planOf(null, '', { desired, existing: after, capabilities }))).toEqual([])
  })
})

test.each(['upsert-only', 'create-only'] as const)('the policy %s names what it leaves', (policy) => {
  const plan = planOf(`${KEEP}\na 300 A 192.0.2.1\nb 300 TXT "x"`, KEEP, { policy })
  expect(changesOf(plan)).toEqual([])
  expect(notices(plan, 'policy-kept')).toEqual([
    `notice example.com. at cloud: the policy ${policy} keeps 2 record sets that no definition has: a.example.com. A and b.example.com. TXT`,
  ])
  expect(notices(planOf(KEEP, KEEP, { policy }), 'policy-kept')).toEqual([])
})
