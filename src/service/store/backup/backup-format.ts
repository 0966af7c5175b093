/**
 * The format of backup files: lines of JSON. It is the same for SQLite and PostgreSQL, so a backup can move between them. The header comes
 * first, then each table: a line with its columns, and a line with an array for each row. The last line has the number of rows and the SHA-256
 * of all octets before it.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { SCHEMA } from '../schema.ts'

export const FORMAT = 'zonewright-backup'
export const VERSION = 1

export interface Header {
  readonly format: typeof FORMAT
  readonly version: number
  /** The last migration of the database. */
  readonly schema: string
  /** UTC, in the time format of the API. */
  readonly created: string
}

export interface TableStart {
  readonly table: string
  readonly columns: readonly string[]
  /** The highest id that the table has ever assigned; null if its rows have no generated ids. */
  readonly lastId: number | null
}

export interface Trailer {
  readonly rows: number
  readonly sha256: string
}

export type Value = string | number | null
export type BackupLine = Header | TableStart | readonly Value[]

export const lineOf = (line: BackupLine | Trailer): string => `${JSON.stringify(line)}\n`

/** Maximum size of a line in octets. The longest lines contain zone files. */
const MAX_LINE_OCTETS = 256 * 1024 * 1024

const LINE_FEED = 0x0a

/** Reads a backup completely and checks its checksum. Returns the header. Rejects with the system's error or a `RangeError` for the user. */
export async function checkBackup(file: string): Promise<{ readonly header: Header; readonly rows: number }> {
  const hash = createHash('sha256')
  let header: Header | null = null
  let last: Buffer | null = null
  let rows = 0
  for await (const line of linesOf(file)) {
    header ??= readHeader(line)
    if (last !== null) {
      hash.update(last).update('\n')
      if (last[0] === ROW_BEGINS) rows += 1
    }
    last = line
  }
  if (header === null || last === null) throw new RangeError('the file is empty')
  const trailer = parse(last) as Partial<Trailer> | null
  if (typeof trailer?.sha256 !== 'string') throw new RangeError('the backup is incomplete: its end is missing')
  if (trailer.sha256 !== hash.digest('hex') || trailer.rows !== rows)
    throw new RangeError('the backup has been changed or damaged: its checksum does not match')
  return { header, rows }
}

/** The first octet of a row: `[`. */
const ROW_BEGINS = 0x5b

/** Yields the tables and rows of a checked backup. It still validates each line, because a forged file can have a valid checksum. */
export async function* backupLines(file: string): AsyncGenerator<TableStart | readonly Value[]> {
  let number = 0
  for await (const line of linesOf(file)) {
    number += 1
    if (number === 1) continue
    const value = parse(line)
    if (isTableStart(value) || isRow(value)) yield value
    else if (!isTrailer(value)) throw new RangeError(`line ${number} of the backup is neither a table nor a row`)
  }
}

const isTrailer = (value: unknown): boolean => isObject(value) && typeof value['sha256'] === 'string'

const isRow = (value: unknown): value is readonly Value[] => Array.isArray(value) && value.every(isValue)

const isValue = (value: unknown): boolean => value === null || typeof value === 'string' || Number.isFinite(value)

const isTableStart = (value: unknown): value is TableStart =>
  isObject(value) &&
  typeof value['table'] === 'string' &&
  Array.isArray(value['columns']) &&
  value['columns'].every((column) => typeof column === 'string') &&
  (value['lastId'] === null || (Number.isSafeInteger(value['lastId']) && (value['lastId'] as number) >= 0))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Yields the lines without line feeds, as octets for the checksum. Throws if a line is too long. */
async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  const input = createReadStream(file)
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
        yield Buffer.concat([...parts, chunk.subarray(from, end)])
        parts = []
        length = 0
        from = end + 1
      }
      parts.push(chunk.subarray(from))
      length += chunk.length - from
      if (length > MAX_LINE_OCTETS) throw new RangeError('the file is not a backup of the service: it has a line that is too long')
    }
  } finally {
    input.destroy()
  }
  if (length > 0) yield Buffer.concat(parts)
}

function readHeader(line: Buffer): Header {
  const header = parse(line) as Partial<Header> | null
  if (header?.format !== FORMAT || typeof header.schema !== 'string' || typeof header.created !== 'string')
    throw new RangeError('the file is not a backup of the service')
  if (header.version !== VERSION)
    throw new RangeError(`the backup has format version ${header.version}, but this program reads version ${VERSION}`)
  return header as Header
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return null
  }
}

/** All tables in a backup, with their key columns. Referenced tables come first. */
export const BACKUP_TABLES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(SCHEMA).flatMap(([table, { key }]) => (table === 'secret_key' ? [] : [[table, key]])),
)

/** The tables that generate ids, which are never reused. */
export const NUMBERED_TABLES: ReadonlySet<string> = new Set(
  Object.entries(SCHEMA).flatMap(([table, { columns }]) => (columns['id']?.type === 'id' ? [table] : [])),
)
