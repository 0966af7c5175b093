/** Adds and removes records in a zone file and keeps everything else. */
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, isBelow, parentOf, ROOT, relativeName } from '../domain-name.ts'
import type { Ttl } from '../ttl.ts'
import { createLexer, readEntry } from './lexer.ts'
import { scanComments } from './scan-comments.ts'

export interface ZoneFileEdit {
  readonly name: DomainName
  readonly type: string
  /** The lines on which the removed records begin. */
  readonly removed: ReadonlySet<number>
  /** The line of the record after which new ones are inserted; null for the end of the file. */
  readonly after: number | null
  /** The canonical data of new records. */
  readonly added: readonly string[]
  /** Comments to append to new records, by data: those of removed records with the same data. */
  readonly comments: ReadonlyMap<string, string>
  /** Null to write no TTL. */
  readonly ttl: Ttl | null
}

/** A record or directive. Lines start at 1. */
interface Entry {
  readonly from: number
  readonly to: number
  readonly isDirective: boolean
  /** Whether it inherits the owner of the record before. */
  readonly isOwnerless: boolean
  /** The owner as written. */
  readonly owner: string
}

/**
 * Removes and adds records of a zone file and leaves everything else as it is. A record that inherited the owner of a removed one gets
 * that owner. New records have an absolute owner, so they mean the same anywhere.
 */
export function editZoneFile(text: string, edit: ZoneFileEdit): Result<string> {
  if (text === '' || text.endsWith('\n')) return editLines(text, edit)
  // The last line has no line end: it gets one if lines follow, and the new last line has none.
  const newline = newlineOf(text)
  const edited = editLines(text + newline, edit)
  return edited.ok && edited.value.endsWith(newline) ? ok(edited.value.slice(0, -newline.length)) : edited
}

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

function editLines(text: string, edit: ZoneFileEdit): Result<string> {
  const entries = entriesOf(text)
  if (!entries.ok) return entries
  const addedLines = edit.added.map(
    (data) => `${edit.name}\t${edit.ttl === null ? '' : `${edit.ttl}\t`}IN\t${edit.type}\t${data}${edit.comments.get(data) ?? ''}`,
  )
  const lines = text.split('\n')
  const place = edit.after === null ? null : entries.value.find(({ from }) => from === edit.after)
  if (place === undefined) return failure('the record shares a line with another one')
  const output: string[] = []
  let next = 1
  let owner = ''
  let ownerIsGone = false
  const copyTo = (line: number): void => {
    for (; next < line; next += 1) output.push(lines[next - 1] as string)
  }
  const carriage = newlineOf(text) === '\r\n' ? '\r' : ''
  const insert = (): void => void output.push(...addedLines.map((line) => line + carriage))
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
      // The new records have the same owner, so the next one can inherit it.
      if (addedLines.length > 0 && entry.isOwnerless) ownerIsGone = false
    }
  }
  const left = lines.slice(next - 1)
  if (place !== null || addedLines.length === 0) return ok([...output, ...left].join('\n'))
  return ok([...output, ...left.slice(0, -1), ...addedLines.map((line) => line + carriage), ''].join('\n'))
}

/**
 * Writes another owner on the lines (from 1) on which records with the owner `from` begin. Records below that inherit the owner follow. A relative owner
 * stays relative to its origin if the new name is below it.
 */
export function renameOwner(text: string, lines: ReadonlySet<number>, from: DomainName, to: DomainName): Result<string> {
  const entries = entriesOf(text)
  if (!entries.ok) return entries
  const output = text.split('\n')
  for (const { from: line, isDirective, isOwnerless, owner } of entries.value) {
    const before = output[line - 1] ?? ''
    if (!lines.has(line) || isDirective || isOwnerless || !before.startsWith(owner)) continue
    output[line - 1] = ownerLike(owner, from, to) + before.slice(owner.length)
  }
  return ok(output.join('\n'))
}

/** The new owner in the form of the previous one: absolute, relative, or `@`. */
function ownerLike(owner: string, from: DomainName, to: DomainName): string {
  if (owner.endsWith('.') || owner.includes('\\')) return to
  let origin = owner === '@' ? from : ROOT
  if (owner !== '@') {
    let below: DomainName = from
    for (const _ of owner.split('.')) below = parentOf(below)
    origin = below
  }
  return to === origin ? '@' : isBelow(to, origin) ? relativeName(to, origin) : to
}

/** Puts an owner before a line that begins with blanks, and in place of blanks if there are enough. */
const withOwner = (owner: string, line: string): string =>
  line.startsWith(' '.repeat(owner.length + 1)) ? owner + line.slice(owner.length) : owner + line

/** The comments in each record as one line, ` ; first ; second`, by the line on which the record begins. */
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
    if (outcome !== 'entry') return failure(`line ${lexer.entryLine} has a syntax error`)
    const from = lexer.entryLine
    const to = Math.max(from, text.charCodeAt(lexer.offset - 1) === LINE_FEED ? lexer.line - 1 : lexer.line)
    const owner = text.slice(lexer.starts[0], lexer.ends[0])
    const isDirective = owner.startsWith('$') && !lexer.hasLeadingBlank
    entries.push({ from, to, isDirective, isOwnerless: lexer.hasLeadingBlank, owner })
  }
}

const LINE_FEED = 0x0a
