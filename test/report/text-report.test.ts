import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { DomainChange, Outcome, ZoneOutcome } from '../../src/plan/plan.ts'
import { loadFormat, renderOutcome, renderPlan } from '../../src/report/render-report.ts'
import type { ReportOptions } from '../../src/report/report.ts'
import { changeOf, planOf, zoneOf } from './plan-of.ts'

await Promise.all(['markdown', 'html'].map(loadFormat))

const PLAIN: ReportOptions = { color: false, width: 100, verbose: false }
const EXAMPLE_NET = { zone: 'example.net.' as DomainName }

const updateOfZone: DomainChange = {
  action: 'update',
  subject: 'domain',
  name: 'example.com.' as DomainName,
  type: null,
  id: 12,
  existing: { tags: [], ttl_sec: 300 },
  desired: { tags: ['production'], ttl_sec: 3600 },
  fields: ['tags', 'ttl_sec'],
  call: 0,
  after: [],
}

const shown = (text: string): string => `\n${text}`

test.each(['text', 'markdown', 'html', 'github'] as const)('the error of a call with several changes is said once: %s', (format) => {
  const lines = ['a', 'b', 'c'].map((owner) => changeOf(null, `${owner}.example.com. 300 A 192.0.2.1`))
  const zone = zoneOf(lines)
  const plan = planOf([{ ...zone, changes: zone.changes.map((change, index) => ({ ...change, call: index === 2 ? 1 : 0 })) }])
  const [first] = plan.zones as [(typeof plan.zones)[number]]
  const error = 'the server refuses the update'
  for (const state of ['failed', 'unknown'] as const) {
    const outcome: ZoneOutcome = { plan: first, outcomes: lines.map(() => ({ state, error })), readBack: 'not-read', diagnostics: [] }
    const text = renderOutcome(plan, [outcome], format, PLAIN)
    // Once for each of two calls; Markdown and HTML begin with the reasons.
    expect(text.split(error)).toHaveLength(format === 'markdown' || format === 'html' ? 4 : 3)
    expect(text.split(`${state} with its request (see above)`)).toHaveLength(2)
  }
})

describe('a plan as text', () => {
  test('reads like a diff: each record under its owner and type, removed before added', () => {
    const plan = planOf([
      zoneOf([
        updateOfZone,
        changeOf(null, 'www.example.com. 300 A 192.0.2.1'),
        changeOf(null, 'example.com. - MX 10 mail.example.com.'),
        changeOf('mail.example.com. 300 A 192.0.2.2', 'mail.example.com. 3600 A 192.0.2.2'),
        changeOf('api.example.com. 300 A 192.0.2.3', 'api.example.com. 300 A 192.0.2.4'),
        changeOf('both.example.com. 300 TXT "a"', 'both.example.com. 600 TXT "b"'),
        changeOf('gone.example.com. 300 CNAME www.example.com.', null),
      ]),
    ])
    expect(shown(renderPlan(plan, 'text', PLAIN))).toBe(`
example.com. at cloud (14 → 15 of 12,000 records)
  ~ zone  tags [] → [production]
          ttl_sec 300 → 3600
  + @     default  MX     10 mail.example.com.
  - api       300  A      192.0.2.3
  + api       300  A      192.0.2.4
  - both      300  TXT    "a"
  + both      600  TXT    "b"
  - gone      300  CNAME  www.example.com.
  - mail      300  A      192.0.2.2
  + mail     3600  A      192.0.2.2
  + www       300  A      192.0.2.1
  2 to create, 4 to update, 1 to delete (7 requests; an update is one - and one +)

Plan: 2 to create, 4 to update, 1 to delete in 1 zone (7 requests)
`)
  })

  test('shows the value of the default TTL, before and after', () => {
    const changes = [
      changeOf('a.example.com. - A 192.0.2.1', 'a.example.com. - A 192.0.2.2'),
      changeOf('b.example.com. - A 192.0.2.1', 'b.example.com. 86400 A 192.0.2.1'),
    ]
    const text = renderPlan(planOf([zoneOf(changes, { defaultTtl: { existing: 300, desired: 86_400 } })]), 'text', PLAIN)
    expect(text.split('\n').slice(1, 5)).toEqual([
      '  - a    300 (default)  A  192.0.2.1',
      '  + a  86400 (default)  A  192.0.2.2',
      '  - b    300 (default)  A  192.0.2.1',
      '  + b            86400  A  192.0.2.1',
    ])
  })

  test('shows the two records of a rename under their names; verbose says that they are one call', () => {
    const plan = planOf([zoneOf([changeOf('old.example.com. 300 A 192.0.2.1', 'new.example.com. 600 A 192.0.2.1')])])
    expect(renderPlan(plan, 'text', { ...PLAIN, verbose: true })).toContain(`
  + new  600  A  192.0.2.1  [id 7; same request as - old 192.0.2.1]
  - old  300  A  192.0.2.1  [id 7; same request as + new 192.0.2.1]
`)
    expect(shown(renderPlan(plan, 'text', PLAIN))).toBe(`
example.com. at cloud (11 of 12,000 records)
  + new  600  A  192.0.2.1
  - old  300  A  192.0.2.1
  1 to update (1 request; an update is one - and one +)

Plan: 0 to create, 1 to update, 0 to delete in 1 zone (1 request)
`)
  })

  test('explains why an update was split', () => {
    const split = 'www cannot be a CNAME while its A record is there'
    const plan = planOf([
      zoneOf(
        [
          changeOf('www.example.com. 300 A 192.0.2.1', null, { split }),
          changeOf(null, 'www.example.com. 300 CNAME example.net.', { after: [0] }),
        ],
        { records: { existing: 3, desired: 3, unchanged: 2, unmanaged: 4, limit: null } },
      ),
    ])
    expect(shown(renderPlan(plan, 'text', PLAIN))).toBe(`
example.com. at cloud (3 records, 4 unmanaged)
  - www  300  A      192.0.2.1
      separate requests: www cannot be a CNAME while its A record is there
  + www  300  CNAME  example.net.
  1 to create, 1 to delete (2 requests)

Plan: 1 to create, 0 to update, 1 to delete in 1 zone (2 requests)
`)
  })

  test('shows refusals, diagnostics and the rendered file below the changes', () => {
    const plan = planOf([
      zoneOf([changeOf('a.example.com. 300 A 192.0.2.1', null)], {
        refusals: [
          { name: 'deletes', message: '4 of 10 record sets of example.com. would be deleted (40 %); the limit is 30 %', allowed: false },
          { name: 'apex-ns', message: 'NS records at the apex of example.com. would change', allowed: true },
        ],
        rendered: 'stale',
        diagnostics: [
          { severity: 'notice', code: 'ttl-rounded', message: 'cloud stores TTL 300', at: { file: 'zones/b.yaml', line: 7, column: 3 } },
          { severity: 'error', code: 'record-limit', message: 'too many', at: { file: 'zones/a.yaml', line: 2, column: 1 } },
        ],
      }),
    ])
    expect(shown(renderPlan(plan, 'text', PLAIN))).toBe(`
example.com. at cloud (11 → 10 of 12,000 records)
  - a  300  A  192.0.2.1
  REFUSED deletes: 4 of 10 record sets of example.com. would be deleted (40 %); the limit is 30 %
    to allow it: --allow deletes
  allowed apex-ns: NS records at the apex of example.com. would change
  zones/a.yaml:2:1: error[record-limit] too many
  zones/b.yaml:7:3: notice[ttl-rounded] cloud stores TTL 300
  rendered zone file: older than the records
  1 to delete (1 request)

1 error, 1 zone refused, nothing will be applied. Plan: 0 to create, 0 to update, 1 to delete in 1 zone (1 request)
`)
    expect(renderPlan(plan, 'text', { ...PLAIN, diagnostics: false })).not.toContain('record-limit')
  })

  test('shows a new zone and a deleted one', () => {
    const created: DomainChange = {
      ...updateOfZone,
      action: 'create',
      id: null,
      existing: null,
      desired: { type: 'master', soa_email: 'hostmaster@example.com' },
      fields: ['soa_email', 'type'],
    }
    const deleted: DomainChange = { ...updateOfZone, action: 'delete', existing: { type: 'master' }, desired: null, fields: [] }
    const plan = planOf([
      zoneOf([created, changeOf(null, 'example.com. 300 A 192.0.2.1', { after: [0] })], {
        exists: false,
        records: { existing: 0, desired: 1, unchanged: 0, unmanaged: 0, limit: 12_000 },
      }),
      zoneOf([deleted], EXAMPLE_NET),
      zoneOf([], { zone: 'xn--bcher-kva.example.' as DomainName, rendered: 'differs' }),
    ])
    expect(shown(renderPlan(plan, 'text', PLAIN))).toBe(`
Deletes zones with all records: example.net. at cloud

example.com. at cloud (new zone, 0 → 1 of 12,000 records)
  + zone  soa_email hostmaster@example.com
          type master
  + @  300  A  192.0.2.1
  2 to create (2 requests)

example.net. at cloud (to be deleted, 10 of 12,000 records)
  - zone  and all its records
  1 to delete (1 request)

rendered zone file differs from the records: xn--bcher-kva.example. (bücher.example) at cloud
1 zone is deleted. Plan: 2 to create, 0 to update, 1 to delete in 2 zones (3 requests)
`)
  })

  test.each([
    [66, 0, 'No changes. 66 zones match.\n'],
    [1, 0, 'No changes. 1 zone matches.\n'],
    [1, 1, '1 error, nothing will be applied. No changes were planned.\n'],
    [3, 1, '1 error, nothing will be applied. No changes. 2 zones match.\n'],
  ])('of %i zones without changes, %i with errors, is one line', (zones, invalid, expected) => {
    const diagnostics = [{ severity: 'error', code: 'record-limit', message: 'm' }] as const
    const plan = planOf(Array.from({ length: zones }, (_, index) => zoneOf([], index < invalid ? { diagnostics } : {})))
    expect(renderPlan(plan, 'text', PLAIN).split('\n').slice(-2).join('\n')).toBe(expected)
    if (invalid === 0) expect(renderPlan(plan, 'text', PLAIN)).toBe(expected)
  })

  test('uses colours only if requested', () => {
    const plan = planOf([zoneOf([changeOf('a.example.com. 300 A 192.0.2.1', 'a.example.com. 600 A 192.0.2.1')])])
    const colored = renderPlan(plan, 'text', { ...PLAIN, color: true })
    expect(colored).toContain('\u001b[31m  - a\u001b[39m')
    expect(colored).toContain('\u001b[32m  + a\u001b[39m')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test removes the escape sequences
    expect(colored.replace(/\u001b\[[0-9;]*m/g, '')).toBe(renderPlan(plan, 'text', PLAIN))
  })
})

describe('long rdata', () => {
  const dkim = (letter: string): string => `"v=DKIM1; k=rsa; p=${'A'.repeat(150)}${letter}${'B'.repeat(80)}"`
  const plan = planOf([
    zoneOf([
      changeOf(null, `key._domainkey.example.com. 300 TXT ${dkim('x')}`),
      changeOf(`old._domainkey.example.com. 300 TXT ${dkim('x')}`, `old._domainkey.example.com. 300 TXT ${dkim('y')}`),
    ]),
  ])

  test('is truncated to the width, from the first difference, with its length', () => {
    expect(shown(renderPlan(plan, 'text', { ...PLAIN, width: 80 }))).toBe(`
example.com. at cloud (11 → 12 of 12,000 records)
  + key._domainkey  300  TXT  "v=DKIM1; k=rsa; p=AAAAAAAAAAAAA… (251 characters)
  - old._domainkey  300  TXT  …AAAAAAxBBBBBBBBBBBBBBBBBBBBBBBB… (251 characters)
  + old._domainkey  300  TXT  …AAAAAAyBBBBBBBBBBBBBBBBBBBBBBBB… (251 characters)
  1 to create, 1 to update (2 requests; an update is one - and one +)

Plan: 1 to create, 1 to update, 0 to delete in 1 zone (2 requests)
`)
  })

  test('is complete if requested', () => {
    const text = renderPlan(plan, 'text', { ...PLAIN, width: 80, verbose: true })
    expect(text).toContain(`  + key._domainkey  300  TXT  ${dkim('x')}\n`)
    expect(text).toContain(`  - old._domainkey  300  TXT  ${dkim('x')}  [id 7;`)
    expect(text).toContain(`  + old._domainkey  300  TXT  ${dkim('y')}  [id 7;`)
  })
})

describe('an outcome as text', () => {
  const changes = [
    changeOf(null, 'a.example.com. 300 A 192.0.2.1'),
    changeOf('b.example.com. 300 A 192.0.2.1', 'b.example.com. 600 A 192.0.2.1'),
    changeOf('c.example.com. 300 A 192.0.2.1', null, { after: [1] }),
    changeOf('d.example.com. 300 A 192.0.2.1', null),
  ]
  const plan = planOf([zoneOf(changes), zoneOf([changes[0] as (typeof changes)[0]], EXAMPLE_NET)])
  const outcomeOf = (index: number, outcomes: readonly Outcome[], readBack: ZoneOutcome['readBack'] = 'equal'): ZoneOutcome => {
    return { plan: plan.zones[index] as ZoneOutcome['plan'], outcomes, readBack, diagnostics: [] }
  }
  const applied: Outcome = { state: 'applied' }

  test('shows the outcome of each change', () => {
    const outcomes: Outcome[] = [
      applied,
      { state: 'failed', error: 'the server refuses it' },
      { state: 'skipped', because: 'b failed' },
      { state: 'unknown', error: 'the connection was lost' },
    ]
    expect(shown(renderOutcome(plan, [outcomeOf(0, outcomes, 'different')], 'text', PLAIN))).toBe(`
example.com. at cloud (13 → 14 of 12,000 records)
  + a  300  A  192.0.2.1
  - b  300  A  192.0.2.1
  + b  600  A  192.0.2.1
      failed: the server refuses it
  - c  300  A  192.0.2.1
      skipped: b failed
  - d  300  A  192.0.2.1
      unknown whether it was carried out: the connection was lost
  the zone differs from the planned result
  1 created (1 request); 1 failed, 1 unknown, 1 skipped

example.net. at cloud (10 of 12,000 records)
  + a.example.com.  300  A  192.0.2.1
      skipped: the zone was not applied
  nothing applied: 1 skipped

Applied in part: 1 failed, 1 unknown, 2 skipped; 1 created, 0 updated, 0 deleted in 1 zone (1 request)
`)
  })

  test('is short if all changes were applied', () => {
    const whole = [outcomeOf(0, [applied, applied, applied, applied]), outcomeOf(1, [applied])]
    expect(renderOutcome(plan, whole, 'text', PLAIN)).toMatch(/\nApplied: 2 created, 1 updated, 2 deleted in 2 zones \(5 requests\)\n$/)
    expect(renderOutcome(plan, [], 'text', PLAIN)).toMatch(/\nNothing applied: 5 skipped\n$/)
  })
})

test.each(['text', 'json', 'html', 'markdown', 'github'] as const)(
  'renders a plan of 50,000 changes as %s',
  { tags: ['long'] },
  (format) => {
    const changes = Array.from({ length: 50_000 }, (_, index) => changeOf(null, `host-${index}.example.com. 300 A 192.0.2.1`))
    const text = renderPlan(planOf([zoneOf(changes)]), format, { ...PLAIN, verbose: true })
    expect(text).toContain('host-0')
    if (format !== 'markdown') expect(text).toContain('host-49999')
  },
)
