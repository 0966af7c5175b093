import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecordTotal } from '../../src/load/read-definition.ts'
import { zoneFileDefinition } from '../../src/load/zone-file-definition.ts'
import { line, parse } from '../dns/zone-file/zone-text.ts'
import { name } from '../support/records.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { checkZone, runTool } from '../support/tools.ts'

const ZONE = name('example.com.')

/** Equal records: identical, different in letter case, spelling or TTL. */
const TEXT = `$TTL 300
@ SOA ns1 h 1 2h 15m 2w 5m
@ NS ns1
@ NS NS1.Example.COM.
ns1 A 192.0.2.53
NS1 60 A 192.0.2.53
a TXT "a"
a TXT \\097
a TXT "A"
b CNAME c
B 7200 CNAME C
c AAAA 2001:db8::1
c AAAA 2001:DB8:0::1
d TYPE1 \\# 4 c0000201
d A 192.0.2.1
`

const read = zoneFileDefinition(TEXT, ZONE, { file: 'zone' })
const kept = [...read.read.filter(({ type }) => type === 'SOA'), ...(read.zone?.records ?? [])].map(line).sort()

test('keeps the first of equal records, with its TTL', () => {
  expect(kept).toHaveLength(8)
  expect(kept).toContain('ns1.example.com. 300 A 192.0.2.53')
  expect(
    read.diagnostics.map((one) => `${one.severity} ${one.code} ${one.at?.line} and ${one.related?.[0]?.at.line}: ${one.message}`),
  ).toEqual([
    'warning record-duplicate 4 and 3: example.com. NS: the value ns1.example.com. is given twice; the first one is used',
    'warning record-duplicate 6 and 5: ns1.example.com. A: the value 192.0.2.53 is given twice; the first one is used, with TTL 300 instead of 60',
    'warning record-duplicate 8 and 7: a.example.com. TXT: the value "a" is given twice; the first one is used',
    'warning record-duplicate 11 and 10: b.example.com. CNAME: the value c.example.com. is given twice; the first one is used, with TTL 300 instead of 7200',
    'warning record-duplicate 13 and 12: c.example.com. AAAA: the value 2001:db8::1 is given twice; the first one is used',
    'warning record-duplicate 15 and 14: d.example.com. A: the value 192.0.2.1 is given twice; the first one is used',
  ])
})

test('the data of all definitions is limited together', () => {
  const total = createRecordTotal('made by programs')
  const records = new Array(600).fill({ data: 'x'.repeat(60_000) })
  const counted = ['a', 'b', 'c'].map((file) => total.count(records, { length: 0, file })?.code)
  expect(counted).toEqual([undefined, 'file-too-large', undefined])
})

const withoutTtl = (text: string): string => text.replace(/ [0-9]+ /, ' ')

describeWithTools(['named-checkzone'], 'as BIND has it', () => {
  // BIND uses the last TTL of records that are not adjacent.
  test('keeps the same records', async () => {
    const { stdout } = await checkZone('example.com', TEXT, ['-q', '-k', 'ignore', '-r', 'ignore'])
    expect([...parse(stdout).records].map(line).sort().map(withoutTtl)).toEqual(kept.map(withoutTtl))
  })
})

describeWithTools(['nsd-checkzone'], 'as NSD has it', () => {
  test('keeps the same records', async () => {
    const file = join(temporaryDirectory(), 'zone')
    writeFileSync(file, TEXT)
    const { stdout } = await runTool('nsd-checkzone', ['-p', 'example.com', file])
    expect([...parse(stdout).records].map(line).sort()).toEqual(kept)
  })
})
