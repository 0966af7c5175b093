import { type Document, isMap, isScalar, type YAMLMap } from 'yaml'
import { belowComments, lineStarts, linesOf } from '../edit/entry-lines.ts'

/** Where the first entry of a record map goes that has none yet. */
export interface FirstEntryPlace {
  /** The text, ready to take the entry. */
  readonly lines: readonly string[]
  /** The line that the entry goes before. */
  readonly at: number
  readonly indent: number
}

/**
 * Makes room for the first entry of a definition: at the end of a file that is the record map itself, below `records` that has nothing or
 * `{}` behind it, below a new `records` where there is none. Null where keys do not stand on lines of their own. The document is as
 * it was read.
 */
export function firstEntryPlace(text: string, document: Document, isWhole: boolean): FirstEntryPlace | null {
  const lines = text.split('\n')
  const end = text.endsWith('\n') ? lines.length - 1 : lines.length
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return { lines, at: beforeEnd(lines, end), indent: 0 }
  if (!isMap(contents) || contents.flow || isWhole) return null
  return belowRecords(contents, lines)
}

/** A document may end with a line of three dots. */
const beforeEnd = (lines: readonly string[], end: number): number => {
  const dots = lines.findIndex((line) => /^\.\.\.\s*$/.test(line))
  return dots === -1 ? end : dots
}

function belowRecords(root: YAMLMap<unknown, unknown>, lines: readonly string[]): FirstEntryPlace | null {
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === 'records')
  const last = pair ?? root.items.at(-1)
  const placed = last === undefined ? null : linesOf(last, lines, lineStarts(lines))
  if (placed === null || placed.isExplicit) return null
  const { from, to, indent } = placed
  const inner = indent + 2
  if (pair === undefined) {
    const carriage = lines[from]?.endsWith('\r') ? '\r' : ''
    const end = belowComments(lines, to, indent)
    return { lines: lines.toSpliced(end, 0, `${' '.repeat(indent)}records:${carriage}`), at: end + 1, indent: inner }
  }
  const emptied = (lines[from] as string).replace(/^(\s*(?:records|'records'|"records")\s*:)[ \t]*(?:\{[ \t]*\}|~|null)?(?=\s|$)/, '$1')
  if (to !== from + 1 || !/^[^:]*:\s*(?:#[^\n]*)?$/.test(emptied)) return null
  return { lines: lines.with(from, emptied), at: belowComments(lines, to, indent), indent: inner }
}
