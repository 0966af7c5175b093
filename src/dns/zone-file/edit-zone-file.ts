import type { DomainName } from '../domain-name.ts'
import { failure, ok, type Result } from '../result.ts'
import type { Ttl } from '../ttl.ts'
import { createLexer, readEntry } from './lexer.ts'
import { scanComments } from './scan-comments.ts'

export interface ZoneFileEdit {
  readonly name: DomainName
  readonly type: string
  /** Lines on which the records begin that go. */
  readonly removed: ReadonlySet<number>
  /** The line of a record of the same set, or of the same owner, that new ones come after; null for the end of the file. */
  readonly after: number | null
  /** Canonical data of new records. */
  readonly added: readonly string[]
  /** Comments of records that go and come again, by their data: they come again behind them. */
  readonly comments: ReadonlyMap<string, string>
  /** Null leaves the TTL to the file. */
  readonly ttl: Ttl | null
}

/** One record or directive of the file, in lines from 1. */
interface Entry {
  readonly from: number
  readonly to: number
  /** A directive has no owner and changes none. */
  readonly isDirective: boolean
  /** It has the owner of the record before. */
  readonly isOwnerless: boolean
  /** The owner as it is written. */
  readonly owner: string
}

/**
 * A zone file with records taken out and added, everything else as it is: a record that follows one that is taken out gets the owner
 * written that it had from it. New records are written in full, so that they mean the same wherever they stand.
 */
export function editZoneFile(text: string, edit: ZoneFileEdit): Result<string> {
  if (text === '' || text.endsWith('\n')) return editLines(text, edit)
  // What comes behind a last line without a line end gives it one, and has none itself.
  const newline = newlineOf(text)
  const edited = editLines(text + newline, edit)
  return edited.ok && edited.value.endsWith(newline) ? ok(edited.value.slice(0, -newline.length)) : edited
}

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

function editLines(text: string, edit: ZoneFileEdit): Result<string> {
  const entries = entriesOf(text)
  if (!entries.ok) return entries
  const made = edit.added.map(
    (data) => `${edit.name}\t${edit.ttl === null ? '' : `${edit.ttl}\t`}IN\t${edit.type}\t${data}${edit.comments.get(data) ?? ''}`,
  )
  const lines = text.split('\n')
  const place = edit.after === null ? null : entries.value.find(({ from }) => from === edit.after)
  if (place === undefined) return failure('the record does not stand on lines of its own')
  const output: string[] = []
  let next = 1
  let owner = ''
  let ownerIsGone = false
  const copyTo = (line: number): void => {
    for (; next < line; next += 1) output.push(lines[next - 1] as string)
  }
  const carriage = newlineOf(text) === '\r\n' ? '\r' : ''
  const insert = (): void => void output.push(...made.map((line) => line + carriage))
  for (const entry of entries.value) {
    const statesOwner = !entry.isOwnerless && !entry.isDirective
    if (statesOwner) owner = entry.owner
    copyTo(entry.from)
    if (edit.removed.has(entry.from)) {
      if (statesOwner) ownerIsGone = true
      next = entry.to + 1
    } else {
      if (statesOwner) ownerIsGone = false
      else if (ownerIsGone && !entry.isDirective) {
        output.push(withOwner(owner, lines[entry.from - 1] as string))
        next = entry.from + 1
        ownerIsGone = false
      }
      copyTo(entry.to + 1)
    }
    if (entry === place) {
      insert()
      // What follows without an owner has that of the new records, which is the same.
      if (made.length > 0 && entry.isOwnerless) ownerIsGone = false
    }
  }
  const left = lines.slice(next - 1)
  if (place !== null || made.length === 0) return ok([...output, ...left].join('\n'))
  return ok([...output, ...left.slice(0, -1), ...made.map((line) => line + carriage), ''].join('\n'))
}

/** A line that begins with blanks, with an owner in their place: in that of as many as it is long, where more are left. */
const withOwner = (owner: string, line: string): string =>
  line.startsWith(' '.repeat(owner.length + 1)) ? owner + line.slice(owner.length) : owner + line

/** The comments within records, by the line on which each record begins, as they can stand behind one: ` ; first ; second`. */
export function commentsByLine(text: string): Map<number, string> {
  const byLine = new Map<number, string>()
  for (const item of scanComments(text)) {
    if (item.kind === 'entry') byLine.set(item.line, item.comments.map((comment) => ` ;${comment.text.trimEnd()}`).join(''))
  }
  return byLine
}

function entriesOf(text: string): Result<Entry[]> {
  const lexer = createLexer(text)
  const entries: Entry[] = []
  for (;;) {
    const outcome = readEntry(lexer)
    if (outcome === 'end') return ok(entries)
    if (outcome !== 'entry') return failure(`line ${lexer.entryLine} has a fault`)
    const from = lexer.entryLine
    const to = Math.max(from, text.charCodeAt(lexer.offset - 1) === LINE_FEED ? lexer.line - 1 : lexer.line)
    const owner = text.slice(lexer.starts[0], lexer.ends[0])
    const isDirective = owner.startsWith('$') && !lexer.hasLeadingBlank
    entries.push({ from, to, isDirective, isOwnerless: lexer.hasLeadingBlank, owner })
  }
}

const LINE_FEED = 0x0a
