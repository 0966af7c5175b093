/**
 * Writes backups of the database to files, and restores them.
 *
 * The format of backup files: lines of JSON. It is the same for SQLite and PostgreSQL, so a backup can move between them. The header comes first,
 * then each table: a line with its columns, and a line with an array for each row. The last line has the number of rows and the SHA-256 of all
 * octets before it.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isObject } from '../../base/text.ts'
import { RESTORE, SERVICE, setOrigin } from './audit.ts'
import type { RawStore } from './database.ts'
import { findSchema, isKnownSchema, migrate, requireSchema, SCHEMA, SCHEMA_NAME } from './schema.ts'

const FORMAT = 'zonewright-backup'
const VERSION = 1

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

const lineOf = (line: BackupLine | Trailer): string => `${JSON.stringify(line)}\n`

/** Maximum size of a line in octets. The longest lines contain zone files. */
const MAX_LINE_OCTETS = 256 * 1024 * 1024

const LINE_FEED = 0x0a

/** Reads a backup completely and checks its checksum. Returns the header. Rejects with the system's error or a `RangeError` for the user. */
async function checkBackup(file: string): Promise<{ readonly header: Header; readonly rows: number }> {
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
async function* backupLines(file: string): AsyncGenerator<TableStart | readonly Value[]> {
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
const NUMBERED_TABLES: ReadonlySet<string> = new Set(
  Object.entries(SCHEMA).flatMap(([table, { columns }]) => (columns['id']?.type === 'id' ? [table] : [])),
)

/** Rows per query; fewer for the table whose rows contain zone files. */
const BATCH_ROWS = 1000
const BATCH_ROWS_OF: Readonly<Record<string, number>> = { zone_files: 20 }

/**
 * Writes a snapshot of the database to a file, which appears only when it is complete and on disk. The service may keep running. Returns the
 * number of rows. Rejects if the service has no database there or the file cannot be written.
 */
export async function writeBackup(store: RawStore, file: string, now: string): Promise<{ readonly rows: number }> {
  await requireSchema(store.db)
  const temporary = `${file}.${process.pid}.part`
  // It contains hashes of tokens, addresses and names, which other users must not read.
  const handle = await open(temporary, 'wx', 0o600)
  try {
    const rows = await store.snapshot((connection) => writeAll(store, connection, handle, { schema: SCHEMA_NAME, created: now }))
    await handle.sync()
    await handle.close()
    await rename(temporary, file)
    return { rows }
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(temporary, { force: true })
    throw error
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see RawStore
type AnyConnection = Kysely<any>

async function writeAll(
  store: RawStore,
  connection: AnyConnection,
  handle: FileHandle,
  header: { readonly schema: string; readonly created: string },
): Promise<number> {
  const hash = createHash('sha256')
  const write = async (text: string): Promise<void> => {
    hash.update(text)
    // Unlike `write`, `appendFile` never writes only a part without an error, for example on a full disk.
    await handle.appendFile(text)
  }
  let written = 0
  await write(lineOf({ format: FORMAT, version: VERSION, ...header }))
  const tables = await connection.introspection.getTables()
  for (const [table, key] of Object.entries(BACKUP_TABLES)) {
    const found = tables.find(({ name }) => name === table)
    if (found === undefined) continue
    const columns = found.columns.map(({ name }) => name)
    await write(lineOf({ table, columns, lastId: NUMBERED_TABLES.has(table) ? await store.lastId(connection, table) : null }))
    for await (const rows of batchesOf(connection, table, key)) {
      await write(rows.map((row) => lineOf(columns.map((column) => row[column] as Value))).join(''))
      written += rows.length
    }
  }
  await handle.appendFile(lineOf({ rows: written, sha256: hash.digest('hex') }))
  return written
}

type Row = Readonly<Record<string, unknown>>

/** Yields the rows of a table in key order. */
async function* batchesOf(connection: AnyConnection, table: string, key: readonly string[]): AsyncGenerator<readonly Row[]> {
  const limit = BATCH_ROWS_OF[table] ?? BATCH_ROWS
  for (let last: Row | undefined; ; ) {
    let query = connection.selectFrom(table).selectAll().limit(limit)
    for (const column of key) query = query.orderBy(column)
    if (last !== undefined) query = query.where(isAfter(key, last))
    const rows: readonly Row[] = await query.execute()
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    last = rows[rows.length - 1]
  }
}

const isAfter = (key: readonly string[], row: Row): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${sql.join(key.map((column) => sql.ref(column)))}) > (${sql.join(key.map((column) => row[column]))})`

/** Maximum rows and characters per insert statement. */
const INSERTED_ROWS = 500
const INSERTED_CHARACTERS = 4 * 1024 * 1024

/** The only table that has a row in a new database. */
const NEVER_EMPTY = 'served_revision'

/**
 * Restores a backup into an empty database in one transaction, with the tables of the version that made it, and migrates them. Returns the number of rows. Rejects if the database is not empty or
 * has other tables, or if the file is damaged, not a backup, or from a later version of the program.
 */
export async function restoreBackup(store: RawStore, file: string): Promise<{ readonly rows: number; readonly created: string }> {
  const { header, rows } = await checkBackup(file)
  const { schema } = header
  if (!isKnownSchema(schema))
    throw new RangeError(`the backup is from a later version of the program (schema ${schema}): restore it with that version`)
  const { db, dialect } = store
  // Names of schemas are in the order of versions.
  if (((await findSchema(db)) ?? '') > schema)
    throw new RangeError('the backup is from an earlier version of the program, which needs a database without tables')
  await migrate(db, dialect, schema)
  await db.transaction().execute(async (transaction) => {
    await refuseUnlessEmpty(transaction)
    // Earlier tables have no audit log yet.
    if (schema === SCHEMA_NAME) await setOrigin(transaction, RESTORE)
    await insertAll(store, transaction, file)
    if (schema === SCHEMA_NAME) await setOrigin(transaction, SERVICE)
  })
  await migrate(db, dialect)
  return { rows, created: header.created }
}

async function refuseUnlessEmpty(transaction: AnyConnection): Promise<void> {
  const tables = (await transaction.introspection.getTables()).map(({ name }) => name)
  for (const table of tables.filter((name) => Object.hasOwn(BACKUP_TABLES, name) && name !== NEVER_EMPTY)) {
    const row = await transaction.selectFrom(table).select(sql`1`.as('one')).limit(1).executeTakeFirst()
    if (row !== undefined) throw new RangeError('the database is not empty')
  }
  await transaction.deleteFrom(NEVER_EMPTY).execute()
}

async function insertAll(store: RawStore, transaction: AnyConnection, file: string): Promise<void> {
  let start: TableStart | null = null
  let rows: (readonly Value[])[] = []
  let characters = 0
  const insert = async (): Promise<void> => {
    if (start === null || rows.length === 0) return
    const { table, columns } = start
    const values = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])))
    await transaction.insertInto(table).values(values).execute()
    rows = []
    characters = 0
  }
  for await (const line of backupLines(file)) {
    if ('table' in line) {
      await insert()
      if (!Object.hasOwn(BACKUP_TABLES, line.table)) throw new RangeError(`the backup has an unknown table ${JSON.stringify(line.table)}`)
      start = line
      if (line.lastId !== null) await store.setLastId(transaction, line.table, line.lastId)
      continue
    }
    if (start === null || line.length !== start.columns.length) throw new RangeError('the backup has a row that does not match a table')
    rows.push(line)
    characters += line.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
    if (rows.length === INSERTED_ROWS || characters > INSERTED_CHARACTERS) await insert()
  }
  await insert()
}
