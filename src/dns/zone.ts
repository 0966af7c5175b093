import type { SourcePosition } from './diagnostic.ts'
import type { DomainName } from './domain-name.ts'
import type { InventoryRrset } from './inventory.ts'
import type { DefinedRecord, ExistingRecord } from './record.ts'
import type { Ttl } from './ttl.ts'

/** A zone's own settings, under the interface's field names; seconds for `*_sec`. What is absent is not managed. */
export interface ZoneSettings {
  readonly type?: 'master' | 'slave' | undefined
  readonly status?: 'active' | 'disabled' | undefined
  readonly description?: string | undefined
  readonly group?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly soa_email?: string | undefined
  readonly master_ips?: readonly string[] | undefined
  readonly axfr_ips?: readonly string[] | undefined
  readonly expire_sec?: number | undefined
  readonly refresh_sec?: number | undefined
  readonly retry_sec?: number | undefined
  readonly ttl_sec?: number | undefined
}

/** Every setting of a zone, in the order of the interface's table. */
export const ZONE_SETTINGS = [
  'type',
  'status',
  'description',
  'group',
  'tags',
  'soa_email',
  'master_ips',
  'axfr_ips',
  'expire_sec',
  'refresh_sec',
  'retry_sec',
  'ttl_sec',
] as const satisfies readonly (keyof ZoneSettings)[]

/** Somebody else's records: never changed, never counted as a difference. `*` in `name` matches any run of characters. */
export interface UnmanagedSelector {
  /** A glob over the name relative to the zone (`''` or `@` for the apex); absent for every name. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** A glob over the data in presentation form. */
  readonly target?: string | undefined
  readonly at?: SourcePosition | undefined
}

export type Policy = 'sync' | 'upsert-only' | 'create-only'

/** The names by which safety refusals are lifted. */
export const REFUSAL_NAMES = ['deletes', 'updates', 'empty-zone', 'apex-ns', 'delete-zone'] as const
export type RefusalName = (typeof REFUSAL_NAMES)[number]

/** A record of a type that has no DNS form of its own (`Route53Provider/ALIAS`), or data that only its provider understands. */
export interface ForeignRecord {
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
}

/** octoDNS's per-record targeting: an RRset that a target must leave alone. */
export interface RrsetScope {
  readonly name: DomainName
  readonly type: string
  /** Leave it alone at every target. */
  readonly ignored: boolean
  /** Targets that alone hold it; empty for all. */
  readonly included: readonly string[]
  /** Targets that must leave it alone. */
  readonly excluded: readonly string[]
}

/** Where settings of a zone are said, in its definition or in the config. */
export type SettingPlaces = { readonly [Key in keyof ZoneSettings]?: SourcePosition }

/** A zone as its definition wants it. */
export interface DesiredZone {
  readonly name: DomainName
  /** Where the definition begins: the file that names the zone. */
  readonly at: SourcePosition
  readonly settings: ZoneSettings
  /** Where each setting is said; what is absent has no place of its own. */
  readonly settingsAt?: SettingPlaces | undefined
  readonly records: readonly DefinedRecord[]
  /** Record sets whose addresses are looked up when the zone is planned; they are not among the records. */
  readonly inventory?: readonly InventoryRrset[] | undefined
  readonly foreign: readonly ForeignRecord[]
  readonly scopes: readonly RrsetScope[]
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly apexNs: 'keep' | 'manage'
  readonly unsupported: 'error' | 'skip'
  /** The zone is to be deleted. */
  readonly absent: boolean
  /** Names of the targets, null where the config decides. */
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly RefusalName[]
}

/** What a definition wants that says nothing of it. */
export const DEFAULT_ZONE_OPTIONS = {
  foreign: [],
  scopes: [],
  unmanaged: [],
  apexNs: 'keep',
  unsupported: 'error',
  absent: false,
  targets: null,
  policy: null,
  allow: [],
} as const satisfies Partial<DesiredZone>

/** A zone as a provider holds it. */
export interface ExistingZone {
  readonly name: DomainName
  /** The provider's identifier of the zone. */
  readonly id?: number | string | undefined
  readonly settings: ZoneSettings
  readonly records: readonly ExistingRecord[]
  /** What the provider says of the zone and settings have no form for, in words: `status "edit_mode"`. */
  readonly unknownSettings?: readonly string[] | undefined
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
