import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GENERIC_ONLY_TYPES, RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts'
import { fc } from '../../support/fast-check.ts'
import { suiteSeed } from '../../support/random.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { checkZone, runTool } from '../../support/tools.ts'
import { anyRdata } from './any-rdata.ts'
import { REFUSED_BY_BIND, UNKNOWN_TO_BIND, UNKNOWN_TO_KNOT, UNKNOWN_TO_LDNS, UNKNOWN_TO_NSD } from './unknown-types.ts'
import { lines, ORIGIN, parse } from './zone-text.ts'

/** Every type with a number, except SOA, which a zone has once. */
const TYPES = [...RDATA_TYPES.values()].filter(({ type, code }) => code !== null && type !== 'SOA').map(({ type }) => type)
const EACH = 4

/** Octets that servers with a presentation format for these types accept. */
const FORMLESS: Readonly<Record<string, string>> = {
  NULL: '\\# 2 0102',
  UNSPEC: '\\# 1 0a',
  WKS: '\\# 8 c000020106000040',
  NXT: '\\# 7 01610040000082',
  ATMA: '\\# 5 0039246f00',
  A6: '\\# 17 0020010db8000000000000000000000001',
  SINK: '\\# 6 400102010203',
  TYPE65280: '\\# 3 010203',
}

/** A zone with several records of every type, each at its own name, and some of types without a presentation format. */
const ANY_ZONE = ((): readonly ResourceRecord[] => {
  const ttls = fc.sample(fc.constantFrom(300, 300, 300, 0, 3600, 2 ** 31 - 1), { numRuns: TYPES.length, seed: suiteSeed })
  const text = TYPES.flatMap((type, i) =>
    fc.sample(anyRdata(type), { numRuns: EACH, seed: suiteSeed }).map((data, j) => `${type.toLowerCase()}-${j} ${ttls[i]} ${type} ${data}`),
  )
  const formless = Object.entries(FORMLESS).map(([type, data], i) => `none-${i} ${type} ${data}`)
  const odd = [
    '\\@.\\$.\\;\\(\\)\\"\\\\\\..\\000\\255 A 192.0.2.9',
    '*.wild A 192.0.2.8',
    "odd!#%&'+,:<=>?[]^{|}~\\\\ CNAME bob's+mail\\\\",
  ]
  const head = ['$TTL 300', '@ SOA ns1 h 1 2h 15m 2w 5m', '@ NS ns1', 'ns1 A 192.0.2.53']
  const zone = parse([...head, ...odd, ...text, ...formless].join('\n'))
  if (zone.diagnostics.length > 0) throw new Error(JSON.stringify(zone.diagnostics.slice(0, 5)))
  return zone.records
})()

test('the random zone has every type', () => {
  expect(new Set(ANY_ZONE.map(({ type }) => type))).toEqual(new Set([...TYPES, 'SOA', ...GENERIC_ONLY_TYPES.keys(), 'TYPE65280']))
})

const STYLES = ['canonical', 'pretty'] as const

const saved = (text: string): string => {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return file
}

/** Missing records (-) and unexpected records (+). */
function differences(records: readonly ResourceRecord[], text: string): string[] {
  const given = new Set(lines(records))
  const read = new Set(lines(parse(text).records))
  return [
    ...[...given].filter((line) => !read.has(line)).map((line) => `- ${line}`),
    ...[...read].filter((line) => !given.has(line)).map((line) => `+ ${line}`),
  ]
}

const zoneFor = (unknown: Iterable<string>, refused: readonly string[], style: 'canonical' | 'pretty') => {
  const records = ANY_ZONE.filter(({ type }) => !refused.includes(type))
  return { records, text: printZoneFile(records, { origin: ORIGIN, style, genericTypes: new Set(unknown) }) }
}

/** Types that other programs print in a form that is not parsed here. */
const PRINTED_IN_OTHER_FORMS = ['WKS', 'NXT', 'ATMA', 'A6', 'SINK']

/** ldns prints NSAP-PTR in its own form, and quotation marks in names without an escape. */
const MISREAD_BY_LDNS = [...PRINTED_IN_OTHER_FORMS, 'NSAP-PTR']

describe.each(STYLES)('any zone, %s', (style) => {
  describeWithTools(['named-checkzone'], 'named-checkzone', () => {
    test('reads it and writes the same records', async () => {
      const { records, text } = zoneFor(UNKNOWN_TO_BIND, [...REFUSED_BY_BIND, ...PRINTED_IN_OTHER_FORMS], style)
      const { stdout, stderr } = await checkZone('example.com', text, ['-q', '-i', 'none', '-k', 'ignore', '-n', 'ignore'])
      expect(stderr).toBe('')
      expect(differences(records, stdout)).toEqual([])
    })
  })

  describeWithTools(['nsd-checkzone'], 'nsd-checkzone', () => {
    test('reads it and writes the same records', async () => {
      const { records, text } = zoneFor(UNKNOWN_TO_NSD, PRINTED_IN_OTHER_FORMS, style)
      const { stdout, stderr } = await runTool('nsd-checkzone', ['-p', 'example.com', saved(text)])
      expect(stderr).not.toContain('error')
      expect(differences(records, stdout)).toEqual([])
    })
  })

  describeWithTools(['ldns-read-zone'], 'ldns-read-zone', () => {
    test('reads it and writes the same records', async () => {
      const { records: all, text } = zoneFor(UNKNOWN_TO_LDNS, MISREAD_BY_LDNS, style)
      const records = all.filter(({ name }) => !name.includes('\\"'))
      const { stdout, stderr } = await runTool('ldns-read-zone', [saved(text)])
      expect(stderr).toBe('')
      expect(differences(records, stdout)).toEqual([])
    })
  })

  describeWithTools(['kzonecheck'], 'kzonecheck', () => {
    test('reads it', async () => {
      const { text } = zoneFor(UNKNOWN_TO_KNOT, [], style)
      const { status, stdout, stderr } = await runTool('kzonecheck', ['-o', 'example.com', '-d', 'off', saved(text)])
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
    })
  })
})
