/** The tables of instances, images, scripts and jobs. */
import type { Generated, Selectable } from 'kysely'

/** Instances with their addresses, disks, profiles and backups. */
export interface InstanceTables {
  readonly instances: InstancesTable
  readonly addresses: AddressesTable
  readonly address_pools: AddressPoolsTable
  readonly disks: DisksTable
  readonly configs: ConfigsTable
  readonly backups: BackupsTable
}

/** The stored states. `cloning` is displayed while a running or offline instance is being cloned. */
export type InstanceStatus = 'running' | 'offline' | 'booting' | 'rebooting' | 'provisioning' | 'restoring'

export interface InstancesTable {
  id: Generated<number>
  account_id: number
  /** Unique in the account. */
  label: string
  group: string
  region: string
  type: string
  image: string | null
  /** Without prefix length. */
  ipv6: string | null
  host_uuid: string
  status: InstanceStatus
  /** 1 while another instance is being cloned to it. */
  receiving: Generated<number>
  /** The number of running clones of it. */
  clones: Generated<number>
  watchdog_enabled: Generated<number>
  /** JSON object. */
  alerts: string
  backups_enabled: Generated<number>
  /** A weekday, or `Scheduling` until one is chosen; null for none. */
  backup_day: string | null
  /** `W0` to `W22`, or `Scheduling` until one is chosen; null for none. */
  backup_window: string | null
  /** The configuration profile of the last boot; null if there is none or it was deleted. */
  last_booted: number | null
  /** JSON list: interfaces for the first configuration profile without its own. */
  interfaces: Generated<string>
  /** The script with which it was deployed. */
  script_id: number | null
  created: string
  updated: string
}

/** Used IPv4 addresses. The slot in the pool is part of the key, so that no address is used twice. */
export interface AddressesTable {
  region: string
  pool: AddressPool
  slot: number
  address: string
  instance_id: number
}

export type AddressPool = 'public' | 'private'

/** A transaction that allocates from a pool locks its row. */
export interface AddressPoolsTable {
  region: string
  pool: AddressPool
  /** The slot after the last allocated one. */
  next: number
}

export interface DisksTable {
  id: Generated<number>
  instance_id: number
  label: string
  filesystem: Filesystem
  /** MB. */
  size: number
  /** `not ready` while it is being written to. */
  status: 'ready' | 'not ready'
  created: string
  updated: string
}

export type Filesystem = 'raw' | 'swap' | 'ext3' | 'ext4' | 'initrd'

export interface ConfigsTable {
  id: Generated<number>
  instance_id: number
  label: string
  comments: string | null
  /** JSON object of `sda` to `sdh`. */
  devices: string
  /** JSON object. */
  helpers: string
  /** JSON list. */
  interfaces: string
  kernel: string
  /** MB; 0 for all memory of the instance. */
  memory_limit: number
  root_device: string
  run_level: 'default' | 'single' | 'binbash'
  virt_mode: 'paravirt' | 'fullvirt'
  created: string
  updated: string
}

export interface BackupsTable {
  id: Generated<number>
  instance_id: number
  type: 'auto' | 'snapshot'
  status: BackupStatus
  label: string | null
  region: string
  /** JSON: copies of the disks and configuration profiles. */
  content: string
  created: string
  updated: string
  finished: string | null
}

/** The other states of the API (`paused`, `failed`, `userAborted`) never occur here. */
export type BackupStatus = 'pending' | 'running' | 'needsPostProcessing' | 'successful'

export type InstanceRow = Selectable<InstancesTable>
export type DiskRow = Selectable<DisksTable>
export type ConfigRow = Selectable<ConfigsTable>
export type BackupRow = Selectable<BackupsTable>

/** Private images. Public images are not in the database. */
export interface ImageTables {
  readonly images: ImagesTable
}

export type ImageStatus = 'creating' | 'pending_upload' | 'available'

export interface ImagesTable {
  id: Generated<number>
  account_id: number
  label: string
  description: string | null
  /** A username. */
  created_by: string
  /** MB; 0 while it is unknown. */
  size: number
  status: ImageStatus
  /** `automatic` if it was created from a deleted instance. */
  type: 'manual' | 'automatic'
  expiry: string | null
  /** Hexadecimal SHA-256 of the secret in the upload URL; null if no upload is pending. */
  upload_hash: string | null
  /** The deadline of the upload, in milliseconds of the service's clock. */
  upload_until: number | null
  /** The current or last receiver of its data. */
  receiver: Generated<string>
  /** When the receiver's claim expires, in milliseconds of the service's clock. */
  receiver_until: Generated<number>
  /** Size of its uploaded data in octets; during an upload, the reserved size. Null without data, or if the size is unknown. */
  octets: Generated<number | null>
  created: string
  updated: string
}

export type ImageRow = Selectable<ImagesTable>

export interface ScriptTables {
  readonly scripts: ScriptsTable
}

interface ScriptsTable {
  id: Generated<number>
  account_id: number
  /** The author. */
  user_id: number
  label: string
  description: string
  /** JSON list of images; `any/all` means all images. */
  images: string
  /** 1 for a public script, which can never become private again. */
  is_public: number
  rev_note: string
  script: string
  /** The number of instances ever deployed with it. */
  deployments_total: Generated<number>
  created: string
  updated: string
}

export type ScriptRow = Selectable<ScriptsTable>

export interface JobTables {
  readonly jobs: JobsTable
}

/** Work that the service does at a scheduled time. */
interface JobsTable {
  id: Generated<number>
  kind: string
  /** The id of the object that it is about, in a table that depends on its kind. */
  subject: number
  /** JSON. */
  payload: string
  /** Milliseconds of the service's clock; postponed after a failed run. */
  due: number
  /** The number of failed runs. */
  attempts: Generated<number>
}

export type JobRow = Selectable<JobsTable>
