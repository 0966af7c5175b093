import type { Connection } from './database.ts'

/** Characters of a token that lists show. */
const PREFIX = 16

export interface NewToken {
  readonly userId: number
  readonly label: string
  readonly token: string
  readonly hash: string
  readonly scopes: string
  readonly expiry: string | null
}

/** Stores a token's hash; a token that is stored already stays as it is. */
export async function insertToken(connection: Connection, { userId, token, ...rest }: NewToken, now: string): Promise<void> {
  await connection
    .insertInto('tokens')
    .values({ ...rest, user_id: userId, prefix: token.slice(0, Math.min(PREFIX, token.length >> 1)), created: now })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute()
}

/** The first user of the first account: the administrator made at the first start. Null before that. */
export async function findAdministrator(connection: Connection): Promise<number | null> {
  const row = await connection.selectFrom('users').select('id').orderBy('id').limit(1).executeTakeFirst()
  return row?.id ?? null
}

export async function insertAdministrator(connection: Connection, now: string): Promise<number> {
  const account = await connection.insertInto('accounts').values({ created: now }).returning('id').executeTakeFirstOrThrow()
  const user = await connection
    .insertInto('users')
    .values({ account_id: account.id, username: 'admin', email: 'admin@example.invalid', restricted: 0, created: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return user.id
}
