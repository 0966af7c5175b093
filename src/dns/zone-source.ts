/** Records that a definition takes from a zone at a provider, and how long a plan keeps what a source no longer has. */
import type { SourcePosition } from '../base/diagnostic.ts'
import { type DomainName, displayName } from './domain-name.ts'
import type { Ownership } from './ownership.ts'
import type { Suppression } from './suppression.ts'
import type { Ttl } from './ttl.ts'

/** A record set that vanishes from a source is removed after this many reads and this many seconds, both counted from the first read without it. */
export interface QuarantineRule {
  readonly reads: number
  readonly seconds: number
}

export const DEFAULT_QUARANTINE: QuarantineRule = { reads: 3, seconds: 1800 }

/** The highest values of a rule. */
export const MAX_QUARANTINE: QuarantineRule = { reads: 1000, seconds: 30 * 86_400 }

/** The parts of a rule that a source states itself. */
export type OwnQuarantine = Partial<QuarantineRule>

/** Selects one RRset of a zone at a provider. Its type is that of the RRset that takes it. */
export interface ZoneQuery {
  readonly kind: 'zone'
  /** The name of the provider in the config. */
  readonly provider: string
  readonly zone: DomainName
  readonly name: DomainName
}

/** An RRset whose values are read when the zone is planned: addresses from an inventory, or an RRset of another zone. */
export interface SourcedRrset extends Ownership {
  readonly name: DomainName
  readonly type: string
  /** Null for that of the source, or else the zone's default. */
  readonly ttl: Ttl | null
  readonly query: InventoryQuery | ZoneQuery
  readonly quarantine?: OwnQuarantine | undefined
  /** The findings about its records that are not reported; none if absent. */
  readonly ignore?: readonly Suppression[] | undefined
  readonly at: SourcePosition
}

/** An entry of `sources:`: the RRsets of a zone at a provider that a pattern selects. The names have the same position relative to both zones. */
export interface ZonePattern {
  /** The name of the provider in the config. */
  readonly provider: string
  readonly zone: DomainName
  /** A glob for the name relative to the zone (`@` for the apex); absent for all names. */
  readonly name?: string | undefined
  /** Absent for all types. The SOA record and the NS records of the apex are never taken. */
  readonly type?: string | undefined
  readonly quarantine?: OwnQuarantine | undefined
  readonly at: SourcePosition
}

/** The providers that a zone reads besides its targets, by their names in the config. */
export const sourceProviders = ({
  sourced = [],
  sources = [],
}: {
  readonly sourced?: readonly SourcedRrset[] | undefined
  readonly sources?: readonly ZonePattern[] | undefined
}): string[] => [...sourced.flatMap(({ query }) => query.provider ?? []), ...sources.map(({ provider }) => provider)]

/** Names a source in messages: `the zone hidden.example.com. at ns1`, `the instances with tag "web" at cloud`. */
export function describeSource(query: InventoryQuery | ZoneQuery | ZonePattern, target: string): string {
  if ('kind' in query && query.kind !== 'zone') return `the ${describeInventoryQuery(query)} at ${query.provider ?? target}`
  return `the zone ${displayName(query.zone)} at ${query.provider}`
}

// Addresses that definitions take from an inventory of instances or load balancers.

/** The kinds of objects whose addresses a record can use. */
export const INVENTORY_KINDS = ['instances', 'loadbalancers'] as const
export type InventoryKind = (typeof INVENTORY_KINDS)[number]

/** Conditions that select objects of an inventory. An object must meet every condition given. */
export const INVENTORY_CONDITIONS = ['label', 'tag', 'region', 'group'] as const
export type InventoryCondition = (typeof INVENTORY_CONDITIONS)[number]

/** Selects objects of an account by at least one condition. */
export interface InventoryQuery {
  readonly kind: InventoryKind
  /** The name of the provider in the config; null for the zone's own target. */
  readonly provider: string | null
  readonly label?: string | undefined
  /** Case-insensitive. */
  readonly tag?: string | undefined
  readonly region?: string | undefined
  /** Only instances have groups. */
  readonly group?: string | undefined
}

/** An object of an inventory with its public addresses in canonical form. */
export interface InventoryObject {
  /** A description for people: `instance web-1 (123)`. */
  readonly source: string
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

/** Describes a query for people: `instances with tag "web" and region "us-east"`. */
export function describeInventoryQuery({ kind, label, tag, region, group }: InventoryQuery): string {
  const words = kind === 'instances' ? 'instances' : 'load balancers'
  const conditions = [
    ...(label === undefined ? [] : [`label ${JSON.stringify(label)}`]),
    ...(tag === undefined ? [] : [`tag ${JSON.stringify(tag)}`]),
    ...(region === undefined ? [] : [`region ${JSON.stringify(region)}`]),
    ...(group === undefined ? [] : [`group ${JSON.stringify(group)}`]),
  ]
  return `${words} with ${conditions.join(' and ')}`
}
