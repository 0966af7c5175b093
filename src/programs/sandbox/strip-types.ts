/** Removes the types from TypeScript. Line numbers do not change; for columns that move there is a map. */
import { type Options, transform } from 'sucrase'
import type { SourcePosition } from '../../base/diagnostic.ts'

export interface ProgramText {
  readonly text: string
  /** Converts a column of `text` to the column in the file. Lines and columns start at 1. */
  readonly columnOf: (line: number, column: number) => number
}

type Stripped =
  | { readonly ok: true; readonly value: ProgramText }
  | { readonly ok: false; readonly message: string; readonly at: SourcePosition }

export function stripTypes(file: string, text: string): Stripped {
  try {
    const options: Options = { transforms: ['typescript'], disableESTransforms: true, filePath: file }
    const { code } = transform(text, options)
    const [lines, written] = [code.split('\n'), text.split('\n')]
    let columns: readonly (readonly Shift[])[] | null = null
    const columnOf = (line: number, column: number): number => {
      // The map takes as long as the rest: most calls are in lines without types.
      if (lines[line - 1] === written[line - 1]) return column
      columns ??= decodeMappings(
        `${transform(text, { ...options, sourceMapOptions: { compiledFilename: file } }).sourceMap?.mappings ?? ''}`,
      )
      const shift = columns[line - 1]?.findLast(({ from }) => from <= column - 1)
      return shift === undefined ? column : column - shift.from + shift.to
    }
    return { ok: true, value: { text: code, columnOf } }
  } catch (error) {
    const { message, loc } = error as Error & { readonly loc?: { readonly line: number; readonly column: number } }
    const at = { file, line: loc?.line ?? 1, column: loc?.column ?? 1 }
    return { ok: false, message: message.replace(/^Error transforming [^:]*: /, '').replace(/ \(\d+:\d+\)$/, ''), at }
  }
}

/** From column `from` of the text on, columns correspond to those of the file from `to` on. Both start at 0. */
interface Shift {
  readonly from: number
  readonly to: number
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Decodes the mappings of a source map (ECMA-426). A line has segments of base-64 numbers; the first and the fourth number are column differences. */
function decodeMappings(mappings: string): Shift[][] {
  let to = 0
  return mappings.split(';').map((line) => {
    let from = 0
    const shifts: Shift[] = []
    for (const segment of line === '' ? [] : line.split(',')) {
      const [generated = 0, , , original = 0] = decodeNumbers(segment)
      from += generated
      to += original
      shifts.push({ from, to })
    }
    return shifts
  })
}

function decodeNumbers(segment: string): number[] {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const character of segment) {
    const digit = DIGITS.indexOf(character)
    value += (digit & 31) << shift
    shift += 5
    if ((digit & 32) !== 0) continue
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1)
    value = 0
    shift = 0
  }
  return numbers
}
