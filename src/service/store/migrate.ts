/** Gives databases the schema of this version. */
import { DEFAULT_MIGRATION_TABLE, type Kysely, type Migration, Migrator, sql } from 'kysely'
import type { SchemaDialect } from './database.ts'
import { createTables } from './schema.ts'

/** All migrations in order. Never change a released one. */
const MIGRATIONS: Readonly<Record<string, (db: Kysely<unknown>, dialect: SchemaDialect) => Promise<void>>> = {
  '0.1.0-tables': createTables,
}

/** The name of the current schema, which is its last migration. */
export const SCHEMA_NAME = Object.keys(MIGRATIONS).at(-1) as string

/** Migrates the database to the current schema. Throws a `RangeError`, and changes nothing, if another version of the program made it. */
export async function migrate<T>(db: Kysely<T>, dialect: SchemaDialect): Promise<void> {
  const found = await findSchema(db)
  if (found !== null && !Object.hasOwn(MIGRATIONS, found)) throw otherSchema(found)
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, up]): [string, Migration] => [name, { up: (connection) => up(connection, dialect) }]),
  )
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw new Error('the database cannot be migrated to the schema of this version', { cause: error })
}

/** Throws a `RangeError` unless the database has the current schema. The service migrates it at startup. */
export async function requireSchema<T>(db: Kysely<T>): Promise<void> {
  const found = await findSchema(db)
  if (found === null) throw new RangeError('the database of the service does not exist')
  if (found !== SCHEMA_NAME) throw otherSchema(found)
}

const otherSchema = (name: string): RangeError =>
  new RangeError(
    `the database has the schema ${name} of another version of the program, and is unchanged: use that version, or an empty database`,
  )

/** The schema of the database; null if it has no tables of the service. */
export async function findSchema<T>(db: Kysely<T>): Promise<string | null> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return null
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by timestamp, name`.execute(db)
  return rows.at(-1)?.name ?? null
}
