/**
 * The comments of zone-file text with what they stand beside. The lexer finds the entries; comments are what else there is between their
 * tokens and between them, so that quotes, escapes and parentheses mean what they do when the zone is read.
 */
import { createLexer, lineAndColumn, readEntry, TOKEN, type ZoneLexer } from './lexer.ts'

/** What stands in the text, in its order. */
export type ScannedItem =
  /** A line of its own outside of entries: what stands behind the semicolon; null for a blank line. */
  { readonly kind: 'line'; readonly text: string | null } | ScannedEntry

/** A record or a directive with the comments in it. */
export interface ScannedEntry {
  readonly kind: 'entry'
  /** Of its first token, from 1. */
  readonly line: number
  readonly column: number
  /** The name of a directive in capitals; null for a record. */
  readonly directive: string | null
  /** The second token of a directive as it is written. */
  readonly operand: string
  readonly tokens: number
  readonly comments: readonly EntryComment[]
}

export interface EntryComment {
  /** What stands behind the semicolon. */
  readonly text: string
  /** Index of the token it stands behind, on the same line; of that which comes next, where it has a line of its own. */
  readonly token: number
  readonly isOwnLine: boolean
}

/** Reads all of a text. Entries that the lexer refuses are passed over. */
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

/** Lines without tokens: blank ones, comments, parentheses around nothing. */
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
  const { text, count, starts, ends, flags, hasLeadingBlank, entryOffset } = lexer
  const isQuoted = (index: number): number => (flags[index] as number) & TOKEN.quoted
  const first = (starts[0] as number) - isQuoted(0)
  const isDirective = !hasLeadingBlank && text[first] === '$'
  const comments: EntryComment[] = []
  for (let i = 0; i <= count; i += 1) {
    const from = i === 0 ? entryOffset : (ends[i - 1] as number) + isQuoted(i - 1)
    const to = i === count ? lexer.offset : (starts[i] as number) - isQuoted(i)
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

/** The comments of a stretch without tokens. */
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
