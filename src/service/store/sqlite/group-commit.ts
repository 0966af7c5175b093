/**
 * Group commit. A commit waits for the disk, and one wait serves any number of changes: all writes that are queued when a
 * transaction begins, or join while it runs, go into it, each in a savepoint of its own, and all are acknowledged by its one
 * commit. A write that fails is rolled back to its savepoint and takes no other with it. The event loop does not wait with it: what
 * comes in during a commit is the next group.
 */
import { type Kysely, sql } from 'kysely'
import type Libsql from 'libsql'
import LibsqlPromise from 'libsql/promise'
import type { Connection } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Writes in one transaction at most: the first of them waits for the last. */
const MAX_GROUP = 64

interface QueuedWrite {
  readonly work: (connection: Connection) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommit {
  write<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Resolves when nothing is queued. */
  drained(): Promise<void>
}

/** `db` must have a single connection that is used for nothing else; `run` runs the statements on it that may have to wait. */
export function createGroupCommit(db: Kysely<Tables>, run: RunOffThread): GroupCommit {
  const queue: QueuedWrite[] = []
  let running: Promise<void> | null = null

  const commitAll = async (): Promise<void> => {
    while (queue.length > 0) {
      // A turn of the event loop: requests that came in meanwhile share the group, and others are not kept waiting by a row of groups.
      await new Promise((resolve) => setImmediate(resolve))
      try {
        await db.connection().execute((connection) => commitGroup(connection, run, queue))
      } catch (error) {
        for (const write of queue.splice(0)) write.reject(error)
      }
    }
    running = null
  }

  return {
    write: <T>(work: (connection: Connection) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
        running ??= commitAll()
      }),
    drained: async () => {
      while (running !== null) await running
    },
  }
}

async function commitGroup(connection: Connection, run: RunOffThread, queue: QueuedWrite[]): Promise<void> {
  const written: { readonly write: QueuedWrite; readonly value: unknown }[] = []
  const members: QueuedWrite[] = []
  try {
    await run('begin immediate')
    while (queue.length > 0 && members.length < MAX_GROUP) {
      const write = queue.shift() as QueuedWrite
      members.push(write)
      await SAVEPOINT.execute(connection)
      try {
        const value = await write.work(connection)
        await RELEASE.execute(connection)
        written.push({ write, value })
      } catch (error) {
        await ROLLBACK_TO.execute(connection)
        await RELEASE.execute(connection)
        write.reject(error)
      }
    }
    await run('commit')
  } catch (error) {
    // The transaction itself failed: a full or faulty disk. Nothing of the group is in the database.
    await run('rollback').catch(() => undefined)
    for (const write of members.length === 0 ? queue.splice(0) : members) write.reject(error)
    return
  }
  for (const { write, value } of written) write.resolve(value)
}

const SAVEPOINT = sql`savepoint one_write`
const RELEASE = sql`release one_write`
const ROLLBACK_TO = sql`rollback to one_write`

/** Runs a statement without results on a connection; nothing else may use the connection until it resolves. */
type RunOffThread = (statement: string) => Promise<void>

/**
 * What waits — for the disk to have a commit, for a lock — is run on a thread of the library's, and the event loop goes on; all other
 * statements are work in memory, cost microseconds and are run where they stand, which is several times as fast as a message to
 * another thread and back for each. Both interfaces of the library hold the same native connection, so one opened for the first
 * is given to the second; that they do is tried here, once.
 */
export async function createOffThreadRunner(db: Libsql.Database): Promise<RunOffThread> {
  const exec = LibsqlPromise.prototype.exec as unknown as (this: Libsql.Database, statement: string) => Promise<void>
  const run: RunOffThread = (statement) => exec.call(db, statement)
  await run('begin immediate')
  if (!db.inTransaction) throw new Error('the SQLite library no longer runs statements of a connection in the background')
  await run('rollback')
  return run
}
