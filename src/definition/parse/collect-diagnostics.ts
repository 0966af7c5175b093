import type { Diagnostic, Severity, SourcePosition } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'

export interface DiagnosticDetails {
  readonly severity?: Severity
  readonly hint?: string | undefined
  readonly related?: Diagnostic['related']
}

/** Faults of one definition that are told. Beyond them no reader is helped by more. */
export const MAX_DIAGNOSTICS = 50_000

/** Collects what is wrong with a definition. A fault in a node that aliases bring to several places is one fault: it is told once. */
export interface DiagnosticCollector {
  readonly diagnostics: Diagnostic[]
  /** `subject` says whose fault it is, such as `www.example.com. MX`; `detail` what it is. */
  /** Whether no more faults are taken. */
  readonly isFull: () => boolean
  readonly report: (code: DiagnosticCode, at: SourcePosition, subject: string, detail: string, details?: DiagnosticDetails) => void
}

export function collectDiagnostics(): DiagnosticCollector {
  const diagnostics: Diagnostic[] = []
  const told = new Set<string>()
  return {
    diagnostics,
    isFull: () => told.size >= MAX_DIAGNOSTICS,
    report: (code, at, subject, detail, { severity = 'error', hint, related } = {}) => {
      const key = `${at.file}:${at.line}:${at.column} ${code} ${detail}`
      if (told.has(key) || told.size >= MAX_DIAGNOSTICS) return
      told.add(key)
      diagnostics.push({ severity, code, message: subject === '' ? detail : `${subject}: ${detail}`, at, hint, related })
    },
  }
}

/** Text from a file as part of a message: quoted and not endless. */
export const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
