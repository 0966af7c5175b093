/**
 * Logins. The interface has no operation to log in: what stands for it is the first request of a day (UTC) that a user makes from an
 * address with a token of its own; one with a token that has expired is a failed login.
 */

import { type ObservedLogin, recordLogin } from '../store/access-store.ts'
import type { Database } from '../store/database.ts'
import { createLruCache } from './lru-cache.ts'

export interface LoginRecorder {
  /** Resolves when the login is recorded, which does nothing where it has been. Never rejects. */
  record(user: Omit<ObservedLogin, 'ip' | 'status'>, address: string, status: ObservedLogin['status']): Promise<void>
}

export interface LoginRecorderOptions {
  readonly database: Pick<Database, 'write'>
  /** The time as the interface writes it. */
  readonly now: () => string
  /** Told where a login could not be recorded: the request goes on. */
  readonly onError: (error: unknown) => void
}

/** Logins that are known to be recorded, at most: others are looked up. */
const MAX_KNOWN = 20_000

export function createLoginRecorder({ database, now, onError }: LoginRecorderOptions): LoginRecorder {
  const recorded = createLruCache<Promise<void>>(MAX_KNOWN)
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
