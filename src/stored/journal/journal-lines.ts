/** Reads the lines of a journal without loading the whole file, and parses them. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { validate } from '../../../generated/journal-schema.js'
import { failure, ok, type Result } from '../../base/result.ts'
import { type BeginEntry, type EndEntry, JOURNAL_FORMAT, JOURNAL_VERSION, type JournalEntry } from './journal-format.ts'

const CHUNK = 1 << 18

/** Maximum octets of a line. The first line of a run names every zone. */
const MAX_LINE = 1 << 26

export class LineTooLong extends Error {}

/** Opens a file without blocking on a named pipe that has no writer. */
const openLines = (path: string): number => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))

/** Yields each line without its newline. A last line without a newline is incomplete and left out. Throws the system's error, and `LineTooLong`. */
function* linesOf(path: string): Generator<string> {
  const file = openLines(path)
  try {
    const chunk = Buffer.alloc(CHUNK)
    let rest: Buffer[] = []
    let size = 0
    for (;;) {
      const count = readSync(file, chunk, 0, CHUNK, null)
      if (count === 0) return
      let from = 0
      for (let end = chunk.indexOf(10, 0); end !== -1 && end < count; end = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8')
        rest = []
        size = 0
        from = end + 1
      }
      if (from === count) continue
      rest.push(Buffer.from(chunk.subarray(from, count)))
      size += count - from
      if (size > MAX_LINE) throw new LineTooLong(`a line of more than ${MAX_LINE} octets`)
    }
  } finally {
    closeSync(file)
  }
}

/** Octets at the end of a file that are searched for its last line. */
const TAIL = 4096

/** The first line, and the last line if it is complete and short. Does not read the lines in between. */
export function outerLinesOf(path: string): { readonly first: string | null; readonly last: string | null } {
  const first = firstLineOf(path)
  const file = openLines(path)
  try {
    const { size } = fstatSync(file)
    const tail = Buffer.alloc(Math.min(TAIL, size))
    const text = tail.subarray(0, readSync(file, tail, 0, tail.length, size - tail.length))
    if (text.at(-1) !== 10) return { first, last: null }
    const start = text.lastIndexOf(10, -2)
    return { first, last: start === -1 ? null : text.subarray(start + 1, -1).toString('utf8') }
  } finally {
    closeSync(file)
  }
}

function firstLineOf(path: string): string | null {
  for (const line of linesOf(path)) return line
  return null
}

/** Yields the entries of a journal that is being written or was interrupted. Only the last line may be garbled. */
export function* entriesOf(path: string): Generator<Result<JournalEntry>> {
  let number = 0
  let garbled: number | null = null
  for (const text of linesOf(path)) {
    number += 1
    if (garbled !== null) {
      yield failure(`line ${garbled} of its journal is garbled`)
      return
    }
    const entry = entryOf(text)
    if (entry === null) garbled = number
    else yield ok(entry)
  }
}

function entryOf(text: string): JournalEntry | null {
  try {
    const value: unknown = JSON.parse(text)
    return validate(value) ? (value as JournalEntry) : null
  } catch {
    return null
  }
}

/** The entry of a line if it is the end of a run, else null. */
export const endOf = (text: string): EndEntry | null => {
  const entry = entryOf(text)
  return entry?.event === 'end' ? entry : null
}

/** Parses the first line of a journal, which must belong to run `id`; null for any run. */
export function beginOf(text: string, id: string | null): Result<BeginEntry> {
  const entry = entryOf(text)
  if (entry?.event === 'begin') return id === null || entry.run === id ? ok(entry) : failure(`its journal belongs to run ${entry.run}`)
  const version = versionOf(text)
  if (version !== null && version !== JOURNAL_VERSION)
    return failure(`its journal has version ${version}; this program reads version ${JOURNAL_VERSION}`)
  return failure('the first line of its journal is garbled')
}

function versionOf(text: string): number | null {
  try {
    const { format, version } = JSON.parse(text) as { format?: unknown; version?: unknown }
    return format === JOURNAL_FORMAT && typeof version === 'number' ? version : null
  } catch {
    return null
  }
}
