import type { SourcePosition } from './diagnostic.ts'
import type { DomainName } from './domain-name.ts'
import type { Ttl } from './ttl.ts'

/** What addresses can be taken from. */
export const INVENTORY_KINDS = ['instances', 'loadbalancers'] as const
export type InventoryKind = (typeof INVENTORY_KINDS)[number]

/** What an object of an inventory is chosen by; all that is given has to hold. */
export const INVENTORY_CONDITIONS = ['label', 'tag', 'region', 'group'] as const
export type InventoryCondition = (typeof INVENTORY_CONDITIONS)[number]

/** Which objects of an account are meant. One condition at least is given. */
export interface InventoryQuery {
  readonly kind: InventoryKind
  /** The provider to ask, as the config names it; null for the target of the zone. */
  readonly provider: string | null
  readonly label?: string | undefined
  /** Compared without case. */
  readonly tag?: string | undefined
  readonly region?: string | undefined
  /** Of instances. */
  readonly group?: string | undefined
}

/** An address record set whose addresses are those of the objects in an inventory. */
export interface InventoryRrset {
  readonly name: DomainName
  readonly type: 'A' | 'AAAA'
  readonly ttl: Ttl | null
  readonly query: InventoryQuery
  readonly at: SourcePosition
}

/** One object of an inventory with its public addresses, in canonical form. */
export interface InventoryObject {
  /** What it is, for people: `instance web-1 (123)`. */
  readonly source: string
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

/** The question in words: `instances with tag "web" in region "us-east"`. */
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
