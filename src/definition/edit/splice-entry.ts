import { type Document, isMap, isScalar, type Pair, type YAMLMap } from 'yaml'
import type { DomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { agreeOn } from '../yaml/edit-document.ts'

/** Where the entries of a map stand in a text. */
export interface EntryLocations {
  readonly lines: readonly string[]
  /** In the order of the text. */
  readonly entries: ReadonlyMap<DomainName | null, EntryLines>
}

/** The text without the entry of an owner, and without the comment that stands right above it. */
export function removeEntry({ lines, entries }: EntryLocations, name: DomainName): string {
  const own = entries.get(name)
  return (own === undefined ? lines : [...lines.slice(0, aboveWith(lines, own)), ...lines.slice(own.to)]).join('\n')
}

/**
 * The text with the entry of an owner as `printed` has it, the last of a map: in place of the one that is there, else behind that of
 * `previous`, else before all others.
 */
export function replaceEntry(
  source: EntryLocations | FirstEntryLocation,
  name: DomainName,
  previous: DomainName | null,
  printed: string,
): Result<string> {
  // The parser has carriage returns at the ends of some comments.
  const text = printed.replaceAll(/(?<!\r)\r+\n/g, '\n')
  const read = agreeOn(text)
  if (!read.ok) return read
  const lines = text.split('\n')
  const { contents } = read.value.document
  const pair = isMap(contents) ? contents.items.at(-1) : undefined
  const made = pair === undefined ? null : entryLines(pair, lines, lineStarts(lines))
  if (pair === undefined || made === null) return failure('the record could not be printed')
  const { from, to, indent, isExplicit } = placeIn(source, name, previous)
  // As the line that it takes the place of, else as the one it goes below.
  const like = source.lines[from < to || from === 0 ? from : from - 1] ?? ''
  const hasCarriageReturns = from + 1 >= source.lines.length ? source.lines.some((line) => line.endsWith('\r')) : like.endsWith('\r')
  const own = lines.slice(made.from, endOfComments(lines, made.to, made.indent))
  const entry = shift(isExplicit && !made.isExplicit ? withExplicitKey(own, pair) : own, indent - made.indent, hasCarriageReturns)
  const above = source.lines.slice(0, from)
  // A last line without a line end: what comes behind it gives it one and has none itself.
  if (hasCarriageReturns && to === source.lines.length) {
    if (from === to) above.push(`${above.pop()}\r`)
    entry.push((entry.pop() ?? '').replace(/\r$/, ''))
  }
  return ok([...above, ...entry, ...source.lines.slice(to)].join('\n'))
}

/** The lines that an entry takes the place of, none where it is new. */
function placeIn(source: EntryLocations | FirstEntryLocation, name: DomainName, previous: DomainName | null): EntryLines {
  if (!('entries' in source)) return { from: source.at, to: source.at, indent: source.indent, isExplicit: false }
  const { lines, entries } = source
  const own = entries.get(name)
  if (own !== undefined) return own
  const before = entries.get(previous)
  const [first] = entries.values()
  const at = before ? endOfComments(lines, before.to, before.indent) : first ? aboveWith(lines, first) : lines.length
  return { from: at, to: at, indent: first?.indent ?? 0, isExplicit: false }
}

/** The lines of an entry at no indentation with its key behind a question mark. */
function withExplicitKey([first = '', ...others]: readonly string[], { key }: Pair<unknown, unknown>): readonly string[] {
  const [start, end] = (isScalar(key) && key.range) || [0, 0]
  const rest = first.slice(end - start + 1).trimEnd()
  const head = `? ${first.slice(0, end - start)}`
  const [next = '', ...below] = others
  return rest === '' && next.startsWith('  ') ? [head, `: ${next.slice(2)}`, ...below] : [head, `:${rest}`, ...others]
}

/** Null where entries do not stand on lines of their own. */
export function locateEntries(
  text: string,
  map: YAMLMap<unknown, unknown>,
  ownerOf: (pair: Pair<unknown, unknown>) => DomainName | null,
): EntryLocations | null {
  if (map.flow) return null
  const lines = text.split('\n')
  const starts = lineStarts(lines)
  const entries = new Map<DomainName | null, EntryLines>()
  for (const pair of map.items) {
    const placed = entryLines(pair, lines, starts)
    if (placed === null) return null
    entries.set(ownerOf(pair), placed)
  }
  return { lines, entries }
}

/** The first line of an entry with the comment that stands right above it, unless that is the head of the file. */
function aboveWith(lines: readonly string[], { from, indent }: EntryLines): number {
  let at = from
  while (at > 0 && /^\s*#/.test(lines[at - 1] as string) && (lines[at - 1] as string).search(/\S/) === indent) at -= 1
  return at === 0 || /^(?:---|%)/.test(lines[at - 1] as string) ? from : at
}

/** The lines of an entry moved by `by` blanks, with the line ends of the text. */
const shift = (lines: readonly string[], by: number, hasCarriageReturns: boolean): string[] =>
  lines.map((line) => {
    const blanks = line.search(/[^ ]|$/)
    const moved = line === '' ? line : by >= 0 ? ' '.repeat(by) + line : line.slice(Math.min(blanks, -by))
    return hasCarriageReturns ? `${moved}\r` : moved
  })

/** The entry of an owner, in lines of a text. */
interface EntryLines {
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
export function entryLines({ key, value }: Pair<unknown, unknown>, lines: readonly string[], starts: readonly number[]): EntryLines | null {
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
export function endOfComments(lines: readonly string[], start: number, indent: number): number {
  let at = start
  for (let line = start; line < lines.length; line += 1) {
    const text = (lines[line] as string).trimStart()
    if (text.startsWith('#') && (lines[line] as string).length - text.length > indent) at = line + 1
    else if (text !== '') break
  }
  return at
}

/** Where the first entry of a record map goes that has none yet. */
interface FirstEntryLocation {
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
export function locateFirstEntry(text: string, document: Document, isWhole: boolean): FirstEntryLocation | null {
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

function belowRecords(root: YAMLMap<unknown, unknown>, lines: readonly string[]): FirstEntryLocation | null {
  const pair = root.items.find(({ key }) => isScalar(key) && key.value === 'records')
  const last = pair ?? root.items.at(-1)
  const placed = last === undefined ? null : entryLines(last, lines, lineStarts(lines))
  if (placed === null || placed.isExplicit) return null
  const { from, to, indent } = placed
  const inner = indent + 2
  if (pair === undefined) {
    const carriage = lines[from]?.endsWith('\r') ? '\r' : ''
    const end = endOfComments(lines, to, indent)
    return { lines: lines.toSpliced(end, 0, `${' '.repeat(indent)}records:${carriage}`), at: end + 1, indent: inner }
  }
  const emptied = (lines[from] as string).replace(/^(\s*(?:records|'records'|"records")\s*:)[ \t]*(?:\{[ \t]*\}|~|null)?(?=\s|$)/, '$1')
  if (to !== from + 1 || !/^[^:]*:\s*(?:#[^\n]*)?$/.test(emptied)) return null
  return { lines: lines.with(from, emptied), at: endOfComments(lines, to, indent), indent: inner }
}
