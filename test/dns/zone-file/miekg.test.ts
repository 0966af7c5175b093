import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../../../src/dns/domain-name.ts'
import { decodeRdata, rdataOctets } from '../../../src/dns/rdata/rdata-codec.ts'
import { typeCode } from '../../../src/dns/record-type.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { name } from '../../support/records.ts'
import { lines, parse, problems } from './zone-text.ts'

interface Case {
  readonly input: string
  /** The record as miekg/dns prints it. */
  readonly output: string
  /** Owner, TTL, type and octets of the rdata. */
  readonly wire: readonly (readonly [string, number, string, string])[] | null
}

const CASES = readFileSync(new URL('../../corpora/rdata/miekg_parse_test.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

/** The start of each input that is parsed differently here, and why. */
const PARSED_DIFFERENTLY: Readonly<Record<string, string>> = {
  't.example.com. IN TXT "a\n bc"':
    'a quoted string ends on its line, as for BIND and dnspython: a forgotten quote is reported at its line',
  'cid.urn.arpa. NAPTR 100 10 "" "" "/urn': 'its \\2 is no escape (RFC 1035 section 5.1), and BIND refuses it',
  '((m)(i)ek.(n)l.) (SOA)': 'a parenthesis ends a token, as for BIND',
  'name. IN SOA  a6.nstld.com.': 'an SOA record without a TTL gets its minimum, as for BIND',
}

const isParsedDifferently = ({ input }: Case): boolean => Object.keys(PARSED_DIFFERENTLY).some((start) => input.startsWith(start))
const options = { origin: ROOT, defaultTtl: 3600 as Ttl }

test.each(CASES.filter((example) => !isParsedDifferently(example)))('$input', ({ input, output, wire }) => {
  const parsed = parse(input, options)
  expect(problems(parsed)).toEqual([])
  if (wire !== null) {
    const expected = wire.map(([owner, ttl, type, hex]) => {
      const octets = Buffer.from(hex, 'hex')
      const data = decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)
      return `${name(owner)} ${ttl} ${type} ${data.ok ? data.value : data.message}`
    })
    expect(lines(parsed.records)).toEqual(expected)
  }
  // The text printed by miekg/dns is the same record.
  expect(lines(parse(output, options).records)).toEqual(lines(parsed.records))
  for (const { type, data } of parsed.records) {
    const octets = rdataOctets(type, data)
    expect(decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)).toEqual({ ok: true, value: data })
  }
})

test('lists exactly the inputs that are parsed differently', () => {
  expect(CASES.filter(isParsedDifferently)).toHaveLength(Object.keys(PARSED_DIFFERENTLY).length)
})
