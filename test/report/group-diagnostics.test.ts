import { describe, expect, test } from 'vitest'
import { type Diagnostic, formatDiagnostic } from '../../src/base/diagnostic.ts'
import { unsupportedFeatureDiagnostics } from '../../src/convert/unsupported-features.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { groupDiagnostics, isAbridged } from '../../src/report/group-diagnostics.ts'

const at = (line: number, file = 'zones/a.yaml') => ({ file, line, column: 3 })
const many = (count: number, make: (index: number) => Diagnostic): Diagnostic[] => Array.from({ length: count }, (_, index) => make(index))

const rounded = (index: number, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'notice',
  code: 'ttl-rounded',
  message: `cloud rounds TTL 600 down to 300 for h${index}.example.com. A`,
  at: at(index + 1),
  cause: { subject: 'record set', message: 'cloud rounds TTL 600 down to 300' },
  ...more,
})

const lines = (diagnostics: readonly Diagnostic[], options = {}): string[] => groupDiagnostics(diagnostics, options).map(formatDiagnostic)

describe('diagnostics with one cause', () => {
  test('are one line with a count and three places', () => {
    expect(lines(many(1838, rounded))).toEqual([
      'zones/a.yaml:1:3: notice[ttl-rounded] 1,838 record sets: cloud rounds TTL 600 down to 300; also at zones/a.yaml:2:3, zones/a.yaml:3:3 and 1,835 more',
    ])
  })

  test('are all shown if they say what later plans remove', () => {
    const found = many(
      12,
      (index): Diagnostic => ({
        severity: 'warning',
        code: 'quarantined',
        message: `h${index}.example.com. A: no longer in the zone example.com. at hidden, since 2026-01-01T00:00:00.000Z (1 read of 3)`,
        at: at(index + 1),
      }),
    )
    expect(lines([...found, ...many(6, rounded)], { atMost: 4 })).toHaveLength(13)
  })

  test('name the place that they share', () => {
    const related = [{ message: 'default_ttl', at: at(9, 'zonewright.yaml') }]
    expect(lines(many(5, (index) => rounded(index, { related })))).toEqual([
      'notice[ttl-rounded] 5 record sets: cloud rounds TTL 600 down to 300; default_ttl at zonewright.yaml:9:3',
    ])
  })

  test('name the places of several files that they share', () => {
    const found = many(40, (index) => rounded(index, { related: [{ message: 'default_ttl', at: at(2, `zones/${index % 4}.yaml`) }] }))
    expect(lines(found)).toEqual([
      'notice[ttl-rounded] 40 record sets: cloud rounds TTL 600 down to 300; default_ttl at zones/0.yaml:2:3, zones/1.yaml:2:3, zones/2.yaml:2:3 and 1 more',
    ])
  })

  test('have the hint of the example', () => {
    const found = many(4, (index) => ({ ...rounded(index), severity: 'warning' as const, cause: undefined, hint: `hint ${index}` }))
    expect(groupDiagnostics(found).map(({ hint }) => hint)).toEqual(['hint 0'])
  })

  test('are recognised by their text without names, addresses and quoted texts', () => {
    const found = many(4, (index) => ({
      severity: 'warning',
      code: 'host-name-invalid',
      message: `a_${index}.example.com. ${index % 2 ? 'A' : 'AAAA'} points to "x${index}.", which 192.0.2.${index} lacks`,
      at: at(index + 1),
    }))
    expect(lines(found)).toEqual([
      'zones/a.yaml:1:3: warning[host-name-invalid] 4 times: a host name has characters that host names do not allow, such as a_0.example.com. AAAA points to "x0.", which 192.0.2.0 lacks; also at zones/a.yaml:2:3, zones/a.yaml:3:3 and 1 more',
    ])
  })

  test.each([
    ['notice', 3, 3],
    ['warning', 4, 1],
    ['error', 10, 10],
    ['error', 11, 1],
  ] as const)('%s: %i are %i lines', (severity, count, expected) => {
    const found = many(count, (index) => rounded(index, { severity }))
    expect(lines(found)).toHaveLength(expected)
    expect(isAbridged(found, {})).toBe(expected < count)
    expect(lines(found, { all: true })).toHaveLength(count)
  })

  test('of two causes are two lines', () => {
    const other = { cause: { subject: 'record set', message: 'cloud rounds TTL 1800 up to 3600' } }
    expect(lines([...many(5, rounded), ...many(5, (index) => rounded(index + 5, other))])).toHaveLength(2)
  })
})

test('facts to see one by one are not grouped, and records without a place are named', () => {
  expect(lines(many(20, (index) => rounded(index, { code: 'plan-stale' })))).toHaveLength(20)
  const found = many(5, (index) => ({
    severity: 'warning',
    code: 'import-lossy',
    message: `h${index}.example.com. A: a definition cannot express geo`,
    cause: { subject: 'time', message: 'a definition cannot express geo' },
  }))
  expect(lines(found)).toEqual([expect.stringMatching(/^warning\[import-lossy\] 5 times: .*; for h0\.example\.com\. A, .* and 2 more$/)])
})

test('losses that differ in the value only are one line', () => {
  const what = (index: number): string => `the metadata tenant ("${index}")`
  const dropped = Array.from({ length: 18 }, (_, index) => ({
    zone: null,
    name: `h${index}.` as DomainName,
    type: 'A',
    what: what(index),
    keepsRecords: true,
  }))
  expect(lines(unsupportedFeatureDiagnostics(dropped, 'import-lossy', 'dnscontrol', false))).toEqual([
    expect.stringMatching(/^warning\[import-aside\] 18 times: a definition cannot express the metadata tenant; for h0\. A, /),
  ])
})

test('nothing is said twice', () => expect(lines([rounded(0), rounded(0), rounded(0, { hint: 'x' })], { all: true })).toHaveLength(2))

test('a limit keeps all errors, then warnings', () => {
  const found = [rounded(0), rounded(1, { severity: 'error' }), rounded(2, { severity: 'warning' }), rounded(3, { severity: 'error' })]
  expect(groupDiagnostics(found, { atMost: 1 }).map(({ severity }) => severity)).toEqual(['error', 'warning', 'error'])
  expect(isAbridged(found, { atMost: 1 })).toBe(true)
})

test('groups 50,000 diagnostics with long names in a moment', { tags: ['long'] }, () => {
  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'"'.repeat(50)}`
  const found = many(50_000, (index) => ({ severity: 'warning', code: 'usage', message: `${name}${index}. A`, at: at(index) }))
  expect(groupDiagnostics(found).length).toBeLessThan(3)
})

test('groups messages of programs in a moment', () => {
  const found = many(
    100,
    (index): Diagnostic => ({ severity: 'notice', code: 'program-message', message: '.'.repeat(1000), at: at(index) }),
  )
  expect(groupDiagnostics(found, {})).toHaveLength(1)
})

test('what a plan was made from is kept, whatever the limit', () => {
  const used: Diagnostic = { severity: 'notice', code: 'snapshot-used', message: 'planned against the snapshot s.json' }
  const others = ['a', 'b', 'c'].map((word): Diagnostic => ({ severity: 'warning', code: 'usage', message: `${word} ${word.repeat(3)}` }))
  expect(groupDiagnostics([...others, used], { atMost: 1 }).map(({ code }) => code)).toEqual(['snapshot-used', 'usage'])
})
