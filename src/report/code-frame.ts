import { oneLine, type SourcePosition } from '../dns/diagnostic.ts'
import type { Palette } from './palette.ts'

/** Columns of source shown at most; a longer line is cut around the place. */
const WINDOW = 100

/** The line of a place with the lines before and after it, and a caret below the column. Empty where the file has no such line. */
export function codeFrame(lines: readonly string[], { line, column }: SourcePosition, palette: Palette): string[] {
  const text = lines[line - 1]
  if (text === undefined) return []
  const last = Math.min(lines.length, line + 1)
  const digits = String(last).length
  const at = Math.min(Math.max(0, column - 1), text.length)
  const start = at > WINDOW - 20 ? at - Math.floor(WINDOW / 2) : 0
  const frame: string[] = []
  for (let number = Math.max(1, line - 1); number <= last; number += 1) {
    const here = number === line
    const gutter = `${here ? '>' : ' '} ${String(number).padStart(digits)} |`
    const shown = oneLine((lines[number - 1] ?? '').slice(start, start + WINDOW))
    frame.push(`  ${here ? gutter : palette.dim(gutter)}${shown === '' ? '' : ` ${shown}`}`)
    // What stands before the column takes more room where it had to be escaped.
    if (here)
      frame.push(`  ${palette.dim(`  ${' '.repeat(digits)} |`)} ${' '.repeat(oneLine(text.slice(start, at)).length)}${palette.error('^')}`)
  }
  return frame
}
