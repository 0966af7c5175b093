/** Addresses that definitions take from an inventory of instances or load balancers. */

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
