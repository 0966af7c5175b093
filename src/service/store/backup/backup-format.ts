/**
 * The file of a backup: lines of JSON that are the same whatever database they come from, so that one moves between SQLite and
 * PostgreSQL. First a header, then each table with its columns and its rows as arrays, at the end the number of rows and the SHA-256 of
 * all octets before that line.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

export const FORMAT = 'zonewright-backup'
export const VERSION = 1

export interface Header {
  readonly format: typeof FORMAT
  readonly version: number
  /** The last migration of the database. */
  readonly schema: string
  /** UTC, as the interface writes times. */
  readonly created: string
}

export interface TableStart {
  readonly table: string
  readonly columns: readonly string[]
  /** The highest number the table has ever given to a row; null where it gives none. */
  readonly lastId: number | null
}

export interface Trailer {
  readonly rows: number
  readonly sha256: string
}

export type Value = string | number | null
export type BackupLine = Header | TableStart | readonly Value[]

export const lineOf = (line: BackupLine | Trailer): string => `${JSON.stringify(line)}\n`

/** Characters of a line: a zone file is the longest there is. */
const MAX_LINE = 256 * 1024 * 1024

/**
 * The header of a backup, once all of the file has been read and is what was written. Rejects, saying what is wrong, with the system's
 * error or a `RangeError`.
 */
export async function checkBackup(file: string): Promise<{ readonly header: Header; readonly rows: number }> {
  const hash = createHash('sha256')
  let header: Header | null = null
  let last = ''
  let rows = 0
  for await (const line of linesOf(file)) {
    if (header === null) header = readHeader(line)
    if (last !== '') {
      hash.update(`${last}\n`)
      if (last.startsWith('[')) rows += 1
    }
    last = line
  }
  if (header === null) throw new RangeError('the file is empty')
  const trailer = parse(last) as Partial<Trailer> | null
  if (typeof trailer?.sha256 !== 'string') throw new RangeError('the backup is not whole: its end is missing')
  if (trailer.sha256 !== hash.digest('hex') || trailer.rows !== rows)
    throw new RangeError('the backup has been changed or damaged: its checksum is another')
  return { header, rows }
}

/** What stands between the header and the end of a backup that has been checked. */
export async function* backupLines(file: string): AsyncGenerator<TableStart | readonly Value[]> {
  let first = true
  for await (const line of linesOf(file)) {
    if (!first && !line.startsWith('{"rows":')) yield JSON.parse(line)
    first = false
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const input = createReadStream(file, { encoding: 'utf8' })
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.length > MAX_LINE) throw new RangeError('the file is no backup of the service')
      yield line
    }
  } finally {
    input.destroy()
  }
}

function readHeader(line: string): Header {
  const header = parse(line) as Partial<Header> | null
  if (header?.format !== FORMAT || typeof header.schema !== 'string') throw new RangeError('the file is no backup of the service')
  if (header.version !== VERSION) throw new RangeError(`the backup is of format version ${header.version}; this program reads ${VERSION}`)
  return header as Header
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
