import { isScalar, type Pair } from 'yaml'

/** The entry of an owner, in lines of a text. */
export interface EntryLines {
  /** From the first line of the entry up to that after its last one. */
  readonly from: number
  readonly to: number
  readonly indent: number
  /** The key stands behind a question mark, its value behind a colon on a line of its own. */
  readonly isExplicit: boolean
}

/** The offset of each line. */
export function lineStarts(lines: readonly string[]): number[] {
  const starts: number[] = []
  let at = 0
  for (const line of lines) {
    starts.push(at)
    at += line.length + 1
  }
  return starts
}

/** The lines of an entry; null where it does not begin a line. */
export function linesOf({ key, value }: Pair<unknown, unknown>, lines: readonly string[], starts: readonly number[]): EntryLines | null {
  const start = isScalar(key) ? key.range?.[0] : undefined
  if (start === undefined) return null
  const from = lineAt(starts, start)
  const head = (lines[from] as string).slice(0, start - (starts[from] as number))
  if (!/^ *(?:\? +)?$/.test(head)) return null
  const indent = head.length - head.trimStart().length
  const isExplicit = head.trim() !== ''
  const end = (value as { range?: readonly number[] } | null)?.range?.[2] ?? start
  let last = lineAt(starts, end)
  // A block ends where the next line begins.
  if (end === starts[last] && last > from) last -= 1
  while (last > from && isOutside(lines[last] as string, indent)) last -= 1
  return { from, to: last + 1, indent, isExplicit }
}

/** Blank lines and comments that stand no deeper than the key are not of the entry. */
function isOutside(line: string, indent: number): boolean {
  const text = line.trim()
  return text === '' || (text.startsWith('#') && line.length - line.trimStart().length <= indent)
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** The line after the comments that stand deeper than a key. */
export function belowComments(lines: readonly string[], start: number, indent: number): number {
  let at = start
  for (let line = start; line < lines.length; line += 1) {
    const text = (lines[line] as string).trimStart()
    if (text.startsWith('#') && (lines[line] as string).length - text.length > indent) at = line + 1
    else if (text !== '') break
  }
  return at
}
