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

/** A pool of connections; one that is lost is replaced when the next is needed. `onLost` is told of those that were idle. */
export function createPool({ url, connections, statementTimeout, lockTimeout }: PoolSettings, onLost: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...clientSettings(url),
    max: connections,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT,
  })
  pool.on('error', onLost)
  // The pool listens to idle connections only. One lost between two statements of a transaction fails the next of them.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
