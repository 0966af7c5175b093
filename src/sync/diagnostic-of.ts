import type { Diagnostic } from '../model/diagnostic.ts'
import { ProviderError } from '../providers/provider.ts'

/** A provider's failure as a diagnostic; a bug stays an exception. */
export function diagnosticOf(error: unknown): Diagnostic {
  if (error instanceof ProviderError) return { severity: 'error', code: error.code, message: error.message, hint: error.hint }
  throw error
}
