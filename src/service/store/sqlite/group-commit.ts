/**
 * Group commit: many writes share one transaction, because each commit waits for the disk. All writes that are queued when a transaction starts,
 * or arrive while it runs, join it, each in its own savepoint, and are acknowledged by its commit. A failed write is rolled back to its savepoint
 * without affecting the others. The commit does not block the event loop; writes that arrive during it form the next group.
 */
import { type Kysely, sql } from 'kysely'
import type Libsql from 'libsql'
import LibsqlPromise from 'libsql/promise'
import type { Connection } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Maximum writes per transaction. The first one waits for the last one. */
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

/** `db` must have a single connection that is not used otherwise. `run` executes the statements on it that may wait. */
export function createGroupCommit(db: Kysely<Tables>, run: RunOffThread): GroupCommit {
  const queue: QueuedWrite[] = []
  let running: Promise<void> | null = null

  const commitAll = async (): Promise<void> => {
    while (queue.length > 0) {
      // Yield to the event loop, so that newly received requests can join the group and consecutive groups do not block others.
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
    // The transaction itself failed, for example on a full disk. No write of the group was committed.
    await run('rollback').catch(() => undefined)
    for (const write of members.length === 0 ? queue.splice(0) : members) write.reject(error)
    return
  }
  for (const { write, value } of written) write.resolve(value)
}

const SAVEPOINT = sql`savepoint one_write`
const RELEASE = sql`release one_write`
const ROLLBACK_TO = sql`rollback to one_write`

/** Executes a statement without results. Do not use the connection until the promise resolves. */
type RunOffThread = (statement: string) => Promise<void>

/**
 * Returns a function that executes a statement on a thread of the SQLite library. It is for statements that wait for the disk or a lock. Other
 * statements take microseconds in memory and run synchronously, which is several times faster than messages to another thread. It uses the
 * promise API of the library on a connection that was opened by the synchronous API, and checks once that this works.
 */
export async function createOffThreadRunner(db: Libsql.Database): Promise<RunOffThread> {
  const exec = LibsqlPromise.prototype.exec as unknown as (this: Libsql.Database, statement: string) => Promise<void>
  const run: RunOffThread = (statement) => exec.call(db, statement)
  await run('begin immediate')
  if (!db.inTransaction) throw new Error('the SQLite library cannot run statements of this connection in the background')
  await run('rollback')
  return run
}
