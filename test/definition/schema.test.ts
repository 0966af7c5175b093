import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { validate } from '../../generated/zone-schema.js'
import { SETTING_KEYS } from '../../src/definition/parse/read-settings.ts'
import { formKeys, RECORD_KEYS, valueForm } from '../../src/definition/parse/value-forms.ts'

interface Schema {
  readonly properties?: Record<string, unknown>
  readonly definitions: Record<string, Schema>
}

const schema: Schema = JSON.parse(readFileSync(new URL('../../schemas/zone.schema.json', import.meta.url), 'utf8'))
const { definitions } = schema

describe('the zone schema and the parsers have the same', () => {
  test('settings', () => expect(Object.keys(definitions['settings']?.properties ?? {}).sort()).toEqual([...SETTING_KEYS].sort()))
  test('keys of a record', () => expect(Object.keys(definitions['record']?.properties ?? {}).sort()).toEqual([...RECORD_KEYS].sort()))

  test.each(['LOC', 'SVCB', 'DS'])('keys of a value: %s', (type) => {
    for (const key of formKeys(valueForm(type))) expect(Object.keys(definitions[`${type}_value`]?.properties ?? {})).toContain(key)
  })
})

describe('JSON values, as editors validate YAML', () => {
  test.each([
    [{}],
    [{ domain: 'example.com', records: { '': [{ type: 'A', value: '192.0.2.1' }], www: { type: 'CNAME', value: '@' } } }],
    [{ a: { type: 'MX', values: [{ preference: 10, exchange: 'mail.' }] }, 10: { type: 'TXT', value: 1.5 } }],
    [{ a: { type: 'Route53Provider/ALIAS', value: { anything: 1 } } }],
  ])('%j is valid', (value) => expect(validate(value)).toBe(true))

  test.each([
    [{ domain: 'example.com', tag: [] }],
    [{ domain: 'example.com', type: 'primary' }],
    [{ a: { type: 'MX', value: '10 mail.' } }],
    [{ a: { type: 'MX', value: { preference: 70_000, exchange: 'mail.' } } }],
    [{ a: { type: 'A' } }],
    [{ a: { type: 'a', value: '192.0.2.1' } }],
    [{ a: [], b: 1 }],
  ])('%j is invalid', (value) => expect(validate(value)).toBe(false))
})
