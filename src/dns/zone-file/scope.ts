import type { Diagnostic, Severity, SourcePosition } from '../diagnostic.ts'
import type { DiagnosticCode } from '../diagnostic-codes.ts'
import type { DomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Result } from '../result.ts'
import type { Ttl } from '../ttl.ts'
import { lineAndColumn, type ZoneLexer } from './lexer.ts'

/** A file that `$INCLUDE` draws in. `file` identifies it (the same file always by the same text) and stands in positions. */
export interface IncludedZoneFile {
  readonly file: string
  readonly text: string
}

/** Reads a file named by `$INCLUDE`: `path` as it is written, `from` the file that names it. Does the I/O for a pure parser. */
export type ReadZoneInclude = (path: string, from: string) => Result<IncludedZoneFile>

/** What all files of one reading share. */
export interface ZoneFileReading {
  readonly emit: (record: DefinedRecord) => void
  readonly include: ReadZoneInclude | undefined
  /** Seconds where the file shows no TTL at all. */
  readonly fallbackTtl: Ttl | null
  /** The zone; records outside are left out. Null takes all. */
  readonly zone: DomainName | null
  readonly maxDiagnostics: number
  readonly maxRecords: number
  readonly diagnostics: Diagnostic[]
  errors: number
  warnings: number
  /** Files being read now, outermost first, and all that were included. */
  readonly open: string[]
  readonly included: Set<string>
  inclusions: number
  includedLength: number
  records: number
  /** Of `$GENERATE`: records, and characters of their lines. */
  generated: number
  generatedLength: number
  hasTtlWarning: boolean
  /** Set where a limit was reached: nothing more is read. */
  stopped: boolean
  /** Where the apex is: the owner of the first SOA record. */
  apex: DomainName | null
  firstOrigin: DomainName | null
}

/** What one file, or the text of one `$GENERATE`, is read with. An included file starts with its parent's and gives nothing back. */
export interface ZoneFileScope {
  readonly run: ZoneFileReading
  readonly file: string
  lexer: ZoneLexer
  origin: DomainName | null
  /** The owner of the record before; null before the first. */
  owner: DomainName | null
  /** Seconds of the entry being read, or one of the two below. */
  statedTtl: number
  /** The last owner field was no name: records that inherit it are checked and dropped. */
  hasInvalidOwner: boolean
  /** Of `$TTL`. */
  defaultTtl: Ttl | null
  /** The minimum of the first SOA record, whether it is the default of the file, and the last TTL stated, for files without `$TTL`. */
  soaMinimum: Ttl | null
  isMinimumDefault: boolean
  lastTtl: Ttl | null
  /** A `$TTL` that ended with the file included last, with nothing read since. */
  endedTtl: EndedTtl | null
  /** The place of everything that `$GENERATE` makes; null where positions are those of the text. */
  readonly fixedPlace: SourcePosition | null
}

export interface EndedTtl {
  /** In seconds. */
  readonly ttl: Ttl
  readonly file: string
  /** The place of the `$INCLUDE`. */
  readonly at: SourcePosition
}

/** Instead of a TTL: none is stated, or what is stated is none. */
export const NO_TTL = -1
export const INVALID_TTL = -2

export const tokenText = ({ text, starts, ends }: ZoneLexer, index: number): string => text.slice(starts[index], ends[index])

/** The place of a token, its quote included; after the last token, the end of the entry. */
export function tokenPosition(scope: ZoneFileScope, index: number): SourcePosition {
  const { lexer } = scope
  const { count, starts, ends, flags } = lexer
  const last = count - 1
  const offset = index < count ? (starts[index] ?? 0) - ((flags[index] ?? 0) & 1) : (ends[last] ?? 0) + ((flags[last] ?? 0) & 1)
  return positionAt(scope, offset)
}

export const positionAt = ({ fixedPlace, file, lexer }: ZoneFileScope, offset: number): SourcePosition =>
  fixedPlace ?? { file, ...lineAndColumn(lexer, offset) }

/** Adds a diagnostic, an error unless another severity is given; the reading stops where there are too many errors. */
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
  const stop = `there are ${run.errors} errors; the rest was not read`
  run.diagnostics.push({ severity: 'error', code: 'zonefile-too-large', message: stop, at })
  run.stopped = true
}
