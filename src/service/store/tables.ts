import type { Generated, Selectable } from 'kysely'
import type { ImageTables, InstanceTables, JobTables, ScriptTables } from './tables/instances.ts'
import type { ProfileTables } from './tables/profile.ts'
import type { TaggedObjectTables } from './tables/tagged-objects.ts'

/**
 * The tables as every dialect holds them. Times are UTC text without a zone suffix (`2026-01-31T09:00:00`), which sorts as time
 * does; lists are JSON text; secrets are stored as hashes, and sealed where they must
 * be read again.
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
  /** JSON object of the quotas that the account has instead of the service's. */
  quotas: Generated<string>
}

export interface UsersTable {
  id: Generated<number>
  account_id: number
  username: string
  email: string
  /** 1 for a user who may act only on what is granted. */
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
  /** Of a restricted user; empty for none. */
  account_access: Generated<'' | Permissions>
  /** JSON list of the global grants a restricted user has. */
  global_grants: Generated<string>
  /** Deprecated: it can be switched off only. */
  ip_whitelist_enabled: Generated<number>
}

export type ShellAuthMethod = 'password_keys' | 'keys_only' | 'disabled'

export type Permissions = 'read_only' | 'read_write'

/** What a restricted user may do with one object. */
export interface GrantsTable {
  user_id: number
  /** The table of the object is that of its kind, so that no foreign key can hold it: who deletes the object deletes these. */
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
  /** What lists show of the token. */
  prefix: string
  /** Separated by one space; `*` for all. */
  scopes: string
  created: string
  /** Null for a token that lives until it is revoked. */
  expiry: string | null
  /** The app whose token it is; null for a personal access token. */
  app_id: Generated<number | null>
}

export interface DomainsTable {
  id: Generated<number>
  account_id: number
  /** Lower case, A-labels, no final dot. Unique across accounts. */
  domain: string
  /** See `reverseName`. Empty where an earlier version of the program made the row, until the service starts again. */
  reversed_name: Generated<string>
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
  /** What the rendering had to leave out, in words; empty where it is whole. */
  errors: string
  /** What an import left out, or why the last transfer of a slave failed, in words. */
  transfer_errors: Generated<string>
  /** Records the domain has: kept here so that the limit is exact under concurrent creates and costs no counting. */
  record_count: number
  created: string
  /** Of the domain's own last change or that of its records. */
  updated: string
  /** Grows with every change of the domain or its records. */
  revision: Generated<number>
  /** The revision up to which what is served follows from the domain. */
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

/** The state of a slave's transfers. Moments are milliseconds of the service's clock. */
export interface SecondariesTable {
  domain_id: number
  /** When the next refresh is due. */
  refresh_at: Generated<number>
  /** When the zone expires; null without one. */
  expire_at: number | null
  /** Who refreshes, or did last. */
  lease: Generated<string>
  /** Until when that is nobody else's. */
  lease_until: Generated<number>
  /** NOTIFY messages so far. */
  requests: Generated<number>
  /** The master whose NOTIFY has not been followed yet. */
  notified_by: string | null
  /** The serial it told of; null where it told none. */
  notified_serial: number | null
  /** Refreshes that failed since the last that did not. */
  failures: Generated<number>
  /** Refreshes, one after the other, that left the zone older than its masters had told. */
  behind: Generated<number>
  /** Seconds of the SOA transferred last; 0 without one. */
  refresh: Generated<number>
  retry: Generated<number>
  expire: Generated<number>
}

/** What is or was served under a name: kept when its domain is gone, for secondaries go by serials that only grow. */
export interface ServedZonesTable {
  name: string
  /** The domain that has the name, or had it last. */
  domain_id: number
  /** The last that was given out under the name; null before the first. */
  serial: number | null
  /** 1 while the zone file of the domain is to be served. */
  served: number
  /** The value of `served_revision` with the last change of the row. */
  revision: number
}

/** A single row, whose holder alone changes what is served: revisions become visible in their order. */
export interface ServedRevisionTable {
  id: number
  revision: number
  /** What, beside domains and records, zones were rendered from last. */
  rendering: string
}

/** A single row, made by the first start. It is no part of a backup: the database that a backup is restored to has its own. */
export interface SecretKeyTable {
  id: number
  /** The key that secrets are encrypted with from now on; empty before the first start that has one. */
  key_id: string
  /** 1 after secrets that earlier versions stored in clear have been erased from the files of the database. */
  erased: number
}

/** The zone as it was rendered last, or for a slave as it was transferred last. */
export interface ZoneFilesTable {
  domain_id: number
  /** Of the SOA record, 0 to 2^32 - 1. */
  serial: number
  /** Lines joined by line feeds. */
  text: string
}

export type DomainRow = Selectable<DomainsTable>
export type RecordRow = Selectable<RecordsTable>
