/**
 * Records logins. The API has no login operation. So the first request per day (UTC), user and address with a personal access token is recorded as
 * a login: a failed one if the token has expired. The database limits the number per user and day.
 */

import { type ObservedLogin, recordLogin } from '../store/access-store.ts'
import type { Database } from '../store/database.ts'
import { createLruCache } from './lru-cache.ts'

export interface LoginRecorder {
  /** Records the login, unless this is already done for the day. Resolves even if that fails: see `onError`. */
  record(user: Omit<ObservedLogin, 'ip' | 'status'>, address: string, status: ObservedLogin['status']): Promise<void>
}

export interface LoginRecorderOptions {
  readonly database: Pick<Database, 'write'>
  /** The current time as a timestamp. */
  readonly now: () => string
  /** Called if a login could not be recorded; the request continues. */
  readonly onError: (error: unknown) => void
}

/** Maximum number of logins that are remembered as recorded. For others, the database is queried. */
const MAX_CACHED = 20_000

export function createLoginRecorder({ database, now, onError }: LoginRecorderOptions): LoginRecorder {
  const recorded = createLruCache<Promise<void>>(MAX_CACHED)
  return {
    record: ({ userId, username, restricted }, address, status) => {
      const timestamp = now()
      // A socket for both families shows IPv4 clients as IPv4-mapped IPv6 addresses.
      const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
      const key = `${userId} ${timestamp.slice(0, 10)} ${status} ${ip}`
      const known = recorded.get(key)
      if (known !== undefined) return known
      const recording = database
        .write((connection) => recordLogin(connection, { userId, username, restricted, ip, status }, timestamp))
        .catch((error) => {
          recorded.delete(key)
          onError(error)
        })
      recorded.set(key, recording)
      return recording
    },
  }
}
