/** The state of a zone file parser. */
import type { Diagnostic, Severity, SourcePosition } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import type { Result } from '../../base/result.ts'
import type { DomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import { lineAndColumn, type ZoneLexer } from './lexer.ts'

/** A file for `$INCLUDE`. `file` identifies it, always in the same spelling, and appears in positions. */
export interface IncludedZoneFile {
  readonly file: string
  readonly text: string
}

/** Reads a file for `$INCLUDE`, so the parser stays pure. `path` is as written and `from` is the file that includes it. */
export type ReadZoneInclude = (path: string, from: string) => Result<IncludedZoneFile>

/** State that all files of one zone share. */
export interface ZoneFileReading {
  readonly emit: (record: DefinedRecord) => void
  readonly include: ReadZoneInclude | undefined
  /** The TTL, in seconds, if the file has none. */
  readonly fallbackTtl: Ttl | null
  /** The zone. Records outside it are dropped. Null keeps all. */
  readonly zone: DomainName | null
  readonly maxDiagnostics: number
  readonly maxRecords: number
  readonly diagnostics: Diagnostic[]
  errors: number
  warnings: number
  /** The files being read, outermost first, and all included files. */
  readonly open: string[]
  readonly included: Set<string>
  inclusions: number
  includedLength: number
  records: number
  /** Records made by `$GENERATE`, and the characters of their lines. */
  generated: number
  generatedLength: number
  hasTtlWarning: boolean
  /** Whether an origin has capital letters. */
  hasCapitalOrigin: boolean
  /** The keys of RRsets with capital letters that signatures cover and `records` do not have. */
  readonly lowered: Set<string>
  /** Whether a limit was reached, so nothing more is read. */
  stopped: boolean
  /** The owner of the first SOA record. */
  apex: DomainName | null
  firstOrigin: DomainName | null
}

/** State of one file or `$GENERATE`. An included file starts with a copy of its parent's. */
export interface ZoneFileScope {
  readonly run: ZoneFileReading
  readonly file: string
  lexer: ZoneLexer
  origin: DomainName | null
  /** The last owner; null before the first. */
  owner: DomainName | null
  /** The TTL of the current entry in seconds, or `NO_TTL` or `INVALID_TTL`. */
  statedTtl: number
  /** Whether the last owner field was invalid. Records that inherit it are checked and dropped. */
  hasInvalidOwner: boolean
  /** The TTL of `$TTL`. */
  defaultTtl: Ttl | null
  /** For files without `$TTL`: the minimum of the first SOA record, whether it is the default, and the last explicit TTL. */
  soaMinimum: Ttl | null
  isMinimumDefault: boolean
  lastTtl: Ttl | null
  /** The `$TTL` that ended with the last included file, if nothing was read since. */
  endedTtl: EndedTtl | null
  /** The position of all records of a `$GENERATE`; null to use positions in the text. */
  readonly fixedPlace: SourcePosition | null
}

export interface EndedTtl {
  /** In seconds. */
  readonly ttl: Ttl
  readonly file: string
  /** The position of the `$INCLUDE`. */
  readonly at: SourcePosition
}

/** In place of a TTL: the entry has none, or an invalid one. */
export const NO_TTL = -1
export const INVALID_TTL = -2

export const tokenText = ({ text, starts, ends }: ZoneLexer, index: number): string => text.slice(starts[index], ends[index])

/** The position of a token with its quote; past the last token, the end of the entry. */
export function tokenPosition(scope: ZoneFileScope, index: number): SourcePosition {
  const { lexer } = scope
  const { count, starts, ends, quotes } = lexer
  const last = count - 1
  const offset = index < count ? (starts[index] ?? 0) - (quotes[index] ?? 0) : (ends[last] ?? 0) + (quotes[last] ?? 0)
  return positionAt(scope, offset)
}

export const positionAt = ({ fixedPlace, file, lexer }: ZoneFileScope, offset: number): SourcePosition =>
  fixedPlace ?? { file, ...lineAndColumn(lexer, offset) }

/** Adds a diagnostic, by default an error. Too many errors stop the reading. */
export function reportProblem(
  run: ZoneFileReading,
  code: DiagnosticCode,
  message: string,
  at: SourcePosition,
  { severity = 'error', hint }: { severity?: Severity; hint?: string } = {},
): void {
  if (run.stopped) return
  if (severity !== 'error') {
    run.warnings += 1
    if (run.warnings > run.maxDiagnostics) return
  } else run.errors += 1
  run.diagnostics.push({ severity, code, message, at, hint })
  if (run.errors < run.maxDiagnostics) return
  const stop = `there are ${run.errors} errors; the rest of the file is not read`
  run.diagnostics.push({ severity: 'error', code: 'zonefile-too-large', message: stop, at })
  run.stopped = true
}
