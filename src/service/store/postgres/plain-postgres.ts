import { Kysely, PostgresDialect, sql } from 'kysely'
import type { PlainStore } from '../backup/plain-store.ts'
import { requireSchema } from '../migrate.ts'
import { POSTGRES_SCHEMA } from '../schema-dialect.ts'
import { collateText } from './collate-text.ts'
import { startFailure } from './failures.ts'
import { clientSettings, createPool, databaseName } from './postgres-pool.ts'

/** A PostgreSQL database as it is, on one connection. Rejects, naming it and what is the matter, if it cannot be used. */
export async function plainPostgres(url: string): Promise<PlainStore> {
  const name = databaseName(clientSettings(url))
  const { pool } = createPool({ url, connections: 1, statementTimeout: 0, lockTimeout: 0 }, () => undefined)
  // biome-ignore lint/suspicious/noExplicitAny: see PlainStore
  const db = new Kysely<any>({ dialect: new PostgresDialect({ pool }), plugins: [collateText] })
  try {
    await sql`select 1`.execute(db)
  } catch (error) {
    await db.destroy()
    throw startFailure(name, error)
  }
  return {
    db,
    dialect: POSTGRES_SCHEMA,
    snapshot: (work) => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    lastId: async (connection, table) => {
      const sequence = sql<{ sequence: string }>`select pg_get_serial_sequence(${table}, 'id') as sequence`
      const [found] = (await sequence.execute(connection)).rows
      const value = sql<{ last_id: number }>`select case when is_called then last_value else last_value - 1 end as last_id
        from ${sql.raw(found?.sequence as string)}`
      return (await value.execute(connection)).rows[0]?.last_id ?? 0
    },
    setLastId: async (connection, table, id) => {
      await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${id + 1}, false)`.execute(connection)
    },
    close: () => db.destroy(),
  }
}

/** Throws a `RangeError` unless a PostgreSQL database has the present schema. */
export async function requirePostgresSchema(url: string): Promise<void> {
  const store = await plainPostgres(url)
  try {
    await requireSchema(store.db, store.dialect)
  } finally {
    await store.close()
  }
}
