/** The tables of accounts, domains and served zones, and the list of all tables. */
import type { Generated, Selectable } from 'kysely'
import type { ImageTables, InstanceTables, JobTables, ScriptTables } from './tables/instances.ts'
import type { ProfileTables } from './tables/profile.ts'
import type { TaggedObjectTables } from './tables/tagged-objects.ts'

/**
 * The database tables, equal in all dialects. Times are UTC text without a zone suffix (`2026-01-31T09:00:00`), which sorts chronologically.
 * Lists are JSON text. Secrets are stored as hashes, or encrypted if they must be read again.
 */
export interface Tables extends InstanceTables, ImageTables, ScriptTables, JobTables, TaggedObjectTables, ProfileTables {
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
}

export interface AccountsTable {
  id: Generated<number>
  created: string
  /** JSON object of the account's own quotas, which override the service's. */
  quotas: Generated<string>
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
export interface GrantsTable {
  user_id: number
  /** Determines the table of the object. There is no foreign key, so code that deletes the object must delete its grants. */
  kind: GrantKind
  entity_id: number
  permissions: Permissions
}

export type GrantKind = 'domain' | 'image' | 'instance' | 'loadbalancer' | 'script' | 'volume'

export interface TokensTable {
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

export interface RecordsTable {
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
export interface SecondariesTable {
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
export interface ServedZonesTable {
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
export interface ServedRevisionTable {
  id: number
  revision: number
  /** The last rendering inputs besides domains and records. */
  rendering: string
}

/** A single row, created at the first start. It is not part of a backup, because the restored database has its own key. */
export interface SecretKeyTable {
  id: number
  /** The id of the key that encrypts secrets; empty before the first start with a key. */
  key_id: string
}

/** The last rendered zone, or the last transferred zone of a slave. */
export interface ZoneFilesTable {
  domain_id: number
  /** The serial of the SOA record, 0 to 2^32 - 1. */
  serial: number
  /** Lines joined by line feeds. */
  text: string
}

export type DomainRow = Selectable<DomainsTable>
export type RecordRow = Selectable<RecordsTable>
