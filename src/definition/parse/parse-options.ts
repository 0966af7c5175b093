import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Result } from '../../dns/result.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { RecordExtra } from './merge-sources.ts'
import type { Layout } from './parse-state.ts'

/** A file that a definition draws in. `file` identifies it (the same file always by the same text) and stands in positions. */
export interface IncludedFile {
  readonly file: string
  readonly text: string
}

/** Reads a file named in `include:` or `!include`: `path` as it is written, `from` the file that names it. Does the I/O for a pure parser. */
export type ReadInclude = (path: string, from: string) => Result<IncludedFile>

export interface ParseOptions {
  /** The name of the file in positions and diagnostics. */
  readonly file: string
  /** The zone by the name of the file; used where the file has no `domain:`. */
  readonly zoneName?: DomainName | null | undefined
  /** Seconds for records without `ttl` in the layout that is the record map alone; 3600 where absent. */
  readonly octodnsDefaultTtl?: number | undefined
  /** In the same layout: false where `\;` in a text stands for both characters; true where absent. */
  readonly escapesSemicolons?: boolean | undefined
  /** Without it, a file that includes others is an error. */
  readonly include?: ReadInclude | undefined
  /** The most characters one file may have; 10 Mi where absent. */
  readonly maxLength?: number | undefined
}

/** One entry of `include:`. */
export interface IncludeEntry {
  readonly path: string
  readonly with: ReadonlyMap<string, string>
  readonly at: SourcePosition
}

export interface ParsedDefinition {
  /** Null where the file has faults that leave no zone to speak of. With errors among the diagnostics a zone lacks what was at fault. */
  readonly zone: DesiredZone | null
  readonly layout: Layout
  /** False with `enabled: false`: the definition is to be left alone. */
  readonly enabled: boolean
  /** The entries of `include:`; already merged into the zone. */
  readonly includes: readonly IncludeEntry[]
  /** Every other file that was read, by `file`, sorted. */
  readonly includedFiles: readonly string[]
  /** RRsets whose definition says `octodns: {lenient: true}`, by `rrsetKey`. */
  readonly lenient: ReadonlySet<string>
  /** Keys of records that no target can express, each with the warning `record-extra` at its record. */
  readonly extras: readonly RecordExtra[]
  readonly diagnostics: readonly Diagnostic[]
}
