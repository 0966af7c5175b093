import { describe, expect, test } from 'vitest'
import type { SourcePosition } from '../../../src/base/diagnostic.ts'
import { nameFromLabels, ROOT } from '../../../src/dns/domain-name.ts'
import { decodeRdata, rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import type { DefinedRecord, ResourceRecord } from '../../../src/dns/record.ts'
import { typeCode } from '../../../src/dns/record-type.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { createZoneFileReader, type ParsedZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import type { ReadZoneInclude } from '../../../src/dns/zone-file/scope.ts'
import { damagedText, fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { anyRdata } from './any-rdata.ts'
import { CORPUS, readCorpus } from './corpus.ts'
import { line, lines, ORIGIN, parse } from './zone-text.ts'

/** Pieces of zone files, valid and invalid. */
const PIECES = [
  ...['\n', '\n', '\n', ' ', ' ', '\t', '\r\n', '(', ')', '"', ';', '\\', '@', '.', '$', '\\#', '\u0000', 'ü', '\uFEFF', '\ud800'],
  ...['$ORIGIN', '$TTL', '$INCLUDE', '$GENERATE', '1-3', `$${'{0,2,x}'}`, 'a$'],
  ...['IN', 'CH', '300', '1h', '99999999999', 'www', 'a.b.', '\\065', '\\999', '192.0.2.1', '2001:db8::1', '"a b"', '\\"', 'AQID', '0aff'],
  ...RDATA_TYPES.keys(),
]

const soup = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })), { maxLength: 60 }).map((pieces) => pieces.join(''))
const words = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(' '))
const TEXTS = CORPUS.map(({ file }) => readCorpus(file)).filter((text) => text.length < 5000)
const fraction = fc.double({ min: 0, max: 1, noNaN: true })

/** A zone file of the corpora with pieces removed, doubled and inserted. */
const mutated = damagedText(TEXTS, PIECES, { minLength: 1, maxLength: 6 })

/** A zone file with octets changed, truncated, repeated, or joined to another file. */
const damaged = fc
  .tuple(
    fc.constantFrom(...TEXTS),
    fc.constantFrom(...TEXTS),
    fc.array(fc.tuple(fraction, fc.nat(255)), { maxLength: 20 }),
    fraction,
    fraction,
    fc.constantFrom('flip', 'cut', 'splice', 'repeat'),
  )
  .map(([text, other, flips, from, to, how]) => {
    const octets = Buffer.from(text)
    const [a, b] = [from, to].map((part) => Math.floor(part * octets.length)) as [number, number]
    switch (how) {
      case 'cut':
        return octets.subarray(0, a).toString()
      case 'splice':
        return Buffer.concat([octets.subarray(0, a), Buffer.from(other).subarray(b)]).toString()
      case 'repeat': {
        const part = octets.subarray(Math.min(a, b), Math.min(a, b) + Math.min(200, Math.abs(a - b)))
        return Buffer.concat([octets.subarray(0, a), ...Array<Buffer>(50).fill(part), octets.subarray(a)]).toString()
      }
      default:
        for (const [at, mask] of flips) {
          const index = Math.floor(at * (octets.length - 1))
          octets[index] = (octets[index] ?? 0) ^ mask
        }
        return octets.toString()
    }
  })

function check(text: string): void {
  const parsed: ParsedZoneFile = parse(text, {
    include: (path) =>
      path.length % 2 === 0 ? { ok: true, value: { file: path, text: `${path} 1 A 192.0.2.1\n` } } : { ok: false, message: 'no such file' },
  })
  expect(parsed.diagnostics.length).toBeLessThanOrEqual(401)
  for (const { type, data } of parsed.records) {
    const code = typeCode(type)
    if (code === null) continue
    const octets = rdataOctets(type, data)
    expect(decodeRdata(code, octets, 0, octets.length)).toEqual({ ok: true, value: data })
  }
  for (const style of ['canonical', 'pretty'] as const) {
    const printed = printZoneFile(parsed.records, { origin: ORIGIN, style })
    const again = parse(printed)
    expect(again.diagnostics).toEqual([])
    expect(lines(again.records).sort()).toEqual(lines(parsed.records).sort())
    expect(printZoneFile(again.records, { origin: ORIGIN, style })).toBe(printed)
  }
}

/** Inputs of each kind. */
const options = { numRuns: rounds(600) }

describe('any text', () => {
  test('from characters and pieces gives records or diagnostics, and prints stably', () => {
    fc.assert(fc.property(soup, check), options)
  })

  test('from words does', () => {
    fc.assert(fc.property(words, check), options)
  })

  test('from a changed zone file does', () => {
    fc.assert(fc.property(mutated, check), options)
  })

  test('from a damaged zone file does', () => {
    fc.assert(fc.property(damaged, check), options)
  })

  test('gives the same result in pieces and by the lexer alone, for every origin and limit', () => {
    const plain = fc
      .constantFrom('a', 'B.c', '@', '', '', '*', 'd.')
      .chain((owner) =>
        fc
          .constantFrom('A 192.0.2.1', 'AAAA 2001:DB8::0', 'NS X', 'TXT "v"', 'MX 1 @', 'CNAME .', '$INCLUDE f')
          .map((data) => (data.startsWith('$') ? `\n${data}\n` : `${owner} 5 ${data}\n`)),
      )
    const mixed = fc.array(fc.oneof({ weight: 3, arbitrary: plain }, mutated, soup), { maxLength: 8 }).map((parts) => parts.join('\n'))
    const include: ReadZoneInclude = () => ({
      ok: true,
      value: { file: 'f', text: 'in 1 A 192.0.2.9\n$ORIGIN deep\nQ AAAA ::1\n$TTL 9\n CNAME w\n' },
    })
    const limits = fc.record({
      origin: fc.constantFrom(ORIGIN, ROOT, null),
      maxRecords: fc.constantFrom(undefined, 1, 7),
      maxDiagnostics: fc.constantFrom(undefined, 1, 5),
    })
    fc.assert(
      fc.property(mixed, limits, fc.integer({ min: 1, max: 50 }), (text, limits, size) => {
        fc.pre(!text.startsWith('\ufeff'))
        const options = { ...limits, file: 'zone', include }
        const records: DefinedRecord[] = []
        const reader = createZoneFileReader(options, (record) => records.push(record))
        for (let i = 0; i < text.length; i += size) reader.push(text.slice(i, i + size))
        const { diagnostics } = reader.end()
        const whole = parse(text, options)
        expect({ records, diagnostics }).toEqual({ records: whole.records, diagnostics: whole.diagnostics })
        // The lexer alone reads text near a character beyond ASCII.
        const slow = parse(`;\u00e9\n${text}`, options)
        const up = (items: readonly { readonly at?: SourcePosition | undefined }[]) =>
          items.map((item) => (item.at?.file === 'zone' ? { ...item, at: { ...item.at, line: item.at.line - 1 } } : item))
        expect(up(slow.records)).toEqual(whole.records)
        expect(up(slow.diagnostics)).toEqual(whole.diagnostics)
      }),
      options,
    )
  })

  test('of any length takes linear time', { tags: ['long'] }, () => {
    const pieces = [...'("\\;', ')\n', '"\n', '(\n', 'a 1 TXT (\n', 'a 1 TXT "\n', '$ORIGIN a\n', 'a.', '\\.', '$GENERATE 1-9 $ A 1\n']
    for (const piece of pieces) {
      const text = piece.repeat(200_000 / piece.length)
      expect(parse(text).diagnostics.length, JSON.stringify(piece)).toBeLessThanOrEqual(1000)
    }
  })
})

describe('any record', () => {
  const label = fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .map((octets) => octets.map((octet) => (octet >= 0x41 && octet <= 0x5a ? octet + 32 : octet)))
  const owner = fc
    .array(label, { maxLength: 4 })
    .map((labels) => nameFromLabels([...labels, ...['example', 'com'].map((text) => Buffer.from(text))]))
  const octets = fc.uint8Array({ maxLength: 60 })
  const record: fc.Arbitrary<ResourceRecord> = fc
    .tuple(owner, fc.nat(0x7fffffff), fc.constantFrom(...RDATA_TYPES.keys(), 'TYPE65280'), octets, owner)
    .map(([name, ttl, type, bytes, target]) => {
      const code = typeCode(type)
      const decoded = code === null ? null : decodeRdata(code, bytes, 0, bytes.length)
      // Octets that are no rdata of the type become a TXT record or a record with a target name.
      if (decoded?.ok) return { name, ttl: ttl as Ttl, type, data: decoded.value }
      return bytes.length % 2 === 0
        ? { name, ttl: ttl as Ttl, type: 'CNAME', data: target }
        : { name, ttl: ttl as Ttl, type: 'TYPE65280', data: `\\# ${bytes.length} ${Buffer.from(bytes).toString('hex')}` }
    })

  test('survives printing and parsing', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 10 }), fc.constantFrom('canonical', 'pretty'), (records, style) => {
        const parsed = parse(printZoneFile(records, { origin: ORIGIN, style }))
        expect(parsed.diagnostics).toEqual([])
        expect(lines(parsed.records).sort()).toEqual(records.map(line).sort())
      }),
      options,
    )
  })

  const typed = fc
    .tuple(
      owner,
      fc.constantFrom(0, 300, 3600, 0x7fffffff),
      fc.constantFrom(...[...RDATA_TYPES.values()].filter(({ code }) => code !== null).map(({ type }) => type)),
    )
    .chain(([name, ttl, type]) => anyRdata(type).map((data) => ({ name, ttl, type, data })))

  test('of any type survives encoding and decoding, and text and octets agree', () => {
    forAll(rounds(150), fc.array(typed, { minLength: 1, maxLength: 6 }), (records) => {
      const text = records.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data}\n`).join('')
      expect(parse(text).diagnostics).toEqual([])
      check(text)
      const generic = new Set(RDATA_TYPES.keys())
      const { records: given } = parse(text)
      const again = parse(printZoneFile(given, { origin: ORIGIN, style: 'pretty', genericTypes: generic }))
      expect(lines(again.records).sort()).toEqual(lines(given).sort())
    })
  })
})
