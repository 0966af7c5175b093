import type { Kysely } from 'kysely'
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
  /**
   * Runs reads and writes as one transaction that nothing else interleaves with on the rows it changes. Resolves when the
   * changes are durable. If the work rejects, nothing of it stays. The work must wait for nothing but the connection.
   */
  write<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Finishes what is queued, then closes. */
  close(): Promise<void>
}
