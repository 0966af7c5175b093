/** Opens PostgreSQL databases: the schema check and migration at startup, transactions with retries, and text in octet order. */
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
import pg from 'pg'
import { type Origin, originSql, SERVICE } from '../audit.ts'
import type { Connection, Database, OtherProcesses, RawStore, SchemaDialect } from '../database.ts'
import { migrate, requireSchema } from '../schema.ts'
import { SEALED_TABLES } from '../sealed-values.ts'
import type { Tables } from '../tables.ts'
import {
  type Connections,
  clientSettings,
  createPool,
  databaseName,
  disconnect,
  isConflict,
  isConnectionError,
  startError,
} from './postgres-pool.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq. */
  readonly url: string
  /** Called when an idle connection is lost. It is replaced. */
  readonly onError: (error: unknown) => void
}

/** The oldest supported major version. */
const MIN_VERSION = 13

/** The key of the advisory lock that lets only one process migrate the schema at a time. */
const MIGRATION_LOCK = 7_061_935_204

/** Maximum connections per process, besides the listening one. Reads have their own, so that they do not wait for writes. */
const WRITE_CONNECTIONS = 10
const READ_CONNECTIONS = 5

/** Milliseconds that a statement may take. */
const STATEMENT_TIMEOUT = 30_000

/** Milliseconds that the server has to end closed connections. */
const CLOSE_TIMEOUT = 1_000

/** Milliseconds to wait for rows locked by another transaction. */
const LOCK_TIMEOUT = 20_000

/**
 * Opens a PostgreSQL database, which any number of processes may use, and creates or migrates its tables. Rejects with the database's name and
 * the problem if it cannot be used.
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
    const created = createPool({ url, connections, statementTimeout: STATEMENT_TIMEOUT, lockTimeout: LOCK_TIMEOUT }, onError)
    pools.push(created)
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: created.pool }) })
  }
  const abandon = (): void => {
    for (const pool of pools) pool.abandon()
  }
  const [reading, writing] = [connect(READ_CONNECTIONS), connect(WRITE_CONNECTIONS)]
  return {
    read: (work) => readTransaction(reading, work),
    readOne: (query) => readOne(reading, query),
    write: (work, origin = SERVICE) => writeTransaction(writing, work, origin),
    folder: null,
    eraseDeleted: () => eraseDeletedRows(writing, SEALED_TABLES),
    otherProcesses: { subscribe: (onChange) => listenForChanges(url, onChange, onError) },
    abandon,
    close: async () => {
      await Promise.all([reading.destroy(), writing.destroy()])
      setTimeout(abandon, CLOSE_TIMEOUT).unref()
    },
  }
}

const POSTGRES_SCHEMA: SchemaDialect = {
  idType: sql`bigint`,
  idColumn: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
  announceUpdates: async (db, table) => {
    await sql`create or replace function zonewright_announce() returns trigger language plpgsql as
      ${sql.lit(`begin perform pg_notify('${CHANNEL}', ''); return null; end`)}`.execute(db)
    await sql`create trigger ${sql.id(`${table}_announced`)} after update on ${sql.table(table)}
      for each statement execute function zonewright_announce()`.execute(db)
  },
}

/** Checks the server version and migrates the schema on a separate connection without timeouts, because migrations may take long. */
async function prepare(url: string, onError: (error: unknown) => void): Promise<void> {
  const { pool } = createPool({ url, connections: 1, statementTimeout: 0, lockTimeout: 0 }, onError)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [collateText] })
  try {
    await db.connection().execute(async (connection) => {
      const { rows } = await sql<{ version: string }>`select current_setting('server_version_num') as version`.execute(connection)
      const major = Math.floor(Number(rows[0]?.version) / 10_000)
      if (major < MIN_VERSION) throw new Error(`its version is ${major}; the service needs ${MIN_VERSION} or later`)
      // Released with the connection.
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection)
      await migrate(connection, POSTGRES_SCHEMA)
    })
  } finally {
    await db.destroy()
  }
}

/** Milliseconds to wait for earlier transactions, and between two checks. */
const ERASE_TIMEOUT = 20_000
const ERASE_POLL_INTERVAL = 100

/**
 * Rewrites tables without deleted and replaced rows. PostgreSQL keeps such rows as long as a transaction may read them, so earlier transactions
 * must end first. Rejects if they do not end in time. The server's write-ahead log keeps the rows until it is recycled.
 */
async function eraseDeletedRows<T>(db: Kysely<T>, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`select txid_current()::text as id`.execute(db)
  const { id } = rows[0] as { id: string }
  for (const end = performance.now() + ERASE_TIMEOUT; !(await isPast(db, id)); await sleep(ERASE_POLL_INTERVAL)) {
    if (performance.now() > end) throw new Error('earlier transactions are still running on the PostgreSQL server')
  }
  // Each statement is its own transaction. The tables are small.
  for (const table of tables) await sql`vacuum (full) ${sql.table(table)}`.execute(db)
}

/** Whether all transactions that started before this one have ended, and no session reads an older snapshot. */
async function isPast<T>(db: Kysely<T>, id: string): Promise<boolean> {
  const { rows } = await sql<{ past: boolean }>`
    select txid_snapshot_xmin(txid_current_snapshot()) > ${id}::bigint and not exists (
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and age(backend_xmin) > age((${id}::bigint % 4294967296)::text::xid)
    ) as past`.execute(db)
  return rows[0]?.past === true
}

/**
 * A plugin that creates all text columns with collation "C". Text is then compared and sorted by octets, and case is folded only in ASCII, as in
 * SQLite, so that filters and orders are the same in both databases.
 */
const collateText: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId) as RootOperationNode,
  transformResult: async ({ result }) => result,
}

// Kysely requires a subclass.
class TextCollator extends OperationNodeTransformer {
  protected override transformNodeImpl<T extends OperationNode>(node: T, queryId?: QueryId): T {
    if (node.kind === 'DataTypeNode' && (node as unknown as DataTypeNode).dataType === 'text') {
      return RawNode.createWithSql('text collate "C"') as OperationNode as T
    }
    return super.transformNodeImpl(node, queryId)
  }
}

const transformer = new TextCollator()

/** Opens a PostgreSQL database as it is, with one connection. Rejects with its name and the problem if it cannot be used. */
export async function openRawPostgres(url: string): Promise<RawStore> {
  const name = databaseName(clientSettings(url))
  const { pool } = createPool({ url, connections: 1, statementTimeout: 0, lockTimeout: 0 }, () => undefined)
  // biome-ignore lint/suspicious/noExplicitAny: see RawStore
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

/** Throws a `RangeError` unless a PostgreSQL database has the current schema. */
export async function requirePostgresSchema(url: string): Promise<void> {
  const store = await openRawPostgres(url)
  try {
    await requireSchema(store.db)
  } finally {
    await store.close()
  }
}

type Work<T> = (connection: Connection) => Promise<T>

/** Maximum attempts of a transaction that conflicts with others. */
const MAX_CONFLICT_TRIES = 10

/** Milliseconds to retry while the server restarts. */
const RECONNECT_TIMEOUT = 3_000

/** Milliseconds before a retry; doubled up to the maximum and randomized, so that the same transactions do not conflict again. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 250

/** Runs reads in one snapshot, taken at the first of them. */
const readTransaction = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  retry(async () => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work))

/** Runs one query, which is its own transaction. */
const readOne = <T>(db: Kysely<Tables>, query: Work<T>): Promise<T> => retry(() => query(db))

/**
 * Runs reads and writes. Each statement sees the data committed before it starts; changed rows are locked until the commit. Retries after a
 * conflict, or if the connection was lost before the commit was sent: then nothing was committed. If it is lost later, the outcome is unknown,
 * and the work is not retried.
 */
const writeTransaction = <T>(db: Kysely<Tables>, work: Work<T>, origin: Origin): Promise<T> =>
  retry((commitSent) =>
    db.connection().execute(async (connection) => {
      await sql.raw(beginFor(origin)).execute(connection)
      try {
        const value = await work(connection)
        commitSent()
        await sql`commit`.execute(connection)
        return value
      } catch (error) {
        // If this fails too, the connection is lost, and the server rolls the transaction back.
        await sql`rollback`.execute(connection).catch(() => undefined)
        throw error
      }
    }),
  )

/** Begins a transaction and says who makes its changes, in one round trip. Without an origin they are the service's own. */
const beginFor = (origin: Origin): string =>
  `begin isolation level read committed${origin === SERVICE ? '' : `; select ${originSql(pg.escapeLiteral(JSON.stringify(origin)))}`}`

async function retry<T>(attempt: (commitSent: () => void) => Promise<T>): Promise<T> {
  const deadline = performance.now() + RECONNECT_TIMEOUT
  for (let tries = 1; ; tries += 1) {
    let isCommitSent = false
    try {
      return await attempt(() => {
        isCommitSent = true
      })
    } catch (error) {
      const canRetry = isConflict(error)
        ? tries < MAX_CONFLICT_TRIES
        : isConnectionError(error) && !isCommitSent && performance.now() < deadline
      if (!canRetry) throw error
      await sleep(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries))
    }
  }
}

/** The notification channel. */
const CHANNEL = 'zonewright'

/** Milliseconds before a lost connection is retried; doubled up to the maximum. */
const FIRST_RECONNECT = 100
const LONGEST_RECONNECT = 5_000

/**
 * Listens for notifications on a dedicated connection and reconnects when it is lost. One call of `onChange` then makes up for missed
 * notifications. It does not work behind a connection pooler that shares connections between clients.
 */
async function listenForChanges(
  url: string,
  onChange: () => void,
  onError: (error: unknown) => void,
): ReturnType<OtherProcesses['subscribe']> {
  let closed = false
  let client = await connect(url, onChange)
  const ended = new AbortController()

  const watch = async (): Promise<void> => {
    for (let pause = FIRST_RECONNECT; !closed; ) {
      const lost = await client.lost
      if (closed) return
      onError(lost)
      for (let connected = false; !connected && !closed; pause = Math.min(LONGEST_RECONNECT, pause * 2)) {
        await sleep(pause, undefined, { signal: ended.signal }).catch(() => undefined)
        if (closed) return
        try {
          client = await connect(url, onChange)
          connected = true
        } catch (error) {
          onError(error)
        }
      }
      pause = FIRST_RECONNECT
      onChange()
    }
  }
  const watching = watch()
  return async () => {
    closed = true
    ended.abort()
    await client.end()
    await watching
  }
}

interface Listener {
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>
  end(): Promise<void>
}

async function connect(url: string, onChange: () => void): Promise<Listener> {
  const client = new pg.Client(clientSettings(url))
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve)
    client.on('end', () => resolve(new Error('the connection to the database was closed')))
  })
  client.on('notification', onChange)
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
  return { lost, end: () => endSoon(client) }
}

async function endSoon(client: pg.Client): Promise<void> {
  const late = setTimeout(() => disconnect(client), CLOSE_TIMEOUT)
  await client.end()
  clearTimeout(late)
}
