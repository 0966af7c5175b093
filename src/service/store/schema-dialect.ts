import { type ColumnDefinitionBuilder, type Kysely, type RawBuilder, sql } from 'kysely'

/** Where the dialects differ in how a table is made. */
export interface SchemaDialect {
  /** The type of an integer key that numbers itself, and the rest of its column. Numbers are never used twice. */
  readonly idType: 'integer' | RawBuilder<unknown>
  readonly idColumn: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
  /** Has every committed update of a table told to the processes that listen; nothing where there can be no other. */
  readonly announceUpdates: (db: Kysely<unknown>, table: string) => Promise<void>
}

export const SQLITE_SCHEMA: SchemaDialect = {
  idType: 'integer',
  idColumn: (column) => column.primaryKey().autoIncrement(),
  announceUpdates: async () => undefined,
}

/** The channel that processes listen to (PostgreSQL's `listen`). */
export const CHANNEL = 'zonewright'

export const POSTGRES_SCHEMA: SchemaDialect = {
  idType: sql`bigint`,
  idColumn: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
  announceUpdates: async (db, table) => {
    await sql`create or replace function zonewright_announce() returns trigger language plpgsql as
      ${sql.lit(`begin perform pg_notify('${CHANNEL}', ''); return null; end`)}`.execute(db)
    await sql`create trigger ${sql.id(`${table}_announced`)} after update on ${sql.table(table)}
      for each statement execute function zonewright_announce()`.execute(db)
  },
}
