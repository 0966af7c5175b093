/** Migrates databases to the schema of this version. */
import { DEFAULT_MIGRATION_TABLE, type Kysely, type Migration, Migrator } from 'kysely'
import type { SchemaDialect } from './database.ts'
import { createAccounts, createDomains, createSecondaries, createServedZones } from './migrations/001-to-004.ts'
import { createImagesAndScripts, createInstances, createUserData, extendUsers } from './migrations/005-to-008.ts'
import { addOfferedSerials, addQuotas, createSecretKey, createTaggedObjects, indexZoneNames } from './migrations/009-to-013.ts'

/** All migrations in order. Never change a released one. */
const MIGRATIONS: Readonly<Record<string, (db: Kysely<unknown>, dialect: SchemaDialect) => Promise<void>>> = {
  '001-accounts': createAccounts,
  '002-domains': createDomains,
  '003-served-zones': createServedZones,
  '004-secondaries': createSecondaries,
  '005-users': extendUsers,
  '006-instances': createInstances,
  '007-images-scripts': createImagesAndScripts,
  '008-profile': createUserData,
  '009-tagged-objects': createTaggedObjects,
  '010-offers': addOfferedSerials,
  '011-zone-names': indexZoneNames,
  '012-secret-key': createSecretKey,
  '013-quotas': addQuotas,
}

/** The names of all migrations. The last one names the current schema. */
export const SCHEMAS: readonly string[] = Object.keys(MIGRATIONS)

/** Migrates the database to a schema, by default the current one. Throws if it already has a later one, from a later version of the program. */
export async function migrate<T>(
  db: Kysely<T>,
  dialect: SchemaDialect,
  schema: string = SCHEMAS[SCHEMAS.length - 1] as string,
): Promise<void> {
  const { error } = await migratorOf(db, dialect).migrateTo(schema)
  if (error !== undefined) throw new Error('the database cannot be migrated to the schema of this version', { cause: error })
}

/** Throws a `RangeError` unless the database has the current schema. The service migrates it at startup. */
export async function requireSchema<T>(db: Kysely<T>, dialect: SchemaDialect): Promise<void> {
  const schema = await findSchema(db, dialect)
  if (schema === null) throw new RangeError('the database of the service does not exist')
  if (schema !== SCHEMAS[SCHEMAS.length - 1])
    throw new RangeError(`the database has the schema ${schema} of another version of the program: start this version of the service first`)
}

/** The schema of the database; null if it has no tables of the service. */
export async function findSchema<T>(db: Kysely<T>, dialect: SchemaDialect): Promise<string | null> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return null
  const done = (await migratorOf(db, dialect).getMigrations()).filter(({ executedAt }) => executedAt !== undefined)
  return done[done.length - 1]?.name ?? null
}

function migratorOf<T>(db: Kysely<T>, dialect: SchemaDialect): Migrator {
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, up]): [string, Migration] => [name, { up: (connection) => up(connection, dialect) }]),
  )
  return new Migrator({ db, provider: { getMigrations: async () => migrations } })
}
