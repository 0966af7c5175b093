/** What is thrown outside the program. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import { isSecretExposed } from '../base/secret-guard.ts'

/** The diagnostic of a failure that no flow expects: of a provider, whose errors have one, a name server or the system, or of a secret that was not written. Null for any other error. */
export function failureOf(error: unknown): Diagnostic | null {
  if (isSecretExposed(error)) return error.diagnostic
  const { message, code, syscall, severity, hint } = Object(error) as NodeJS.ErrnoException & Partial<Pick<Diagnostic, 'severity' | 'hint'>>
  if (code === 'DNS_FAILURE') return { severity: 'error', code: 'nameserver-failed', message }
  if (syscall !== undefined) return { severity: 'error', code: 'system-failed', message }
  if (severity !== undefined && code !== undefined) return { severity, code: code as DiagnosticCode, message, hint }
  return null
}
