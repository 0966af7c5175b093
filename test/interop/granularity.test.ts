/** The same changes in the units of other targets: RRset replacements, messages, whole files. The conformance suites apply them to servers. */
import { expect, it } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import { changesetsOf } from '../../src/plan/changesets.ts'
import { finalRecords } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CALL_RULES, planOf } from '../support/plan.ts'
import { desiredZone, existingZone, name, records } from '../support/records.ts'

const ORIGIN = name('example.com.')

/** Zone texts with a TTL on every record, because these servers have no default. */
const CASES: { name: string; existing: string; desired: string; replacements: number }[] = [
  {
    name: 'one value among several',
    existing: 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.2',
    desired: 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.3\nwww 300 A 192.0.2.4',
    replacements: 1,
  },
  { name: 'TTL', existing: 'w 300 A 192.0.2.1\nw 300 A 192.0.2.2', desired: 'w 3600 A 192.0.2.1\nw 3600 A 192.0.2.2', replacements: 1 },
  {
    name: 'CNAME and A swap places',
    existing: 'a 300 CNAME x.example.net.\nb 300 A 192.0.2.1',
    desired: 'b 300 CNAME x.example.net.\na 300 A 192.0.2.1',
    replacements: 4,
  },
  { name: 'a renamed record', existing: 'old 300 TXT "a"', desired: 'new 300 TXT "a"', replacements: 2 },
  { name: 'null MX', existing: '@ 300 MX 0 .', desired: '@ 300 MX 10 mail.example.net.\n@ 300 MX 20 mx.example.net.', replacements: 1 },
  {
    name: 'delegation and glue',
    existing: 's 300 NS n.s\nn.s 300 A 192.0.2.1',
    desired: 's 300 NS m.s\nm.s 300 A 192.0.2.2',
    replacements: 3,
  },
  { name: 'everything is removed', existing: 'a 300 A 192.0.2.1\nb 300 TXT "x y"\n_s._tcp 300 SRV 1 2 3 a', desired: '', replacements: 3 },
]

const linesOf = (set: readonly ResourceRecord[]): string[] =>
  set.map(({ name: owner, ttl, type, data }) => `${owner} ${ttl} ${type} ${data}`).sort()

it.each(CASES)('fewest calls by unit: $name', ({ existing, desired, replacements }) => {
  const before = existingZone(ORIGIN, existing).records
  const counts = (['rrset', 'message', 'zone'] as const).map((unit) => {
    const capabilities = { ...CLOUD_CAPABILITIES, servesApexNs: false, ttlSteps: null, ttlDefault: false, calls: CALL_RULES[unit] }
    const { changes } = planOf(existing, desired, {
      allow: new Set(['empty-zone', 'apex-ns']),
      desired: desiredZone(ORIGIN, desired, { apexNs: 'manage' }),
      capabilities,
    })
    expect(linesOf(finalRecords(before, changes))).toEqual(linesOf(records(ORIGIN, desired)))
    return changesetsOf(changes, before, capabilities.calls).length
  })
  expect(counts).toEqual([replacements, 1, 1])
})
