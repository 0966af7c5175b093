import type { Secrets } from './secrets.ts'
import { applySeed } from './seed/apply-seed.ts'
import type { Seed } from './seed/seed.ts'
import { ADMINISTRATOR, findAdministrator, insertAdministrator } from './store/account-store.ts'
import type { Database } from './store/database.ts'
import { insertToken } from './store/token-store.ts'
import { isToken, makeToken } from './token-text.ts'

export interface Prepared {
  /** The administrator's token in clear where it is known: it is stored as a hash only. */
  readonly token: string | null
  /** Numbers of the domains that the seed made. */
  readonly domains: readonly number[]
}

/**
 * Makes the administrator at the first start, with a token for everything: the given one, else one made here. A given token is
 * good for the administrator at every start. With it goes what the seed names, all or nothing: a token made here can be told only
 * once. Throws a `RangeError` where the given token is none, or the seed contradicts what there is.
 */
export async function prepareUsers(
  database: Database,
  given: string | null,
  seed: Seed | null,
  now: string,
  secrets: Secrets,
): Promise<Prepared> {
  if (given !== null && !isToken(given)) throw new RangeError('a token has 1 to 512 printable ASCII characters without spaces')
  return database.write(async (connection) => {
    const existing = await findAdministrator(connection)
    const token = given ?? (existing === null ? makeToken() : null)
    const userId = existing ?? (await insertAdministrator(connection, now))
    if (token !== null) await insertToken(connection, { userId, label: 'bootstrap', token, scopes: '*', expiry: null }, now)
    return { token, domains: seed === null ? [] : await applySeed(connection, seed, now, secrets) }
  })
}

/** The usernames that `prepareUsers` may make, by account. */
export const expectedUsers = (seed: Seed | null): readonly (readonly string[])[] => [
  [ADMINISTRATOR],
  ...(seed?.accounts ?? []).map(({ users }) => users.map(({ username }) => username)),
]
