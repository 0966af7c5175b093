import type { SourcePosition } from './diagnostic.ts'
import type { DomainName } from './domain-name.ts'
import type { InventoryRrset } from './inventory.ts'
import type { DefinedRecord, ExistingRecord } from './record.ts'
import type { Ttl } from './ttl.ts'

/** A zone's settings under the field names of the Linode API, in seconds for `*_sec`. An absent setting is not managed. */
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

/** All settings of a zone, in the order of the API's documentation. */
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

/** Selects records that others manage: they are never changed and never count as a difference. `*` matches any characters. */
export interface UnmanagedSelector {
  /** A glob for the name relative to the zone (`''` or `@` for the apex); absent for all names. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** A glob for the data in presentation form. */
  readonly target?: string | undefined
  readonly at?: SourcePosition | undefined
}

export type Policy = 'sync' | 'upsert-only' | 'create-only'

/** The names of safety refusals that a user can lift. */
export const REFUSAL_NAMES = ['deletes', 'updates', 'empty-zone', 'apex-ns', 'delete-zone'] as const
export type RefusalName = (typeof REFUSAL_NAMES)[number]

/** A record of a type without a DNS form (`Route53Provider/ALIAS`), or with data that only its provider understands. */
export interface ForeignRecord {
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
}

/** octoDNS's targeting per RRset. */
export interface RrsetScope {
  readonly name: DomainName
  readonly type: string
  /** No target manages the RRset. */
  readonly ignored: boolean
  /** Only these targets have it; empty for all. */
  readonly included: readonly string[]
  /** These targets do not manage it. */
  readonly excluded: readonly string[]
}

/** The position of each setting, in the definition or the config. */
export type SettingPlaces = { readonly [Key in keyof ZoneSettings]?: SourcePosition }

/** A zone as its definition describes it. */
export interface DesiredZone {
  readonly name: DomainName
  /** The start of the definition, in the file that names the zone. */
  readonly at: SourcePosition
  readonly settings: ZoneSettings
  /** The position of each setting that has one. */
  readonly settingsAt?: SettingPlaces | undefined
  readonly records: readonly DefinedRecord[]
  /** RRsets whose addresses are looked up when the zone is planned. `records` does not include them. */
  readonly inventory?: readonly InventoryRrset[] | undefined
  readonly foreign: readonly ForeignRecord[]
  readonly scopes: readonly RrsetScope[]
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly apexNs: 'keep' | 'manage'
  readonly unsupported: 'error' | 'skip'
  /** Whether the zone is to be deleted. */
  readonly absent: boolean
  /** The names of the targets; null if the config decides. */
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly RefusalName[]
}

/** The options of a definition that does not set them. */
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
  /** Settings that `ZoneSettings` cannot express, for people: `status "edit_mode"`. */
  readonly unknownSettings?: readonly string[] | undefined
}

/** A person's comment and its subject. */
export interface ZoneComment {
  /** The owner name; null for a setting or the whole definition. */
  readonly name: DomainName | null
  /** One or more lines without the comment sign. A `#` at the start of a line doubles the comment sign. */
  readonly text: string
  /** The RRset, or with `data` one record of it. */
  readonly rrset?: { readonly type: string; readonly ttl: Ttl | null; readonly data?: string | undefined } | undefined
  readonly setting?: keyof ZoneSettings | undefined
  /** The default is `above`, on separate lines; `apart` adds a blank line below; `behind` is on the same line; `end` is the end of the file. */
  readonly place?: 'above' | 'apart' | 'behind' | 'below' | 'end' | undefined
}
