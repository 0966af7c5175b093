import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { formatDiagnostic } from '../../../src/base/diagnostic.ts'
import { applyToZone, testPolicies } from '../../../src/checks/policies/apply-policies.ts'
import { zoneDocument } from '../../../src/checks/policies/policy-documents.ts'
import { daysLeft } from '../../../src/checks/policies/policy-rule.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { documentedPolicies, read } from './policies.ts'

const NOW = new Date('2026-11-23T12:00:00Z')
const at = { file: 'zones/example.com.yaml', line: 1, column: 1 }

const record = (name: string, type: string, data: string, ttl: number | null = null) =>
  ({ name: name as DomainName, type, data, ttl: ttl as Ttl | null }) as const

const CONTENTS = {
  name: 'example.com.' as DomainName,
  owner: 'team-web',
  targets: ['cloud'],
  settings: {},
  defaultTtl: 3600 as Ttl,
  records: [
    record('example.com.', 'MX', '10 mail.example.com.'),
    record('example.com.', 'MX', '20 mail.example.net.'),
    record('example.com.', 'TXT', '"v=spf1 " "-all"'),
    { ...record('www.example.com.', 'A', '10.0.0.1', 60), owner: 'team-shop' },
  ],
}

const apply = (text: string, contents: Parameters<typeof applyToZone>[1] = CONTENTS): string[] => {
  const policies = read(text)
  expect(policies.diagnostics).toEqual([])
  return applyToZone(policies, contents, NOW, { at, positions: new Map([['www.example.com. A', { ...at, line: 9 }]]) }).map(
    formatDiagnostic,
  )
}

test('the document of a zone has values as in definitions and data as in zone files', () => {
  expect(JSON.parse(JSON.stringify(zoneDocument(CONTENTS)))).toEqual({
    zone: 'example.com.',
    owner: 'team-web',
    expires: null,
    targets: ['cloud'],
    settings: { type: 'master' },
    recordSets: [
      expect.objectContaining({
        name: 'example.com.',
        relativeName: '',
        type: 'MX',
        ttl: 3600,
        data: ['10 mail.example.com.', '20 mail.example.net.'],
        values: [
          { preference: 10, exchange: 'mail' },
          { preference: 20, exchange: 'mail.example.net.' },
        ],
      }),
      expect.objectContaining({ type: 'TXT', data: ['"v=spf1 " "-all"'] }),
      expect.objectContaining({ name: 'www.example.com.', relativeName: 'www', ttl: 60, owner: 'team-shop', targets: ['cloud'] }),
    ],
  })
})

describe('a violation', () => {
  test('has the place of the record set, the message with its subject, and what the schema refuses', () => {
    const [found] = applyToZone(
      read('- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 300}}}, message: the TTL is too low}\n'),
      CONTENTS,
      NOW,
      { at, positions: new Map([['www.example.com. A', { ...at, line: 9 }]]) },
    )
    expect(found).toMatchObject({
      severity: 'error',
      code: 'policy-ttl',
      message: 'www.example.com. A: the TTL is too low',
      at: { ...at, line: 9 },
      hint: 'ttl must be >= 300',
      related: [{ message: 'the policy', at: { file: 'p.yaml', line: 1, column: 3 } }],
    })
  })

  test('replaces the placeholders', () =>
    expect(
      apply(
        "- {name: a, each: record_set, where: {properties: {type: {const: A}}}, require: false, message: '{type} at {name} in {zone}', severity: notice}\n",
      ),
    ).toEqual(['zones/example.com.yaml:9:1: notice[policy-a] A at www.example.com. in example.com.']))

  test('of a zone has the place of the zone, or of the record set that the schema refuses', () => {
    expect(apply('- {name: a, each: zone, require: {properties: {recordSets: {contains: {properties: {type: {const: CAA}}}}}}}\n')).toEqual(
      ['zones/example.com.yaml:1:1: error[policy-a] example.com.: the policy a is not kept'],
    )
    expect(apply('- {name: a, each: zone, require: {properties: {recordSets: {items: {properties: {ttl: {minimum: 300}}}}}}}\n')).toEqual([
      'zones/example.com.yaml:9:1: error[policy-a] example.com.: the policy a is not kept',
    ])
  })
})

describe('an exception', () => {
  const withException = (exception: string): string =>
    `- {name: a, each: record_set, where: {properties: {type: {const: A}}}, require: false, exceptions: [{${exception}, reason: r}]}\n`

  test.each([
    ['name: www, until: 2026-11-23', true],
    ['name: www, until: 2026-11-22', false],
    ['name: W*, until: 2027-01-01', true],
    ['name: "@", until: 2027-01-01', false],
    ['zone: EXAMPLE.com., until: 2027-01-01', true],
    ['name: WWW, until: 2027-01-01', true],
    ['zone: "*.com", type: a, until: 2027-01-01', true],
    ['zone: example.net, until: 2027-01-01', false],
    ['zone: example.com, name: www, type: AAAA, until: 2027-01-01', false],
  ])('{%s} applies: %j', (exception, applies) => expect(apply(withException(exception))).toHaveLength(applies ? 0 : 1))

  test('has names in Unicode or punycode', () => {
    const name = 'xn--bcher-kva.example.' as DomainName
    const contents = { ...CONTENTS, name, records: [record('xn--bro-hoa.xn--bcher-kva.example.', 'A', '192.0.2.1')] }
    expect(apply(withException('zone: bücher.example, name: büro, until: 2027-01-01'), contents)).toEqual([])
    expect(apply(withException('zone: bücher.example, name: buero, until: 2027-01-01'), contents)).toHaveLength(1)
  })

  test('applies until the end of its last day, in UTC', () => {
    expect(daysLeft({ until: '2026-11-23' }, new Date('2026-11-23T23:59:59.999Z'))).toBe(0)
    expect(daysLeft({ until: '2026-11-23' }, new Date('2026-11-24T00:00:00Z'))).toBe(-1)
    expect(daysLeft({ until: '2026-12-07' }, NOW)).toBe(14)
  })
})

test('record sets whose addresses are unknown, and their zones, wait for the plan', () => {
  const query = { provider: null, kind: 'instances' } as never
  const sourced = [{ name: 'db.example.com.' as DomainName, type: 'A', ttl: null, at, query }] as never
  expect(
    apply('- {name: a, each: zone, require: false}\n- {name: b, each: record_set, require: false}\n', { ...CONTENTS, sourced }),
  ).toHaveLength(3)
})

describe('tests of policies', () => {
  const tested = (tests: string): string[] =>
    testPolicies(read(`- name: a\n  each: record_set\n  require: {properties: {ttl: {minimum: 300}}}\n  tests: ${tests}\n`)).map(
      formatDiagnostic,
    )

  test('a test that fails is an error with its place', () =>
    expect(tested('[{given: {ttl: 300}, expect: pass}, {given: {ttl: 299}, expect: pass}, {given: {ttl: 400}, expect: fail}]')).toEqual([
      'p.yaml:4:46: error[policies-test-failed] the policy a: a test expects pass, and the rule refuses the document',
      'p.yaml:4:81: error[policies-test-failed] the policy a: a test expects fail, and the rule accepts the document',
    ]))

  test('a test of a document that the rule does not select says so', () => {
    const rule = '- {name: a, each: zone, where: {properties: {owner: {const: x}}}, require: false, tests: [{given: {}, expect: fail}]}\n'
    expect(testPolicies(read(rule))).toEqual([expect.objectContaining({ hint: '"where" does not select it' })])
  })

  test('a rule without tests is named', () =>
    expect(tested('[]')).toEqual(['p.yaml:1:3: notice[policies-untested] the policy a has no tests']))
})

const MORE = new URL('../../../examples/more-policies/', import.meta.url)

describe('the examples of the documents', () => {
  const examples = [
    ...documentedPolicies('tasks/policies.md'),
    ...documentedPolicies('tasks/approvals.md'),
    ...readdirSync(MORE).map((file) => readFileSync(new URL(file, MORE), 'utf8')),
  ]

  test('are seven, without errors', () => {
    expect(examples).toHaveLength(7)
    for (const example of examples) expect(read(example).diagnostics).toEqual([])
  })

  test('pass their own tests, and each has one that passes and one that fails', () => {
    for (const rule of examples.flatMap((example) => read(example).rules)) {
      expect(testPolicies({ rules: [rule] })).toEqual([])
      expect(new Set(rule.tests.map((one) => one.expect)), rule.name).toEqual(new Set(['pass', 'fail']))
    }
  })
})
