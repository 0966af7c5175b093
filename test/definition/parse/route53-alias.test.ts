import { expect, test } from 'vitest'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'

const read = (value: string) => {
  const text = `www: {type: Route53Provider/ALIAS, ${value}}\n`
  const { zone } = parseDefinition(text, { file: 'example.com.yaml', zoneName: 'example.com.' as DomainName })
  return [zone?.records.map(({ type, data, ttl }) => `${type} ${data} ${ttl}`), zone?.providerSpecific.length]
}

test.each([
  ['value: {type: A, name: d1.cloudfront.net., hosted-zone-id: Z2, evaluate-target-health: true}', 'd1.cloudfront.net.'],
  ['values: [{type: A, name: web}, {type: AAAA, name: web}]', 'web.example.com.'],
  ["value: {type: A, name: ''}", 'example.com.'],
  ['value: {type: A}', 'example.com.'],
  ['ttl: 300, value: {type: A, name: x.elb.eu-west-1.amazonaws.com., hosted-zone-id: Z3}', 'x.elb.eu-west-1.amazonaws.com.'],
])('an alias is an ALIAS: %s', (value, target) => expect(read(value)).toEqual([[`ALIAS ${target} 60`], 0]))

test.each([
  'value: {type: MX, name: web}',
  'values: [{type: A, name: a}, {type: AAAA, name: b}]',
  'value: web',
  'value: {type: A, name: a..b}',
  'values: []',
])('stays a type of another provider: %s', (value) => expect(read(value)).toEqual([[], 1]))
