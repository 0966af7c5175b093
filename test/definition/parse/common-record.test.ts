import { describe, expect, it, test } from 'vitest'
import { validate } from '../../../generated/zone-schema.js'
import { isCommonRecord } from '../../../src/definition/parse/schema-check.ts'
import { toJsonValue } from '../../../src/definition/yaml/plain-scalars.ts'
import { readYaml } from '../../../src/definition/yaml/read-yaml.ts'
import type { YamlMapping } from '../../../src/definition/yaml/yaml-node.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

function record(text: string): YamlMapping {
  const { root } = readYaml(text, { file: 'zone.yaml' })
  if (root?.kind !== 'mapping') throw new Error(`not a mapping: ${text}`)
  return root
}

const isValid = (node: YamlMapping): boolean => validate({ record: toJsonValue(node) })

test.each([
  ['{type: A, value: 192.0.2.1}'],
  ['{type: AAAA, values: [2001:db8::1, 2001:db8::2], ttl: 300}'],
  ['{type: A, ttl: 60, value: 192.0.2.1, auto_ptr: true}'],
  ['{type: AAAA, auto_ptr: false, value: 2001:db8::1}'],
  ['{type: CNAME, value: www.example.net., ttl: 2147483647}'],
  ['{type: TXT, value: "v=spf1 -all"}'],
  ['{type: TXT, value: 2026}'],
  ['{type: MX, values: [{preference: 10, exchange: mail}, {exchange: mail.example.net., preference: 65535}]}'],
  ['{type: SRV, value: {priority: 0, weight: 0, port: 5060, target: sip}}'],
  ['{type: CAA, value: {flags: 0, tag: issue, value: ca.example}}'],
])('common records: %s', (text) => {
  expect(isCommonRecord(record(text))).toBe(true)
  expect(isValid(record(text))).toBe(true)
})

test.each([
  ['{type: A}'],
  ['{value: 192.0.2.1}'],
  ['{type: A, value: 192.0.2.1, values: [192.0.2.2]}'],
  ['{type: A, value: 192.0.2.1, octodns: {}}'],
  ['{type: A, value: 192.0.2.1, auto_ptr: yes}'],
  ['{type: A, value: 192.0.2.1, auto_ptr: "true"}'],
  ['{type: A, values: []}'],
  ['{type: A, value: null}'],
  ['{type: A, value: }'],
  ['{type: TXT, value: .inf}'],
  ['{type: TXT, value: 1e999}'],
  ['{type: A, value: {a: b}}'],
  ['{type: A, value: 192.0.2.1, ttl: 2147483648}'],
  ['{type: A, value: 192.0.2.1, ttl: 1h}'],
  ['{type: A, value: 192.0.2.1, ttl: }'],
  ['{type: [A], value: 192.0.2.1}'],
  ['{type: MX, value: {preference: 65536, exchange: mail}}'],
  ['{type: MX, value: {preference: 10}}'],
  ['{type: MX, value: {preference: 10, exchange: mail, prio: 10}}'],
  ['{type: MX, value: 10 mail}'],
  ['{type: CAA, value: {flags: 256, tag: issue, value: ca.example}}'],
  ['{type: TLSA, value: {certificate_usage: 3}}'],
])('records that need the schema: %s', (text) => expect(isCommonRecord(record(text))).toBe(false))

describe('for any record', () => {
  const scalar = fc.oneof(
    fc.constantFrom('', '~', 'null', 'true', 'No', '.inf', '-.INF', '.nan', '1e5', '1e999', '0x1f', '010', '+1', '-1', '1.5', '192.0.2.1'),
    fc.constantFrom('"null"', "'300'", '""', 'mail', 'www.example.net.', 'N', 'nobody', 'Free', '!!str 5', '!!int "7"', '!other x'),
    fc.integer({ min: -1, max: 2 ** 33 }).map(String),
    fc.integer({ min: 0, max: 300 }).map(String),
  )
  const values = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }).map((items) => `[${items.map((item) => item || '""').join(', ')}]`),
    fc
      .uniqueArray(fc.constantFrom('preference', 'exchange', 'priority', 'weight', 'port', 'target', 'flags', 'tag', 'value', 'other'), {
        maxLength: 5,
      })
      .chain((keys) => fc.tuple(...keys.map((key) => scalar.map((text) => `${key}: ${text}`))))
      .map((entries) => `{${entries.join(', ')}}`),
    fc.tuple(scalar, scalar).map(([a, b]) => `{preference: ${a}, exchange: ${b}}`),
    fc.tuple(scalar, scalar, scalar).map(([a, b, c]) => `[{flags: ${a}, tag: ${b}, value: ${c}}]`),
    fc.tuple(scalar, scalar, scalar, scalar).map(([a, b, c, d]) => `{priority: ${a}, weight: ${b}, port: ${c}, target: ${d}}`),
  )
  const types = fc.constantFrom('A', 'AAAA', 'ALIAS', 'CNAME', 'DNAME', 'NS', 'PTR', 'SPF', 'TXT', 'MX', 'SRV', 'CAA', 'LOC', 'a')
  const rest = fc.constantFrom(
    ...['', '', '', ', ttl: 300', ', ttl: 2147483648', ', ttl: -1', ', ttl:', ', ttl: 1h', ', octodns: {}', ', values: [x]'],
  )
  const records = fc
    .tuple(types, fc.constantFrom('value', 'values'), values, rest)
    .map(([type, key, value, more]) => `{type: ${type}, ${key}: ${value}${more}}`)

  it('the schema accepts it if it is common', () => {
    let common = 0
    forAll(rounds(3000), records, (text) => {
      const node = record(text)
      if (!isCommonRecord(node)) return true
      common += 1
      return isValid(node)
    })
    expect(common).toBeGreaterThan(rounds(100))
  })
})
