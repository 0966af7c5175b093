/** What errors of PostgreSQL and of the way to it mean (PostgreSQL documentation, appendix A). */

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/**
 * Whether the transaction lost against another that ran beside it and may win when it runs again: 40001 serialization failure,
 * 40P01 deadlock, 23505 a key that another has taken since this one looked for it.
 */
export const lostRace = (error: unknown): boolean => ['40001', '40P01', '23505'].includes(codeOf(error))

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
export function lostConnection(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('08') || /^57P0[123]$|^53300$/.test(code) || NETWORK.has(code)) return true
  return code === '' && error instanceof Error && NO_CONNECTION.test(error.message)
}

/** Why the database cannot be used at all, for the one who starts the service. */
export function startFailure(database: string, error: unknown): Error {
  const message = (error instanceof Error && error.message) || codeOf(error) || String(error)
  return new Error(`${database} ${reasonOf(error, message)}`, { cause: error })
}

function reasonOf(error: unknown, message: string): string {
  if (lostConnection(error)) return `cannot be reached: ${message}`
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
