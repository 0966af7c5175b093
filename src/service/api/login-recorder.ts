/**
 * Records logins. The API has no login operation, so the first request of a day (UTC) that a user sends from an address with a
 * personal access token is the login; with an expired token it is a failed one.
 */

import { type ObservedLogin, recordLogin } from '../store/access-store.ts'
import type { Database } from '../store/database.ts'
import { createLruCache } from './lru-cache.ts'

export interface LoginRecorder {
  /** Resolves when the login is recorded; does nothing if it already is. Never rejects. */
  record(user: Omit<ObservedLogin, 'ip' | 'status'>, address: string, status: ObservedLogin['status']): Promise<void>
}

export interface LoginRecorderOptions {
  readonly database: Pick<Database, 'write'>
  /** The current time as a timestamp. */
  readonly now: () => string
  /** Called if a login could not be recorded; the request continues. */
  readonly onError: (error: unknown) => void
}

/** Maximum number of recorded logins kept in memory; others are looked up in the database. */
const MAX_CACHED = 20_000

export function createLoginRecorder({ database, now, onError }: LoginRecorderOptions): LoginRecorder {
  const recorded = createLruCache<Promise<void>>(MAX_CACHED)
  return {
    record: ({ userId, username, restricted }, address, status) => {
      const moment = now()
      const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
      const key = `${userId} ${moment.slice(0, 10)} ${status} ${ip}`
      const known = recorded.get(key)
      if (known !== undefined) return known
      const recording = database
        .write((connection) => recordLogin(connection, { userId, username, restricted, ip, status }, moment))
        .catch((error) => {
          recorded.delete(key)
          onError(error)
        })
      recorded.set(key, recording)
      return recording
    },
  }
}
