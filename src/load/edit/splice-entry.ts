/** Replaces an entry in the text of a definition. */
import { type Document, isMap, isScalar, type Pair, type YAMLMap } from 'yaml'
import { failure, ok, type Result } from '../../base/result.ts'
import { parseEditableYaml } from '../../definition/yaml/editable-yaml.ts'
import { isBlankYaml } from '../../definition/yaml/read-yaml.ts'
import type { DomainName } from '../../dns/domain-name.ts'

/** The lines of each entry of a mapping. */
export interface EntryLocations {
  readonly lines: readonly string[]
  /** By owner, in the order of the text. */
  readonly entries: ReadonlyMap<DomainName | null, EntryLines>
}

/** Removes the entry of an owner and the comment directly above it. A text without other content becomes an empty mapping. */
export function removeEntry({ lines, entries }: EntryLocations, name: DomainName): string {
  const own = entries.get(name)
  const rest = own === undefined ? lines : [...lines.slice(0, startWithComment(lines, own)), ...lines.slice(own.to)]
  return (isBlankYaml(rest.join('\n')) ? withEmptyMap(rest) : rest).join('\n')
}

/** Adds a `{}`, because a definition cannot be an empty file. */
function withEmptyMap(lines: readonly string[]): readonly string[] {
  const carriageReturn = lines[0]?.endsWith('\r') ? '\r' : ''
  const end = beforeEnd(lines, lines.at(-1) === '' ? lines.length - 1 : lines.length)
  return [...lines.slice(0, end), `{}${carriageReturn}`, ...lines.slice(end)]
}

/**
 * Replaces the entry of an owner by the last entry of `printed`. A new entry goes after the one of `previous`, or before all others if that is null.
 */
export function replaceEntry(
  source: EntryLocations | FirstEntryLocation,
  name: DomainName,
  previous: DomainName | null,
  printed: string,
): Result<string> {
  // The parser leaves carriage returns at the ends of some comments.
  const text = printed.replaceAll(/(?<!\r)\r+\n/g, '\n')
  const read = parseEditableYaml(text)
  if (!read.ok) return read
  const lines = text.split('\n')
  const { contents } = read.value.document
  const pair = isMap(contents) ? contents.items.at(-1) : undefined
  const printedAt = pair === undefined ? null : entryLines(pair, lines, lineStarts(lines))
  if (pair === undefined || printedAt === null) return failure('the record could not be printed')
  const { from, to, indent, isExplicit } = linesToReplace(source, name, previous)
  // Line ends like those of the line it replaces, or of the line above.
  const like = source.lines[from < to || from === 0 ? from : from - 1] ?? ''
  const hasCarriageReturns = from + 1 >= source.lines.length ? source.lines.some((line) => line.endsWith('\r')) : like.endsWith('\r')
  const own = lines.slice(printedAt.from, endOfComments(lines, printedAt.to, printedAt.indent))
  const entry = shift(isExplicit && !printedAt.isExplicit ? withExplicitKey(own, pair) : own, indent - printedAt.indent, hasCarriageReturns)
  const above = source.lines.slice(0, from)
  // The last line of the file has no line end: the line before the new one gets it.
  if (hasCarriageReturns && to === source.lines.length) {
    if (from === to) above.push(`${above.pop()}\r`)
    entry.push((entry.pop() ?? '').replace(/\r$/, ''))
  }
  return ok([...above, ...entry, ...source.lines.slice(to)].join('\n'))
}

/** The lines that an entry replaces; an empty range for a new entry. */
function linesToReplace(source: EntryLocations | FirstEntryLocation, name: DomainName, previous: DomainName | null): EntryLines {
  if (!('entries' in source)) return { from: source.at, to: source.at, indent: source.indent, isExplicit: false }
  const { lines, entries } = source
  const own = entries.get(name)
  if (own !== undefined) return own
  const before = entries.get(previous)
  const [first] = entries.values()
  const at = before ? endOfComments(lines, before.to, before.indent) : first ? startWithComment(lines, first) : lines.length
  return { from: at, to: at, indent: first?.indent ?? 0, isExplicit: false }
}

/** The lines of an unindented entry, with its key after a question mark. */
function withExplicitKey([first = '', ...others]: readonly string[], { key }: Pair<unknown, unknown>): readonly string[] {
  const [start, end] = (isScalar(key) && key.range) || [0, 0]
  const rest = first.slice(end - start + 1).trimEnd()
  const head = `? ${first.slice(0, end - start)}`
  const [next = '', ...below] = others
  return rest === '' && next.startsWith('  ') ? [head, `: ${next.slice(2)}`, ...below] : [head, `:${rest}`, ...others]
}

/** Returns null if an entry does not begin on its own line. */
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

/** The first line of an entry including the comment directly above it, unless that is the header of the file. */
function startWithComment(lines: readonly string[], { from, indent }: EntryLines): number {
  let at = from
  while (at > 0 && /^\s*#/.test(lines[at - 1] as string) && (lines[at - 1] as string).search(/\S/) === indent) at -= 1
  return at === 0 || /^(?:---|%)/.test(lines[at - 1] as string) ? from : at
}

/** Changes the indentation of an entry by `by` blanks and adds the line ends of the text. */
const shift = (lines: readonly string[], by: number, hasCarriageReturns: boolean): string[] =>
  lines.map((line) => {
    const blanks = line.search(/[^ ]|$/)
    const moved = line === '' ? line : by >= 0 ? ' '.repeat(by) + line : line.slice(Math.min(blanks, -by))
    return hasCarriageReturns ? `${moved}\r` : moved
  })

/** The lines of an entry. */
interface EntryLines {
  /** The first line of the entry, and the line after its last one. */
  readonly from: number
  readonly to: number
  readonly indent: number
  /** The key follows a question mark; its value follows a colon on another line. */
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

/** The lines of an entry; null if it does not begin a line. */
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

/** Blank lines, and comments that are not indented deeper than the key, do not belong to the entry. */
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

/** The line after the comments that are indented deeper than a key. */
export function endOfComments(lines: readonly string[], start: number, indent: number): number {
  let at = start
  for (let line = start; line < lines.length; line += 1) {
    const text = (lines[line] as string).trimStart()
    if (text.startsWith('#') && (lines[line] as string).length - text.length > indent) at = line + 1
    else if (text !== '') break
  }
  return at
}

/** The place for the first entry of an empty record map. */
interface FirstEntryLocation {
  /** The text with room for the entry. */
  readonly lines: readonly string[]
  /** The entry is inserted before this line. */
  readonly at: number
  readonly indent: number
}

/**
 * Finds the place for the first entry of a definition: the end of the file if it is empty, otherwise below `records`, which is added if it is missing
 * and loses a `{}`. Returns null if a key does not begin a line. `document` must not have been changed.
 */
export function locateFirstEntry(text: string, document: Document, isWhole: boolean): FirstEntryLocation | null {
  const lines = text.split('\n')
  const end = text.endsWith('\n') ? lines.length - 1 : lines.length
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return { lines, at: beforeEnd(lines, end), indent: 0 }
  if (isMap(contents) && isWhole && contents.items.length === 0) return insteadOfEmptyMap(lines)
  if (!isMap(contents) || contents.flow || isWhole) return null
  return belowRecords(contents, lines)
}

/** The place of a `{}` that is alone in its line; null if there is none. */
function insteadOfEmptyMap(lines: readonly string[]): FirstEntryLocation | null {
  const at = lines.findIndex((line) => /^\{ *\}\s*$/.test(line))
  return at === -1 ? null : { lines: [...lines.slice(0, at), ...lines.slice(at + 1)], at, indent: 0 }
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
