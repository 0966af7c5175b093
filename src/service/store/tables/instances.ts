import type { Generated, Selectable } from 'kysely'

/** Instances and what belongs to them. */
export interface InstanceTables {
  readonly instances: InstancesTable
  readonly addresses: AddressesTable
  readonly address_pools: AddressPoolsTable
  readonly disks: DisksTable
  readonly configs: ConfigsTable
  readonly backups: BackupsTable
}

/** Those that are kept: `cloning` is seen where clones of a running or offline instance are under way. */
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
  /** Without the length of its prefix. */
  ipv6: string | null
  host_uuid: string
  status: InstanceStatus
  /** 1 while a clone of another instance is written to it. */
  receiving: Generated<number>
  /** Clones of it that are being made. */
  clones: Generated<number>
  watchdog_enabled: Generated<number>
  /** JSON object. */
  alerts: string
  backups_enabled: Generated<number>
  /** A weekday, `Scheduling` while one is being chosen; null for none. */
  backup_day: string | null
  /** `W0` to `W22`, `Scheduling` while one is being chosen; null for none. */
  backup_window: string | null
  /** The configuration profile it was booted with last; null for none, also once that is gone. */
  last_booted: number | null
  /** JSON list: interfaces for the first configuration profile that has none of its own. */
  interfaces: Generated<string>
  /** The script it was deployed with. */
  script_id: number | null
  created: string
  updated: string
}

/** IPv4 addresses in use. The key is the place in the pool, so that none is in use twice. */
export interface AddressesTable {
  region: string
  pool: AddressPool
  slot: number
  address: string
  instance_id: number
}

export type AddressPool = 'public' | 'private'

/** Who allots from a pool holds its row. */
export interface AddressPoolsTable {
  region: string
  pool: AddressPool
  /** The place after the one that was allotted last. */
  next: number
}

export interface DisksTable {
  id: Generated<number>
  instance_id: number
  label: string
  filesystem: Filesystem
  /** MB. */
  size: number
  /** `not ready` while it is being written. */
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
  /** MB; 0 for all the instance has. */
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
  /** JSON: disks and configuration profiles as they were. */
  content: string
  created: string
  updated: string
  finished: string | null
}

/** The others of the interface (`paused`, `failed`, `userAborted`) have no cause here. */
export type BackupStatus = 'pending' | 'running' | 'needsPostProcessing' | 'successful'

export type InstanceRow = Selectable<InstancesTable>
export type DiskRow = Selectable<DisksTable>
export type ConfigRow = Selectable<ConfigsTable>
export type BackupRow = Selectable<BackupsTable>

/** Private images; public ones are no rows. */
export interface ImageTables {
  readonly images: ImagesTable
}

export type ImageStatus = 'creating' | 'pending_upload' | 'available'

export interface ImagesTable {
  id: Generated<number>
  account_id: number
  label: string
  description: string | null
  /** The name of a user. */
  created_by: string
  /** MB; 0 while it is not known. */
  size: number
  status: ImageStatus
  /** `automatic` where it was made of an instance that was deleted. */
  type: 'manual' | 'automatic'
  expiry: string | null
  /** SHA-256 of the secret in the URL that its data is sent to, in hexadecimal; null where none is awaited. */
  upload_hash: string | null
  /** Until when its data is awaited, in milliseconds of the service's clock. */
  upload_until: number | null
  /** Who receives its data, or did last. */
  receiver: Generated<string>
  /** Until when that is nobody else's, in milliseconds of the service's clock. */
  receiver_until: Generated<number>
  /** Octets of its data as it was sent; while it arrives, those that are reserved for it. Null if it has no data, or they have not been counted. */
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
  /** Who made it. */
  user_id: number
  label: string
  description: string
  /** JSON list of images; `any/all` stands for all. */
  images: string
  /** 1 for one that all accounts see; never 0 again then. */
  is_public: number
  rev_note: string
  script: string
  /** Instances that have ever been deployed with it. */
  deployments_total: Generated<number>
  created: string
  updated: string
}

export type ScriptRow = Selectable<ScriptsTable>

export interface JobTables {
  readonly jobs: JobsTable
}

/** What the service does by itself at a moment of its clock. */
interface JobsTable {
  id: Generated<number>
  kind: string
  /** The number of the object it is about: of the table that its kind knows. */
  subject: number
  /** JSON. */
  payload: string
  /** Milliseconds of the service's clock; moved on where a run fails. */
  due: number
  /** Runs that failed. */
  attempts: Generated<number>
}

export type JobRow = Selectable<JobsTable>
