/** Rows that are given their numbers, where a table otherwise numbers them itself. */
import { PostgresAdapter, sql } from 'kysely'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

/** Whether no row of a table has the number. */
export async function isNumberFree(connection: Connection, table: keyof Tables, id: number): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(connection)
  return rows.length === 0
}

/** Has the table never give the number by itself. To be called when a row has been given it. */
export async function reserveNumber(connection: Connection, table: keyof Tables, id: number): Promise<void> {
  // SQLite looks at the numbers that rows have; a sequence of PostgreSQL does not.
  if (!(connection.getExecutor().adapter instanceof PostgresAdapter)) return
  const sequence = sql`pg_get_serial_sequence(${table}, 'id')`
  await sql`select setval(${sequence}, greatest(${id}::bigint, nextval(${sequence})))`.execute(connection)
}

/** The highest number that a table has ever given, or a row of it has been given; 0 where there is none. */
export async function lastNumber(connection: Connection, table: keyof Tables): Promise<number> {
  const last =
    connection.getExecutor().adapter instanceof PostgresAdapter
      ? sql<{ last: number | string | null }>`select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass) as last`
      : sql<{ last: number | string | null }>`select seq as last from sqlite_sequence where name = ${table}`
  return Number((await last.execute(connection)).rows[0]?.last ?? 0)
}
