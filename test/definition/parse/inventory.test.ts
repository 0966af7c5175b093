import { expect, test } from 'vitest'
import { checkZone } from '../../../src/checks/rules/rules.ts'
import type { DesiredZone } from '../../../src/dns/zone.ts'
import { diagnosticLines, parse } from '../parse.ts'

const definition = (records: string): string => `domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n${records}`
const queriesOf = (text: string) => (parse(text).zone?.sourced ?? []).map(({ name, type, ttl, query }) => ({ name, type, ttl, ...query }))

test('are parsed with their conditions and the TTL', () => {
  const text = definition(
    '  www:\n    - {type: A, ttl: 300, from: {instances: {tag: web, region: us-east}}}\n    - {type: AAAA, from: {provider: other, loadbalancers: {label: 10}}}\n',
  )
  expect(diagnosticLines(parse(text))).toEqual([])
  expect(queriesOf(text)).toEqual([
    { name: 'www.example.com.', type: 'A', ttl: 300, kind: 'instances', provider: null, tag: 'web', region: 'us-east' },
    { name: 'www.example.com.', type: 'AAAA', ttl: null, kind: 'loadbalancers', provider: 'other', label: '10' },
  ])
})

test.each([
  ['another type', '  www: {type: CNAME, from: {instances: {tag: web}}}\n', '"from" returns addresses, so the type must be A or AAAA'],
  ['values beside it', '  www: {type: A, value: 192.0.2.1, from: {instances: {tag: web}}}\n', 'the record has both values and "from"'],
  ['no kind', '  www: {type: A, from: {}}\n', '"from" must have one of the keys instances and loadbalancers, or "provider"'],
  ['two kinds', '  www: {type: A, from: {instances: {tag: a}, loadbalancers: {tag: a}}}\n', '"from" must have exactly one of the keys'],
  ['an unknown kind', '  www: {type: A, from: {volumes: {tag: web}}}\n', 'unknown key "volumes" in from'],
  ['an unknown condition', '  www: {type: A, from: {instances: {tags: web}}}\n', 'unknown key "tags" in from.instances'],
  ['a condition of another kind', '  www: {type: A, from: {loadbalancers: {group: a}}}\n', 'unknown key "group"'],
  ['no condition: the whole account', '  www: {type: A, from: {instances: {}}}\n', 'instances needs at least one condition'],
  ['an empty condition', "  www: {type: A, from: {instances: {tag: ''}}}\n", 'tag must be a text of 1 to 255 characters'],
  ['a list', '  www: {type: A, from: {instances: {tag: [a, b]}}}\n', 'from.instances.tag must be text, not a list'],
  ['text', '  www: {type: A, from: instances}\n', 'from must be keys with values'],
])('%s is refused', (_, records, message) => {
  const problems = diagnosticLines(parse(definition(records)))
  expect(problems.filter((line) => line.includes(' error '))).not.toEqual([])
  expect(problems.join('\n')).toContain(message)
  expect(queriesOf(definition(records))).toEqual([])
})

test('need a definition with settings', () => {
  expect(diagnosticLines(parse('www: {type: A, from: {instances: {tag: web}}}\n')).join('\n')).toContain(
    'only supported in the layout with "domain:"',
  )
})

test('are checked by the rules for targets and for conflicting records', () => {
  const zoneOf = (records: string): DesiredZone => parse(definition(records)).zone as DesiredZone
  const from = '{type: A, from: {instances: {tag: web}}}'
  expect(checkZone(zoneOf(`  www: ${from}\n  ftp: {type: CNAME, value: www}\n`))).toEqual([])
  expect(checkZone(zoneOf(`  www: [${from}, {type: CNAME, value: web}]\n  web: ${from}\n`)).map(({ code }) => code)).toContain(
    'cname-not-alone',
  )
})
