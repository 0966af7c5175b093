import { randomBytes } from 'node:crypto'
import { hashToken } from './api/authenticate.ts'
import type { Database } from './store/database.ts'
import { findAdministrator, insertAdministrator, insertToken } from './store/token-store.ts'

/**
 * Makes the administrator at the first start, with a token for everything: the given one, else one made here. A given token is
 * good for the administrator at every start. Returns the token in clear where it is known: it is stored as a hash only.
 */
export async function prepareAdministrator(database: Database, given: string | null, now: string): Promise<string | null> {
  if (given !== null && !/^[\x21-\x7e]{1,512}$/.test(given)) {
    throw new RangeError('a token has 1 to 512 printable ASCII characters without spaces')
  }
  return database.write(async (connection) => {
    const existing = await findAdministrator(connection)
    const token = given ?? (existing === null ? randomBytes(32).toString('hex') : null)
    const userId = existing ?? (await insertAdministrator(connection, now))
    if (token !== null) {
      await insertToken(connection, { userId, label: 'bootstrap', token, hash: hashToken(token), scopes: '*', expiry: null }, now)
    }
    return token
  })
}
