import type { Generated, Selectable } from 'kysely'

/** Tags, and the objects that have no operations of their own: they are seen where tagged objects are listed. */
export interface TaggedObjectTables {
  readonly tags: TagsTable
  readonly tagged_objects: TaggedObjectsTable
  readonly volumes: VolumesTable
  readonly load_balancers: LoadBalancersTable
}

/** The kinds of objects that carry tags. */
export type TaggedKind = 'instance' | 'domain' | 'volume' | 'loadbalancer'

export interface TagsTable {
  id: Generated<number>
  account_id: number
  label: string
  /** The label in lower case: tags are one whatever their case. */
  folded: string
}

/** Who deletes an object takes its tags from it first. */
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
  /** The instance it is attached to; null for none. */
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
  /** Connections per second; 0 for as many as come. */
  client_conn_throttle: number
  /** MB in the present month; null while nobody has counted. */
  transfer_in: number | null
  transfer_out: number | null
  transfer_total: number | null
  created: string
}

export type VolumeRow = Selectable<VolumesTable>
export type LoadBalancerRow = Selectable<LoadBalancersTable>
