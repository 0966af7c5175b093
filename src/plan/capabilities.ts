import type { Diagnostic } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { DefinedRecord } from '../dns/record.ts'
import type { ZoneSettings } from '../dns/zone.ts'

/** A target's rule for single records: returns the record as the target stores it, or null with diagnostics if the target does not support it. */
export type RecordRule = (
  record: DefinedRecord,
  zone: DomainName,
) => { readonly record: DefinedRecord | null; readonly diagnostics: readonly Diagnostic[] }

/** A setting that exceeds a limit of the target. */
export interface SettingProblem {
  readonly field: keyof ZoneSettings
  readonly message: string
}

/** What one call to a target carries, and what it guarantees. */
export interface CallRules {
  /** What is created, replaced or deleted as a whole. */
  readonly unit: 'record' | 'rrset'
  /** Maximum number of units in a call; null without a limit. */
  readonly maxUnits: number | null
  /** Maximum size of a call in octets of DNS records, those before and after the change together; null without a limit. */
  readonly maxOctets: number | null
  /** Maximum number of records in a call, and of characters of their data, those before and after the change together; absent without a limit. */
  readonly maxValues?:
    | {
        readonly count: number
        readonly characters: number
        /** The characters of one record at the target, if it has another form there. */
        readonly lengthOf?: (type: string, data: string) => number
      }
    | undefined
  /** Whether a call is one DNS message, which holds more in as many octets; false if absent. */
  readonly isDnsMessage?: boolean | undefined
  /** Whether `maxOctets` counts only the text of the rdata, before plus after the change; false if absent. */
  readonly countsRdataOnly?: boolean | undefined
  /** Whether a call is carried out as a whole or not at all. */
  readonly atomic: boolean
  /** Whether the target orders the changes of a call itself, so that one that is not atomic may carry changes that depend on each other; false if absent. */
  readonly ordersChanges?: boolean | undefined
  /** Whether a call that is refused for its content is divided, so that a record that the target refuses does not stop the others; false if absent. */
  readonly divides?: boolean | undefined
  /** Whether a call states what it expects to find, so that it never overwrites another client's change. */
  readonly hasPrecondition: boolean
  /** Whether the target fails if two calls write at the same time, so that they follow each other in all its zones; false if absent. */
  readonly oneAtATime?: boolean | undefined
  /** Whether the call that creates a zone carries records too, as many as another call carries, so that no new zone is served without its records. */
  readonly createsZoneWithRecords: boolean
  /** Whether a call for an RRset that is carried out twice may store a record twice; false if absent. */
  readonly addsTwice?: boolean | undefined
  /** Whether an update of a single record may give it another owner; true if absent. False if records have more than owner, type, TTL and data, which would move too. */
  readonly movesRecords?: boolean | undefined
}

/** What a target can store, as data and a few named rules. */
export interface Capabilities {
  readonly calls: CallRules
  /** Whether zones can only be read, so that no call succeeds; false if absent. */
  readonly readOnly?: boolean | undefined
  /** Why plans only create RRsets, whatever the policy of the zone, in words that follow "because"; absent if plans may also update and delete. */
  readonly onlyCreates?: string | undefined
  /** The type of provider whose settings of records definitions may state for this target; absent if it has none. */
  readonly recordSettings?: string | undefined
  /** The supported record types; null for all. */
  readonly types: ReadonlySet<string> | null
  /** The types of which a name has one record at most; none if absent. */
  readonly singleValueTypes?: ReadonlySet<string> | undefined
  /** The TTLs that the target stores, ascending; null for any. */
  readonly ttlSteps: readonly number[] | null
  /** Whether a record may have no TTL and follow the zone's default. */
  readonly ttlDefault: boolean
  /** The TTL in seconds of a record without one in a zone that sets no default; absent if it is unknown. If `ttlDefault` is false, such records are given it. */
  readonly fallbackTtl?: number | undefined
  /** The values that the target stores for a zone's times, ascending; null for any. */
  readonly settingSteps: readonly number[] | null
  /** The supported settings of a zone. */
  readonly settings: ReadonlySet<keyof ZoneSettings>
  /** Whether the target stores the fields of an SOA record that settings cannot express: primary, serial, any time. If not, it sets its own. */
  readonly storesSoaFields: boolean
  /** Whether the serial of a new zone depends on `lastSerial` of its call; false if absent. */
  readonly setsSerials?: boolean | undefined
  /** Whether the mail address of a zone is read in lower case, as some servers answer; false if absent. */
  readonly lowersMailAddress?: boolean | undefined
  /** Settings that cannot change after the zone is created. */
  readonly fixedSettings: ReadonlySet<keyof ZoneSettings>
  readonly settingProblems: (settings: ZoneSettings) => readonly SettingProblem[]
  /** Settings that the target requires for a new zone, by its type. */
  readonly neededToCreate: Readonly<Record<'master' | 'slave', readonly (keyof ZoneSettings)[]>>
  /** Whether zones can be created and deleted at the target. */
  readonly createsZones: boolean
  /** Whether zones can be deleted, if that differs from `createsZones`. */
  readonly deletesZones?: boolean | undefined
  /** The apex NS records of new zones whose definitions have none; absent if the target cannot be told any. */
  readonly newZoneNameservers?: readonly DomainName[] | undefined
  /** Whether a new zone gets apex NS records of the target, which are known only when it exists; false if absent. */
  readonly assignsNameservers?: boolean | undefined
  /** Whether a zone may have this name. */
  readonly canCreateZone: (name: DomainName) => boolean
  /** Maximum number of records of a zone; null without a limit. */
  readonly maxRecords: number | null
  /** Whether the target sets the apex NS records itself and does not list them. */
  readonly servesApexNs: boolean
  /** Whether servers refuse a zone without NS records at its apex, and the target adds none; false if absent. */
  readonly needsApexNs?: boolean | undefined
  /** Whether the target refuses a CNAME beside other records, and a second CNAME at a name. */
  readonly cnameExclusive: boolean
  /** Whether the target refuses an ALIAS beside A and AAAA records; false if absent. */
  readonly aliasExclusive?: boolean | undefined
  readonly rules: readonly RecordRule[]
}

/**
 * A plain store of RRsets, as most name servers are: any type, whole RRsets in calls of any size, no settings of zones, no creation of zones. A provider states
 * how it differs. The TTL of records without one is an hour, because the server has none for single records.
 */
export const RRSET_STORE: Capabilities = {
  calls: { unit: 'rrset', maxUnits: null, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false },
  types: null,
  ttlSteps: null,
  ttlDefault: false,
  fallbackTtl: 3600,
  settingSteps: null,
  settings: new Set(),
  storesSoaFields: false,
  fixedSettings: new Set(),
  settingProblems: () => [],
  neededToCreate: { master: [], slave: [] },
  createsZones: false,
  canCreateZone: () => false,
  maxRecords: null,
  servesApexNs: false,
  cnameExclusive: true,
  rules: [],
}
