/** Diagnostics: messages to the user with a code and a position. */
import type { DiagnosticCode } from './diagnostic-codes.ts'
import { compareText } from './text.ts'

export type Severity = 'error' | 'warning' | 'notice'

/** A position in a file. Lines and columns start at 1; columns count UTF-16 code units, as editors do. */
export interface SourcePosition {
  readonly file: string
  readonly line: number
  readonly column: number
  /** In a program, the calls above this one, innermost first; absent in any other file. */
  readonly calledFrom?: readonly SourcePosition[] | undefined
}

/** One message to the user. The code is stable and documented; the message names zone, owner and type and never contains a secret. */
export interface Diagnostic {
  readonly severity: Severity
  readonly code: DiagnosticCode
  readonly message: string
  readonly at?: SourcePosition | undefined
  /** What to do about it. */
  readonly hint?: string | undefined
  /** What others of this kind have in common, such as `cloud rounds TTL 600 down to 300` of `record set`: reports may show them as one. */
  readonly cause?: { readonly subject: string; readonly message: string } | undefined
  /** Related positions, such as the first of two duplicates. */
  readonly related?: readonly { readonly message: string; readonly at: SourcePosition }[] | undefined
}

/** The related positions, and the calls of a program that led to its position. */
export const relatedAndCalls = ({ at, related = [] }: Pick<Diagnostic, 'at' | 'related'>): NonNullable<Diagnostic['related']> =>
  at?.calledFrom === undefined ? related : [...related, ...at.calledFrom.map((call) => ({ message: 'called here', at: call }))]

export const placeText = ({ file, line, column }: SourcePosition): string => oneLine(`${file}:${line}:${column}`)

/** Follows the name of a config of which the text of the base branch is read. */
const OF_BASE_BRANCH = ' of the base branch'

/** The name in messages of a config of which the text of the base branch is read. */
export const nameOfBaseConfig = (file: string): string => file + OF_BASE_BRANCH

/** The diagnostic for a report that links to files: the message says that the file is that of the base branch. */
export function withRealFile<D extends Pick<Diagnostic, 'message' | 'at'>>(diagnostic: D): D {
  const { at, message } = diagnostic
  if (at === undefined || !at.file.endsWith(OF_BASE_BRANCH)) return diagnostic
  const file = at.file.slice(0, -OF_BASE_BRANCH.length)
  return { ...diagnostic, message: `in the config of the base branch: ${message}`, at: { ...at, file } }
}

export const isError = (diagnostic: Diagnostic): boolean => diagnostic.severity === 'error'

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean => diagnostics.some(isError)

/** `FILE:LINE:COLUMN: SEVERITY[CODE] message`, always on one line. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { at, severity, code, message } = diagnostic
  const place = at ? `${placeText(at)}: ` : ''
  return `${place}${severity}[${code}] ${oneLine(message)}`
}

/** Orders diagnostics for reports: by file, position, code and message. Those without a position come first. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.at?.file ?? '', b.at?.file ?? '') ||
    (a.at?.line ?? 0) - (b.at?.line ?? 0) ||
    (a.at?.column ?? 0) - (b.at?.column ?? 0) ||
    compareText(a.code, b.code) ||
    compareText(a.message, b.message)
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu

const PRINTABLE_ASCII = /^[ -~]*$/

/**
 * Replaces characters that could forge lines, control a terminal or reorder text with visible escapes: control characters, line
 * separators, bidirectional controls, invisible characters and lone surrogates.
 */
export function oneLine(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text
  return text.replace(UNSAFE, (c) => {
    if (c === '\n') return '\\n'
    if (c === '\t') return '\\t'
    return `\\u${(c.codePointAt(0) as number).toString(16).padStart(4, '0')}`
  })
}
