// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of fragments look like that
import { describe, expect, test } from 'vitest'
import { failure, ok } from '../../src/base/result.ts'
import { createFileLoader, MAX_INCLUDES, type ReadInclude } from '../../src/definition/parse/file-loader.ts'
import { collectDiagnostics } from '../../src/definition/parse/parse-state.ts'
import { createRecordTotal } from '../../src/load/read-definition.ts'
import { diagnosticLines, parse, recordLines } from '../definition/parse.ts'

const from =
  (files: Record<string, string>): ReadInclude =>
  (path) => {
    const text = files[path]
    return text === undefined ? failure('there is no such file') : ok({ file: path, text })
  }

const MAIL = '"":\n- type: MX\n  value: {preference: 10, exchange: "${host}"}\n- type: TXT\n  value: v=spf1 a:${host} $${x} -all\n'

describe('include', () => {
  const definition = (include: string): string => `domain: example.com\ninclude: ${include}\nrecords: {'': {type: A, value: 192.0.2.1}}\n`

  test('includes records, with variables', () => {
    const parsed = parse(definition('[{file: mail.yaml, with: {host: mail}}]'), { include: from({ 'mail.yaml': MAIL }) })
    expect(diagnosticLines(parsed)).toEqual([])
    expect(recordLines(parsed)).toEqual([
      'example.com. - A 192.0.2.1',
      'example.com. - MX 10 mail.example.com.',
      'example.com. - TXT "v=spf1 a:mail ${x} -all"',
    ])
    expect(parsed.includedFiles).toEqual(['mail.yaml'])
    expect(parsed.includes.map(({ path, with: variables }) => [path, ...variables])).toEqual([['mail.yaml', ['host', 'mail']]])
    expect(parsed.zone?.records[1]?.at).toEqual({ file: 'mail.yaml', line: 3, column: 10 })
  })

  test('a value cannot change the structure of a fragment', () => {
    const parsed = parse(definition('[{file: mail.yaml, with: {host: "a}, type: B"}}]'), { include: from({ 'mail.yaml': MAIL }) })
    expect(parsed.diagnostics.map(({ code }) => code)).toEqual(['value-invalid'])
  })

  const INVALID: readonly (readonly [include: string, files: Record<string, string>, problem: string])[] = [
    ['[x.yaml]', {}, '2:11 error include-invalid "x.yaml" cannot be included: there is no such file'],
    ['x.yaml', {}, '2:10 error schema-type example.com.: include must be a list, not "x.yaml"'],
    ['[{fil: x.yaml}]', {}, '2:12 error schema-unknown-key example.com.: unknown key "fil" in include[0]'],
    ['[x.yaml]', { 'x.yaml': 'a: {type: A, value: 192.0.2.1, v: 1}' }, '1:32 error schema-unknown-key a.example.com. A: unknown key "v"'],
    ['[x.yaml]', { 'x.yaml': 'a: [' }, '1:4 error yaml-syntax the bracket [ that opens here is not closed'],
    [
      '[x.yaml]',
      { 'x.yaml': 'domain: example.org' },
      '2:11 error include-invalid example.com.: "x.yaml" is a complete definition (it has domain:), not a fragment of records',
    ],
    [
      '[x.yaml]',
      { 'x.yaml': 'a: {type: A, value: "${ip}"}' },
      '1:21 error variable-unknown the variable ${ip} has no value, since the include has no `with:`',
    ],
    [
      '[{file: x.yaml, with: {ip: 192.0.2.1}}]',
      { 'x.yaml': 'a: {type: A, value: 192.0.2.1}' },
      '2:18 warning variable-unused example.com.: "x.yaml" does not use the variable "ip"',
    ],
  ]

  test.each(INVALID)('%s %o', (include, files, expected) => {
    expect(diagnosticLines(parse(definition(include), { include: from(files) }))).toEqual([expected])
  })
})

describe('!include', () => {
  test('is replaced by the content of a file, and can be merged', () => {
    const files = { 'a.yaml': 'type: A\nvalue: 192.0.2.1\n', 'b.yaml': 'b: {type: A, value: 192.0.2.2}\nc: !include a.yaml\n' }
    const parsed = parse('a: !include a.yaml\n<<: !include b.yaml\n', { include: from(files) })
    expect(diagnosticLines(parsed)).toEqual([])
    expect(recordLines(parsed).sort()).toEqual([
      'a.example.com. 3600 A 192.0.2.1',
      'b.example.com. 3600 A 192.0.2.2',
      'c.example.com. 3600 A 192.0.2.1',
    ])
    expect(parsed.includedFiles).toEqual(['a.yaml', 'b.yaml'])
  })

  test('of one file many times parses it once, and counts what it includes each time', () => {
    const include = from({
      'b.yaml': `[${'!include c.yaml, '.repeat(400)}]`,
      'c.yaml': '1',
      ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`d${i}.yaml`, `[!include d${i + 1}.yaml]`])),
      'd8.yaml': '1',
    })
    const problems = collectDiagnostics()
    const files = createFileLoader(include, undefined, problems)
    const at = { file: 'zone.yaml', line: 1, column: 1 }
    expect(files.include('b.yaml', at)).toBe(files.include('b.yaml', at))
    // The files below d1.yaml are known when d0.yaml includes it.
    expect(files.include('d1.yaml', at)).not.toBe(null)
    files.include('d0.yaml', at)
    files.include('b.yaml', at)
    expect(problems.diagnostics.map(({ message }) => message)).toEqual([
      'included files are nested more than 8 deep',
      `the definition has more than ${MAX_INCLUDES} includes`,
    ])
  })

  test('without access to other files is an error', () => {
    expect(diagnosticLines(parse('a: !include a.yaml\n'))).toEqual([
      '1:13 error include-invalid "a.yaml" cannot be included here: only one file is read',
    ])
  })
})

describe('a definition with too many records is one error at the name that exceeds the limit', () => {
  const FRAGMENT = { 'f.yaml': `{type: A, values: [${'192.0.2.1, '.repeat(5000)}]}`, 'g.yaml': '"${x}": !include f.yaml' }
  const names = (count: number, record: string): string => Array.from({ length: count }, (_, i) => `a${i}: ${record}\n`).join('')

  test.each([
    [500_000, 0, 1, 0],
    [1, 2 ** 26, 0, 1],
  ])('%i records of %i octets and %i of %i more', (records, octets, moreRecords, moreOctets) => {
    const problems = collectDiagnostics()
    problems.count({ file: 'a', line: 1, column: 1 }, records, octets)
    expect([problems.isFull(), problems.diagnostics]).toEqual([false, []])
    for (const line of [2, 3]) problems.count({ file: 'a', line, column: 1 }, moreRecords, moreOctets)
    expect(problems).toMatchObject({ diagnostics: [{ code: 'file-too-large', at: { line: 2 } }] })
    expect([problems.isFull(), problems.isTooLarge(), problems.diagnostics.length]).toEqual([true, true, 1])
  })

  test.each([
    [[501_000, 1000], 1001, 0],
    [[1, 1], 1, 2 ** 25],
  ])('in all definitions together, without those that fit into their own text: %j and %i of %i octets', (within, more, octets) => {
    const total = createRecordTotal()
    const count = (records: number, file: string) =>
      total.count(Array<{ data: string }>(records).fill({ data: 'x'.repeat(octets) }), { file, length: 8000 })
    expect([...within.map((records) => count(records, 'a')), total.isExceeded()]).toEqual([null, null, false])
    expect(count(more, 'b')).toMatchObject({ code: 'file-too-large', at: { file: 'b' } })
    expect([total.isExceeded(), count(1, 'c')]).toEqual([true, null])
  })

  test('data that aliases repeat', { tags: ['long'] }, () => {
    const text = `t: {type: TXT, value: &t ${'x'.repeat(60_000)}}\n${names(1200, '{type: TXT, value: *t}')}`
    expect(parse(text)).toMatchObject({
      zone: null,
      diagnostics: [{ code: 'file-too-large', message: expect.stringContaining('octets of data'), at: { line: 1106, column: 1 } }],
    })
  })

  test('records that a file repeats', { tags: ['long'] }, () => {
    const include = from(FRAGMENT)
    expect(parse(names(120, '!include f.yaml'), { include })).toMatchObject({
      zone: null,
      diagnostics: [{ code: 'file-too-large', at: { file: 'zone.yaml', line: 101, column: 1 } }],
    })
    const entries = Array.from({ length: 120 }, (_, i) => `{file: g.yaml, with: {x: a${i}}}`)
    const text = `domain: example.com\ninclude: [${entries.join(', ')}]\n`
    const { zone, diagnostics } = parse(text, { include })
    expect([zone, diagnostics.map(({ code, at, related }) => [code, at?.file, related?.[0]?.at.column])]).toEqual([
      null,
      [['file-too-large', 'g.yaml', text.indexOf('g.yaml, with: {x: a100}') - text.indexOf('\n')]],
    ])
    expect(parse(names(100, '!include f.yaml'), { include }).zone?.records).toHaveLength(500_000)
  })
})
