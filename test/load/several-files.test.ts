import { expect, it } from 'vitest'
import { failure, ok } from '../../src/base/result.ts'
import type { ReadInclude } from '../../src/definition/parse/file-loader.ts'
import { diagnosticLines, parse, recordLines } from '../definition/parse.ts'

const from =
  (files: Record<string, string>): ReadInclude =>
  (path) => {
    const text = files[path]
    return text === undefined ? failure('there is no such file') : ok({ file: path, text })
  }

const definition = (include: string, records: string): string => `domain: example.com\ninclude: ${include}\nrecords: ${records}\n`
const SPF = "'': {type: TXT, value: v=spf1 -all}"
const MERGED = "'': {type: TXT, value: v=spf1 -all, merge: true}"
type Files = Record<string, string>

const CASES: [name: string, include: string, records: string, files: Files, problems: string[], result: string[]][] = [
  [
    'a name with types from several files',
    '[a.yaml]',
    "{'': {type: A, value: 192.0.2.1}}",
    { 'a.yaml': SPF },
    [],
    ['example.com. - A 192.0.2.1', 'example.com. - TXT "v=spf1 -all"'],
  ],
  [
    'an RRset of the definition and a fragment',
    '[a.yaml]',
    "{'': {type: TXT, value: x}}",
    { 'a.yaml': SPF },
    ['1:24 error rrset-split example.com. TXT: both zone.yaml and a.yaml have these records, and neither says how to combine them'],
    ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "x"'],
  ],
  [
    'merged by the fragment',
    '[a.yaml]',
    "{'': {type: TXT, value: x}}",
    { 'a.yaml': MERGED },
    [],
    ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "x"'],
  ],
  [
    'overridden by the definition',
    '[a.yaml, b.yaml]',
    "{'': {type: TXT, values: [x, z], override: true}}",
    { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y}\nwww: {type: A, value: 192.0.2.1}" },
    [],
    ['example.com. - TXT "x"', 'example.com. - TXT "z"', 'www.example.com. - A 192.0.2.1'],
  ],
  [
    'two fragments, one of them merged',
    '[a.yaml, b.yaml]',
    '{}',
    { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y, merge: true}" },
    [],
    ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "y"'],
  ],
  [
    'two fragments without marks, and one with',
    '[a.yaml, b.yaml, c.yaml]',
    '{}',
    { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y, merge: true}", 'c.yaml': "'': {type: TXT, value: z}" },
    ['1:24 error rrset-split example.com. TXT: both a.yaml and c.yaml have these records, and neither says how to combine them'],
    ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "y"', 'example.com. - TXT "z"'],
  ],
  [
    'one fragment twice',
    '[{file: a.yaml, with: {x: "1"}}, {file: a.yaml, with: {x: "2"}}]',
    '{}',
    { 'a.yaml': `'': {type: TXT, value: "\${x}", merge: true}` },
    [],
    ['example.com. - TXT "1"', 'example.com. - TXT "2"'],
  ],
  [
    'an override of no records',
    '[a.yaml]',
    '{a: {type: A, value: 192.0.2.1, override: true}}',
    { 'a.yaml': SPF },
    ['3:42 warning override-unused a.example.com. A: override has no effect: no included file has these records'],
    ['a.example.com. - A 192.0.2.1', 'example.com. - TXT "v=spf1 -all"'],
  ],
  [
    'marks without effect',
    '[a.yaml]',
    '{a: {type: A, value: 192.0.2.1, merge: true}}',
    { 'a.yaml': "'': {type: TXT, value: x, override: true}" },
    [
      '1:27 error schema-unknown-key example.com. TXT: override is allowed only in a definition, for records of its included files',
      '3:42 error schema-unknown-key a.example.com. A: merge is allowed only in an included file',
    ],
    ['a.example.com. - A 192.0.2.1', 'example.com. - TXT "x"'],
  ],
]

it.each(CASES)('%s', (_, include, records, files, problems, result) => {
  const parsed = parse(definition(include, records), { include: from(files) })
  expect(diagnosticLines(parsed)).toEqual(problems)
  expect(recordLines(parsed).toSorted()).toEqual(result)
})
