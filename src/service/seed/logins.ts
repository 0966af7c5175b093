import { isIP } from 'node:net'
import LOGIN from '../../../schemas/service/seed-logins.json' with { type: 'json' }
import { insertLogin } from '../store/access-store.ts'
import { findUser } from '../store/account-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly datetime: string
  readonly ip: string
  readonly status?: 'successful' | 'failed'
}

/** Logins of a user in the past. */
export const LOGINS = defineSeedPart<Entry, Entry>({
  key: 'logins',
  schema: LOGIN,
  read: (entry, tell) => {
    if (isIP(entry.ip) === 0) tell(['ip'], 'this is no IP address')
    return { ...entry, ...readMoments(entry, ['datetime'], tell) }
  },
  make: async (connection, { userId, username }, { datetime, ip, status = 'successful' }) => {
    const { restricted } = await findUser(connection, userId)
    await insertLogin(connection, { user_id: userId, username, restricted, datetime, ip, status })
  },
})
