import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { DefinedRecord } from '../dns/record.ts'
import type { ZoneSettings } from '../dns/zone.ts'

/** A rule of one target about single records. Gives the record as the target would store it, or null where it cannot, and says what it did. */
export type RecordRule = (
  record: DefinedRecord,
  zone: DomainName,
) => { readonly record: DefinedRecord | null; readonly diagnostics: readonly Diagnostic[] }

/** What is wrong with a setting by a target's own limits, in words. */
export interface SettingProblem {
  readonly field: keyof ZoneSettings
  readonly message: string
}

/** What a target can hold, as plain data and a few named rules. */
export interface Capabilities {
  /** What one call changes. */
  readonly granularity: 'record' | 'rrset' | 'message' | 'file'
  /** Record types it can hold; null for every type. */
  readonly types: ReadonlySet<string> | null
  /** The only TTLs it stores, ascending; null where any is stored as it is. */
  readonly ttlSteps: readonly number[] | null
  /** Whether a record can be without a TTL of its own and follow the zone's default. */
  readonly ttlDefault: boolean
  /** The only values it stores for a zone's times, ascending; null where any is stored as it is. */
  readonly settingSteps: readonly number[] | null
  /** The settings of a zone it has. */
  readonly settings: ReadonlySet<keyof ZoneSettings>
  /** Settings that a zone keeps from its creation on. */
  readonly fixedSettings: ReadonlySet<keyof ZoneSettings>
  /** What is wrong with settings by the target's own limits, in words. */
  readonly settingProblems: (settings: ZoneSettings) => readonly SettingProblem[]
  /** The settings without which it creates no zone of that type. */
  readonly neededToCreate: Readonly<Record<'master' | 'slave', readonly (keyof ZoneSettings)[]>>
  /** Whether it can create a zone of that name. */
  readonly canCreateZone: (name: DomainName) => boolean
  /** Records in one zone; null without a limit. */
  readonly maxRecords: number | null
  /** Whether the apex NS records are its own affair and not among the records it lists. */
  readonly servesApexNs: boolean
  /** Whether it refuses other records beside a CNAME, and a second CNAME at a name. */
  readonly cnameExclusive: boolean
  readonly rules: readonly RecordRule[]
}
