/** Unquoted names are read as octoDNS reads them: as `str(yaml.safe_load(name)).lower()` of PyYAML 6. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failure } from '../../../src/base/result.ts'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import { octodnsName } from '../../../src/definition/parse/read-record-map.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { describeWithOctodns, loadWithOctodns } from '../../interop/octodns-judge.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const IGNORED_RRSET = `
1.10 1.1|10.20 10.2|010 8|00 0|0.10 0.1|1. 1.0|1.0e+5 100000.0|1.5e+300 1.5e+300|+1 1|-010 -8|-0 0|0x1f 31|0b11 3|1_000 1000|0_7 7
1:30 90|1:30.5 90.5|1.1234567890123456789 1.1234567890123457|0.00001 1e-05|12345678901234567.0 1.2345678901234568e+16
yes true|On true|No false|off false|null none|~ none
`

test.each(IGNORED_RRSET.trim().split(/[|\n]/))('%s', (line) => {
  const [text = '', name] = line.split(' ')
  expect(octodnsName(text)).toBe(name)
})

test.each('1 0 -1 10.2 1.1.10 1e2 08 1e-7 12345678901234567890 0.0001 y N true www _dmarc * 2024-01-01 0b_ 0x _1 1:60'.split(' '))(
  '%s is read as text',
  (text) => expect(octodnsName(text)).toBe(text),
)

const NAMES = "null ~ 10.20 010 on 1_000 0x1f 12:30 Off True 08 y '10.20' www".split(' ')

/** The warning for a record of that name: the name here and the name that octoDNS reads; null without one. */
function warningFor(name: string): readonly string[] | null {
  const { diagnostics, zone } = parseDefinition(`${name}: {type: TXT, value: x}\n`, {
    file: 'example.com.yaml',
    zoneName: 'example.com.' as DomainName,
    include: () => failure('none'),
    octodnsDefaultTtl: 3600 as Ttl,
  })
  const [found] = diagnostics.filter(({ code }) => code === 'name-unquoted')
  const names = /is the name (\S+); octoDNS reads (\S+)$/.exec(found?.message ?? '')
  expect(found?.severity ?? 'warning').toBe('warning')
  if (names) expect(names[1]).toBe(zone?.records[0]?.name)
  return names?.slice(1) ?? null
}

test('a name that octoDNS reads as another one is a warning with both names', () => {
  expect(NAMES.flatMap((name) => warningFor(name)?.join(' ') ?? [])).toEqual([
    'null.example.com. none.example.com.',
    '~.example.com. none.example.com.',
    '10.20.example.com. 10.2.example.com.',
    '010.example.com. 8.example.com.',
    'on.example.com. true.example.com.',
    '1_000.example.com. 1000.example.com.',
    '0x1f.example.com. 31.example.com.',
    '12:30.example.com. 750.example.com.',
    'off.example.com. false.example.com.',
  ])
})

describeWithOctodns('octoDNS loads a zone with names without quotes', () => {
  test.each(NAMES)('%s', async (name) => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'example.com.yaml'), `---\n${name}: {type: TXT, value: x}\n`)
    const [loaded] = await loadWithOctodns(folder, ['example.com.'])
    const [, theirs] = warningFor(name) ?? [null, `${name.replaceAll("'", '').toLowerCase()}.example.com.`]
    expect(loaded?.name).toBe(theirs)
  })
})
