import type { Kysely } from 'kysely'
import type { SchemaDialect } from './schema-dialect.ts'
import type { Tables } from './tables.ts'

/** A connection inside a transaction. */
export type Connection = Kysely<Tables>

/**
 * The seam between the service and the database it runs on. Everything is asynchronous, so that an implementation may live in
 * another thread or process; queries are written once, against kysely, for every dialect.
 */
export interface Database {
  /** Runs reads that see one committed state. */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Runs a single query, which needs no transaction to see one state: a third of the way to a server and back. */
  readOne<T>(query: (connection: Connection) => Promise<T>): Promise<T>
  /**
   * Runs reads and writes as one transaction that nothing else interleaves with on the rows it changes. Resolves when the
   * changes are durable. If the work rejects, nothing of it stays. The work must wait for nothing but the connection, and may be run
   * more than once: what it does outside of the database is not undone.
   */
  write<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** The other processes that use the database; null where there can be none. */
  readonly otherProcesses: OtherProcesses | null
  /** The folder that the database is in, for files that belong beside it; null on a server. */
  readonly directory: string | null
  /** Rewrites the files that held secrets, so that nothing deleted or replaced can be read in them. Takes as long as a copy of them. */
  eraseDeleted(): Promise<void>
  /** Waits for a server no longer: what has not been answered fails, and so does what comes after. Nothing where there is no server. */
  abandon(): void
  /** Finishes what is queued, then closes. */
  close(): Promise<void>
}

export interface OtherProcesses {
  /**
   * Calls back soon after any process has changed what is served, and when such news may have been missed, as after a lost connection.
   * Resolves with what ends it.
   */
  subscribe(onNews: () => void): Promise<() => Promise<void>>
}

/** A database as it is: opened without being made, changed or held. */
export interface RawStore {
  // biome-ignore lint/suspicious/noExplicitAny: its schema may be that of another version
  readonly db: Kysely<any>
  readonly dialect: SchemaDialect
  /** Runs reads of one state, that of the first of them, while others write. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  snapshot<T>(work: (connection: Kysely<any>) => Promise<T>): Promise<T>
  /** The highest number that a table whose rows have numbers ever gave. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  lastId(connection: Kysely<any>, table: string): Promise<number>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  setLastId(connection: Kysely<any>, table: string, id: number): Promise<void>
  close(): Promise<void>
}
