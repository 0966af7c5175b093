/** Tokens. Only their hashes are stored. */
import { createHash } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './list-sql.ts'

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

export interface StoredToken {
  readonly id: number
  readonly label: string
  /** The first characters of the token. */
  readonly prefix: string
  readonly scopes: string
  readonly created: string
  readonly expiry: string | null
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
}

export const TOKEN_FILTER_FIELDS = {
  label: { kind: 'text' },
  created: { kind: 'time' },
} as const satisfies FilterFields

const COLUMNS = ['id', 'label', 'prefix', 'scopes', 'created', 'expiry'] as const

/** The stored hash of a token. Looking up tokens by hash prevents timing attacks. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The owner of the token with this hash, even if it has expired; null if there is none. */
export async function findBearer(connection: Connection, hash: string): Promise<Bearer | null> {
  const row = await connection
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.id', 'tokens.user_id', 'tokens.scopes', 'tokens.expiry', 'tokens.app_id'])
    .select(['users.account_id', 'users.username', 'users.restricted'])
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
  }
}

/** True for the user's personal access tokens. */
const personal = (userId: number) => sql<SqlBool>`user_id = ${userId} and app_id is null`

export const listTokens = (connection: Connection, userId: number, list: ListQuery): Promise<ListSlice<StoredToken>> =>
  listRows<StoredToken>(connection.selectFrom('tokens').where(personal(userId)), { fields: TOKEN_FILTER_FIELDS, columns: COLUMNS }, list)

export async function findToken(connection: Connection, userId: number, id: number): Promise<StoredToken | null> {
  const row = await connection.selectFrom('tokens').select(COLUMNS).where('id', '=', id).where(personal(userId)).executeTakeFirst()
  return row ?? null
}

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

/** Renames a token; null if the user has no token with this id. */
export async function renameToken(connection: Connection, userId: number, id: number, label: string): Promise<StoredToken | null> {
  const row = await connection
    .updateTable('tokens')
    .set({ label })
    .where('id', '=', id)
    .where(personal(userId))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** False if there is no such token. */
export async function deleteToken(connection: Connection, userId: number, id: number): Promise<boolean> {
  const result = await connection.deleteFrom('tokens').where('id', '=', id).where(personal(userId)).executeTakeFirstOrThrow()
  return result.numDeletedRows > 0n
}
