/** Removes the types of TypeScript. Lines stay; the places of columns that move are kept. */
import { transform } from 'sucrase'
import type { SourcePosition } from '../../base/diagnostic.ts'

export interface ProgramText {
  readonly text: string
  /** The column of the file for a column of the text in a line, both from 1. */
  readonly columnOf: (line: number, column: number) => number
}

type Stripped =
  | { readonly ok: true; readonly value: ProgramText }
  | { readonly ok: false; readonly message: string; readonly at: SourcePosition }

export function stripTypes(file: string, text: string): Stripped {
  try {
    const { code, sourceMap } = transform(text, {
      transforms: ['typescript'],
      disableESTransforms: true,
      filePath: file,
      sourceMapOptions: { compiledFilename: file },
    })
    let columns: readonly (readonly Shift[])[] | null = null
    const columnOf = (line: number, column: number): number => {
      columns ??= decodeMappings(`${sourceMap?.mappings ?? ''}`)
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

/** Columns of the text from `from` on are those of the file from `to` on; both from 0. */
interface Shift {
  readonly from: number
  readonly to: number
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Decodes the mappings of a source map (ECMA-426): per line, segments of numbers in base 64, of which the first and the fourth are differences of columns. */
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
