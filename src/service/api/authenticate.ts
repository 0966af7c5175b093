import { createHash } from 'node:crypto'
import type { Database } from '../store/database.ts'
import { RequestError } from './request-error.ts'
import { allowsScope, type Scope } from './scopes.ts'

/** Who acts, by the token of the request. */
export interface Actor {
  readonly tokenId: number
  readonly userId: number
  readonly accountId: number
  readonly username: string
  /** May act only on what is granted. */
  readonly restricted: boolean
  /** As the token carries them. */
  readonly scopes: string
}

/** What is stored of a token. A look-up by the hash tells nothing about tokens by its timing. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The actor of an `Authorization` header (RFC 6750 section 2.1). Throws 401 unless it holds a valid token. */
export async function authenticate(database: Database, header: string | undefined, now: string): Promise<Actor> {
  const token = /^bearer +([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw invalidToken()
  const row = await database.read((connection) =>
    connection
      .selectFrom('tokens')
      .innerJoin('users', 'users.id', 'tokens.user_id')
      .select(['tokens.id', 'tokens.user_id', 'tokens.scopes', 'tokens.expiry', 'users.account_id', 'users.username', 'users.restricted'])
      .where('tokens.hash', '=', hashToken(token))
      .executeTakeFirst(),
  )
  if (row === undefined || (row.expiry !== null && row.expiry <= now)) throw invalidToken()
  return {
    tokenId: row.id,
    userId: row.user_id,
    accountId: row.account_id,
    username: row.username,
    restricted: row.restricted !== 0,
    scopes: row.scopes,
  }
}

/** Throws 401 unless the actor's token may do what needs the scope. */
export function authorize(actor: Actor, needed: Scope | null): void {
  if (!allowsScope(actor.scopes, needed)) {
    throw new RequestError(401, [{ field: null, reason: 'Your OAuth token is not authorized to use this endpoint.' }])
  }
}

const invalidToken = (): RequestError => new RequestError(401, [{ field: null, reason: 'Invalid Token' }])
