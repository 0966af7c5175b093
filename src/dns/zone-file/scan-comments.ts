/**
 * Finds the comments of zone-file text. The lexer finds entries and tokens, and comments are in the text between them. So quotes, escapes
 * and parentheses mean the same here as in the parser.
 */
import { createLexer, lineAndColumn, readEntry, type ZoneLexer } from './lexer.ts'

/** A part of the text. */
export type ScannedItem =
  /** A line outside entries: the text after the semicolon; null for a blank line. */
  { readonly kind: 'line'; readonly text: string | null } | ScannedEntry

/** A record or directive with its comments. */
export interface ScannedEntry {
  readonly kind: 'entry'
  /** The position of its first token, from 1. */
  readonly line: number
  readonly column: number
  /** The name of a directive in capitals; null for a record. */
  readonly directive: string | null
  /** The second token of a directive as written. */
  readonly operand: string
  readonly tokens: number
  readonly comments: readonly EntryComment[]
}

export interface EntryComment {
  /** The text after the semicolon. */
  readonly text: string
  /** The index of the token before it on the same line, or of the next token if the comment has its own line. */
  readonly token: number
  readonly isOwnLine: boolean
}

/** Yields the parts of a text in order. Entries with syntax errors are skipped. */
export function* scanComments(text: string): Generator<ScannedItem> {
  const lexer = createLexer(text)
  let at = lexer.offset
  for (;;) {
    const outcome = readEntry(lexer)
    const isEntry = outcome === 'entry'
    yield* linesBetween(text, at, outcome === 'end' ? text.length : lexer.entryOffset)
    if (outcome === 'end' || outcome === 'more') return
    at = lexer.offset
    if (isEntry) yield entryOf(lexer)
  }
}

/** Lines without tokens: blank lines, comments and empty parentheses. */
function* linesBetween(text: string, from: number, to: number): Generator<ScannedItem> {
  for (let at = from; at < to; ) {
    const lineEnd = endOfLine(text, at)
    const line = text.slice(at, lineEnd)
    const semicolon = line.indexOf(';')
    yield { kind: 'line', text: semicolon === -1 ? null : line.slice(semicolon + 1) }
    at = lineEnd + 1
  }
}

function entryOf(lexer: ZoneLexer): ScannedEntry {
  const { text, count, starts, ends, quotes, hasLeadingBlank, entryOffset } = lexer
  const quote = (index: number): number => quotes[index] as number
  const first = (starts[0] as number) - quote(0)
  const isDirective = !hasLeadingBlank && text[first] === '$'
  const comments: EntryComment[] = []
  for (let i = 0; i <= count; i += 1) {
    const from = i === 0 ? entryOffset : (ends[i - 1] as number) + quote(i - 1)
    const to = i === count ? lexer.offset : (starts[i] as number) - quote(i)
    if (to > from) comments.push(...commentsWithin(text, from, to, i))
  }
  return {
    kind: 'entry',
    ...lineAndColumn(lexer, first),
    directive: isDirective ? text.slice(starts[0], ends[0]).toUpperCase() : null,
    operand: isDirective && count > 1 ? text.slice(starts[1], ends[1]) : '',
    tokens: count,
    comments,
  }
}

/** The comments in a range without tokens. */
function commentsWithin(text: string, from: number, to: number, next: number): EntryComment[] {
  const comments: EntryComment[] = []
  let isOwnLine = next === 0
  for (let at = from; at < to; at += 1) {
    const character = text[at]
    if (character === '\n') isOwnLine = true
    if (character !== ';') continue
    const end = endOfLine(text, at)
    comments.push({ text: text.slice(at + 1, end), token: isOwnLine ? next : next - 1, isOwnLine })
    at = end - 1
  }
  return comments
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
