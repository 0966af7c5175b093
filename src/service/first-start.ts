import type { Database } from './store/database.ts'
import { insertToken } from './store/token-store.ts'
import { findAdministrator, insertAdministrator } from './store/user-store.ts'
import { isToken, makeToken } from './token-text.ts'

/**
 * Makes the administrator at the first start, with a token for everything: the given one, else one made here. A given token is
 * good for the administrator at every start. Returns the token in clear where it is known: it is stored as a hash only.
 */
export async function prepareAdministrator(database: Database, given: string | null, now: string): Promise<string | null> {
  if (given !== null && !isToken(given)) throw new RangeError('a token has 1 to 512 printable ASCII characters without spaces')
  return database.write(async (connection) => {
    const existing = await findAdministrator(connection)
    const token = given ?? (existing === null ? makeToken() : null)
    const userId = existing ?? (await insertAdministrator(connection, now))
    if (token !== null) await insertToken(connection, { userId, label: 'bootstrap', token, scopes: '*', expiry: null }, now)
    return token
  })
}
