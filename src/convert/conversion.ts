import type { ImportedZone, OutputFile } from '../definition/imported-zone.ts'
import type { Diagnostic, SourcePosition } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { DesiredZone } from '../dns/zone.ts'

/** What a format holds and another cannot: named, never dropped silently. */
export interface UnsupportedFeature {
  readonly zone: DomainName | null
  /** The owner; null for what is of the whole zone. */
  readonly name: DomainName | null
  readonly type: string | null
  /** What is lost in a few words: `geo`, `the setting tags`. */
  readonly what: string
  readonly at?: SourcePosition | undefined
  /** What comes of it where the loss is accepted; it is left out where this is absent. */
  readonly outcome?: string | undefined
}

/** What an import has read. With an error among the diagnostics nothing of it is written. */
export interface Imported {
  readonly zones: readonly ImportedZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
  /** Files beside those of zones, such as fragments that several include, or a config. */
  readonly files?: readonly OutputFile[] | undefined
  /** How the files are to be read, where a config among them says it otherwise than the one there is. */
  readonly reading?: FileReading | undefined
}

/** What a config says of how definitions in octoDNS's layout are read. */
export interface FileReading {
  readonly octodnsDefaultTtl: Ttl
  readonly octodnsSplitExtension: string
}

/** What the command line says of an export. */
export interface ExportOptions {
  /** Name servers for zones that have no NS records at the apex. */
  readonly nameservers: readonly DomainName[]
  /** The serial of SOA records. */
  readonly serial: number
  /** How zone files are laid out. */
  readonly style: 'canonical' | 'pretty'
}

/** What an export makes. */
export interface Exported {
  /** Relative to the folder that `-o` names. A format of one file has one. */
  readonly files: readonly OutputFile[]
  /** Whether `-o` names the one file itself, not a folder for the files. */
  readonly isSingleFile: boolean
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Makes another format of zones. Pure. */
export type Exporter = (zones: readonly DesiredZone[], options: ExportOptions) => Exported
