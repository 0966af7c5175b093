import type { Diagnostic, Severity, SourcePosition } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { InventoryRrset } from '../../dns/inventory.ts'
import { didYouMean } from '../../dns/nearest-word.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ForeignRecord, RrsetScope } from '../../dns/zone.ts'
import type { YamlNode, YamlScalar } from '../yaml/yaml-node.ts'

/** `settings`: a plain `domain:` stands above `records:`. `octodns`: the file is the record map, read as octoDNS reads it. */
export type Layout = 'settings' | 'octodns'

/** What the readers of a definition's parts share: how names and TTLs are completed, and where results and faults go. */
export interface ParseState {
  readonly layout: Layout
  readonly zone: DomainName
  /** For records without a TTL of their own; null for the zone's default. */
  readonly defaultTtl: Ttl | null
  readonly problems: DiagnosticCollector
  /** Nodes with a fault that the schema has found and that was reported; nothing more is said about them. */
  readonly invalid: Set<YamlNode>
  /** Which file is read, of those that make a definition with settings; absent in the other layout. */
  readonly source?: RecordSource | undefined
  readonly records: DefinedRecord[]
  /** Record sets whose addresses come from an inventory. */
  readonly inventory: InventoryRrset[]
  readonly foreign: ForeignRecord[]
  readonly scopes: RrsetScope[]
  /** Keys of RRsets marked lenient, by `rrsetKey`. */
  readonly lenient: Set<string>
  readonly extras: UnsupportedKey[]
  /** Whether `\;` in a text stands for `;`, as it does unless octoDNS's config says `escaped_semicolons: false`. */
  readonly escapesSemicolons: boolean
}

/** A reading at its beginning. */
export const newParseState = (layout: Layout, zone: DomainName, defaultTtl: Ttl | null, problems: DiagnosticCollector): ParseState => ({
  layout,
  zone,
  defaultTtl,
  problems,
  invalid: new Set(),
  records: [],
  inventory: [],
  foreign: [],
  scopes: [],
  lenient: new Set(),
  extras: [],
  escapesSemicolons: true,
})

/** A name of the zone with its records under way. */
export interface Owner {
  readonly name: DomainName
  /** The name for messages. */
  readonly label: string
  readonly at: SourcePosition
}

/** Whose value is read: for messages, and for names that the zone completes. */
export interface ValueContext {
  readonly type: string
  /** Owner and type as messages name them. */
  readonly subject: string
  readonly state: ParseState
}

/** Reports a key that a value does not have. octoDNS passes over such keys, so in its layout it is a warning. */
export function reportUnknownKey(
  key: YamlScalar,
  keys: readonly string[],
  { state: { problems, invalid, layout }, subject, type }: ValueContext,
): void {
  if (invalid.has(key)) return
  const severity = layout === 'octodns' ? 'warning' : 'error'
  const hint = didYouMean(key.text, keys) ?? `A value of ${type} has ${keys.join(', ')}.`
  problems.report('schema-unknown-key', key.at, subject, `${quoted(key.text)} is not a key of a ${type} value`, { severity, hint })
}

/** Whether YAML 1.1 reads the number as octal and YAML 1.2 as decimal. */
export const looksOctal = (node: YamlScalar): boolean => node.plain && /^[-+]?0[0-9_]+$/.test(node.text)

/** The kind of a node as messages name it. */
export const kindName = (node: YamlNode): string =>
  node.kind === 'sequence' ? 'list' : node.kind === 'mapping' ? 'mapping' : 'single value'

/** A key of a record that no target can express, such as `geo` or `octodns.healthcheck`. */
export interface UnsupportedKey {
  readonly name: DomainName
  readonly type: string
  readonly key: string
  readonly at: SourcePosition
}

/** What sources say of their RRsets. */
export interface SourceContents {
  readonly records: DefinedRecord[]
  readonly inventory: InventoryRrset[]
  readonly foreign: ForeignRecord[]
  readonly scopes: RrsetScope[]
  /** RRsets marked lenient, by `rrsetKey`. */
  readonly lenient: Set<string>
  readonly unsupportedKeys: UnsupportedKey[]
}

/** One source of a definition: the definition itself, or one inclusion of a fragment. */
export interface RecordSource extends SourceContents {
  readonly kind: 'definition' | 'fragment'
  /** Where a fragment is included. */
  readonly includedAt: SourcePosition | null
  /** RRsets marked `merge: true`, by `rrsetKey`. */
  readonly merged: Set<string>
  /** RRsets marked `override: true`, and where. */
  readonly overriding: Map<string, SourcePosition>
}

export const newSource = (kind: RecordSource['kind'], includedAt: SourcePosition | null = null): RecordSource => ({
  kind,
  includedAt,
  records: [],
  inventory: [],
  foreign: [],
  scopes: [],
  lenient: new Set(),
  unsupportedKeys: [],
  merged: new Set(),
  overriding: new Map(),
})

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
