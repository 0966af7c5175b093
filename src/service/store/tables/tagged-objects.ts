/** The tables of tags, volumes and load balancers. */
import type { Generated, Selectable } from 'kysely'

/** Tags, and objects without API operations, which appear only in lists of tagged objects. */
export interface TaggedObjectTables {
  readonly tags: TagsTable
  readonly tagged_objects: TaggedObjectsTable
  readonly volumes: VolumesTable
  readonly load_balancers: LoadBalancersTable
}

/** The kinds of objects with tags. */
export type TaggedKind = 'instance' | 'domain' | 'volume' | 'loadbalancer'

export interface TagsTable {
  id: Generated<number>
  account_id: number
  label: string
  /** The label in lower case, because tags are case-insensitive. */
  folded: string
}

/** Code that deletes an object must remove its tags first. */
export interface TaggedObjectsTable {
  kind: TaggedKind
  entity_id: number
  tag_id: number
}

export interface VolumesTable {
  id: Generated<number>
  account_id: number
  /** Unique in the account. */
  label: string
  hardware_type: 'hdd' | 'nvme'
  region: string
  status: 'creating' | 'active' | 'resizing'
  /** GiB. */
  size: number
  /** The attached instance; null for none. */
  instance_id: number | null
  created: string
  updated: string
}

export interface LoadBalancersTable {
  id: Generated<number>
  account_id: number
  /** Unique in the account. */
  label: string
  hostname: string
  ipv4: string
  ipv6: string | null
  region: string
  /** Connections per second; 0 for no limit. */
  client_conn_throttle: number
  /** MB in the current month; null if unknown. */
  transfer_in: number | null
  transfer_out: number | null
  transfer_total: number | null
  created: string
}

export type VolumeRow = Selectable<VolumesTable>
export type LoadBalancerRow = Selectable<LoadBalancersTable>
