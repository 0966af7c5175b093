import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DataTypeNode,
  Kysely,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  PostgresDialect,
  type QueryId,
  RawNode,
  type RootOperationNode,
  sql,
} from 'kysely'
import type { Database, RawStore } from '../database.ts'
import { migrate, requireSchema } from '../migrate.ts'
import { POSTGRES_SCHEMA } from '../schema-dialect.ts'
import { SEALED_TABLES } from '../sealed-values.ts'
import type { Tables } from '../tables.ts'
import { listenForChanges } from './listen.ts'
import { type Connections, clientSettings, createPool, databaseName, startError } from './postgres-pool.ts'
import { readOne, readTransaction, writeTransaction } from './transactions.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq. */
  readonly url: string
  /** Told of connections that are lost while nothing uses them; they are replaced. */
  readonly onError: (error: unknown) => void
}

/** The oldest major version the service is tested to work with. */
const MIN_VERSION = 13

/** Processes that start together bring the schema up to date one after the other: the key of the lock they take. */
const MIGRATION_LOCK = 7_061_935_204

/** Connections of a process at most, beside the one that listens. Reads have their own: they must not wait behind writes of one domain. */
const WRITE_CONNECTIONS = 10
const READ_CONNECTIONS = 5

/** Milliseconds a statement of a request may take. */
const STATEMENT_TIMEOUT = 30_000

/** Milliseconds the server has to end connections that have been closed. */
const CLOSE_TIMEOUT = 1_000

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
    throw startError(name, error)
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
  const [reading, writing] = [connect(READ_CONNECTIONS), connect(WRITE_CONNECTIONS)]
  return {
    read: (work) => readTransaction(reading, work),
    readOne: (query) => readOne(reading, query),
    write: (work) => writeTransaction(writing, work),
    directory: null,
    eraseDeleted: () => eraseDeletedRows(writing, SEALED_TABLES),
    otherProcesses: { subscribe: (onNews) => listenForChanges(url, onNews, onError) },
    abandon,
    close: async () => {
      await Promise.all([reading.destroy(), writing.destroy()])
      setTimeout(abandon, CLOSE_TIMEOUT).unref()
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
      if (major < MIN_VERSION) throw new Error(`it is version ${major}; the service needs ${MIN_VERSION} or later`)
      // Ends with the connection.
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection)
      await migrate(connection, POSTGRES_SCHEMA)
    })
  } finally {
    await db.destroy()
  }
}

/** Milliseconds to wait for transactions that began before, and between two looks. */
const ERASE_TIMEOUT = 20_000
const ERASE_POLL_INTERVAL = 100

/**
 * Writes tables anew without the rows that were deleted or replaced. PostgreSQL keeps such rows for every transaction that may still read them, so that
 * those must end first. Rejects if they do not in time. The transaction log of the server keeps former rows until the server writes over it.
 */
async function eraseDeletedRows<T>(db: Kysely<T>, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`select txid_current()::text as id`.execute(db)
  const { id } = rows[0] as { id: string }
  for (const end = performance.now() + ERASE_TIMEOUT; !(await isPast(db, id)); await sleep(ERASE_POLL_INTERVAL)) {
    if (performance.now() > end) throw new Error('transactions that began before are still under way in the PostgreSQL server')
  }
  // Each statement is a transaction of its own; the tables are small.
  for (const table of tables) await sql`vacuum (full) ${sql.table(table)}`.execute(db)
}

/** Whether all transactions of the server that began before this one have ended, and nobody reads the database as it was then. */
async function isPast<T>(db: Kysely<T>, id: string): Promise<boolean> {
  const { rows } = await sql<{ past: boolean }>`
    select txid_snapshot_xmin(txid_current_snapshot()) > ${id}::bigint and not exists (
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and age(backend_xmin) > age((${id}::bigint % 4294967296)::text::xid)
    ) as past`.execute(db)
  return rows[0]?.past === true
}

/**
 * Gives every text column that is made the collation "C", whatever the database's own is: text is compared and ordered by its
 * octets and case is folded in ASCII only, as SQLite does it, so that filters and orders mean the same on both.
 */
export const collateText: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId) as RootOperationNode,
  transformResult: async ({ result }) => result,
}

// The library's visitor of query trees is a class to be extended.
class TextCollator extends OperationNodeTransformer {
  protected override transformNodeImpl<T extends OperationNode>(node: T, queryId?: QueryId): T {
    if (node.kind === 'DataTypeNode' && (node as unknown as DataTypeNode).dataType === 'text') {
      return RawNode.createWithSql('text collate "C"') as OperationNode as T
    }
    return super.transformNodeImpl(node, queryId)
  }
}

const transformer = new TextCollator()

/** A PostgreSQL database as it is, on one connection. Rejects, naming it and what is the matter, if it cannot be used. */
export async function openRawPostgres(url: string): Promise<RawStore> {
  const name = databaseName(clientSettings(url))
  const { pool } = createPool({ url, connections: 1, statementTimeout: 0, lockTimeout: 0 }, () => undefined)
  // biome-ignore lint/suspicious/noExplicitAny: see PlainStore
  const db = new Kysely<any>({ dialect: new PostgresDialect({ pool }), plugins: [collateText] })
  try {
    await sql`select 1`.execute(db)
  } catch (error) {
    await db.destroy()
    throw startError(name, error)
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
  const store = await openRawPostgres(url)
  try {
    await requireSchema(store.db, store.dialect)
  } finally {
    await store.close()
  }
}
