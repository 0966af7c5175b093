import type { PostgresPool } from 'kysely'
import pg from 'pg'

export interface PoolSettings {
  readonly url: string
  /** Connections at most. */
  readonly connections: number
  /** Milliseconds a statement may take; 0 for as long as it needs. */
  readonly statementTimeout: number
  /** Milliseconds to wait for rows that another transaction holds; 0 for as long as it takes. */
  readonly lockTimeout: number
}

/** Milliseconds to wait for a connection: a new one, or one that others use. */
const CONNECT_TIMEOUT = 10_000

/** Milliseconds beyond the time a statement may take: a server that has ended none by then does not answer at all. */
const SILENCE_TIMEOUT = 5_000

/** Milliseconds of silence after which the system asks whether the other side is still there. */
const KEEP_ALIVE = 10_000

/** Milliseconds after which the server ends a transaction whose process does nothing more: it may hold rows that others need. */
const IDLE_TRANSACTION_TIMEOUT = 30_000

const INT8 = 20

/** Numbers of objects and serials are far below 2^53: exact as numbers. */
const TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/** How to connect. Throws a `RangeError`, which does not repeat the URL, unless it is one of PostgreSQL. */
export function clientSettings(url: string): pg.ClientConfig {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw new RangeError('the URL of the database must begin with postgres:// or postgresql://')
  const settings: pg.ClientConfig = {
    connectionString: url,
    application_name: 'zonewright',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE,
    types: TYPES,
  }
  try {
    new pg.Client(settings)
  } catch (error) {
    // What a parser of URLs says may quote the password.
    const { code } = error as NodeJS.ErrnoException
    throw new RangeError(`the URL of the database cannot be used${code === undefined ? '' : ` (${code})`}`)
  }
  return settings
}

/** Names the database without its user and password. */
export function databaseName(settings: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(settings)
  return `the PostgreSQL database ${JSON.stringify(database ?? '')} at ${host}${host.startsWith('/') ? '' : `:${port}`}`
}

export interface Connections {
  readonly pool: PostgresPool
  /** Ends every connection at once and makes no other: what waits for the server fails. */
  abandon(): void
}

/** A pool of connections; one that is lost is replaced when the next is needed. `onLost` is told of those that were idle. */
export function createPool({ url, connections, statementTimeout, lockTimeout }: PoolSettings, onLost: (error: Error) => void): Connections {
  const pool = new pg.Pool({
    ...clientSettings(url),
    max: connections,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT,
    ...(statementTimeout === 0 ? {} : { query_timeout: statementTimeout + SILENCE_TIMEOUT }),
  })
  const open = new Set<pg.PoolClient>()
  let abandoned = false
  pool.on('error', onLost)
  pool.on('connect', (client) => {
    open.add(client)
    // The pool listens to idle connections only. One lost between two statements of a transaction fails the next of them.
    client.on('error', () => undefined)
    closeWhenSilent(client)
  })
  pool.on('remove', (client) => open.delete(client))
  return {
    pool: {
      connect: async () => {
        if (abandoned) throw new Error('the database is waited for no longer')
        return pool.connect()
      },
      end: () => pool.end(),
    },
    abandon: () => {
      abandoned = true
      for (const client of open) disconnect(client)
    },
  }
}

/** Ends a connection without a goodbye, for which a server that hangs would be waited. */
export const disconnect = (client: pg.Client): void => void client.connection.stream.destroy()

/**
 * A server that hangs, or is cut off, leaves its connections open for as long as the system likes. One whose question has had no answer
 * in time is of no use any more: what comes next on it would wait as well.
 */
function closeWhenSilent(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...question: unknown[]) => unknown
  const watched = (...question: unknown[]): unknown => {
    const answer = query(...question)
    if (answer instanceof Promise) answer.catch((error: Error) => error.message === QUERY_TIMEOUT_MESSAGE && giveUp())
    return answer
  }
  const giveUp = (): void => {
    // Tells the pool that it is not to be lent again.
    void client.end()
    disconnect(client)
  }
  client.query = watched as typeof client.query
}

/** What the client says of a question without an answer. */
const QUERY_TIMEOUT_MESSAGE = 'Query read timeout'

/** What errors of PostgreSQL and of the way to it mean (PostgreSQL documentation, appendix A). */

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/**
 * Whether the transaction lost against another that ran beside it and may win when it runs again: 40001 serialization failure,
 * 40P01 deadlock, 23505 a key that another has taken since this one looked for it.
 */
export const isConflict = (error: unknown): boolean => ['40001', '40P01', '23505'].includes(codeOf(error))

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
])

const NO_CONNECTION = /connection terminated|timeout exceeded when trying to connect|not queryable|client was closed/i

/**
 * Whether the connection failed, the server is going down or coming up (57P01 to 57P03) or has no connection to spare (53300), rather
 * than what was asked of it.
 */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('08') || /^57P0[123]$|^53300$/.test(code) || NETWORK.has(code)) return true
  return code === '' && error instanceof Error && NO_CONNECTION.test(error.message)
}

/** Why the database cannot be used at all, for the one who starts the service. */
export function startError(database: string, error: unknown): Error {
  const message = (error instanceof Error && error.message) || codeOf(error) || String(error)
  return new Error(`${database} ${reasonOf(error, message)}`, { cause: error })
}

function reasonOf(error: unknown, message: string): string {
  if (isConnectionError(error)) return `cannot be reached: ${message}`
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return `does not admit this user: ${message}`
    case '3D000':
      return 'does not exist'
    case '42501':
      return `does not allow what the service needs: ${message}`
    default:
      return `cannot be used: ${message}`
  }
}
