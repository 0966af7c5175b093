import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import { countDiagnostics, renderDiagnostics } from '../../src/report/diagnostics-report.ts'

const FILE = 'zones/example.com.yaml'
const SOURCE = 'domain: example.com\r\nrecords:\r\n\twww: {type: A, value: 192.0.2.256}\r\n  mail: {type: A, value: 192.0.2.1}\r\n'

const DIAGNOSTICS: readonly Diagnostic[] = [
  { severity: 'error', code: 'value-invalid', message: '"x" is no address', at: { file: FILE, line: 3, column: 25 }, hint: 'four numbers' },
  {
    severity: 'warning',
    code: 'record-duplicate',
    message: 'given twice',
    at: { file: FILE, line: 1, column: 1 },
    related: [{ message: 'first here', at: { file: 'zones/other.yaml', line: 9, column: 2 } }],
  },
  { severity: 'notice', code: 'secret-in-config', message: 'of no place', hint: 'use env:NAME' },
]

test('one line each, sorted by file and position', () => {
  expect(renderDiagnostics(DIAGNOSTICS, { color: false })).toBe(
    `notice[secret-in-config] of no place (use env:NAME)
${FILE}:1:1: warning[record-duplicate] given twice (first here: zones/other.yaml:9:2)
${FILE}:3:25: error[value-invalid] "x" is no address (four numbers)
`,
  )
  expect(renderDiagnostics([], { color: true })).toBe('')
})

test('with source lines, related positions and hints', () => {
  expect(`\n${renderDiagnostics(DIAGNOSTICS, { color: false, frames: (file) => (file === FILE ? SOURCE : undefined) })}`).toBe(`
notice[secret-in-config] of no place
  hint: use env:NAME
${FILE}:1:1: warning[record-duplicate] given twice
  > 1 | domain: example.com
      | ^
    2 | records:
  zones/other.yaml:9:2: first here
${FILE}:3:25: error[value-invalid] "x" is no address
    2 | records:
  > 3 | \\twww: {type: A, value: 192.0.2.256}
      |                          ^
    4 |   mail: {type: A, value: 192.0.2.1}
  hint: four numbers
`)
})

test('as annotations', () => {
  expect(renderDiagnostics(DIAGNOSTICS, { color: true, format: 'github' })).toBe(
    `::notice title=secret-in-config::of no place%0Ause env:NAME
::warning file=${FILE},line=1,col=1,title=record-duplicate::given twice
::error file=${FILE},line=3,col=25,title=value-invalid::"x" is no address%0Afour numbers
`,
  )
})

test('colours only the severity', () => {
  expect(renderDiagnostics(DIAGNOSTICS.slice(0, 1), { color: true })).toContain(
    `${FILE}:3:25: \u001b[1;31merror[value-invalid]\u001b[22;39m "x"`,
  )
})

describe('a source excerpt', () => {
  const frameOf = (source: string, line: number, column: number, width: number | null = null): string[] =>
    renderDiagnostics([{ severity: 'error', code: 'usage', message: 'm', at: { file: 'f', line, column } }], {
      ...{ color: false, width },
      frames: () => source,
    })
      .split('\n')
      .slice(1, -1)

  test.each([
    ['of a missing line', 'a', 2, 1, []],
    ['of an empty file', '', 1, 1, ['  > 1 |', '      | ^']],
    ['after the end of a line', 'ab', 1, 9, ['  > 1 | ab', '      |   ^']],
    ['at the end of a file', 'a\nb', 2, 1, ['    1 | a', '  > 2 | b', '      | ^']],
    ['with wide characters', '日本: x', 1, 5, ['  > 1 | 日本: x', '      |       ^']],
    ['with wider line numbers', 'x\n'.repeat(12), 9, 1, ['     8 | x', '  >  9 | x', '       | ^', '    10 | x']],
  ])('%s', (_, source, line, column, expected) => expect(frameOf(source, line, column)).toEqual(expected))

  test('of a long line is truncated around the position', () => {
    const [line = '', caret = ''] = frameOf(`${'a'.repeat(5_000)}X${'b'.repeat(5_000)}`, 1, 5_001)
    expect(line.length).toBeLessThan(120)
    expect(line[caret.indexOf('^')]).toBe('X')
  })

  test.each([
    [60, 60],
    [200, 200],
  ])('%i columns: a long line is cut to the width', (width, length) => {
    for (const column of [1, 50, 5_001]) {
      const [line = '', caret = ''] = frameOf(`${'a'.repeat(5_000)}X${'b'.repeat(5_000)}`, 1, column, width)
      expect(line.length).toBe(length)
      expect(line[caret.indexOf('^')]).toBe(column === 5_001 ? 'X' : 'a')
    }
    expect(frameOf('日本'.repeat(200), 1, 1, width)[0]).toHaveLength('  > 1 | '.length + (width - '  > 1 | '.length) / 2)
  })
})

test('40,000 diagnostics for 40,000 lines take linear time', { tags: ['long'] }, () => {
  const source = 'some: text\n'.repeat(40_000)
  const diagnostics = Array.from(
    { length: 40_000 },
    (_, index): Diagnostic => ({ severity: 'error', code: 'usage', message: 'm', at: { file: 'f', line: index + 1, column: 3 } }),
  )
  const text = renderDiagnostics(diagnostics, { color: true, groups: { all: true }, frames: () => source })
  expect(text.match(/\^/g)).toHaveLength(40_000)
})

test.each([
  [DIAGNOSTICS, '1 error, 1 warning'],
  [DIAGNOSTICS.slice(2), null],
  [[...DIAGNOSTICS, ...DIAGNOSTICS], '2 errors, 2 warnings'],
] as const)('are counted', (diagnostics, expected) => expect(countDiagnostics(diagnostics)).toBe(expected))
