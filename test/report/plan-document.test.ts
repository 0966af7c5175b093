import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { DomainChange, Outcome, Plan, ZoneOutcome } from '../../src/plan/plan.ts'
import { planDocument } from '../../src/report/plan-document.ts'
import { renderOutcome, renderPlan } from '../../src/report/render-report.ts'
import { planSchemaErrors } from '../support/plan-schema.ts'
import { changeOf, planOf, zoneOf } from './plan-of.ts'

const OPTIONS = { color: false, width: null, verbose: false }

const created: DomainChange = {
  action: 'create',
  subject: 'domain',
  name: 'example.com.' as DomainName,
  type: null,
  id: null,
  existing: null,
  // Keys in another order, and one that is not managed.
  desired: { ttl_sec: 300, tags: ['a'], group: undefined, type: 'master' },
  fields: ['tags', 'ttl_sec', 'type'],
  call: 0,
  after: [],
}

const PLAN: Plan = planOf(
  [
    zoneOf([
      created,
      changeOf(null, 'www.example.com. - A 192.0.2.1', { after: [0] }),
      changeOf('a.example.com. 300 A 192.0.2.1', 'b.example.com. 600 A 192.0.2.2', { split: 'a reason', id: 'x/1' }),
      changeOf('c.example.com. 300 A 192.0.2.1', null),
    ]),
    zoneOf([], {
      zone: 'example.net.' as DomainName,
      records: { existing: 1, desired: 1, unchanged: 1, unmanaged: 2, limit: null },
      refusals: [{ name: 'deletes', message: 'm', allowed: false }],
      diagnostics: [{ severity: 'error', code: 'record-limit', message: 'm', at: { file: 'zones/a.yaml', line: 2, column: 1 }, hint: 'h' }],
    }),
  ],
  [{ severity: 'warning', code: 'zone-removed', message: 'm' }],
)

const OUTCOMES: Outcome[] = [
  { state: 'applied', id: 12 },
  { state: 'failed', error: 'e' },
  { state: 'unknown', error: 'e' },
  { state: 'skipped', because: 'b' },
]

test('a plan is the documented document, with sorted keys', () => {
  const plan = planOf([zoneOf([changeOf('a.example.com. 300 A 192.0.2.1', 'a.example.com. - A 192.0.2.1')])])
  const record = { name: 'a.example.com.', type: 'A', ttl: 300, data: '192.0.2.1' }
  const change = {
    ...{ action: 'update', subject: 'record', name: record.name, type: 'A', id: 7 },
    ...{ existing: record, desired: { ...record, ttl: null }, fields: ['ttl'], call: 0, after: [] },
  }
  const zone = {
    ...{ zone: 'example.com.', target: 'cloud', exists: true, fingerprint: `sha256:${'0'.repeat(64)}` },
    records: { existing: 11, desired: 11, unchanged: 10, unmanaged: 0, limit: 12_000 },
    changes: [change],
    calls: { create: 0, update: 1, delete: 0, total: 1 },
    ...{ refusals: [], rendered: 'match', diagnostics: [] },
  }
  const summary = { errors: 0, refusedZones: 0, create: 0, update: 1, delete: 0, unchanged: 10, zones: 1, changedZones: 1, calls: 1 }
  const head = { format: 'zonewright-plan', version: 2, created: '2026-01-02T03:04:05.000Z', tool: 'zonewright 0.1.0' }
  const document = { ...head, zones: [zone], diagnostics: [], summary }
  expect(renderPlan(plan, 'json', OPTIONS)).toBe(`${JSON.stringify(document, null, 2)}\n`)
})

test('a plan follows the schema', () => {
  const document = JSON.parse(renderPlan(PLAN, 'json', OPTIONS))
  expect(planSchemaErrors(document)).toEqual([])
  expect(document).toEqual(JSON.parse(JSON.stringify(planDocument(PLAN))))
  expect(Object.keys(document.zones[0].changes[0].desired)).toEqual(['type', 'tags', 'ttl_sec'])
  expect(document.zones[0].changes[2]).toMatchObject({ id: 'x/1', split: 'a reason', fields: ['name', 'ttl', 'data'] })
})

test('an outcome follows the schema, with one outcome per change', () => {
  const outcome: ZoneOutcome = {
    plan: PLAN.zones[0] as ZoneOutcome['plan'],
    outcomes: OUTCOMES,
    readBack: 'different',
    diagnostics: [{ severity: 'error', code: 'apply-unconfirmed', message: 'm' }],
  }
  const document = JSON.parse(renderOutcome(PLAN, [outcome], 'json', OPTIONS))
  expect(planSchemaErrors(document)).toEqual([])
  expect(document.zones[0].changes.map((change: { outcome: Outcome }) => change.outcome)).toEqual(OUTCOMES)
  expect(document.zones[0]).toMatchObject({ readBack: 'different', diagnostics: [{ code: 'apply-unconfirmed', file: null, line: null }] })
  expect(document.zones[1]).toMatchObject({ readBack: 'not-read', changes: [] })
  expect(document.summary).toMatchObject({ calls: 4, applied: 1, failed: 1, skipped: 1, unknown: 1 })
})

test.each([
  ['another version', (document) => ({ ...document, version: 3 }), '/version'],
  ['an unknown key', (document) => ({ ...document, extra: 1 }), 'additional'],
  ['a name without the final dot', (document) => patchZone(document, { zone: 'example.com' }), '/zones/0/zone'],
  ['a record change without rdata', (document) => patchChange(document, { desired: { name: 'a.', type: 'A', ttl: 1 } }), 'data'],
  ['a TTL as text', (document) => patchChange(document, { desired: { name: 'a.', type: 'A', ttl: '1', data: 'x' } }), '/ttl'],
  ['a failed outcome without a reason', (document) => patchChange(document, { outcome: { state: 'failed' } }), 'error'],
  ['settings in a record change', (document) => patchChange(document, { existing: { ttl_sec: 300 } }), '/existing'],
] as const satisfies readonly (readonly [string, (document: Document) => unknown, string])[])(
  'the schema refuses %s',
  (_, spoil, where) => {
    const document = JSON.parse(renderPlan(PLAN, 'json', OPTIONS)) as Document
    expect(planSchemaErrors(spoil(document)).join('\n')).toContain(where)
  },
)

type Document = { readonly zones: readonly { readonly changes: readonly unknown[] }[] }
const patchZone = (document: Document, patch: object): unknown => ({ ...document, zones: [{ ...document.zones[0], ...patch }] })

const patchChange = (document: Document, patch: object): unknown =>
  patchZone(document, { changes: [{ ...(document.zones[0]?.changes[1] as object), ...patch }] })
