import type { Secrets } from '../secrets.ts'
import type { Connection } from '../store/database.ts'
import { findByLabel, grant } from '../store/grant-store.ts'
import { insertToken } from '../store/token-store.ts'
import type { SeedUser } from './seed.ts'
import type { SeedOwner } from './seed-part.ts'

/** Gives a user that a seed has made its tokens, grants and whatever else is its own. */
export async function seedUser(connection: Connection, owner: SeedOwner, user: SeedUser, now: string, secrets: Secrets): Promise<void> {
  const { accountId, userId, username } = owner
  for (const token of user.tokens) {
    if ((await insertToken(connection, { userId, ...token }, now)) === null) {
      throw new RangeError(`a token of the user ${username} of the seed is another user's`)
    }
  }
  for (const { kind, label, permissions } of user.grants) {
    const ids = await findByLabel(connection, kind, accountId, label)
    if (ids.length === 0) throw new RangeError(`the user ${username} of the seed is granted ${label}, which is no ${kind} of the account`)
    for (const id of ids) await grant(connection, userId, kind, id, permissions)
  }
  for (const { part, entries } of user.belongings) for (const entry of entries) await part.make(connection, owner, entry, now, secrets)
}
