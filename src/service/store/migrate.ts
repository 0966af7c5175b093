import { type Kysely, type Migration, Migrator } from 'kysely'
import { createAccounts } from './migrations/001-accounts.ts'
import { createDomains } from './migrations/002-domains.ts'
import { createServedZones } from './migrations/003-served-zones.ts'
import { createSecondaries } from './migrations/004-secondaries.ts'
import { extendUsers } from './migrations/005-users.ts'
import type { SchemaDialect } from './schema-dialect.ts'

/** In order; a migration that has been released is never changed. */
const MIGRATIONS: Readonly<Record<string, (db: Kysely<unknown>, dialect: SchemaDialect) => Promise<void>>> = {
  '001-accounts': createAccounts,
  '002-domains': createDomains,
  '003-served-zones': createServedZones,
  '004-secondaries': createSecondaries,
  '005-users': extendUsers,
}

/** Brings the database to the present schema. Throws if one of a later version of the program is found. */
export async function migrateToLatest<T>(db: Kysely<T>, dialect: SchemaDialect): Promise<void> {
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, up]): [string, Migration] => [name, { up: (connection) => up(connection, dialect) }]),
  )
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw new Error('the database cannot be brought to the schema of this version', { cause: error })
}
