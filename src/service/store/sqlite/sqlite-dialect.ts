import { type Dialect, SqliteAdapter, type SqliteDatabase, SqliteDialect } from 'kysely'

/** SQLite changes tables within transactions, which Kysely makes no use of: a process that is killed would leave half of a schema. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** A dialect whose migrations are all done or none. */
export function sqliteDialect(database: SqliteDatabase): Dialect {
  const dialect = new SqliteDialect({ database })
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}
