import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { validate } from '../../generated/zone-schema.js'
import { SETTING_KEYS } from '../../src/definition/parse/read-settings.ts'
import { formKeys, RECORD_KEYS, valueForm } from '../../src/definition/parse/value-forms.ts'
import { GENERIC_ONLY_TYPES, RDATA_TYPES } from '../../src/dns/rdata/rdata-types.ts'

interface Schema {
  readonly properties?: Record<string, unknown>
  readonly required?: readonly string[]
  readonly definitions: Record<string, Schema>
  readonly anyOf?: readonly { readonly enum?: readonly string[] }[]
}

const schema: Schema = JSON.parse(readFileSync(new URL('../../schemas/zone.schema.json', import.meta.url), 'utf8'))
const { definitions } = schema

describe('the zone schema and the parsers have the same', () => {
  test('settings', () => expect(Object.keys(definitions['settings']?.properties ?? {}).sort()).toEqual([...SETTING_KEYS].sort()))
  test('keys of a record', () => expect(Object.keys(definitions['record']?.properties ?? {}).sort()).toEqual([...RECORD_KEYS].sort()))

  test('types', () => {
    const type = definitions['record']?.properties?.['type'] as Schema
    expect([...(type.anyOf?.[0]?.enum ?? [])].sort()).toEqual([...RDATA_TYPES.keys(), ...GENERIC_ONLY_TYPES.keys()].sort())
  })

  const values = Object.keys(definitions).filter((name) => name.endsWith('_value'))

  test.each(values)('keys of a value: %s', (name) => {
    const form = valueForm(name.replace('_value', ''))
    const { properties = {}, required = [] } = definitions[name] ?? { properties: {} }
    for (const key of formKeys(form)) expect(Object.keys(properties)).toContain(key)
    if (form.shape !== 'mapping' || name === 'DS_value') return
    const names = form.fields.flatMap(({ key, alias }) => (alias === null ? [key] : [key, alias]))
    expect(Object.keys(properties).sort()).toEqual(names.sort())
    const needed = form.fields.filter(({ defaultValue, alias }) => defaultValue === null && alias === null).map(({ key }) => key)
    expect([...required].sort()).toEqual(needed.sort())
  })

  test('values are checked for more than 15 types', () => expect(values.length).toBeGreaterThan(15))
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
