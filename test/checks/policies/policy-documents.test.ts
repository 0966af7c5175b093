import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SHAPES, type Shape } from '../../../src/checks/policies/policy-documents.ts'
import { ZONE_SETTINGS } from '../../../src/dns/zone.ts'

type Schema = { readonly properties: Readonly<Record<string, Schema>>; readonly $defs: Readonly<Record<string, Schema>> }
const plan: Schema = JSON.parse(readFileSync(new URL('../../../schemas/plan.schema.json', import.meta.url), 'utf8'))

const keysOf = (shape: Shape | undefined): string[] =>
  shape !== undefined && shape !== 'any' && 'keys' in shape ? Object.keys(shape.keys) : []

const without = (schema: Schema | undefined, ...keys: string[]): string[] =>
  Object.keys(schema?.properties ?? {}).filter((key) => !keys.includes(key))

const partOf = (shape: Shape, key: string): Shape | undefined => (shape !== 'any' && 'keys' in shape ? shape.keys[key] : undefined)

test('policies know the keys of the plan document', () => {
  const { plan: document, change } = SHAPES
  // The seal of a saved plan is no part of the plan.
  expect(without(plan, 'checksum', 'signature', 'targets').filter((key) => !keysOf(document).includes(key))).toEqual([])
  const { recordChange, domainChange, record } = plan.$defs
  for (const one of [recordChange, domainChange]) expect(without(one, 'outcome').filter((key) => !keysOf(change).includes(key))).toEqual([])
  expect([...without(record), ...ZONE_SETTINGS].filter((key) => !keysOf(partOf(change, 'existing')).includes(key))).toEqual([])
  const outcome = ['applied', 'created', 'updated', 'deleted', 'failed', 'skipped', 'unknown']
  expect(without(plan.properties['summary'], ...outcome).filter((key) => !keysOf(partOf(document, 'summary')).includes(key))).toEqual([])
})
