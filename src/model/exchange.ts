import type { Diagnostic, SourcePosition } from './diagnostic.ts'
import type { DomainName } from './domain-name.ts'
import type { ResourceRecord } from './record.ts'
import type { Ttl } from './ttl.ts'
import type { DesiredZone, Policy, RrsetScope, UnmanagedSelector, ZoneSettings } from './zone.ts'

/** A record on its way from another format. */
export interface ExchangedRecord extends ResourceRecord {
  /** Where it comes from, where that is a file. */
  readonly at?: SourcePosition | undefined
}

/** Words of a person, kept with what they are about. */
export interface ZoneComment {
  /** The owner it is about; null for a setting, and for the definition as a whole. */
  readonly name: DomainName | null
  /** One or more lines, without the sign that begins a comment. A number sign at the start of a line doubles that. */
  readonly text: string
  /** The RRset of the owner; with `data` that record of it. */
  readonly rrset?: { readonly type: string; readonly ttl: Ttl | null; readonly data?: string | undefined } | undefined
  readonly setting?: keyof ZoneSettings | undefined
  /** On lines of its own above where it is not said; `apart` with a blank line below; `behind` on the same line; `below`; at the `end` of all. */
  readonly place?: 'above' | 'apart' | 'behind' | 'below' | 'end' | undefined
}

/** A file of definitions. `path` is relative to the folder it is written to, with `/`. */
export interface ExchangedFile {
  readonly path: string
  readonly text: string
}

/** A zone that an import has read. */
export interface ImportedZone {
  readonly name: DomainName
  readonly settings: ZoneSettings
  /** All records but the SOA, whose fields are settings. */
  readonly records: readonly ExchangedRecord[]
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly apexNs?: DesiredZone['apexNs'] | undefined
  readonly policy?: Policy | undefined
  /** Names of the providers that are to hold it, where the config alone would not say so. */
  readonly targets?: readonly string[] | undefined
  readonly comments?: readonly ZoneComment[] | undefined
  /** For which targets RRsets are, where that is not all. */
  readonly scopes?: readonly RrsetScope[] | undefined
  /** RRsets whose faults are tolerated where they can be, by `rrsetKey`. */
  readonly lenient?: ReadonlySet<string> | undefined
  /**
   * The definition as it stands where its format is one that definitions have, its first file the one that names the zone. They
   * are written as they are. Without them the zone is printed in the layout with settings.
   */
  readonly files?: readonly ExchangedFile[] | undefined
}

/** What a format holds and another cannot: named, never dropped silently. */
export interface LostItem {
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
  readonly lost: readonly LostItem[]
  readonly diagnostics: readonly Diagnostic[]
  /** Files beside those of zones, such as fragments that several include, or a config. */
  readonly files?: readonly ExchangedFile[] | undefined
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
  readonly files: readonly ExchangedFile[]
  /** Whether `-o` names the one file itself, not a folder for the files. */
  readonly isSingleFile: boolean
  readonly lost: readonly LostItem[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Makes another format of zones. Pure. */
export type Exporter = (zones: readonly DesiredZone[], options: ExportOptions) => Exported
