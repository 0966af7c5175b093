/**
 * Assigns each comment of a zone file to its subject. A second pass reads the files in the same order. A comment on the line of a record
 * belongs to that record, comment lines belong to the next record, in whichever file, and comments before all records belong to the
 * definition. The pass walks entries and records in parallel, since a file without errors has a record for each entry.
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
  /** The file of each `$INCLUDE`, in the order of reading. */
  readonly included: readonly IncludedZoneFile[]
  /** All records in the order of reading, with the SOA and duplicates. */
  readonly records: readonly DefinedRecord[]
}

export interface PlacedComments {
  /** In the order of the files. The comments of a duplicate belong to the first such record. */
  readonly comments: readonly ZoneComment[]
  /** The number of lines dropped because the comments are too long. */
  readonly dropped: number
}

/** Maximum length of comments that a zone keeps in characters, line ends included. */
const MAX_COMMENT_LENGTH = 1 << 22

/** Assigns the comments of a zone file that has no errors. */
export function placeComments(sources: CommentSources): PlacedComments {
  const run: Run = {
    ...sources,
    next: 0,
    nextIncluded: 0,
    waiting: [],
    comments: [],
    length: 0,
    dropped: 0,
    known: new Set(),
    nextSeen: 0,
    seen: new Map(),
    sets: new Set(),
  }
  const isEmpty = !readFile(run, sources.file, true)
  flush(run, { name: null }, isEmpty ? 'above-with-blank-line' : 'end-of-file')
  return { comments: run.comments, dropped: run.dropped }
}

/** Adjacent comment lines. */
interface Block {
  readonly lines: string[]
  /** Whether a blank line follows. */
  isApart: boolean
}

interface Run extends CommentSources {
  /** The indices of the next record and of the file of the next `$INCLUDE`. */
  next: number
  nextIncluded: number
  /** Blocks for the next record. */
  waiting: Block[]
  readonly comments: ZoneComment[]
  /** Characters kept and lines dropped so far. */
  length: number
  dropped: number
  /** The comments so far as JSON: a line of a file that is included twice is kept once. */
  readonly known: Set<string>
  /** The records before `nextSeen` by `recordKey`, and their RRsets by TTL. Filled on demand. */
  nextSeen: number
  readonly seen: Map<string, SeenRecord>
  readonly sets: Set<string>
}

interface SeenRecord {
  /** The TTL of the first of duplicates. */
  readonly ttl: Ttl | null
  readonly isFirstOfSet: boolean
}

/** Reads a file; returns whether it has any entry. */
function readFile(run: Run, { file, text }: IncludedZoneFile, isRoot = false): boolean {
  let block: Block | null = null
  /** The record right above the block. */
  let above: DefinedRecord | null = null
  let isFirst = true
  for (const item of scanComments(text)) {
    if (item.kind === 'entry') {
      if (isRoot && isFirst) placeHead(run, item)
      isFirst = false
      block = null
      above = item.directive === null ? readRecords(run, item, file) : readDirective(run, item, file, isRoot)
    } else if (item.text !== null) {
      const line = keepLine(run, item.text)
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

/** Ends a block at a blank line. A block right below a record stays there, since it may be a record that is commented out. */
function endBlock(run: Run, block: Block, above: DefinedRecord | null): void {
  block.isApart = true
  if (above === null) return
  run.waiting.pop()
  if (hasText(block)) put(run, { ...subjectOf(run, above), place: 'below', text: block.lines.join('\n') })
}

/** Assigns the lines above the first entry to the definition, except a block right above an ordinary record. */
function placeHead(run: Run, entry: ScannedEntry): void {
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

/** Assigns the waiting comments and those of an entry to the entry's first record. */
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

/** Looks up a record before `next`. */
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

/** The subject of comments at a record: its RRset, or the first setting for the SOA. */
const subjectOf = (run: Run, record: DefinedRecord): Subject =>
  isSoa(run, record)
    ? { name: null, setting: 'soa_email' }
    : { name: record.name, rrset: { type: record.type, ttl: seen(run, record).ttl } }

const isAt = ({ at }: DefinedRecord, { line, column }: ScannedEntry, file: string): boolean =>
  at.line === line && at.column === column && at.file === file

/** Assigns the waiting comments and those of the entry to a record. */
function placeAtRecord(run: Run, entry: ScannedEntry, record: DefinedRecord): void {
  const subject = subjectOf(run, record)
  if (isSoa(run, record)) {
    placeAtSoa(run, entry, subject)
    return
  }
  const { name, type, data } = record
  const { ttl, isFirstOfSet } = seen(run, record)
  const single = { name, rrset: { type, ttl, data } }
  // A comment above the first record of an RRset is about the RRset.
  const above = isFirstOfSet ? subject : single
  flush(run, subject, 'above-with-blank-line', above)
  const texts = textsOf(run, entry.comments)
  const [text] = texts
  const isOnSameLine = texts.length === 1 && !entry.comments.some(({ isOwnLine }) => isOwnLine)
  if (isOnSameLine && text !== undefined) put(run, { ...single, place: 'same-line', text })
  else if (texts.length > 0) put(run, { ...above, text: texts.join('\n') })
}

/** The settings for the fields of an SOA record. The serial has none, so its comments go to the first setting. */
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

/** Comments that only name the field. */
const FIELD_NAME = /^(?:serial|refresh|retry|expire|minimum)$/i

function placeAtSoa(run: Run, { comments, tokens }: ScannedEntry, subject: Subject): void {
  flush(run, subject)
  for (const comment of comments) {
    const [text] = textsOf(run, [comment])
    if (text === undefined || FIELD_NAME.test(text)) continue
    const field = Math.max(0, Math.min(SERIAL + 4, comment.token - (tokens - SOA_SETTINGS.length)))
    const isOnSameLine = field !== SERIAL && !comment.isOwnLine
    put(run, { name: null, setting: SOA_SETTINGS[field], place: isOnSameLine ? 'same-line' : 'above', text })
  }
}

type Subject = Pick<ZoneComment, 'name' | 'rrset' | 'setting'>

/** Assigns the waiting blocks: those before a blank line belong to `subject`, with a blank line; the last block goes above `own`. */
function flush(
  run: Run,
  subject: Subject,
  place: 'above-with-blank-line' | 'end-of-file' = 'above-with-blank-line',
  own: Subject = subject,
): void {
  let lines: string[] = []
  for (const block of run.waiting.filter(hasText)) {
    lines.push(...block.lines)
    if (!block.isApart && place === 'above-with-blank-line') continue
    put(run, { ...subject, place, text: lines.join('\n') })
    lines = []
  }
  run.waiting = []
  if (lines.length > 0) put(run, { ...own, text: lines.join('\n') })
}

const hasText = ({ lines }: Block): boolean => lines.some((line) => line !== '')

function put(run: Run, comment: ZoneComment): void {
  const key = JSON.stringify(comment)
  if (run.known.has(key)) return
  run.known.add(key)
  run.comments.push(comment)
}

/** The text of a line. More semicolons at its start become number signs. Null if the limit is reached. */
function keepLine(run: Run, text: string): string | null {
  const words = text
    .trimEnd()
    .replace(/^;+/, (more) => '#'.repeat(more.length))
    .replace(/^[ \t]/, '')
  if (run.length + words.length < MAX_COMMENT_LENGTH) {
    run.length += words.length + 1
    return words
  }
  if (words !== '') run.dropped += 1
  return null
}

const textsOf = (run: Run, comments: readonly EntryComment[]): string[] =>
  comments.map(({ text }) => keepLine(run, text)).filter((text): text is string => text !== null && text !== '')
