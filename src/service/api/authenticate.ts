/**
 * Authenticates requests by their bearer token.
 *
 * The API has no login operation. So the first request per day (UTC), user and address with a personal access token is recorded as a
 * login: a failed one if the token has expired. The database limits the number per user and day.
 */
import { randomBytes } from 'node:crypto'
import { type ObservedLogin, recordLogin } from '../store/access-store.ts'
import type { Origin } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { type Bearer, findBearer, hashToken } from '../store/token-store.ts'
import { createLruCache, type RateLimiter } from './rate-limit.ts'
import { RequestError } from './request-error.ts'

/** The user and token that a request acts for. */
export type Actor = Omit<Bearer, 'expiry' | 'suspended'>

export interface AuthenticationService {
  readonly database: Database
  /** The current time as a timestamp. */
  readonly now: () => string
  readonly limiter: RateLimiter
  readonly logins: LoginRecorder
}

/**
 * Returns the actor of an `Authorization` header (RFC 6750 section 2.1). Throws 401 without a valid token, 403 if its account is suspended,
 * and 429 if the address has sent too many invalid tokens. A token that was valid before passes that limit, so guessing locks nobody out. Every request reads the database,
 * so a revoked token is invalid at once in every process.
 */
export async function authenticate(
  { database, now, limiter, logins }: AuthenticationService,
  header: string | undefined,
  address: string,
): Promise<Actor> {
  const token = /^bearer +(.*)$/i.exec(header ?? '')?.[1] ?? ''
  if (!isToken(token)) throw invalidToken()
  const hash = hashToken(token)
  limiter.checkGuesses(address, hash)
  const bearer = await database.readOne((connection) => findBearer(connection, hash))
  const expired = bearer !== null && bearer.expiry !== null && bearer.expiry <= now()
  // A request of an app is not a login of the user.
  if (bearer !== null && bearer.appId === null) await logins.record(bearer, address, expired ? 'failed' : 'successful')
  if (bearer === null || expired) {
    limiter.failed(address, hash)
    throw invalidToken()
  }
  limiter.succeeded(hash)
  const { expiry: _, suspended, ...actor } = bearer
  if (suspended) throw new RequestError(403, [{ field: null, reason: 'This account is suspended.' }])
  return actor
}

const invalidToken = (): RequestError => new RequestError(401, [{ field: null, reason: 'Invalid Token' }])

/** A new token: 64 hexadecimal characters that cannot be guessed. */
export const makeToken = (): string => randomBytes(32).toString('hex')

/** Whether a text can be a token: printable ASCII that fits in a header. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text)

/** A client's address. A socket for both families shows IPv4 clients as IPv4-mapped IPv6 addresses. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The origin of the changes of a request, for the audit log. */
export const originOf = ({ ip, id }: { readonly ip: string; readonly id: string }, actor?: Actor): Origin => ({
  actor: 'user',
  account: actor?.accountId,
  user: actor?.username,
  token: actor?.tokenId,
  address: plainAddress(ip),
  request: id,
})

interface LoginRecorder {
  /** Records the login, unless this is already done for the day. Resolves even if that fails: see `onError`. */
  record(user: Omit<ObservedLogin, 'ip' | 'status'>, address: string, status: ObservedLogin['status']): Promise<void>
}

/** Maximum number of logins that are remembered as recorded. For others, the database is queried. */
const MAX_CACHED = 20_000

/** Calls `onError` if a login could not be recorded; the request continues. */
export function createLoginRecorder({
  database,
  now,
  onError,
}: Pick<AuthenticationService, 'database' | 'now'> & { readonly onError: (error: unknown) => void }): LoginRecorder {
  const recorded = createLruCache<Promise<void>>(MAX_CACHED)
  return {
    record: ({ userId, username, restricted }, address, status) => {
      const timestamp = now()
      const ip = plainAddress(address)
      const key = `${userId} ${timestamp.slice(0, 10)} ${status} ${ip}`
      const known = recorded.get(key)
      if (known !== undefined) return known
      const recording = database
        .write((connection) => recordLogin(connection, { userId, username, restricted, ip, status }, timestamp))
        .catch((error) => {
          recorded.delete(key)
          onError(error)
        })
      recorded.set(key, recording)
      return recording
    },
  }
}
