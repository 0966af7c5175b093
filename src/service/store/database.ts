/** The database as the rest of the service sees it, the same for SQLite and PostgreSQL. */
import type { ColumnDefinitionBuilder, Kysely, RawBuilder } from 'kysely'
import type { Origin } from './audit.ts'
import type { Tables } from './tables.ts'

/** A connection inside a transaction. */
export type Connection = Kysely<Tables>

/**
 * The service's database. Everything is asynchronous, so that an implementation may run in another thread or process. Queries are written once,
 * with Kysely, for all dialects.
 */
export interface Database {
  /** Runs reads that see one snapshot of the committed data. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Runs a single query without a transaction, which saves two of three round trips to a server. */
  readOne<T>(query: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Runs reads and writes in one transaction, which locks the rows that it changes. Resolves when the changes are durable. If `work` rejects, the
   * transaction is rolled back. `work` must await only the connection. It may run more than once, and its effects outside the database are not
   * undone. `origin` is who makes the changes, for the audit log; the service itself by default.
   */
  write<T>(work: (connection: Connection) => Promise<T>, origin?: Origin): Promise<T>
  /** Changes by other processes that use the database; null if there can be none. */
  readonly otherProcesses: OtherProcesses | null
  /** The folder of the database; null on a server. */
  readonly folder: string | null
  /** Rewrites the tables that contained secrets, so that replaced values cannot be read from their files; null if the database overwrites them at once. */
  readonly eraseDeleted: (() => Promise<void>) | null
  /** Stops waiting for a database server: pending and later queries fail. Does nothing without a server. */
  abandon(): void
  /** Closes the database after all queued work is finished. */
  close(): Promise<void>
}

/** SQLite says SQLITE_IOERR_WRITE if a quota or the maximum size of a file is reached. */
const DISK_FULL: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'SQLITE_FULL',
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_SHMSIZE',
  '53100',
])

/** Whether the system, SQLite or PostgreSQL has no space for something. */
export const isDiskFull = (error: unknown): boolean => DISK_FULL.has((error as { readonly code?: unknown } | null)?.code)

export interface OtherProcesses {
  /**
   * Calls `onChange` soon after any process changed the served zones, and whenever a notification may have been missed, for example after a lost
   * connection. Resolves with a function that ends the subscription.
   */
  subscribe(onChange: () => void): Promise<() => Promise<void>>
}

/** A database opened as it is: it is not created, migrated or locked. */
export interface RawStore {
  // biome-ignore lint/suspicious/noExplicitAny: it may have the schema of another version
  readonly db: Kysely<any>
  readonly dialect: SchemaDialect
  /** Runs reads in one snapshot, while others may write. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  snapshot<T>(work: (connection: Kysely<any>) => Promise<T>): Promise<T>
  /** The highest id that a table has ever assigned. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  lastId(connection: Kysely<any>, table: string): Promise<number>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  setLastId(connection: Kysely<any>, table: string, id: number): Promise<void>
  close(): Promise<void>
}

/** The differences between the dialects in schema definitions. */
export interface SchemaDialect {
  /** The type and column definition of a generated integer key. Its values are never reused. */
  readonly idType: 'integer' | RawBuilder<unknown>
  readonly idColumn: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
  /** Notifies listening processes of every committed update of a table. Does nothing if there can be no other process. */
  readonly announceUpdates: (db: Kysely<unknown>, table: string) => Promise<void>
}
