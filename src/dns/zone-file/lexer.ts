/**
 * Splits zone-file text (RFC 1035 section 5.1) into entries and tokens. An entry ends at a line end outside parentheses. Tokens are
 * offsets into the text, in arrays that the next entry reuses, so the lexer allocates nothing per entry. Escapes remain: the parser of
 * the field decides what `\.` means.
 */
export interface ZoneLexer {
  text: string
  /** Whether no more text follows. If not, an entry that reaches the end of the text may be incomplete. */
  final: boolean
  /** The offset of the next entry, and its line, from 1. */
  offset: number
  line: number
  /** The current entry: its offset, its line, whether it has several lines, and whether it begins with a blank, so has no owner. */
  entryOffset: number
  entryLine: number
  isMultiline: boolean
  hasLeadingBlank: boolean
  /** Its tokens: start and end without quotes, and 1 if the token is quoted, else 0. */
  count: number
  readonly starts: number[]
  readonly ends: number[]
  readonly quotes: number[]
  /** The error of a `bad` entry. */
  problem: LexicalProblem | null
}

export interface LexicalProblem {
  readonly message: string
  readonly offset: number
}

/** Maximum length of an entry in characters: enough for a record of 65,535 octets, each as `\DDD`, and for comments. */
export const MAX_ENTRY_LENGTH = 1 << 20

export const createLexer = (text: string, final = true): ZoneLexer => ({
  text,
  final,
  offset: text.charCodeAt(0) === 0xfeff ? 1 : 0,
  line: 1,
  entryOffset: 0,
  entryLine: 1,
  isMultiline: false,
  hasLeadingBlank: false,
  count: 0,
  starts: [],
  ends: [],
  quotes: [],
  problem: null,
})

/** `entry`: read. `bad`: skipped because of a syntax error. `more`: the text ends within an entry. `end`: no entry is left. */
export type EntryOutcome = 'entry' | 'bad' | 'more' | 'end'

const PLAIN = 0
const ESCAPE = 1
const BLANK = 2
const NEWLINE = 3
const COMMENT = 4
const OPEN = 5
const CLOSE = 6
const QUOTE = 7
const RETURN = 8

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The class of each UTF-16 code unit. */
const CLASS = new Uint8Array(0x10000)
for (const [text, kind] of [
  [' \t', BLANK],
  ['\r', RETURN],
  ['\n', NEWLINE],
  [';', COMMENT],
  ['(', OPEN],
  [')', CLOSE],
  ['"', QUOTE],
  ['\\', ESCAPE],
] as const) {
  for (const c of text) CLASS[c.charCodeAt(0)] = kind
}

const isLineEnd = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN

const classOf = (code: number): number => CLASS[code] as number

/** Reads the next entry with tokens. */
export function readEntry(lexer: ZoneLexer): EntryOutcome {
  const { text, final } = lexer
  const { length } = text
  for (;;) {
    const begin = lexer.offset
    if (begin >= length) return final ? 'end' : 'more'
    let at = begin
    let newlines = 0
    let count = 0
    let depth = 0
    let opened = 0
    let isComplete = false
    while (at < length) {
      const kind = classOf(text.charCodeAt(at))
      if (kind === BLANK) at += 1
      else if (kind <= ESCAPE) {
        at = scanToken(lexer, at, count)
        count += 1
      } else if (kind === NEWLINE) {
        at += 1
        newlines += 1
        if (depth === 0) {
          isComplete = true
          break
        }
        if (at - begin > MAX_ENTRY_LENGTH) return unclosed(lexer, begin, opened)
      } else if (kind === COMMENT) {
        const end = text.indexOf('\n', at)
        at = end === -1 ? length : end
      } else if (kind === QUOTE) {
        const end = scanQuoted(lexer, at + 1, count)
        if (end < length && text.charCodeAt(end) !== LINE_FEED) {
          at = end + 1
          count += 1
        } else if (end < length || final) {
          const message = 'the quoted string does not end on its line (write a line feed in it as \\010)'
          return bad(lexer, begin, { message, offset: at }, end)
        } else return 'more'
      } else if (kind === RETURN) {
        const end = skipReturns(text, at)
        if (end < length && text.charCodeAt(end) !== LINE_FEED) {
          const message = 'a carriage return has no line feed after it; some servers end the line there, others do not'
          return bad(lexer, begin, { message, offset: at }, end)
        }
        at = end
      } else if (kind === OPEN) {
        if (depth === 0) opened = at
        depth += 1
        at += 1
      } else {
        if (depth === 0) return bad(lexer, begin, { message: 'the closing parenthesis has no opening one', offset: at }, at)
        depth -= 1
        at += 1
      }
    }
    if (!isComplete) {
      if (!final) return 'more'
      if (depth > 0) return unclosed(lexer, begin, opened)
    }
    lexer.offset = at
    lexer.entryOffset = begin
    lexer.entryLine = lexer.line
    lexer.line += newlines
    if (count === 0) continue
    lexer.isMultiline = newlines > (isComplete ? 1 : 0)
    lexer.hasLeadingBlank = classOf(text.charCodeAt(begin)) === BLANK
    lexer.count = count
    return 'entry'
  }
}

/** The end of a run of carriage returns: `\r\r\n` is a line end that was converted twice. */
function skipReturns(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === CARRIAGE_RETURN) at += 1
  return at
}

/** Adds the unquoted token at `start` to the entry; returns its end. */
function scanToken(lexer: ZoneLexer, start: number, index: number): number {
  const { text } = lexer
  const { length } = text
  let at = start
  while (at < length) {
    const kind = classOf(text.charCodeAt(at))
    if (kind === PLAIN) at += 1
    else if (kind === ESCAPE) at += isLineEnd(text.charCodeAt(at + 1)) ? 1 : 2
    else if (kind === QUOTE && text.charCodeAt(at - 1) === EQUALS && isServiceBinding(lexer, index)) {
      const end = closingQuote(text, at + 1)
      if (end !== -1) at = end + 1
      break
    } else break
  }
  // A backslash at the end of the text escapes nothing.
  if (at > length) at = length
  addToken(lexer, index, start, at, 0)
  return at
}

/** Adds the quoted token whose text begins at `start` to the entry; returns the offset of the closing quote or of the line end. */
function scanQuoted(lexer: ZoneLexer, start: number, index: number): number {
  const { text } = lexer
  const { length } = text
  let at = start
  for (; at < length; at += 1) {
    const kind = classOf(text.charCodeAt(at))
    if (kind === QUOTE || kind === NEWLINE) break
    if (kind === ESCAPE && text.charCodeAt(at + 1) !== LINE_FEED) at += 1
  }
  if (at > length) at = length
  addToken(lexer, index, start, at, 1)
  return at
}

function addToken({ starts, ends, quotes }: ZoneLexer, index: number, start: number, end: number, quote: 0 | 1): void {
  starts[index] = start
  ends[index] = end
  quotes[index] = quote
}

const EQUALS = 0x3d
const DOLLAR = 0x24
const SERVICE_BINDING = /^(?:SVCB|HTTPS|TYPE6[45])$/i
const TTL_OR_CLASS = /^(?:[0-9].*|IN|CLASS1)$/i

/**
 * Whether the entry is an SVCB or HTTPS record. Only these have a quoted part at the end of a token: `alpn="h2,h3"` (RFC 9460 section
 * 2.1). In other records a quote begins a new token, as in BIND. The type is the first token after the owner (after range and owner in
 * `$GENERATE`) that is neither TTL nor class.
 */
function isServiceBinding({ text, offset, starts, ends }: ZoneLexer, count: number): boolean {
  const first = text.charCodeAt(offset)
  const head = first === DOLLAR ? 3 : classOf(first) === BLANK ? 0 : 1
  for (let i = head; i < Math.min(count, head + 3); i += 1) {
    const token = text.slice(starts[i], ends[i])
    if (!TTL_OR_CLASS.test(token)) return SERVICE_BINDING.test(token)
  }
  return false
}

/** The offset of the closing quote of the part that starts at `from`; -1 if its line ends first. */
function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const kind = classOf(text.charCodeAt(at))
    if (kind === QUOTE) return at
    if (kind === NEWLINE) return -1
    if (kind === ESCAPE && text.charCodeAt(at + 1) !== LINE_FEED) at += 1
  }
  return -1
}

const unclosed = (lexer: ZoneLexer, begin: number, opened: number): EntryOutcome =>
  bad(lexer, begin, { message: 'the parenthesis is not closed', offset: opened }, opened)

/** Skips an entry with an error; reading continues at the line after `at`. */
function bad(lexer: ZoneLexer, begin: number, problem: LexicalProblem, at: number): EntryOutcome {
  const { text } = lexer
  const end = text.indexOf('\n', at)
  if (end === -1 && !lexer.final) return 'more'
  const next = end === -1 ? text.length : end + 1
  lexer.entryOffset = begin
  lexer.entryLine = lexer.line
  lexer.offset = next
  for (let i = text.indexOf('\n', begin); i !== -1 && i < next; i = text.indexOf('\n', i + 1)) lexer.line += 1
  lexer.problem = problem
  lexer.count = 0
  return 'bad'
}

/** The line and column, from 1, of an offset in the current entry. */
export function lineAndColumn({ text, entryOffset, entryLine }: ZoneLexer, offset: number): { line: number; column: number } {
  let line = entryLine
  let lineStart = entryOffset
  for (let i = text.indexOf('\n', entryOffset); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) {
    line += 1
    lineStart = i + 1
  }
  return { line, column: offset - lineStart + 1 }
}
