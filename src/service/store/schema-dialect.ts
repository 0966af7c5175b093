import { type ColumnDefinitionBuilder, type RawBuilder, sql } from 'kysely'

/** Where the dialects differ in how a table is made. */
export interface SchemaDialect {
  /** The type of an integer key that numbers itself, and the rest of its column. Numbers are never used twice. */
  readonly idType: 'integer' | RawBuilder<unknown>
  readonly idColumn: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
}

export const SQLITE_SCHEMA: SchemaDialect = {
  idType: 'integer',
  idColumn: (column) => column.primaryKey().autoIncrement(),
}

export const POSTGRES_SCHEMA: SchemaDialect = {
  idType: sql`bigint`,
  idColumn: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
}
