import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Connection } from '../database.ts'
import type { Tables } from '../tables.ts'
import { isConflict, isConnectionError } from './postgres-pool.ts'

type Work<T> = (connection: Connection) => Promise<T>

/** Maximum attempts of a transaction that conflicts with others. */
const MAX_CONFLICT_TRIES = 10

/** Milliseconds to retry while the server restarts. */
const RECONNECT_TIMEOUT = 3_000

/** Milliseconds before a retry; doubled up to the maximum and randomized, so that the same transactions do not conflict again. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 250

/** Runs reads in one snapshot, taken at the first of them. */
export const readTransaction = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  retry(async () => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work))

/** Runs one query, which is its own transaction. */
export const readOne = <T>(db: Kysely<Tables>, query: Work<T>): Promise<T> => retry(() => query(db))

/**
 * Runs reads and writes. Each statement sees the data committed before it starts; changed rows are locked until the commit. Retries after a
 * conflict, or if the connection was lost before the commit was sent: then nothing was committed. If it is lost later, the outcome is unknown,
 * and the work is not retried.
 */
export const writeTransaction = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  retry(async (commitSent) => {
    const transaction = await db.startTransaction().setIsolationLevel('read committed').execute()
    try {
      const value = await work(transaction)
      commitSent()
      await transaction.commit().execute()
      return value
    } catch (error) {
      // If this fails too, the connection is lost, and the server rolls the transaction back.
      if (!transaction.isRolledBack)
        await transaction
          .rollback()
          .execute()
          .catch(() => undefined)
      throw error
    }
  })

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
