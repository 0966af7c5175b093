/** The differences between SQLite and PostgreSQL in schema definitions. */
import { type ColumnDefinitionBuilder, type Kysely, type RawBuilder, sql } from 'kysely'

/** The differences between the dialects in schema definitions. */
export interface SchemaDialect {
  /** The type and column definition of a generated integer key. Its values are never reused. */
  readonly idType: 'integer' | RawBuilder<unknown>
  readonly idColumn: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
  /** Notifies listening processes of every committed update of a table. Does nothing if there can be no other process. */
  readonly announceUpdates: (db: Kysely<unknown>, table: string) => Promise<void>
}

export const SQLITE_SCHEMA: SchemaDialect = {
  idType: 'integer',
  idColumn: (column) => column.primaryKey().autoIncrement(),
  announceUpdates: async () => undefined,
}

/** The PostgreSQL notification channel. */
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
