/** The structured log of the service: one JSON object per line. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  readonly level: LogLevel
  /** Writes one line of JSON. The line includes its line feed. */
  readonly write: (line: string) => void
}

/** The operator's log: each entry has fields and a message. */
export type Log = Readonly<Record<Exclude<LogLevel, 'silent'>, (fields: object, message: string) => void>>

const nothing = (): void => undefined

export const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/**
 * Creates a structured log with one JSON object per line and `time` in UTC. Never pass it anything that may contain a secret: headers, bodies,
 * query strings or database passwords.
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
 * An error without the properties that libraries add. They may be secret: a connection error has its client and the key for cancelling its
 * statements, and a constraint violation has the rejected values.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code } = error as NodeJS.ErrnoException
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  return { type: error.constructor.name, message: error.message, ...(code === undefined ? {} : { code }), stack: error.stack, ...cause }
}
