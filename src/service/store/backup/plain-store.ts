import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** A database as it is: opened without being made, changed or held. */
export interface PlainStore {
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
