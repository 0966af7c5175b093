/** Commands of GitHub Actions on standard output: `::error file=…,line=…::message`. */
import { type Diagnostic, oneLine, type Severity, withRealFile } from '../base/diagnostic.ts'

const escapeData = (text: string): string => text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')

const escapeProperty = (text: string): string => escapeData(text).replace(/:/g, '%3A').replace(/,/g, '%2C')

interface Annotation {
  readonly severity: Severity
  readonly title: string
  readonly message: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** Names a file from the root of the repository. */
export type FromRoot = (file: string) => string

/** One annotation. A message of several lines stays in one command. */
export function annotation({ severity, title, message, file, line, column }: Annotation): string {
  const properties = { file, line, col: column, title }
  const given = Object.entries(properties).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${escapeProperty(oneLine(String(value)))}`],
  )
  return `::${severity} ${given.join(',')}::${escapeData(message)}`
}

/** The annotation of a diagnostic. Annotations need file names from the root of the repository. */
export function diagnosticAnnotation(diagnostic: Diagnostic, fromRoot: FromRoot = (file) => file): string {
  const { severity, code, message, at, hint } = withRealFile(diagnostic)
  const text = hint === undefined ? oneLine(message) : `${oneLine(message)}\n${oneLine(hint)}`
  return annotation({ severity, title: code, message: text, file: at && fromRoot(at.file), line: at?.line, column: at?.column })
}

/** Escapes text so that the runner finds no command in any line. */
export const plainLines = (text: string): string => text.split('\n').map(plainLine).join('\n')

/** Escapes `::` at the start of a line, which opens a command, and `##[` anywhere, which opens one of the older kind. */
export const plainLine = (line: string): string => line.replace(/^(\s*):(?=:)/, '$1\\u003a').replace(/##\[/g, '##\\u005b')
