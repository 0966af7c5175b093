/** Rows with a chosen id, in tables that normally generate their ids. */
import { PostgresAdapter, sql } from 'kysely'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * Inserts a row with a chosen id, which the table never generates afterwards; without an id, the table generates one. `subject` names the row in
 * the error. Throws a `RangeError` if the id is in use.
 */
export async function insertWithId<T>(
  connection: Connection,
  { table, id, subject }: { readonly table: keyof Tables; readonly id: number | undefined; readonly subject: string },
  insert: () => Promise<T>,
): Promise<T> {
  if (id === undefined) return insert()
  if (!(await isIdFree(connection, table, id)))
    throw new RangeError(`${subject} cannot have the id ${id}, which is in use: choose another id, or omit it`)
  const inserted = await insert()
  await reserveId(connection, table, id)
  return inserted
}

/** Whether no row of the table has this id. */
async function isIdFree(connection: Connection, table: keyof Tables, id: number): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(connection)
  return rows.length === 0
}

/** Ensures that the table never generates this id. Call it after inserting a row with the id. */
async function reserveId(connection: Connection, table: keyof Tables, id: number): Promise<void> {
  // SQLite considers the ids of existing rows; a PostgreSQL sequence does not.
  if (!(connection.getExecutor().adapter instanceof PostgresAdapter)) return
  const sequence = sql`pg_get_serial_sequence(${table}, 'id')`
  await sql`select setval(${sequence}, greatest(${id}::bigint, nextval(${sequence})))`.execute(connection)
}

/** The highest id that a table has ever generated or reserved; 0 if there is none. */
export async function highestId(connection: Connection, table: keyof Tables): Promise<number> {
  const last =
    connection.getExecutor().adapter instanceof PostgresAdapter
      ? sql<{ last: number | string | null }>`select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass) as last`
      : sql<{ last: number | string | null }>`select seq as last from sqlite_sequence where name = ${table}`
  return Number((await last.execute(connection)).rows[0]?.last ?? 0)
}
