/** Restores a backup into an empty database. */
import { type Kysely, sql } from 'kysely'
import type { RawStore } from '../database.ts'
import { migrate, SCHEMA_NAME } from '../migrate.ts'
import { BACKUP_TABLES, backupLines, checkBackup, type TableStart, type Value } from './backup-format.ts'

/** Maximum rows and characters per insert statement. */
const BATCH_ROWS = 500
const BATCH_CHARACTERS = 4 * 1024 * 1024

/** The only table that has a row in a new database. */
const NEVER_EMPTY = 'served_revision'

// biome-ignore lint/suspicious/noExplicitAny: see RawStore
type AnyConnection = Kysely<any>

/**
 * Restores a backup into an empty database in one transaction. Returns the number of rows. Rejects if the database is not empty, or if the file is damaged, not a backup, or from another version of the program.
 */
export async function restoreBackup(store: RawStore, file: string): Promise<{ readonly rows: number; readonly created: string }> {
  const { header, rows } = await checkBackup(file)
  if (header.schema !== SCHEMA_NAME) throw new RangeError(`the backup is from another version of the program (schema ${header.schema})`)
  const { db, dialect } = store
  await migrate(db, dialect)
  await db.transaction().execute(async (transaction) => {
    await refuseUnlessEmpty(transaction)
    await insertAll(store, transaction, file)
  })
  return { rows, created: header.created }
}

async function refuseUnlessEmpty(transaction: AnyConnection): Promise<void> {
  for (const table of Object.keys(BACKUP_TABLES).filter((name) => name !== NEVER_EMPTY)) {
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
    if (rows.length === BATCH_ROWS || characters > BATCH_CHARACTERS) await insert()
  }
  await insert()
}
