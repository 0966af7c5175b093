/** A zone that an import has read. */
import type { SourcePosition } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Ownership } from '../dns/ownership.ts'
import type { DefinedRecord, ResourceRecord } from '../dns/record.ts'
import type { DesiredZone, Policy, RrsetTargets, SoaFields, UnmanagedSelector, ZoneComment, ZoneSettings } from '../dns/zone.ts'
import type { OutputFile } from '../files/write-files.ts'

/** A record read from another format. */
export interface ImportedRecord extends ResourceRecord, Ownership, Pick<DefinedRecord, 'providerSettings' | 'ignore' | 'autoPtr'> {
  /** Its position, if it comes from a file. */
  readonly at?: SourcePosition | undefined
}

/** A zone read by an import, or one of our own that is printed. */
export interface ImportedZone
  extends Ownership,
    Partial<
      Pick<
        DesiredZone,
        'absent' | 'allow' | 'autoPtr' | 'ignore' | 'defaultTtl' | 'providerSpecific' | 'sourced' | 'sources' | 'unsupported'
      >
    > {
  readonly name: DomainName
  readonly settings: ZoneSettings
  /** Fields of its SOA record that the settings cannot express. */
  readonly soa?: SoaFields | undefined
  /** All records except the SOA, whose fields are in `settings` and `soa`. */
  readonly records: readonly ImportedRecord[]
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
  readonly apexNs?: DesiredZone['apexNs'] | undefined
  readonly policy?: Policy | undefined
  /** The names of its providers, if the config alone does not determine them. */
  readonly targets?: readonly string[] | undefined
  readonly comments?: readonly ZoneComment[] | undefined
  /** The targets of RRsets that are not for all targets. */
  readonly rrsetTargets?: readonly RrsetTargets[] | undefined
  /** RRsets whose errors become warnings if possible, by `rrsetKey`. */
  readonly lenient?: ReadonlySet<string> | undefined
  /** The definition's files, written unchanged if their format is one that definitions can have; the first names the zone. If absent, the zone is printed. */
  readonly files?: readonly OutputFile[] | undefined
}
