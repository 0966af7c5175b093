/**
 * Which record of a zone each comment of its file is about. The files are gone through once more, in the order in which they were read:
 * a comment on the line of a record is about that record, lines of comments are about the record that comes next, in whichever file, and
 * what comes before all records is the head. Entries and records go in step, for a file without errors has a record for each entry.
 */

import type { DomainName } from '../domain-name.ts'
import { type DefinedRecord, recordKey } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import type { ZoneComment, ZoneSettings } from '../zone.ts'
import { countGeneratedRecords } from './generate.ts'
import { type EntryComment, type ScannedEntry, scanComments } from './scan-comments.ts'
import type { IncludedZoneFile } from './scope.ts'

export interface CommentSources {
  readonly zone: DomainName
  readonly file: IncludedZoneFile
  /** What each `$INCLUDE` drew in, in the order of reading; a file as often as it was. */
  readonly included: readonly IncludedZoneFile[]
  /** All records in the order of reading, the SOA and exact duplicates with them. */
  readonly records: readonly DefinedRecord[]
}

export interface PlacedComments {
  /** In the order of the files. Those of a duplicate are about the record it repeats. */
  readonly comments: readonly ZoneComment[]
  /** Lines that were left out, since those before have as many characters as are kept. */
  readonly dropped: number
}

/** Characters of comments that are kept of a zone, line ends counted. */
const MAX_COMMENT_LENGTH = 1 << 22

/** Places the comments of a zone file that was read without errors. */
export function placeComments(sources: CommentSources): PlacedComments {
  const run: Run = {
    ...sources,
    next: 0,
    nextIncluded: 0,
    waiting: [],
    comments: [],
    length: 0,
    left: 0,
    known: new Set(),
    nextSeen: 0,
    seen: new Map(),
    sets: new Set(),
  }
  const isEmpty = !readFile(run, sources.file, true)
  flush(run, { name: null }, isEmpty ? 'apart' : 'end')
  return { comments: run.comments, dropped: run.left }
}

/** Lines of comments without another line between. */
interface Block {
  readonly lines: string[]
  /** Nothing follows on the next line. */
  isApart: boolean
}

interface Run extends CommentSources {
  /** The record of the entry that comes next, and the file of the next `$INCLUDE`. */
  next: number
  nextIncluded: number
  /** What the next record is to get. */
  waiting: Block[]
  readonly comments: ZoneComment[]
  /** Characters taken so far, and lines that were too many. */
  length: number
  left: number
  /** Comments by place and text: a line that is read twice is kept once. */
  readonly known: Set<string>
  /** The records before `nextSeen`, by `recordKey`, and the RRsets of one TTL: no more than comments need. */
  nextSeen: number
  readonly seen: Map<string, SeenRecord>
  readonly sets: Set<string>
}

interface SeenRecord {
  /** Of the first of duplicates, which stays. */
  readonly ttl: Ttl | null
  readonly isFirstOfSet: boolean
}

/** Reads on through a file; whether it has any entry. */
function readFile(run: Run, { file, text }: IncludedZoneFile, isRoot = false): boolean {
  let block: Block | null = null
  /** The record on the line before the block. */
  let above: DefinedRecord | null = null
  let isFirst = true
  for (const item of scanComments(text)) {
    if (item.kind === 'entry') {
      if (isRoot && isFirst) takeHead(run, item)
      isFirst = false
      block = null
      above = item.directive === null ? readRecords(run, item, file) : readDirective(run, item, file, isRoot)
    } else if (item.text !== null) {
      const line = take(run, item.text)
      if (block === null) {
        block = { lines: [], isApart: false }
        run.waiting.push(block)
      }
      if (line !== null) block.lines.push(line)
    } else {
      if (block !== null) endBlock(run, block, above)
      block = null
      above = null
    }
  }
  if (block !== null) block.isApart = true
  return !isFirst
}

/** A blank line ends a block: right below a record, such as one that is commented out, it stays there. */
function endBlock(run: Run, block: Block, above: DefinedRecord | null): void {
  block.isApart = true
  if (above === null) return
  run.waiting.pop()
  if (hasWords(block)) put(run, { ...subjectOf(run, above), place: 'below', text: block.lines.join('\n') })
}

/** Of the lines above the first entry those that stand right above an ordinary record are about it. */
function takeHead(run: Run, entry: ScannedEntry): void {
  const last = run.waiting.at(-1)
  const isOfRecord = entry.directive === null && run.records[0]?.type !== 'SOA' && last?.isApart === false
  if (isOfRecord) run.waiting.pop()
  flush(run, { name: null })
  if (isOfRecord) run.waiting.push(last)
}

function readDirective(run: Run, entry: ScannedEntry, file: string, isRoot: boolean): null {
  const lines = textsOf(run, entry.comments)
  if (lines.length > 0) run.waiting.push({ lines, isApart: false })
  if (entry.directive === '$GENERATE') readRecords(run, { ...entry, comments: [] }, file)
  else if (isRoot && run.next === 0 && entry.directive !== '$INCLUDE') flush(run, { name: null })
  else if (entry.directive === '$INCLUDE') {
    const source = run.included[run.nextIncluded]
    run.nextIncluded += 1
    if (source !== undefined) readFile(run, source)
  }
  return null
}

/** Gives the comments of an entry, and those that wait, to the records it makes: to the first of them, where it makes several. */
function readRecords(run: Run, entry: ScannedEntry, file: string): DefinedRecord | null {
  const first = run.records[run.next]
  if (first === undefined || !isAt(first, entry, file)) {
    run.waiting.push({ lines: textsOf(run, entry.comments), isApart: false })
    return null
  }
  run.next += entry.directive === null ? 1 : countGeneratedRecords(entry.operand)
  if (run.waiting.length > 0 || entry.comments.length > 0) placeAtRecord(run, entry, first)
  return first
}

/** What is known of a record before `next`. */
function seen(run: Run, record: DefinedRecord): SeenRecord {
  for (const next of run.records.slice(run.nextSeen, run.next)) see(run, next)
  run.nextSeen = run.next
  return run.seen.get(recordKey(record)) as SeenRecord
}

function see(run: Run, record: DefinedRecord): void {
  const key = recordKey(record)
  if (run.seen.has(key)) return
  const { name, type, ttl } = record
  const set = `${name} ${type} ${ttl}`
  run.seen.set(key, { ttl, isFirstOfSet: !run.sets.has(set) })
  run.sets.add(set)
}

const isSoa = (run: Run, { name, type }: DefinedRecord): boolean => type === 'SOA' && name === run.zone

/** What comments at a record are about: the RRset; for the SOA, the setting that comes first. */
const subjectOf = (run: Run, record: DefinedRecord): Subject =>
  isSoa(run, record)
    ? { name: null, setting: 'soa_email' }
    : { name: record.name, rrset: { type: record.type, ttl: seen(run, record).ttl } }

const isAt = ({ at }: DefinedRecord, { line, column }: ScannedEntry, file: string): boolean =>
  at.line === line && at.column === column && at.file === file

/** Places what waits and what is in the entry of a record. */
function placeAtRecord(run: Run, entry: ScannedEntry, record: DefinedRecord): void {
  const subject = subjectOf(run, record)
  if (isSoa(run, record)) {
    placeAtSoa(run, entry, subject)
    return
  }
  const { name, type, data } = record
  const { ttl, isFirstOfSet } = seen(run, record)
  const single = { name, rrset: { type, ttl, data } }
  // The comment above the first record of a set is about the set.
  const above = isFirstOfSet ? subject : single
  flush(run, subject, 'apart', above)
  const texts = textsOf(run, entry.comments)
  const [text] = texts
  const isBehind = texts.length === 1 && !entry.comments.some(({ isOwnLine }) => isOwnLine)
  if (isBehind && text !== undefined) put(run, { ...single, place: 'behind', text })
  else if (texts.length > 0) put(run, { ...above, text: texts.join('\n') })
}

/** The settings that the fields of an SOA record become. The serial, which becomes none, is of what comes first. */
const SOA_SETTINGS: readonly (keyof ZoneSettings)[] = [
  'soa_email',
  'soa_email',
  'soa_email',
  'refresh_sec',
  'retry_sec',
  'expire_sec',
  'ttl_sec',
]

const SERIAL = 2

/** Words that only say which field they stand behind. */
const FIELD_NAME = /^(?:serial|refresh|retry|expire|minimum)$/i

function placeAtSoa(run: Run, { comments, tokens }: ScannedEntry, subject: Subject): void {
  flush(run, subject)
  for (const comment of comments) {
    const [text] = textsOf(run, [comment])
    if (text === undefined || FIELD_NAME.test(text)) continue
    const field = Math.max(0, Math.min(SERIAL + 4, comment.token - (tokens - SOA_SETTINGS.length)))
    const isBehind = field !== SERIAL && !comment.isOwnLine
    put(run, { name: null, setting: SOA_SETTINGS[field], place: isBehind ? 'behind' : 'above', text })
  }
}

type Subject = Pick<ZoneComment, 'name' | 'rrset' | 'setting'>

/** Puts what waits where it belongs: blocks with nothing right below them `apart`, the others above, of `own` where that differs. */
function flush(run: Run, subject: Subject, place: 'apart' | 'end' = 'apart', own: Subject = subject): void {
  let lines: string[] = []
  for (const block of run.waiting.filter(hasWords)) {
    lines.push(...block.lines)
    if (!block.isApart && place === 'apart') continue
    put(run, { ...subject, place, text: lines.join('\n') })
    lines = []
  }
  run.waiting = []
  if (lines.length > 0) put(run, { ...own, text: lines.join('\n') })
}

const hasWords = ({ lines }: Block): boolean => lines.some((line) => line !== '')

function put(run: Run, comment: ZoneComment): void {
  const key = JSON.stringify(comment)
  if (run.known.has(key)) return
  run.known.add(key)
  run.comments.push(comment)
}

/** The words of a line. Further semicolons at its start stay a rule or a mark, as number signs. Null where the limit is reached. */
function take(run: Run, text: string): string | null {
  const words = text
    .trimEnd()
    .replace(/^;+/, (more) => '#'.repeat(more.length))
    .replace(/^[ \t]/, '')
  if (run.length + words.length < MAX_COMMENT_LENGTH) {
    run.length += words.length + 1
    return words
  }
  if (words !== '') run.left += 1
  return null
}

const textsOf = (run: Run, comments: readonly EntryComment[]): string[] =>
  comments.map(({ text }) => take(run, text)).filter((text): text is string => text !== null && text !== '')
