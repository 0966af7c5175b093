import { expect, test } from 'vitest'
import { checkPlan } from '../../src/apply/check-plan.ts'
import { read } from '../definition/policies/policies.ts'

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
  const context = { config: {}, env: {}, now: () => new Date('2026-11-23T12:00:00Z'), policies: read(rules) }
  const planned = { plan: { created: '', tool: '', zones: [plan], diagnostics: [] }, zones: [zone] }
  const checked = await checkPlan(context as never, planned as unknown as Parameters<typeof checkPlan>[1])
  expect(checked.plan.zones[0]?.diagnostics.map(({ code }) => code)).toEqual(['policy-three'])
})
