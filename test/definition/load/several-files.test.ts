import { describe, expect, it } from 'vitest'
import type { ReadInclude } from '../../../src/definition/parse/file-loader.ts'
import { failure, ok } from '../../../src/dns/result.ts'
import { diagnosticLines, parse, recordLines } from '../parse.ts'

const from =
  (files: Record<string, string>): ReadInclude =>
  (path) => {
    const text = files[path]
    return text === undefined ? failure('there is no such file') : ok({ file: path, text })
  }

const definition = (include: string, records: string): string => `domain: example.com\ninclude: ${include}\nrecords: ${records}\n`

const SPF = "'': {type: TXT, value: v=spf1 -all}"
const MERGED = "'': {type: TXT, value: v=spf1 -all, merge: true}"

const CASES: { name: string; records: string; include: string; files: Record<string, string>; problems: string[]; result: string[] }[] = [
  {
    name: 'a name with types from several files',
    records: "{'': {type: A, value: 192.0.2.1}}",
    include: '[a.yaml]',
    files: { 'a.yaml': SPF },
    problems: [],
    result: ['example.com. - A 192.0.2.1', 'example.com. - TXT "v=spf1 -all"'],
  },
  {
    name: 'an RRset of the definition and a fragment',
    records: "{'': {type: TXT, value: x}}",
    include: '[a.yaml]',
    files: { 'a.yaml': SPF },
    problems: [
      '1:24 error rrset-split example.com. TXT: both zone.yaml and a.yaml have these records, and neither says how to combine them',
    ],
    result: ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "x"'],
  },
  {
    name: 'merged by the fragment',
    records: "{'': {type: TXT, value: x}}",
    include: '[a.yaml]',
    files: { 'a.yaml': MERGED },
    problems: [],
    result: ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "x"'],
  },
  {
    name: 'overridden by the definition',
    records: "{'': {type: TXT, values: [x, z], override: true}}",
    include: '[a.yaml, b.yaml]',
    files: { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y}\nwww: {type: A, value: 192.0.2.1}" },
    problems: [],
    result: ['example.com. - TXT "x"', 'example.com. - TXT "z"', 'www.example.com. - A 192.0.2.1'],
  },
  {
    name: 'two fragments, one of them merged',
    records: '{}',
    include: '[a.yaml, b.yaml]',
    files: { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y, merge: true}" },
    problems: [],
    result: ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "y"'],
  },
  {
    name: 'two fragments without marks, and one with',
    records: '{}',
    include: '[a.yaml, b.yaml, c.yaml]',
    files: { 'a.yaml': SPF, 'b.yaml': "'': {type: TXT, value: y, merge: true}", 'c.yaml': "'': {type: TXT, value: z}" },
    problems: ['1:24 error rrset-split example.com. TXT: both a.yaml and c.yaml have these records, and neither says how to combine them'],
    result: ['example.com. - TXT "v=spf1 -all"', 'example.com. - TXT "y"', 'example.com. - TXT "z"'],
  },
  {
    name: 'one fragment twice',
    records: '{}',
    include: '[{file: a.yaml, with: {x: "1"}}, {file: a.yaml, with: {x: "2"}}]',
    files: { 'a.yaml': `'': {type: TXT, value: "\${x}", merge: true}` },
    problems: [],
    result: ['example.com. - TXT "1"', 'example.com. - TXT "2"'],
  },
  {
    name: 'an override of no records',
    records: '{a: {type: A, value: 192.0.2.1, override: true}}',
    include: '[a.yaml]',
    files: { 'a.yaml': SPF },
    problems: ['3:42 warning override-unused a.example.com. A: override has no effect: no included file has these records'],
    result: ['a.example.com. - A 192.0.2.1', 'example.com. - TXT "v=spf1 -all"'],
  },
  {
    name: 'marks without effect',
    records: '{a: {type: A, value: 192.0.2.1, merge: true}}',
    include: '[a.yaml]',
    files: { 'a.yaml': "'': {type: TXT, value: x, override: true}" },
    problems: [
      '1:27 error schema-unknown-key example.com. TXT: override is allowed only in a definition, for records of its included files',
      '3:42 error schema-unknown-key a.example.com. A: merge is allowed only in an included file',
    ],
    result: ['a.example.com. - A 192.0.2.1', 'example.com. - TXT "x"'],
  },
]

describe('records from several files', () => {
  it.each(CASES)('$name', ({ records, include, files, problems, result }) => {
    const parsed = parse(definition(include, records), { include: from(files) })
    expect(diagnosticLines(parsed)).toEqual(problems)
    expect(recordLines(parsed).toSorted()).toEqual(result)
  })

  it('shows both positions', () => {
    const parsed = parse(definition('[a.yaml]', "{'': {type: TXT, value: x}}"), { include: from({ 'a.yaml': SPF }) })
    expect(parsed.diagnostics[0]).toMatchObject({ at: { file: 'a.yaml', line: 1 }, related: [{ at: { file: 'zone.yaml', line: 3 } }] })
  })
})
