/** The rows of all tables, and what their columns mean. */
import type { Generated, Selectable } from 'kysely'

/**
 * The database tables, equal in all dialects. Times are UTC text without a zone suffix (`2026-01-31T09:00:00`), which sorts chronologically.
 * Lists are JSON text. Secrets are stored as hashes, or encrypted if they must be read again.
 */
export interface Tables {
  readonly accounts: AccountsTable
  readonly users: UsersTable
  readonly tokens: TokensTable
  readonly grants: GrantsTable
  readonly domains: DomainsTable
  readonly records: RecordsTable
  readonly zone_files: ZoneFilesTable
  readonly secondaries: SecondariesTable
  readonly served_zones: ServedZonesTable
  readonly served_revision: ServedRevisionTable
  readonly secret_key: SecretKeyTable
  readonly instances: InstancesTable
  readonly addresses: AddressesTable
  readonly address_pools: AddressPoolsTable
  readonly disks: DisksTable
  readonly configs: ConfigsTable
  readonly backups: BackupsTable
  readonly images: ImagesTable
  readonly scripts: ScriptsTable
  readonly jobs: JobsTable
  readonly apps: AppsTable
  readonly trusted_devices: TrustedDevicesTable
  readonly logins: LoginsTable
  readonly ssh_keys: SshKeysTable
  readonly security_answers: SecurityAnswersTable
  readonly second_factors: SecondFactorsTable
  readonly phone_codes: PhoneCodesTable
  readonly preferences: PreferencesTable
  readonly tags: TagsTable
  readonly tagged_objects: TaggedObjectsTable
  readonly volumes: VolumesTable
  readonly load_balancers: LoadBalancersTable
  readonly audit: AuditTable
}

interface AccountsTable {
  id: Generated<number>
  created: string
  /** JSON object of the account's own quotas, which override the service's. */
  quotas: Generated<string>
  /** When the operator suspended the account; null if it is not suspended. */
  suspended: Generated<string | null>
}

export interface UsersTable {
  id: Generated<number>
  account_id: number
  username: string
  email: string
  /** 1 for a user who may use only granted objects. */
  restricted: number
  created: string
  email_notifications: Generated<number>
  timezone: Generated<string>
  authentication_type: Generated<string>
  two_factor_auth: Generated<number>
  shell_auth_method: Generated<ShellAuthMethod>
  /** JSON list of public keys. */
  authorized_keys: Generated<string>
  /** Empty for none. */
  verified_phone_number: Generated<string>
  /** A restricted user's access to the account; empty for none. */
  account_access: Generated<'' | Permissions>
  /** JSON list of a restricted user's global grants. */
  global_grants: Generated<string>
  /** Deprecated: it can only be disabled. */
  ip_whitelist_enabled: Generated<number>
}

export type ShellAuthMethod = 'password_keys' | 'keys_only' | 'disabled'

export type Permissions = 'read_only' | 'read_write'

/** A restricted user's permissions for an object. */
interface GrantsTable {
  user_id: number
  /** Determines the table of the object. There is no foreign key, so code that deletes the object must delete its grants. */
  kind: GrantKind
  entity_id: number
  permissions: Permissions
}

export type GrantKind = 'domain' | 'image' | 'instance' | 'loadbalancer' | 'script' | 'volume'

interface TokensTable {
  id: Generated<number>
  user_id: number
  label: string
  /** SHA-256 of the token in hexadecimal. */
  hash: string
  /** The first characters of the token, for lists. */
  prefix: string
  /** Separated by single spaces; `*` for all. */
  scopes: string
  created: string
  /** Null for a token that does not expire. */
  expiry: string | null
  /** The app that owns the token; null for a personal access token. */
  app_id: Generated<number | null>
}

export interface DomainsTable {
  id: Generated<number>
  account_id: number
  /** Lower case, A-labels, no final dot. Unique across accounts. */
  domain: string
  /** See `reverseName`. */
  reversed_name: string
  type: 'master' | 'slave'
  status: 'active' | 'disabled'
  description: string
  group: string
  soa_email: string
  /** JSON list of addresses. */
  master_ips: string
  /** JSON list of addresses. */
  axfr_ips: string
  expire_sec: number
  refresh_sec: number
  retry_sec: number
  ttl_sec: number
  /** Messages about records omitted by rendering; empty if there are none. */
  errors: string
  /** Import remarks, or why the last transfer of a slave failed. */
  transfer_errors: Generated<string>
  /** The number of records. It makes the record limit exact under concurrency and cheap to check. */
  record_count: number
  created: string
  /** The last change of the domain or its records. */
  updated: string
  /** Incremented by every change of the domain or its records. */
  revision: Generated<number>
  /** The last rendered revision. */
  settled: Generated<number>
}

interface RecordsTable {
  id: Generated<number>
  domain_id: number
  type: string
  /** Relative to the domain, lower case; empty at the apex. */
  name: string
  target: string
  priority: number
  weight: number
  port: number
  service: string | null
  protocol: string | null
  tag: string | null
  ttl_sec: number
  created: string
  updated: string
}

/** The state of a slave's transfers. Times are milliseconds of the service's clock. */
interface SecondariesTable {
  domain_id: number
  /** When the next refresh is due. */
  refresh_at: Generated<number>
  /** When the zone expires; null without one. */
  expire_at: number | null
  /** The process with the current or last claim. */
  lease: Generated<string>
  /** When the claim expires. */
  lease_until: Generated<number>
  /** The number of received NOTIFY messages. */
  requests: Generated<number>
  /** The master whose NOTIFY is not handled yet. */
  notified_by: string | null
  /** The serial in that NOTIFY; null if it had none. */
  notified_serial: number | null
  /** Consecutive failed refreshes. */
  failures: Generated<number>
  /** Consecutive refreshes after which the zone was still older than its masters announced. */
  behind: Generated<number>
  /** The times of the transferred SOA in seconds; 0 without one. */
  refresh: Generated<number>
  retry: Generated<number>
  expire: Generated<number>
}

/** The zone that is or was served under a name. It outlives its domain, because secondaries need serials that only increase. */
interface ServedZonesTable {
  name: string
  /** The current or last domain with this name. */
  domain_id: number
  /** The last served serial; null before the first. */
  serial: number | null
  /** 1 while the zone is served. */
  served: number
  /** The value of `served_revision` at the last change of the row. */
  revision: number
}

/** A single row. A transaction locks it before it changes served zones, so that revisions become visible in order. */
interface ServedRevisionTable {
  id: number
  revision: number
  /** The last rendering inputs besides domains and records. */
  rendering: string
}

/** A single row, created at the first start. It is not part of a backup, because the restored database has its own key. */
interface SecretKeyTable {
  id: number
  /** The id of the key that encrypts secrets; empty before the first start with a key. */
  key_id: string
}

/** The last rendered zone, or the last transferred zone of a slave. */
interface ZoneFilesTable {
  domain_id: number
  /** The serial of the SOA record, 0 to 2^32 - 1. */
  serial: number
  /** Lines joined by line feeds. */
  text: string
  /** The CRC-32 of the text in UTF-8. */
  checksum: number
}

export type DomainRow = Selectable<DomainsTable>
export type RecordRow = Selectable<RecordsTable>

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
interface AddressesTable {
  region: string
  pool: AddressPool
  slot: number
  address: string
  instance_id: number
}

export type AddressPool = 'public' | 'private'

/** A transaction that allocates from a pool locks its row. */
interface AddressPoolsTable {
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

type Filesystem = 'raw' | 'swap' | 'ext3' | 'ext4' | 'initrd'

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

/** An OAuth client that the user has authorised. Deleting it deletes its tokens. */
export interface AppsTable {
  id: Generated<number>
  user_id: number
  /** Identifies the OAuth client across users. */
  client: string
  label: string
  scopes: string
  website: string
  thumbnail_url: string | null
  created: string
  /** Null for access that does not expire. */
  expiry: string | null
}

/** A device that does not need the second factor. */
export interface TrustedDevicesTable {
  id: Generated<number>
  user_id: number
  created: string
  expiry: string
  last_authenticated: string
  last_remote_addr: string
  user_agent: string
}

export interface LoginsTable {
  id: Generated<number>
  user_id: number
  datetime: string
  ip: string
  /** Whether the user was restricted at the time. */
  restricted: number
  status: 'successful' | 'failed'
  username: string
  /** Identifies logins that are recorded once per day; null for seeded logins. */
  occasion: string | null
}

interface SshKeysTable {
  id: Generated<number>
  user_id: number
  label: string
  ssh_key: string
  created: string
}

interface SecurityAnswersTable {
  user_id: number
  question_id: number
  /** Encrypted. */
  response: string
}

export interface SecondFactorsTable {
  user_id: number
  /** The confirmed secret, encrypted; empty before confirmation. */
  secret: Generated<string>
  /** The unconfirmed secret, encrypted; empty for none. */
  pending: Generated<string>
  pending_expiry: Generated<string>
  /** The time step of the last accepted code (RFC 6238 section 5.2). Codes of this or an earlier step are rejected. */
  last_step: Generated<number>
  /** SHA-256 of the scratch code; empty after its use. */
  scratch_hash: Generated<string>
  /** Wrong codes since `failures_since`. */
  failures: Generated<number>
  failures_since: Generated<string>
}

/** A user verifies one phone number at a time. The row outlives its code as long as its messages count for the rate limit. */
interface PhoneCodesTable {
  user_id: number
  /** E.164. */
  phone_number: string
  /** Encrypted; empty after its use. */
  code: string
  expiry: string
  failures: number
  /** Messages since `sent_since`. */
  sent: number
  sent_since: string
}

interface PreferencesTable {
  user_id: number
  /** The OAuth client that the token belongs to; empty for personal access tokens. */
  client: string
  /** JSON. */
  body: string
}

export type AppRow = Selectable<AppsTable>
export type SecondFactorRow = Selectable<SecondFactorsTable>
export type PhoneCodeRow = Selectable<PhoneCodesTable>

/** The kinds of objects with tags. */
export type TaggedKind = 'instance' | 'domain' | 'volume' | 'loadbalancer'

interface TagsTable {
  id: Generated<number>
  account_id: number
  label: string
  /** The label in lower case, because tags are case-insensitive. */
  folded: string
}

/** Code that deletes an object must remove its tags first. */
interface TaggedObjectsTable {
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

/** One change of one row. Triggers append it in the transaction of the change; see `audit.ts`. */
interface AuditTable {
  id: Generated<number>
  /** UTC with milliseconds, by the clock of the database. */
  time: string
  actor: 'user' | 'operator' | 'service'
  /** The account of the token; if it is not a user's change, the account of the changed row. Null if neither is known. */
  account_id: number | null
  username: string | null
  token_id: number | null
  address: string | null
  request_id: string | null
  /** The run of the client that sent the request. */
  run_id: string | null
  action: 'create' | 'update' | 'delete'
  /** The kind of object, such as `record`. */
  object: string
  object_id: number
  /** JSON of the row without secrets; null if there was none. */
  before: string | null
  after: string | null
}

export type AuditRow = Selectable<AuditTable>
