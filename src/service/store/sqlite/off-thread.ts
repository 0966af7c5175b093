import type Libsql from 'libsql'
import LibsqlPromise from 'libsql/promise'

/** Runs a statement without results on a connection; nothing else may use the connection until it resolves. */
export type RunOffThread = (statement: string) => Promise<void>

/**
 * What waits — for the disk to have a commit, for a lock — is run on a thread of the library's, and the event loop goes on; all other
 * statements are work in memory, cost microseconds and are run where they stand, which is several times as fast as a message to
 * another thread and back for each. Both interfaces of the library hold the same native connection, so one opened for the first
 * is given to the second; that they do is tried here, once.
 */
export async function offThread(db: Libsql.Database): Promise<RunOffThread> {
  const exec = LibsqlPromise.prototype.exec as unknown as (this: Libsql.Database, statement: string) => Promise<void>
  const run: RunOffThread = (statement) => exec.call(db, statement)
  await run('begin immediate')
  if (!db.inTransaction) throw new Error('the SQLite library no longer runs statements of a connection in the background')
  await run('rollback')
  return run
}
