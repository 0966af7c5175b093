/**
 * Cuts zone-file text (RFC 1035 section 5.1) into entries, and entries into tokens. An entry is what ends at the end of a line
 * outside of parentheses. Tokens are offsets into the text, in arrays that the next entry uses again, so that reading a zone
 * makes no more objects than its records. Escapes are left in place: whether `\.` ends a label is for the reader of the field.
 */
export interface ZoneLexer {
  text: string
  /** No more text follows. Without it an entry that reaches the end of the text may be incomplete. */
  final: boolean
  /** Where the next entry starts, and the number of its line, from 1. */
  offset: number
  line: number
  /** The entry read last: where it starts, its line, whether it has several, whether it begins with a blank (no owner name). */
  entryOffset: number
  entryLine: number
  isMultiline: boolean
  hasLeadingBlank: boolean
  /** Its tokens: the first and the last offset, without quotes, and the flags below. */
  count: number
  readonly starts: number[]
  readonly ends: number[]
  readonly flags: number[]
  /** What is wrong with the entry, where `readEntry` says `bad`. */
  problem: LexicalProblem | null
}

export interface LexicalProblem {
  readonly message: string
  readonly offset: number
}

/** Flags of a token. One with none of `escaped` and `odd` is printable ASCII that stands for itself. */
export const TOKEN = { quoted: 1, escaped: 2, odd: 4 } as const

/** Characters of one entry; a record of 65,535 octets with every octet as `\DDD` fits, with room for comments. */
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
  flags: [],
  problem: null,
})

/** `entry`: one was read. `bad`: one has a fault and was passed over. `more`: the text ends within one. `end`: there are no more. */
export type EntryOutcome = 'entry' | 'bad' | 'more' | 'end'

const PLAIN = 0
const ODD = 1
const ESCAPE = 2
const BLANK = 3
const NEWLINE = 4
const COMMENT = 5
const OPEN = 6
const CLOSE = 7
const QUOTE = 8
const RETURN = 9

const TAB = 0x09
const SPACE = 0x20
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** What each UTF-16 code unit does. */
const CLASS = new Uint8Array(0x10000).fill(ODD, 0x7f)
for (let code = 0; code < SPACE; code += 1) CLASS[code] = ODD
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

/** Reads the next entry that has tokens. */
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
          const message = 'the quoted string is not closed on its line (a line feed within it is written \\010)'
          return bad(lexer, begin, { message, offset: at }, end)
        } else return 'more'
      } else if (kind === RETURN) {
        const end = behindReturns(text, at)
        if (end < length && text.charCodeAt(end) !== LINE_FEED) {
          const message = 'a carriage return stands before no line feed; some servers end the line there, others do not'
          return bad(lexer, begin, { message, offset: at }, end)
        }
        at = end
      } else if (kind === OPEN) {
        if (depth === 0) opened = at
        depth += 1
        at += 1
      } else {
        if (depth === 0) return bad(lexer, begin, { message: 'the parenthesis closes nothing', offset: at }, at)
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

/** Where a run of carriage returns ends: `\r\r\n` is a line's end that was converted twice. */
function behindReturns(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) === CARRIAGE_RETURN) at += 1
  return at
}

/** Notes the unquoted token at `start` as the entry's next; returns where it ends. */
function scanToken(lexer: ZoneLexer, start: number, index: number): number {
  const { text } = lexer
  const { length } = text
  let at = start
  let flag = 0
  while (at < length) {
    const kind = classOf(text.charCodeAt(at))
    if (kind === PLAIN) at += 1
    else if (kind === ESCAPE) {
      flag |= TOKEN.escaped
      at += isLineEnd(text.charCodeAt(at + 1)) ? 1 : 2
    } else if (kind === ODD) {
      flag |= TOKEN.odd
      at += 1
    } else if (kind === QUOTE && text.charCodeAt(at - 1) === EQUALS && isServiceBinding(lexer, index)) {
      const end = closingQuote(text, at + 1)
      if (end === -1) break
      flag |= TOKEN.escaped
      at = end + 1
      break
    } else break
  }
  // A backslash at the end of the text escapes nothing.
  if (at > length) at = length
  lexer.starts[index] = start
  lexer.ends[index] = at
  lexer.flags[index] = flag
  return at
}

/** Notes the quoted token whose text begins at `start` as the entry's next; returns where its quote is, or the end of its line. */
function scanQuoted(lexer: ZoneLexer, start: number, index: number): number {
  const { text } = lexer
  const { length } = text
  let at = start
  let flag: number = TOKEN.quoted
  for (; at < length; at += 1) {
    const code = text.charCodeAt(at)
    const kind = classOf(code)
    if (kind === QUOTE || kind === NEWLINE) break
    if (kind === ESCAPE) {
      flag |= TOKEN.escaped
      if (text.charCodeAt(at + 1) !== LINE_FEED) at += 1
    } else if (kind === ODD || code === TAB || kind === RETURN) flag |= TOKEN.odd
  }
  if (at > length) at = length
  lexer.starts[index] = start
  lexer.ends[index] = at
  lexer.flags[index] = flag
  return at
}

const EQUALS = 0x3d
const DOLLAR = 0x24
const SERVICE_BINDING = /^(?:SVCB|HTTPS|TYPE6[45])$/i
const TTL_OR_CLASS = /^(?:[0-9].*|IN|CLASS1)$/i

/**
 * Whether the entry is an SVCB or HTTPS record, the only ones where a quote can stand within a token, which it ends: `alpn="h2,h3"`
 * (RFC 9460 section 2.1). Elsewhere a quote begins a new token, as BIND has it. The type is the first token behind the owner (behind
 * range and owner in `$GENERATE`) that is neither TTL nor class.
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

/** Where the quoted part that starts at `from` ends; -1 where its line ends first. */
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

/** Gives an entry up; reading goes on at the line after `at`. */
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

/** Line and column, from 1, of an offset within the entry read last. */
export function lineAndColumn({ text, entryOffset, entryLine }: ZoneLexer, offset: number): { line: number; column: number } {
  let line = entryLine
  let lineStart = entryOffset
  for (let i = text.indexOf('\n', entryOffset); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) {
    line += 1
    lineStart = i + 1
  }
  return { line, column: offset - lineStart + 1 }
}
