/** Resource records: types, keys, grouping and order. */
import type { SourcePosition } from '../base/diagnostic.ts'
import { groupBy } from '../base/group-by.ts'
import { compareText } from '../base/text.ts'
import { compareNames, type DomainName } from './domain-name.ts'
import type { Ownership } from './ownership.ts'
import type { Suppression } from './suppression.ts'
import type { Ttl } from './ttl.ts'

/** Settings of a record at a provider that are no part of the DNS, such as a comment, by name. */
export type RecordSettings = Readonly<Record<string, boolean | string | readonly string[]>>

/**
 * A resource record. `data` is rdata in canonical presentation form (see `rdata/canonical.ts`): two records of a type have the same
 * rdata exactly if these texts are equal. A TTL of null means the zone's default.
 */
export interface ResourceRecord {
  readonly name: DomainName
  /** `A`, `MX`, …; `TYPE12345` for a type without a mnemonic (RFC 3597). */
  readonly type: string
  readonly ttl: Ttl | null
  readonly data: string
  /** The source of the data for people, unless it is the definition: `instance web-1 (123)`. */
  readonly source?: string | undefined
  /** A desired record has the settings that its definition states, an existing one all settings; absent if there are none. */
  readonly settings?: RecordSettings | undefined
}

/** A record of a definition or zone file, with its position. */
export interface DefinedRecord extends ResourceRecord, Ownership {
  readonly at: SourcePosition
  /** Whether the address gets a PTR record; absent if the zone decides. */
  readonly autoPtr?: boolean | undefined
  /** The settings that the definition states, by the type of provider. */
  readonly providerSettings?: Readonly<Record<string, RecordSettings>> | undefined
  /** The findings about the record that are not reported; none if absent. */
  readonly ignore?: readonly Suppression[] | undefined
}

/** A record as a provider holds it. */
export interface ExistingRecord extends ResourceRecord {
  /** The provider's identifier, if it has one per record. */
  readonly id?: number | string | undefined
  /** The types at this owner for which the provider sets the TTL of this record, whatever it is sent; none if absent. */
  readonly fixedTtlTypes?: readonly string[] | undefined
  /** The settings while which the provider sets those TTLs; always if absent. */
  readonly fixedTtlWhile?: RecordSettings | undefined
}

/** The key of an RRset (RFC 9499 section 5): equal for two records exactly if owner and type are. */
export const rrsetKey = (record: { readonly name: DomainName; readonly type: string }): string => `${record.name} ${record.type}`

/** Equal for two records exactly if owner, type and data are. */
export const recordKey = (record: Pick<ResourceRecord, 'name' | 'type' | 'data'>): string => `${record.name} ${record.type} ${record.data}`

/** Equal for two records exactly if owner, type, TTL and data are. */
export const contentKey = (record: ResourceRecord): string => `${recordKey(record)} ${record.ttl}`

/** Whether a record is an NS record at the apex of the zone. */
export const isApexNs = ({ name, type }: ResourceRecord, zone: DomainName): boolean => type === 'NS' && name === zone

/** Whether two records are equal in owner, type, TTL and data, and in the settings that both have. */
export const sameRecord = (a: ResourceRecord, b: ResourceRecord): boolean =>
  a.name === b.name && a.type === b.type && a.ttl === b.ttl && a.data === b.data && conflictingSettings(a, b).length === 0

/** The settings that both records have with other values. The order of the items of a list does not matter. */
export function conflictingSettings({ settings: a }: ResourceRecord, { settings: b }: ResourceRecord): string[] {
  if (a === undefined || b === undefined || a === b) return []
  return Object.keys(a).filter((key) => b[key] !== undefined && settingKey(a[key]) !== settingKey(b[key]))
}

/** The settings of a record that are neither false nor empty. */
export const statedSettings = ({ settings = {} }: ResourceRecord): readonly (readonly [string, RecordSettings[string]])[] =>
  Object.entries(settings).filter(([, value]) => (typeof value === 'object' ? value.length > 0 : value !== false && value !== ''))

const settingKey = (value: RecordSettings[string] | undefined): string =>
  JSON.stringify(typeof value === 'object' ? value.toSorted(compareText) : value)

/** Types that Cloudflare refuses beside any CNAME. */
const NEVER_BESIDE_CNAME: ReadonlySet<string> = new Set(['A', 'AAAA', 'ALIAS', 'CNAME', 'NS'])

/**
 * Whether records of the type may be beside this CNAME, although a name with a CNAME has no other data (RFC 2181 section 10.1): it is proxied at Cloudflare, which
 * answers with its own addresses and never serves the CNAME.
 */
export const mayBeBesideCname = (type: string, { settings }: Pick<ResourceRecord, 'settings'>): boolean =>
  settings?.['proxied'] === true && !NEVER_BESIDE_CNAME.has(type)

/** Groups records by `rrsetKey`, in the order of first appearance. */
export const groupRrsets = <R extends ResourceRecord>(records: Iterable<R>): Map<string, R[]> => groupBy(records, rrsetKey)

/** Orders records for output: by owner in canonical order, by type with SOA and NS first, by data, by TTL. */
export function compareRecords(a: ResourceRecord, b: ResourceRecord): number {
  return (
    compareNames(a.name, b.name) ||
    typeRank(a.type) - typeRank(b.type) ||
    compareText(a.type, b.type) ||
    compareText(a.data, b.data) ||
    (a.ttl ?? -1) - (b.ttl ?? -1)
  )
}

const typeRank = (type: string): number => (type === 'SOA' ? 0 : type === 'NS' ? 1 : 2)
