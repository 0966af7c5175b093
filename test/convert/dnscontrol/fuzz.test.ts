import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hasErrors } from '../../../src/base/diagnostic.ts'
import { isTsv, readTsv } from '../../../src/convert/dnscontrol/get-zones.ts'
import { type DnscontrolConfig, readIntermediate } from '../../../src/convert/dnscontrol/read-intermediate.ts'
import type { UnsupportedFeature } from '../../../src/convert/unsupported-features.ts'
import type { ImportedRecord } from '../../../src/definition/imported-zone.ts'
import { parseDomainName } from '../../../src/dns/domain-name.ts'
import { damagedText, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { CONFIGS, mutatedConfigs } from './mutated-configs.ts'

const CORPUS = fileURLToPath(new URL('../../corpora/dnscontrol', import.meta.url))
const textsOf = (folder: string, pattern: RegExp): string[] =>
  readdirSync(join(CORPUS, folder))
    .filter((name) => pattern.test(name))
    .map((name) => readFileSync(join(CORPUS, folder, name), 'utf8'))

const LISTS = textsOf('get-zones', /\.tsv$/)
const PIECES = [...'{ } [ ] , : " \\u0000 \t \n \r\n null -1 1e999 "" "@" "..." ! \ud800 * @ IN __proto__'.split(' '), '\\']

function expectSound(records: readonly ImportedRecord[], dropped: readonly UnsupportedFeature[]): void {
  for (const { name, ttl, data } of records) {
    expect(parseDomainName(name)).toEqual({ ok: true, value: name })
    expect(ttl).toBeGreaterThanOrEqual(0)
    expect(data).not.toContain('\n')
  }
  for (const { what } of dropped) expect(what.length).toBeLessThan(600)
}

function expectTold({ domains, dropped, diagnostics }: DnscontrolConfig): void {
  for (const domain of domains) expectSound(domain.records, domain.dropped)
  expectSound([], dropped)
  for (const { message } of diagnostics) expect(message.length).toBeLessThan(1200)
}

describe('malformed configurations', () => {
  test('are read or reported within a time limit', () => {
    forAll(rounds(400), damagedText(CONFIGS, PIECES, { maxLength: 4 }), (text) => {
      const value = readIntermediate(text, 'ir.json')
      expectTold(value)
      expect(value.domains.length > 0 || hasErrors(value.diagnostics) || text.includes('"domains": []')).toBe(true)
    })
  })

  test('with a valid structure and any content are read or reported', () => {
    forAll(rounds(400), mutatedConfigs, (text) => expectTold(readIntermediate(text, 'ir.json')))
  })

  test.each([
    ['nested deeply', '['.repeat(200_000)],
    ['domains nested deeply', `{"domains": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'many errors',
      JSON.stringify({
        domains: [{ name: 'example.com', records: Array.from({ length: 50_000 }, () => ({ type: 'A', name: 'a', target: 'x' })) }],
      }),
    ],
    ['a long name', JSON.stringify({ domains: [{ name: 'a'.repeat(1_000_000) }] })],
    [
      'a key __proto__',
      '{"domains": [{"name": "example.com", "__proto__": {"records": 1}, "records": [{"type": "A", "name": "a", "target": "192.0.2.1", "__proto__": {"ttl": 5}}]}]}',
    ],
  ])('%s', (_, text) => expect(readIntermediate(text, 'ir.json').diagnostics.length).toBeLessThanOrEqual(1000))
})

test('malformed lists are read, or reported with their lines, within a time limit', () => {
  forAll(rounds(400), damagedText(LISTS, PIECES, { maxLength: 6 }), (text) => {
    isTsv(text)
    const value = readTsv(text, 'a.tsv')
    for (const { records } of value.zones) expectSound(records, value.dropped)
    const lines = text.split('\n').filter((line) => line.trim() !== '').length
    const reported =
      value.zones.reduce((sum, { records, invalidRecords }) => sum + records.length + invalidRecords.length, 0) +
      value.diagnostics.length +
      value.dropped.filter(({ what }) => /type/.test(what)).length
    expect(reported).toBe(lines)
  })
})
