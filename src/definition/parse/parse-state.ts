/** The state of the parser of a definition. */
import type { Diagnostic, Severity, SourcePosition } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ProviderSpecificRecord, RrsetTargets } from '../../dns/zone.ts'
import type { SourcedRrset } from '../../dns/zone-source.ts'
import type { YamlNode, YamlScalar } from '../yaml/yaml-node.ts'

/** `settings`: a file with `domain:` and `records:`. `octodns`: the file is only a record map, read as octoDNS reads it. */
export type Layout = 'settings' | 'octodns'

/** The state that the parsers of a definition's parts share: the context for names and TTLs, the results and the problems. */
export interface ParseState extends SourceContents {
  readonly layout: Layout
  readonly zone: DomainName
  /** For records without a TTL; null for the zone's default. */
  readonly defaultTtl: Ttl | null
  readonly problems: DiagnosticCollector
  /** Nodes whose problem the schema check has reported already. */
  readonly invalid: Set<YamlNode>
  /** The source being read, in the layout with settings. */
  readonly source?: RecordSource | undefined
  /** Whether `\;` in a text means `;`: false only if octoDNS's config says `escaped_semicolons: false`. */
  readonly escapesSemicolons: boolean
  /** Lenient RRsets with invalid data. */
  readonly refusedLenient: RefusedRrset[]
}

/** An RRset whose data or TTL is invalid, with its errors. */
export interface RefusedRrset {
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
  /** Empty if aliases repeat data whose errors are reported at another RRset. */
  readonly errors: readonly Diagnostic[]
}

/** The state before the first record. */
export const newParseState = (layout: Layout, zone: DomainName, defaultTtl: Ttl | null, problems: DiagnosticCollector): ParseState => ({
  layout,
  zone,
  defaultTtl,
  problems,
  invalid: new Set(),
  records: [],
  sourced: [],
  providerSpecific: [],
  rrsetTargets: [],
  lenient: new Set(),
  unsupportedKeys: [],
  escapesSemicolons: true,
  refusedLenient: [],
})

/** The owner name whose records are being read. */
export interface Owner {
  readonly name: DomainName
  /** The name as messages show it. */
  readonly label: string
  readonly at: SourcePosition
}

/** The record whose value is being read. */
export interface ValueContext {
  readonly type: string
  /** Owner and type as messages show them. */
  readonly subject: string
  readonly state: ParseState
}

/** Reports an unknown key of a value: an error, or a warning in octoDNS's layout, since octoDNS ignores such keys. */
export function reportUnknownKey(
  key: YamlScalar,
  keys: readonly string[],
  { state: { problems, invalid, layout }, subject, type }: ValueContext,
): void {
  if (invalid.has(key)) return
  const severity = layout === 'octodns' ? 'warning' : 'error'
  const hint = didYouMean(key.text, keys) ?? `The keys of ${type} are ${keys.join(', ')}.`
  problems.report('schema-unknown-key', key.at, subject, `unknown key ${quoted(key.text)}`, { severity, hint })
}

/** Whether the number is octal in YAML 1.1 and decimal in YAML 1.2. */
export const looksOctal = (node: YamlScalar): boolean => node.plain && /^[-+]?0[0-9_]+$/.test(node.text)

/** The kind of a node as messages show it. */
export const kindName = (node: YamlNode): string =>
  node.kind === 'sequence' ? 'a list' : node.kind === 'mapping' ? 'keys with values' : 'a single value'

/** A key of a record that no target supports, such as `geo` or `octodns.healthcheck`. */
export interface UnsupportedKey {
  readonly name: DomainName
  readonly type: string
  readonly key: string
  readonly at: SourcePosition
}

/** The RRsets of one or several sources. */
export interface SourceContents {
  readonly records: DefinedRecord[]
  /** RRsets whose values are read when the zone is planned. */
  readonly sourced: SourcedRrset[]
  readonly providerSpecific: ProviderSpecificRecord[]
  readonly rrsetTargets: RrsetTargets[]
  /** RRsets marked lenient, by `rrsetKey`. */
  readonly lenient: Set<string>
  readonly unsupportedKeys: UnsupportedKey[]
}

/** One source of a zone: the definition itself, or one inclusion of a fragment. */
export interface RecordSource extends SourceContents {
  readonly kind: 'definition' | 'fragment'
  /** The entry of `include:`; null for the definition itself. */
  readonly includedAt: SourcePosition | null
  /** RRsets marked `merge: true`, by `rrsetKey`. */
  readonly merged: Set<string>
  /** RRsets marked `override: true`, by `rrsetKey`, with the position of the mark. */
  readonly overriding: Map<string, SourcePosition>
}

export const newSource = (kind: RecordSource['kind'], includedAt: SourcePosition | null = null): RecordSource => ({
  kind,
  includedAt,
  records: [],
  sourced: [],
  providerSpecific: [],
  rrsetTargets: [],
  lenient: new Set(),
  unsupportedKeys: [],
  merged: new Set(),
  overriding: new Map(),
})

export interface DiagnosticDetails {
  readonly severity?: Severity
  readonly hint?: string | undefined
  readonly related?: Diagnostic['related']
  readonly cause?: Diagnostic['cause']
}

/** Maximum number of problems reported per definition. */
const MAX_DIAGNOSTICS = 50_000

/** Maximum number of records of a definition, and of octets of their data in presentation form, with everything that it includes or repeats. */
export const MAX_RECORDS = 500_000
export const MAX_DATA_OCTETS = 2 ** 26

/** Collects the problems of a definition. A problem in a node that aliases repeat is reported once. */
export interface DiagnosticCollector {
  readonly diagnostics: Diagnostic[]
  /** Whether `MAX_DIAGNOSTICS` or a limit of the records is reached, so that the rest is not read. */
  readonly isFull: () => boolean
  /** Counts records of the zone, and octets of their data. Reports the first place that exceeds a limit. */
  readonly count: (at: SourcePosition, records: number, octets: number) => void
  /** Whether a limit of the records is exceeded. */
  readonly isTooLarge: () => boolean
  /** Reports a problem. `subject` names the record or zone, such as `www.example.com. MX`. */
  readonly report: (code: DiagnosticCode, at: SourcePosition, subject: string, detail: string, details?: DiagnosticDetails) => void
}

export function collectDiagnostics(): DiagnosticCollector {
  const diagnostics: Diagnostic[] = []
  const reported = new Set<string>()
  let records = 0
  let octets = 0
  const isTooLarge = (): boolean => records > MAX_RECORDS || octets > MAX_DATA_OCTETS
  return {
    diagnostics,
    isFull: () => reported.size >= MAX_DIAGNOSTICS || isTooLarge(),
    isTooLarge,
    count: (at, more, length) => {
      if (isTooLarge()) return
      records += more
      octets += length
      if (!isTooLarge()) return
      const limit = records > MAX_RECORDS ? `${MAX_RECORDS} records` : `${MAX_DATA_OCTETS} octets of data`
      const message = `the definition has more than ${limit}, with what it includes and repeats; the rest is not read`
      diagnostics.push({ severity: 'error', code: 'file-too-large', message, at })
    },
    report: (code, at, subject, detail, { severity = 'error', hint, related, cause } = {}) => {
      const key = `${at.file}:${at.line}:${at.column} ${code} ${detail}`
      if (reported.has(key) || reported.size >= MAX_DIAGNOSTICS) return
      reported.add(key)
      diagnostics.push({
        severity,
        code,
        message: subject === '' ? detail : `${subject}: ${detail}`,
        at,
        hint,
        related,
        ...(cause && { cause }),
      })
    },
  }
}

/** `${name}` as in an included file. */
const VARIABLE = /\$\{[A-Za-z_][A-Za-z0-9_-]*\}/

/**
 * Reports a variable in a place where none has a value, and returns whether there is one. In an included file, all variables have been replaced
 * already.
 */
export function reportVariable(
  { text, at }: YamlScalar,
  subject: string,
  { problems, source }: Pick<ParseState, 'problems' | 'source'>,
  severity: Severity = 'error',
): boolean {
  const variable = text.includes('${') && source?.kind !== 'fragment' ? VARIABLE.exec(text)?.[0] : undefined
  if (variable === undefined) return false
  problems.report('variable-unknown', at, subject, `the variable ${variable} has no value here`, {
    severity,
    hint: `Variables work in included files: move the record to one, and write include: [{file: FILE, with: {${variable.slice(2, -1)}: VALUE}}].`,
  })
  return true
}
