import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Connection } from '../database.ts'
import type { Tables } from '../tables.ts'
import { isConflict, isConnectionError } from './postgres-pool.ts'

type Work<T> = (connection: Connection) => Promise<T>

/** Times a transaction is run that others keep overtaking. */
const MAX_CONFLICT_TRIES = 10

/** Milliseconds in which a server that restarts is waited for. */
const RECONNECT_TIMEOUT = 3_000

/** Milliseconds before a further try: doubled each time up to the most, and less by chance, so that those that met do not meet again. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 250

/** Reads of one state, that of the first of them. */
export const readTransaction = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  retry(async () => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work))

/** One query, which is a transaction by itself. */
export const readOne = <T>(db: Kysely<Tables>, query: Work<T>): Promise<T> => retry(() => query(db))

/**
 * Reads and writes. Each statement sees what is committed when it begins; rows that the work has changed are its own until the
 * commit. Runs the work again where another transaction overtook it or the connection was lost before its commit was asked for:
 * nothing of it stands then. A connection lost later leaves open what became of it, and that is never tried again.
 */
export const writeTransaction = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  retry(async (asked) => {
    const transaction = await db.startTransaction().setIsolationLevel('read committed').execute()
    try {
      const value = await work(transaction)
      asked()
      await transaction.commit().execute()
      return value
    } catch (error) {
      // Where this fails too, the connection is gone, and the transaction with it.
      if (!transaction.isRolledBack)
        await transaction
          .rollback()
          .execute()
          .catch(() => undefined)
      throw error
    }
  })

async function retry<T>(attempt: (commitAsked: () => void) => Promise<T>): Promise<T> {
  const giveUp = performance.now() + RECONNECT_TIMEOUT
  for (let tries = 1; ; tries += 1) {
    let commitAsked = false
    try {
      return await attempt(() => {
        commitAsked = true
      })
    } catch (error) {
      const worthIt = isConflict(error)
        ? tries < MAX_CONFLICT_TRIES
        : isConnectionError(error) && !commitAsked && performance.now() < giveUp
      if (!worthIt) throw error
      await sleep(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries))
    }
  }
}
