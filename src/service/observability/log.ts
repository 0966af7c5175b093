export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  readonly level: LogLevel
  /** Takes one line of JSON, with its line feed. */
  readonly write: (line: string) => void
}

/** What the service tells its operator: fields, and what happened in words. */
export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (fields: object, message: string) => void>>

const nothing = (): void => undefined

export const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/**
 * A structured log: one object a line, `time` in UTC. What may hold a secret is never given to it: no headers, no bodies, no
 * query strings, no passwords of databases.
 */
export async function createLog(options: LogOptions | null): Promise<Log> {
  if (options === null || options.level === 'silent') return SILENT
  const { pino } = await import('pino')
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
      errorKey: 'error',
      serializers: { error: describeError },
      formatters: { level: (level) => ({ level }) },
    },
    { write: options.write },
  )
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}

/**
 * An error without what libraries hang on it: a lost connection brings its client with the key that ends its statements, a broken rule of
 * the database the values that broke it.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code } = error as NodeJS.ErrnoException
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  return { type: error.constructor.name, message: error.message, ...(code === undefined ? {} : { code }), stack: error.stack, ...cause }
}
