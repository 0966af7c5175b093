/** Tokens. Only their hashes are stored. */
import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { FilterFields } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { ownRows } from './rows.ts'
import type { Tables } from './tables.ts'

/** Characters of a token that are stored and shown in lists. */
const PREFIX = 16

export interface NewToken {
  readonly userId: number
  readonly label: string
  /** In plain text. Only its hash is stored. */
  readonly token: string
  readonly scopes: string
  readonly expiry: string | null
  /** The app that owns the token; by default it is a personal access token. */
  readonly appId?: number
}

/** The owner and scopes of a token. */
export interface Bearer {
  readonly tokenId: number
  readonly userId: number
  readonly accountId: number
  readonly username: string
  readonly restricted: boolean
  readonly scopes: string
  readonly expiry: string | null
  /** The app that owns the token; null for a personal access token. */
  readonly appId: number | null
  /** Whether the account is suspended. */
  readonly suspended: boolean
}

export const TOKEN_FILTER_FIELDS = {
  label: { kind: 'text' },
  created: { kind: 'time' },
} as const satisfies FilterFields

const COLUMNS = ['id', 'label', 'prefix', 'scopes', 'created', 'expiry'] as const

export type StoredToken = Pick<Selectable<Tables['tokens']>, (typeof COLUMNS)[number]>

/** The stored hash of a token. Looking up tokens by hash prevents timing attacks. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The owner of the token with this hash, even if it has expired; null if there is none. */
export async function findBearer(connection: Connection, hash: string): Promise<Bearer | null> {
  const row = await connection
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .innerJoin('accounts', 'accounts.id', 'users.account_id')
    .select(['tokens.id', 'tokens.user_id', 'tokens.scopes', 'tokens.expiry', 'tokens.app_id'])
    .select(['users.account_id', 'users.username', 'users.restricted', 'accounts.suspended'])
    .where('tokens.hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return null
  const { scopes, expiry, username } = row
  return {
    tokenId: row.id,
    userId: row.user_id,
    accountId: row.account_id,
    username,
    restricted: row.restricted !== 0,
    scopes,
    expiry,
    appId: row.app_id,
    suspended: row.suspended !== null,
  }
}

/** The user's personal access tokens. */
export const TOKENS = ownRows<StoredToken, [userId: number]>(
  'tokens',
  { fields: TOKEN_FILTER_FIELDS, columns: COLUMNS },
  (userId) => sql`user_id = ${userId} and app_id is null`,
)

/** Stores a token's hash. Null if the token already exists, for any user; it is not changed. */
export async function insertToken(
  connection: Connection,
  { userId, token, appId, ...rest }: NewToken,
  now: string,
): Promise<StoredToken | null> {
  const prefix = token.slice(0, Math.min(PREFIX, token.length >> 1))
  const row = await connection
    .insertInto('tokens')
    .values({ ...rest, user_id: userId, hash: hashToken(token), prefix, created: now, app_id: appId ?? null })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}
