/** Zones as definitions describe them and as providers hold them. */
import type { SourcePosition } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'
import { type DomainName, parseAbsoluteName } from './domain-name.ts'
import type { Ownership } from './ownership.ts'
import type { DefinedRecord, ExistingRecord } from './record.ts'
import type { SerialNumber } from './serial-number.ts'
import type { Suppression } from './suppression.ts'
import type { Ttl } from './ttl.ts'
import type { SourcedRrset, ZonePattern } from './zone-source.ts'

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

/** Known records of other clients: challenges of ACME (RFC 8555), validation of AWS certificates, and names of DHCP clients (RFC 4703). */
export const PRESETS = ['acme', 'acm-validation', 'dhcp'] as const

/** Selects records that another system manages. Plans do not change them and do not report them as differences. `*` matches any characters. */
export interface UnmanagedSelector {
  /** A glob for the name relative to the zone (`''` or `@` for the apex); absent for all names. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** A glob for the data in presentation form. */
  readonly target?: string | undefined
  /** The client that has registered the record in the zone itself. */
  readonly owner?: 'external-dns' | undefined
  /** A declared record takes precedence over it. */
  readonly preset?: (typeof PRESETS)[number] | undefined
  readonly at?: SourcePosition | undefined
}

/** Who manages the NS records of the apex: the target, the definition, or all targets of the zone together. */
export const APEX_NS_MODES = ['keep', 'manage', 'all-targets'] as const
export type ApexNsMode = (typeof APEX_NS_MODES)[number]

/** What a plan may do: `sync` anything; `upsert-only` delete no RRset; `create-only` change no existing RRset. */
export type Policy = 'sync' | 'upsert-only' | 'create-only'

/** The safety limits that a user can lift by name. */
export const REFUSAL_NAMES = ['deletes', 'updates', 'empty-zone', 'apex-ns', 'delete-zone', 'in-use', 'quarantined'] as const
export type RefusalName = (typeof REFUSAL_NAMES)[number]

/** What a user lifts: a refusal by its name, or `in-use:` with a canonical name for that name only. */
export type Allowance = RefusalName | `in-use:${string}`

/** A record that only one provider can hold: its type (`Route53Provider/ALIAS`) or its data has no DNS form. */
export interface ProviderSpecificRecord {
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
}

/** Which targets manage an RRset: the keys `ignored`, `included` and `excluded` of octoDNS. */
export interface RrsetTargets {
  readonly name: DomainName
  readonly type: string
  /** Whether no target manages the RRset. */
  readonly ignored: boolean
  /** Only these targets have it; empty for all. */
  readonly included: readonly string[]
  /** These targets do not manage it. */
  readonly excluded: readonly string[]
}

/** The positions of settings in the definition or the config. */
export type SettingPositions = { readonly [Key in keyof ZoneSettings]?: SourcePosition } & {
  /** By the names of the targets, in their order. */
  readonly targets?: readonly SourcePosition[]
}

/** Fields of an SOA record for which `ZoneSettings` has no value. They take precedence in zone files. Times in seconds, with 32 bits. */
export interface SoaFields {
  readonly primary?: DomainName | undefined
  /** The mailbox as a name, if it is not a mail address. */
  readonly mailbox?: DomainName | undefined
  readonly serial?: SerialNumber | undefined
  readonly refresh?: number | undefined
  readonly retry?: number | undefined
  readonly expire?: number | undefined
  readonly minimum?: number | undefined
  /** The TTL of the record itself; absent if it is the minimum. */
  readonly ttl?: Ttl | undefined
}

/** A zone as its definition describes it. */
export interface DesiredZone extends Ownership {
  readonly name: DomainName
  /** The start of the definition, in the file that names the zone. */
  readonly at: SourcePosition
  readonly settings: ZoneSettings
  readonly settingPositions?: SettingPositions | undefined
  /** Fields of its SOA record that the settings cannot express. */
  readonly soa?: SoaFields | undefined
  readonly records: readonly DefinedRecord[]
  /** The TTL of records without one, and where it is set; absent if the definition and the config set none. */
  readonly defaultTtl?: { readonly ttl: Ttl; readonly at: SourcePosition } | undefined
  /** RRsets whose values are read when the zone is planned. `records` does not include them. */
  readonly sourced?: readonly SourcedRrset[] | undefined
  /** Patterns of RRsets that are read when the zone is planned. The RRsets of the definition take precedence. */
  readonly sources?: readonly ZonePattern[] | undefined
  /** Whether addresses get PTR records unless their record says otherwise; absent if the config decides. */
  readonly autoPtr?: boolean | undefined
  readonly providerSpecific: readonly ProviderSpecificRecord[]
  /** The RRsets that some targets do not manage. */
  readonly rrsetTargets: readonly RrsetTargets[]
  readonly unmanaged: readonly UnmanagedSelector[]
  /** The findings that are not reported in it, besides those that its records suppress; none if absent. */
  readonly ignore?: readonly Suppression[] | undefined
  /** Whether plans change the NS records of the apex. */
  readonly apexNs: ApexNsMode
  /** Whether a record that the target does not support is an error or is skipped. */
  readonly unsupported: 'error' | 'skip'
  /** Whether types that only some providers know are skipped where they are unknown, as in files of octoDNS; absent if `unsupported` decides. */
  readonly skipsProviderTypes?: true | undefined
  /** Whether the zone is to be deleted. */
  readonly absent: boolean
  /** The names of the targets; null if the config decides. */
  readonly targets: readonly string[] | null
  /** Null if the config decides. */
  readonly policy: Policy | null
  /** The safety limits that the definition lifts. */
  readonly allow: readonly Allowance[]
}

/** The defaults of the options that a definition can omit. */
export const DEFAULT_ZONE_OPTIONS = {
  providerSpecific: [],
  rrsetTargets: [],
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
  /** Settings of the provider that `ZoneSettings` cannot express, worded for messages: `status "edit_mode"`. */
  readonly unknownSettings?: readonly string[] | undefined
  /** The records that plans neither compare nor change; `records` does not include them. */
  readonly unplanned?: readonly UnplannedRecord[] | undefined
}

/** A record of a live zone that plans neither compare nor change. */
export interface UnplannedRecord extends Pick<ExistingRecord, 'name' | 'type' | 'data'> {
  /** Why, in words that follow its name and type: `is disabled`. */
  readonly reason: string
  /** Whether the RRset can have no other record; false if absent. Plans leave the RRset to it. */
  readonly holdsRrset?: boolean | undefined
  /** Whether name servers answer with it; true if absent. */
  readonly isServed?: boolean | undefined
}

/** A comment in a definition or zone file, with its subject. */
export interface ZoneComment {
  /** The owner name; null for a setting or the whole definition. */
  readonly name: DomainName | null
  /** One or more lines without the comment sign. A line that begins with `#` is printed with two signs (`##`). */
  readonly text: string
  /** The RRset, or with `data` one record of it. */
  readonly rrset?: { readonly type: string; readonly ttl: Ttl | null; readonly data?: string | undefined } | undefined
  readonly setting?: keyof ZoneSettings | undefined
  /** Where it is printed; `above` if absent. `above-with-blank-line` has a blank line between comment and subject. */
  readonly place?: 'above' | 'above-with-blank-line' | 'same-line' | 'below' | 'end-of-file' | undefined
}

// What `--allow` and the key `allow` lift: a safety limit, or the limit `in-use` for one name.

const OF_NAME = 'in-use:'

/** Parses an allowance. A name may lack its final dot and be in Unicode. */
export function parseAllowance(text: string): Result<Allowance> {
  const known = REFUSAL_NAMES.find((name) => name === text)
  if (known !== undefined) return ok(known)
  if (!text.startsWith(OF_NAME)) return failure(`${quoted(text)} is not one of ${REFUSAL_NAMES.join(', ')} and in-use:NAME`)
  const name = parseAbsoluteName(text.slice(OF_NAME.length))
  return name.ok ? ok<Allowance>(`in-use:${name.value}`) : failure(`${quoted(text)}: ${name.message}`)
}
