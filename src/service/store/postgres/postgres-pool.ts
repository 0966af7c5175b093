/** Connections to PostgreSQL: settings, pools, timeouts and errors. */
import type { PostgresPool } from 'kysely'
import pg from 'pg'

export interface PoolSettings {
  readonly url: string
  /** Maximum number of connections. */
  readonly connections: number
  /** Milliseconds that a statement may take; 0 for no limit. */
  readonly statementTimeout: number
  /** Milliseconds to wait for locked rows; 0 for no limit. */
  readonly lockTimeout: number
}

/** Milliseconds to wait for a new or a busy connection. */
const CONNECT_TIMEOUT = 10_000

/** Milliseconds beyond the statement timeout. A server that has not ended the statement by then does not respond at all. */
const SILENCE_TIMEOUT = 5_000

/** Milliseconds of inactivity before the first TCP keep-alive probe. */
const KEEP_ALIVE = 10_000

/** Milliseconds after which the server ends an idle transaction, because it may have locked rows. */
const IDLE_TRANSACTION_TIMEOUT = 30_000

const INT8 = 20

/** Parses bigint as number: ids and serials are far below 2^53. */
const TYPES = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/** The client settings for a URL. Throws a `RangeError`, without the URL in its message, if it is not a valid PostgreSQL URL. */
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
    // The original message may quote the password.
    const { code } = error as NodeJS.ErrnoException
    throw new RangeError(`the URL of the database cannot be used${code === undefined ? '' : ` (${code})`}`)
  }
  return settings
}

/** A description of the database without user and password. */
export function databaseName(settings: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(settings)
  return `the PostgreSQL database ${JSON.stringify(database ?? '')} at ${host}${host.startsWith('/') ? '' : `:${port}`}`
}

export interface Connections {
  readonly pool: PostgresPool
  /** Closes all connections immediately and opens no others, so that pending queries fail. */
  abandon(): void
}

/** Creates a pool. Lost connections are replaced when needed. `onLost` is called for lost idle connections. */
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
    // The pool handles errors only of idle connections. If a connection is lost between two statements of a transaction, the next one fails.
    client.on('error', () => undefined)
    closeWhenSilent(client)
  })
  pool.on('remove', (client) => open.delete(client))
  return {
    pool: {
      connect: async () => {
        if (abandoned) throw new Error('the service no longer waits for the database')
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

/** Drops a connection without a clean close, which would wait for a server that hangs. */
export const disconnect = (client: pg.Client): void => void client.connection.stream.destroy()

/**
 * Drops a connection after a query timeout. The connections of a hung or unreachable server stay open for a long time, and later queries on them
 * would time out as well.
 */
function closeWhenSilent(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const watched = (...args: unknown[]): unknown => {
    const result = query(...args)
    if (result instanceof Promise) result.catch((error: Error) => error.message === QUERY_TIMEOUT_MESSAGE && drop())
    return result
  }
  const drop = (): void => {
    // Makes the pool discard the client.
    void client.end()
    disconnect(client)
  }
  client.query = watched as typeof client.query
}

/** The client's error message for a query timeout. */
const QUERY_TIMEOUT_MESSAGE = 'Query read timeout'

/** The code of an error (PostgreSQL documentation, appendix A); empty without one. */
const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/**
 * Whether the transaction conflicted with a concurrent one, so that a retry may succeed: 40001 serialization failure, 40P01 deadlock, 23505 a key
 * that was inserted concurrently.
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
 * Whether the connection failed rather than the query: also if the server is shutting down or starting (57P01 to 57P03), or has too many
 * connections (53300).
 */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('08') || /^57P0[123]$|^53300$/.test(code) || NETWORK.has(code)) return true
  return code === '' && error instanceof Error && NO_CONNECTION.test(error.message)
}

/** The error for the operator if the database cannot be used at startup. */
export function startError(database: string, error: unknown): Error {
  const message = (error instanceof Error && error.message) || codeOf(error) || String(error)
  return new Error(`${database} ${reasonOf(error, message)}`, { cause: error })
}

function reasonOf(error: unknown, message: string): string {
  if (isConnectionError(error)) return `cannot be reached: ${message}`
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return `rejects this user: ${message}`
    case '3D000':
      return 'does not exist'
    case '42501':
      return `denies a permission that the service needs: ${message}`
    default:
      return `cannot be used: ${message}`
  }
}
