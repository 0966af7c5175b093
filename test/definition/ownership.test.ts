import { expect, test } from 'vitest'
import { ok } from '../../src/base/result.ts'
import { expiryWarnings } from '../../src/checks/rules/expiry.ts'
import { formatDefinition } from '../../src/definition/print/format-definition.ts'
import { printDefinition } from '../../src/definition/print/print-definition.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { FullDate } from '../../src/dns/ownership.ts'
import { editRrset } from '../../src/load/edit/edit-rrset.ts'
import { diagnosticLines, parse } from './parse.ts'

const TEXT = `domain: example.com
owner: platform
expires: 2027-01-01
records:
  '': {type: A, value: 192.0.2.1}
  old:
    type: A
    values:
      - 192.0.2.1
      - 192.0.2.2
    owner: web team
    expires: 2026-12-31
  pool: {type: A, from: {instances: {tag: web}}, owner: ops, expires: '2026-06-01'}
`

const today = (text: string): FullDate => text as FullDate

test('are read at a record, at a zone and at an inventory', () => {
  const { zone, diagnostics } = parse(TEXT)
  expect(diagnostics).toEqual([])
  expect(zone).toMatchObject({ owner: 'platform', expires: '2027-01-01' })
  const old = { owner: 'web team', expires: '2026-12-31' }
  expect(zone?.records).toMatchObject([{ data: '192.0.2.1' }, { ...old, data: '192.0.2.1' }, { ...old, data: '192.0.2.2' }])
  expect(zone?.records[0]).not.toHaveProperty('owner')
  expect(zone?.sourced).toMatchObject([{ owner: 'ops', expires: '2026-06-01' }])
})

test.each([
  ['expires: 2026-02-30', 'expires: "2026-02-30" is not a date such as 2026-12-31'],
  ['expires: 31.12.2026', 'expires: "31.12.2026" is not a date such as 2026-12-31'],
  ['expires: 2026-12-31T00:00:00Z', 'expires: "2026-12-31T00:00:00Z" is not a date such as 2026-12-31'],
  ['expires: [2026-12-31]', 'must be text'],
  ['owner: "a\\u0007b"', 'owner: "a\\u0007b" contains a character that cannot be printed, or begins or ends with a space'],
  ['owner: ""', 'owner: "" must have 1 to 100 characters'],
  [`owner: ${'x'.repeat(101)}`, `owner: "${'x'.repeat(60)}…" must have 1 to 100 characters`],
])('%s is an error with its place, at a record and at a zone', (entry, message) => {
  const own = diagnosticLines(parse(`domain: example.com\n${entry}\nrecords:\n  a:\n    type: A\n    value: 192.0.2.1\n    ${entry}\n`))
  expect(own.map((line) => line.split(' ')[1])).toEqual(['error', 'error'])
  expect(own.map((line) => line.split(':')[0])).toEqual(['2', '7'])
  for (const line of own) expect(line).toContain(message)
})

test('an expired record set and zone are reported once, from the begin of the day, with the owner', () => {
  const { zone } = parse(TEXT)
  if (zone === null) throw new Error('no zone')
  expect(expiryWarnings(zone, today('2026-05-31'))).toEqual([])
  const messages = (day: string) => expiryWarnings(zone, today(day)).map(({ code, message, at }) => [code, message, at?.line])
  expect(messages('2026-06-01')).toEqual([['record-expired', 'pool.example.com. A has expired on 2026-06-01 (owner: ops)', 13]])
  expect(messages('2027-01-01')).toEqual([
    ['zone-expired', 'example.com. has expired on 2027-01-01 (owner: platform)', 1],
    ['record-expired', 'old.example.com. A has expired on 2026-12-31 (owner: web team)', 9],
    ['record-expired', 'pool.example.com. A has expired on 2026-06-01 (owner: ops)', 13],
  ])
  expect(expiryWarnings({ ...zone, absent: true }, today('2027-01-01')).map(({ code }) => code)).not.toContain('zone-expired')
})

test('fmt keeps them, after the values; record keeps them; a printed definition has them', () => {
  const untidy = `domain: example.com\nrecords:\n  a: {expires: 2026-12-31, owner:   web, type: A, value: 192.0.2.1}\nexpires:    2027-01-01\nowner: "x"\n`
  const formatted = formatDefinition(untidy)
  const tidy = `domain: example.com\nowner: x\nexpires: 2027-01-01\nrecords:\n  a: {type: A, value: 192.0.2.1, owner: web, expires: 2026-12-31}\n`
  expect(formatted).toEqual({ ok: true, value: tidy })
  const edited = editRrset(tidy, 'example.com.' as DomainName, 'settings', {
    name: 'a.example.com.' as DomainName,
    type: 'A',
    kept: new Set(),
    added: ['192.0.2.9'],
    exists: true,
    removesOwner: false,
  })
  expect(edited).toEqual({ ok: true, value: tidy.replace('192.0.2.1', '192.0.2.9') })
  const { zone } = parse(tidy)
  expect(zone && printDefinition({ ...zone, targets: undefined, policy: undefined })).toBe(
    tidy.replaceAll(/expires: ([0-9-]+)/g, "expires: '$1'"),
  )
})

test('of two files with the same records, the owner makes the difference', () => {
  const include = () => ok({ file: 'fragment.yaml', text: 'a: {type: A, value: 192.0.2.1, owner: web}\n' })
  const text = (owner: string) =>
    `domain: example.com\ninclude: [fragment.yaml]\nrecords:\n  a: {type: A, value: 192.0.2.1, owner: ${owner}, override: true}\n`
  const codes = (owner: string) => parse(text(owner), { include }).diagnostics.map(({ code }) => code)
  expect(codes('web')).toEqual(['override-unused'])
  expect(codes('ops')).toEqual([])
})
