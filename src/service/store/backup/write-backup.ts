/** Writes a backup of the database to a file. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { RawStore } from '../database.ts'
import { requireSchema, SCHEMA_NAME } from '../migrate.ts'
import { BACKUP_TABLES, FORMAT, lineOf, NUMBERED_TABLES, type Value, VERSION } from './backup-format.ts'

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
