import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml'
import type { DomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { FirstEntryPlace } from '../parse/first-entry.ts'
import { agreeOn } from '../yaml/edit-document.ts'
import { belowComments, type EntryLines, lineStarts, linesOf } from './entry-lines.ts'

/** Where the entries of a map stand in a text. */
export interface PlacedEntries {
  readonly lines: readonly string[]
  /** In the order of the text. */
  readonly entries: ReadonlyMap<DomainName | null, EntryLines>
}

/** The text without the entry of an owner, and without the comment that stands right above it. */
export function withoutEntry({ lines, entries }: PlacedEntries, name: DomainName): string {
  const own = entries.get(name)
  return (own === undefined ? lines : [...lines.slice(0, aboveWith(lines, own)), ...lines.slice(own.to)]).join('\n')
}

/**
 * The text with the entry of an owner as `printed` has it, the last of a map: in place of the one that is there, else behind that of
 * `previous`, else before all others.
 */
export function withEntry(
  source: PlacedEntries | FirstEntryPlace,
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
  const made = pair === undefined ? null : linesOf(pair, lines, lineStarts(lines))
  if (pair === undefined || made === null) return failure('the record could not be printed')
  const { from, to, indent, isExplicit } = placeIn(source, name, previous)
  // As the line that it takes the place of, else as the one it goes below.
  const like = source.lines[from < to || from === 0 ? from : from - 1] ?? ''
  const hasCarriageReturns = from + 1 >= source.lines.length ? source.lines.some((line) => line.endsWith('\r')) : like.endsWith('\r')
  const own = lines.slice(made.from, belowComments(lines, made.to, made.indent))
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
function placeIn(source: PlacedEntries | FirstEntryPlace, name: DomainName, previous: DomainName | null): EntryLines {
  if (!('entries' in source)) return { from: source.at, to: source.at, indent: source.indent, isExplicit: false }
  const { lines, entries } = source
  const own = entries.get(name)
  if (own !== undefined) return own
  const before = entries.get(previous)
  const [first] = entries.values()
  const at = before ? belowComments(lines, before.to, before.indent) : first ? aboveWith(lines, first) : lines.length
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
export function placeEntries(
  text: string,
  map: YAMLMap<unknown, unknown>,
  ownerOf: (pair: Pair<unknown, unknown>) => DomainName | null,
): PlacedEntries | null {
  if (map.flow) return null
  const lines = text.split('\n')
  const starts = lineStarts(lines)
  const entries = new Map<DomainName | null, EntryLines>()
  for (const pair of map.items) {
    const placed = linesOf(pair, lines, starts)
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

/** Lines of an entry at another indentation, with the line ends of the text. */
const shift = (lines: readonly string[], by: number, hasCarriageReturns: boolean): string[] =>
  lines.map((line) => {
    const moved = line === '' ? line : by >= 0 ? ' '.repeat(by) + line : line.replace(new RegExp(`^ {0,${-by}}`), '')
    return hasCarriageReturns ? `${moved}\r` : moved
  })
