import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { checkZone, runTool } from '../../support/tools.ts'
import { lines, parse } from './zone-text.ts'

const label = (length: number): string => 'x'.repeat(length)

/** Legal but unusual layouts, each with its own names; the last line has no line end. */
const LAYOUTS = [
  ...['units 1h30m A 192.0.2.1', 'unit 1W2D3H4M5S A 192.0.2.1', 'zeros 000300 A 192.0.2.1', 'most 2147483647 A 192.0.2.1'],
  ...['300 300 A 192.0.2.1', 'IN IN A 192.0.2.1', 'A A 192.0.2.1', 'txt txt txt', 'open ( 300 IN\nA\n192.0.2.1\n)'],
  ...['column (\nA 192.0.2.1 )', 'nothing A () 192.0.2.1 ()'],
  'comment A ( ; x ) "\n192.0.2.1 ; y (\n)',
  '( )\nempty A 192.0.2.1',
  '(\n\n)\nlines A 192.0.2.1',
  'strings TXT ("a" "b"\n"c")',
  'closed TXT ( "a" ) "b"',
  '$ORIGIN (\nsub.example.com. )\nbelow A 192.0.2.1\n$ORIGIN example.com.',
  '$TTL ( 60 )\nminute A 192.0.2.1\n$TTL 300',
  'blanks A 192.0.2.1\n   \n\t\n A 192.0.2.2',
  'remark A 192.0.2.1\n   ; x\n A 192.0.2.2\n\tA 192.0.2.3',
  'behind A 192.0.2.1   \t  ',
  'beside A 192.0.2.1;x',
  'quoted TXT "a;b (c) @ \\" \\\\" ; d',
  'escaped TXT \\(x\\)\\;\\"',
  'point\\.ed A 192.0.2.1',
  'point\\046too A 192.0.2.1',
  'mail Mx 10 B',
  'target CNAME @',
  '* A 192.0.2.1',
  '*.w A 192.0.2.1',
  'a.*.b A 192.0.2.1',
  '0/25 A 192.0.2.1',
  '_a._b A 192.0.2.1',
  `${label(63)} A 192.0.2.1`,
  `${'\\121'.repeat(63)} A 192.0.2.1`,
  `${[label(63), label(63), label(63), label(49)].join('.')} A 192.0.2.1`,
  `longest CNAME ${[label(63), label(63), label(63), label(49)].join('.')}`,
  `large TXT ( ${Array.from({ length: 234 }, () => `"${label(255)}"`).join('\n')} )`,
  'generic A \\# 4 c0 00 0201',
  'pieces TYPE1 \\# ( 4 c000\n0201 )',
  'numbered TYPE15 10 b',
  'unknown TYPE65280 \\# 0',
  `; ${label(70_000)}`,
  `far${' '.repeat(70_000)}A 192.0.2.1`,
  'last A 192.0.2.1',
]

const HEAD = ['$ORIGIN example.com.', '$TTL 300', '@ 300 IN SOA ns1 h 1 7200 900 1209600 300', '@ 300 IN NS ns1', 'ns1 A 192.0.2.1']
const TEXT = [...HEAD, ...LAYOUTS].join('\n')

const records = (text: string): string[] => [...new Set(lines(parse(text).records))].sort()

const saved = (text: string): string => {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return file
}

test('unusual layouts are parsed without diagnostics', () => expect(parse(TEXT).diagnostics).toEqual([]))

const READERS = {
  'named-checkzone': () => checkZone('example.com', TEXT, ['-q', '-i', 'none', '-k', 'ignore', '-n', 'ignore']),
  'nsd-checkzone': () => runTool('nsd-checkzone', ['-p', 'example.com', saved(TEXT)]),
  'ldns-read-zone': () => runTool('ldns-read-zone', [saved(TEXT)]),
  kzonecheck: () => runTool('kzonecheck', ['-o', 'example.com', '-d', 'off', saved(TEXT)]),
}

for (const [tool, read] of Object.entries(READERS))
  describeWithTools([tool], tool, () => {
    test('reads the same records in unusual layouts', async () => {
      const { status, stdout, stderr } = await read()
      // nsd-checkzone writes the zone's statistics there, and kzonecheck prints no records.
      expect([status, tool === 'nsd-checkzone' || stderr === '']).toEqual([0, true])
      if (tool !== 'kzonecheck') expect(records(stdout)).toEqual(records(TEXT))
    })
  })
