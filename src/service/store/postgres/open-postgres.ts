import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import { POSTGRES_SCHEMA } from '../schema-dialect.ts'
import { SECRET_TABLES } from '../sealed-values.ts'
import type { Tables } from '../tables.ts'
import { collateText } from './collate-text.ts'
import { eraseDeletedRows } from './erase-deleted.ts'
import { startFailure } from './failures.ts'
import { listen } from './listen.ts'
import { type Connections, clientSettings, createPool, databaseName } from './postgres-pool.ts'
import { readOne, readTransaction, writeTransaction } from './transactions.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq. */
  readonly url: string
  /** Told of connections that are lost while nothing uses them; they are replaced. */
  readonly onError: (error: unknown) => void
}

/** The oldest major version the service is tested to work with. */
const OLDEST = 13

/** Processes that start together bring the schema up to date one after the other: the key of the lock they take. */
const MIGRATION_LOCK = 7_061_935_204

/** Connections of a process at most, beside the one that listens. Reads have their own: they must not wait behind writes of one domain. */
const WRITING = 10
const READING = 5

/** Milliseconds a statement of a request may take. */
const STATEMENT_TIMEOUT = 30_000

/** Milliseconds the server has to end connections that have been closed. */
const GOODBYE = 1_000

/** Milliseconds a request waits for rows that another transaction holds. */
const LOCK_TIMEOUT = 20_000

/**
 * Opens a PostgreSQL database, which any number of processes may use at once, and makes its tables where it has none. Rejects,
 * naming the database and what is the matter, if it cannot be used.
 */
export async function openPostgres({ url, onError }: PostgresOptions): Promise<Database> {
  const name = databaseName(clientSettings(url))
  try {
    await prepare(url, onError)
  } catch (error) {
    throw startFailure(name, error)
  }
  const pools: Connections[] = []
  const connect = (connections: number): Kysely<Tables> => {
    const made = createPool({ url, connections, statementTimeout: STATEMENT_TIMEOUT, lockTimeout: LOCK_TIMEOUT }, onError)
    pools.push(made)
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: made.pool }) })
  }
  const abandon = (): void => {
    for (const pool of pools) pool.abandon()
  }
  const [reading, writing] = [connect(READING), connect(WRITING)]
  return {
    read: (work) => readTransaction(reading, work),
    readOne: (query) => readOne(reading, query),
    write: (work) => writeTransaction(writing, work),
    directory: null,
    eraseDeleted: () => eraseDeletedRows(writing, SECRET_TABLES),
    others: { follow: (onNews) => listen(url, onNews, onError) },
    abandon,
    close: async () => {
      await Promise.all([reading.destroy(), writing.destroy()])
      setTimeout(abandon, GOODBYE).unref()
    },
  }
}

/** On a connection of its own: what changes tables may take long. */
async function prepare(url: string, onError: (error: unknown) => void): Promise<void> {
  const { pool } = createPool({ url, connections: 1, statementTimeout: 0, lockTimeout: 0 }, onError)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [collateText] })
  try {
    await db.connection().execute(async (connection) => {
      const { rows } = await sql<{ version: string }>`select current_setting('server_version_num') as version`.execute(connection)
      const major = Math.floor(Number(rows[0]?.version) / 10_000)
      if (major < OLDEST) throw new Error(`it is version ${major}; the service needs ${OLDEST} or later`)
      // Ends with the connection.
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection)
      await migrate(connection, POSTGRES_SCHEMA)
    })
  } finally {
    await db.destroy()
  }
}
