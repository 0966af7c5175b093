import { expect, test } from 'vitest'
import { zoneFileDefinition } from '../../src/load/zone-file-definition.ts'
import { name } from '../support/records.ts'

const HEAD = '$TTL 300\n@ SOA ns1 h 1 2h 15m 2w 5m\n@ NS ns1\nns1 A 192.0.2.1\n'
const ZONE = name('example.com.')

test('refuses too many records from repeated includes with one error', { tags: ['long'] }, () => {
  const part = { file: 'part', text: ' A 192.0.2.2\n'.repeat(200_000) }
  const include = () => ({ ok: true as const, value: part })
  const value = zoneFileDefinition(`${HEAD}${'$INCLUDE part\n'.repeat(90)}`, ZONE, { file: 'zone', include })
  const { zone, read, diagnostics } = value
  expect({ zone, read }).toEqual({ zone: null, read: [] })
  expect(diagnostics.map(({ code, at }) => [code, at])).toEqual([['zonefile-too-large', { file: 'part', line: 99_998, column: 2 }]])
})

test('refuses too many records from $GENERATE immediately', () => {
  const value = zoneFileDefinition(`${HEAD}$GENERATE 1-1000000 a$ A 192.0.2.1\n`, ZONE, { file: 'zone' })
  expect(value.diagnostics.map(({ code, at }) => [code, at])).toEqual([['zonefile-too-large', { file: 'zone', line: 5, column: 11 }]])
})

test('refuses too many characters from repeated includes with one error', { tags: ['long'] }, () => {
  const part = { file: 'part', text: '\n'.repeat(2 ** 25) }
  const include = () => ({ ok: true as const, value: part })
  const value = zoneFileDefinition(`${HEAD}${'$INCLUDE part\n'.repeat(9)}`, ZONE, { file: 'zone', include })
  expect(value.diagnostics.map(({ code, at }) => [code, at])).toEqual([['zonefile-include', { file: 'zone', line: 7, column: 10 }]])
})

const SIGNED = '3 300 20380101000000 20260101000000 1 example.com. AAAA'

test.each([
  ['www HTTPS 1 Svc.Example.net.', 'HTTPS', 'rrsig-mismatch'],
  ['www CAA 0 Issue "ca.example"', 'CAA', 'rrsig-mismatch'],
  ['www NSEC Z A RRSIG NSEC', 'NSEC', 'rrsig-mismatch'],
  ['www HIP 2 0102 AwEAAQ== Rvs.example.net.', 'HIP', 'rrsig-mismatch'],
  ['$ORIGIN Example.com.\nwww LP 10 l64', 'LP', 'rrsig-mismatch'],
  ['$ORIGIN Example.com.\nwww LP 10 l64.example.com.', 'LP', null],
  ['WWW NSEC z A RRSIG NSEC', 'NSEC', null],
  ['www MX 10 Mail.Example.com.', 'MX', null],
  ['www HTTPS 1 Svc.Example.net.', 'A', null],
])('warns of a signature over capital letters: %s', (record, covered, expected) => {
  const { diagnostics } = zoneFileDefinition(`${HEAD}${record}\nwww RRSIG ${covered} 13 ${SIGNED}\n`, ZONE, { file: 'zone' })
  expect(diagnostics.map(({ code }) => code)).toEqual(expected === null ? [] : [expected])
})
