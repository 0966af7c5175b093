import type { SourcePosition } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { DesiredZone, Policy, RrsetScope, UnmanagedSelector, ZoneComment, ZoneSettings } from '../dns/zone.ts'

/** A record on its way from another format. */
export interface ImportedRecord extends ResourceRecord {
  /** Where it comes from, where that is a file. */
  readonly at?: SourcePosition | undefined
}

/** A file of definitions. `path` is relative to the folder it is written to, with `/`. */
export interface OutputFile {
  readonly path: string
  readonly text: string
}

/** A zone that an import has read. */
export interface ImportedZone {
  readonly name: DomainName
  readonly settings: ZoneSettings
  /** All records but the SOA, whose fields are settings. */
  readonly records: readonly ImportedRecord[]
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
  readonly files?: readonly OutputFile[] | undefined
}
