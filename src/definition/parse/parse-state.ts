import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { InventoryRrset } from '../../dns/inventory.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ForeignRecord, RrsetScope } from '../../dns/zone.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './collect-diagnostics.ts'
import type { RecordExtra, RecordSource } from './merge-sources.ts'

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
  readonly extras: RecordExtra[]
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
