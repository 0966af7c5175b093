/** The tables of the database and their indexes, equal in all dialects. `Tables` has their types and says what their columns mean. */
import { type CreateTableBuilder, DEFAULT_MIGRATION_TABLE, type Kysely, type Migration, Migrator, sql } from 'kysely'
import { AUDITED_TABLES, auditTable, prepareAudit } from './audit.ts'
import type { SchemaDialect } from './database.ts'
import type { Tables } from './tables.ts'

interface Column {
  readonly type: 'text' | 'integer' | 'bigint' | 'double precision' | 'id'
  readonly nullable?: boolean
  readonly defaultsTo?: string | number
  /** The table whose `id` it holds. The row is deleted with that one. */
  readonly references?: keyof Tables
}

interface Table {
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of the primary key. */
  readonly key: readonly string[]
  /** The columns of each unique constraint, and of each index, by name. */
  readonly unique?: Readonly<Record<string, readonly string[]>>
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

const text: Column = { type: 'text' }
const integer: Column = { type: 'integer' }
const bigint: Column = { type: 'bigint' }
const real: Column = { type: 'double precision' }
const optional = (column: Column): Column => ({ ...column, nullable: true })
const withDefault = (column: Column, defaultsTo: string | number): Column => ({ ...column, defaultsTo })
const idOf = (references: keyof Tables): Column => ({ type: 'bigint', references })
const each = (column: Column, ...names: readonly string[]): Readonly<Record<string, Column>> =>
  Object.fromEntries(names.map((name) => [name, column]))

/** A table whose rows have a generated id, which is never used again. */
const numbered = (columns: Table['columns'], rest: Omit<Table, 'columns' | 'key'> = {}): Table => ({
  columns: { id: { type: 'id' }, ...columns },
  key: ['id'],
  ...rest,
})

const ofAccount = { account_id: idOf('accounts') }
const ofUser = { user_id: idOf('users') }
const ofDomain = { domain_id: idOf('domains') }
const ofInstance = { instance_id: idOf('instances') }
const dates = each(text, 'created', 'updated')

/** The tables of the first release. Never change them. */
const FIRST_TABLES: Readonly<Record<Exclude<keyof Tables, 'audit'>, Table>> = {
  accounts: numbered({ created: text, quotas: withDefault(text, '{}') }),
  users: numbered(
    {
      ...ofAccount,
      ...each(text, 'username', 'email', 'created'),
      ...each(withDefault(integer, 0), 'restricted', 'two_factor_auth', 'ip_whitelist_enabled'),
      email_notifications: withDefault(integer, 1),
      timezone: withDefault(text, 'UTC'),
      authentication_type: withDefault(text, 'password'),
      shell_auth_method: withDefault(text, 'password_keys'),
      ...each(withDefault(text, '[]'), 'authorized_keys', 'global_grants'),
      ...each(withDefault(text, ''), 'verified_phone_number', 'account_access'),
    },
    { unique: { users_username: ['username'] } },
  ),
  apps: numbered(
    { ...ofUser, ...each(text, 'client', 'label', 'scopes', 'website', 'created'), ...each(optional(text), 'thumbnail_url', 'expiry') },
    { unique: { apps_client: ['user_id', 'client'] } },
  ),
  tokens: numbered(
    { ...ofUser, ...each(text, 'label', 'hash', 'prefix', 'scopes', 'created'), expiry: optional(text), app_id: optional(idOf('apps')) },
    { unique: { tokens_hash: ['hash'] }, indexes: { tokens_by_user: ['user_id', 'id'], tokens_by_app: ['app_id'] } },
  ),
  grants: {
    columns: { ...ofUser, kind: text, entity_id: bigint, permissions: text },
    key: ['user_id', 'kind', 'entity_id'],
    indexes: { grants_by_entity: ['kind', 'entity_id'] },
  },
  domains: numbered(
    {
      ...ofAccount,
      ...each(text, 'domain', 'type', 'status', 'description', 'group', 'soa_email', 'master_ips', 'axfr_ips', 'errors'),
      ...dates,
      ...each(integer, 'expire_sec', 'refresh_sec', 'retry_sec', 'ttl_sec', 'record_count'),
      revision: withDefault(bigint, 1),
      settled: withDefault(bigint, 0),
      transfer_errors: withDefault(text, ''),
      reversed_name: text,
    },
    {
      unique: { domains_domain: ['domain'] },
      indexes: { domains_by_account: ['account_id', 'id'], domains_by_reversed_name: ['reversed_name', 'account_id', 'id'] },
    },
  ),
  records: numbered(
    {
      ...ofDomain,
      ...each(text, 'type', 'name', 'target'),
      ...dates,
      ...each(integer, 'priority', 'weight', 'port', 'ttl_sec'),
      ...each(optional(text), 'service', 'protocol', 'tag'),
    },
    { indexes: { records_by_domain: ['domain_id', 'id'], records_by_name: ['domain_id', 'name', 'type'] } },
  ),
  tags: numbered({ ...ofAccount, label: text, folded: text }, { unique: { tags_unique: ['account_id', 'folded'] } }),
  // No reference: the kind determines the table of the object.
  tagged_objects: {
    columns: { kind: text, entity_id: bigint, tag_id: idOf('tags') },
    key: ['kind', 'entity_id', 'tag_id'],
    indexes: { tagged_objects_by_tag: ['tag_id', 'kind', 'entity_id'] },
  },
  volumes: numbered(
    {
      ...ofAccount,
      ...each(text, 'label', 'hardware_type', 'region', 'status'),
      ...dates,
      size: integer,
      instance_id: optional(bigint),
    },
    { unique: { volumes_unique: ['account_id', 'label'] }, indexes: { volumes_by_instance: ['instance_id'] } },
  ),
  load_balancers: numbered(
    {
      ...ofAccount,
      ...each(text, 'label', 'hostname', 'ipv4', 'region', 'created'),
      ipv6: optional(text),
      client_conn_throttle: integer,
      ...each(optional(real), 'transfer_in', 'transfer_out', 'transfer_total'),
    },
    { unique: { load_balancers_unique: ['account_id', 'label'] } },
  ),
  zone_files: { columns: { ...ofDomain, serial: bigint, text, checksum: bigint }, key: ['domain_id'] },
  secondaries: {
    columns: {
      ...ofDomain,
      ...each(withDefault(bigint, 0), 'refresh_at', 'lease_until', 'requests', 'failures', 'refresh', 'retry', 'expire', 'behind'),
      ...each(optional(bigint), 'expire_at', 'notified_serial'),
      lease: withDefault(text, ''),
      notified_by: optional(text),
    },
    key: ['domain_id'],
    indexes: { secondaries_by_refresh: ['refresh_at'], secondaries_by_expiry: ['expire_at'] },
  },
  // No reference: a serial outlives its domain.
  served_zones: {
    columns: { name: text, domain_id: bigint, serial: optional(bigint), served: integer, revision: bigint },
    key: ['name'],
    indexes: { served_zones_by_revision: ['revision'], served_zones_by_domain: ['domain_id'] },
  },
  served_revision: { columns: { id: integer, revision: bigint, rendering: text }, key: ['id'] },
  jobs: numbered(
    { ...each(text, 'kind', 'payload'), ...each(bigint, 'subject', 'due'), attempts: withDefault(integer, 0) },
    { indexes: { jobs_by_due: ['due', 'id'], jobs_by_subject: ['kind', 'subject'] } },
  ),
  instances: numbered(
    {
      ...ofAccount,
      ...each(text, 'label', 'group', 'region', 'type', 'host_uuid', 'status', 'alerts'),
      ...dates,
      ...each(optional(text), 'image', 'ipv6', 'backup_day', 'backup_window'),
      ...each(withDefault(integer, 0), 'receiving', 'clones', 'backups_enabled'),
      watchdog_enabled: withDefault(integer, 1),
      ...each(optional(bigint), 'last_booted', 'script_id'),
      interfaces: withDefault(text, '[]'),
    },
    {
      unique: { instances_unique: ['account_id', 'label'] },
      indexes: { instances_by_account: ['account_id', 'id'], instances_by_script: ['script_id'] },
    },
  ),
  address_pools: { columns: { region: text, pool: text, next: integer }, key: ['region', 'pool'] },
  addresses: {
    columns: { ...each(text, 'region', 'pool', 'address'), slot: integer, ...ofInstance },
    key: ['region', 'pool', 'slot'],
    indexes: { addresses_by_instance: ['instance_id'] },
  },
  disks: numbered(
    { ...ofInstance, ...each(text, 'label', 'filesystem', 'status'), ...dates, size: integer },
    { indexes: { disks_by_instance: ['instance_id', 'id'] } },
  ),
  configs: numbered(
    {
      ...ofInstance,
      ...each(text, 'label', 'devices', 'helpers', 'interfaces', 'kernel', 'root_device', 'run_level', 'virt_mode'),
      ...dates,
      comments: optional(text),
      memory_limit: integer,
    },
    { indexes: { configs_by_instance: ['instance_id', 'id'] } },
  ),
  backups: numbered(
    { ...ofInstance, ...each(text, 'type', 'status', 'region', 'content'), ...dates, ...each(optional(text), 'label', 'finished') },
    { indexes: { backups_by_instance: ['instance_id', 'id'] } },
  ),
  images: numbered(
    {
      ...ofAccount,
      ...each(text, 'label', 'created_by', 'status', 'type'),
      ...dates,
      ...each(optional(text), 'description', 'expiry', 'upload_hash'),
      size: integer,
      ...each(optional(bigint), 'upload_until', 'octets'),
      receiver: withDefault(text, ''),
      receiver_until: withDefault(bigint, 0),
    },
    { unique: { images_upload_hash: ['upload_hash'] }, indexes: { images_by_account: ['account_id', 'id'] } },
  ),
  scripts: numbered(
    {
      ...ofAccount,
      ...ofUser,
      ...each(text, 'label', 'description', 'images', 'rev_note', 'script'),
      ...dates,
      is_public: integer,
      deployments_total: withDefault(integer, 0),
    },
    { indexes: { scripts_by_account: ['account_id', 'id'], scripts_by_access: ['is_public', 'id'] } },
  ),
  trusted_devices: numbered(
    { ...ofUser, ...each(text, 'created', 'expiry', 'last_authenticated', 'last_remote_addr', 'user_agent') },
    { indexes: { trusted_devices_by_user: ['user_id', 'id'] } },
  ),
  logins: numbered(
    { ...ofUser, ...each(text, 'datetime', 'ip', 'status', 'username'), restricted: integer, occasion: optional(text) },
    // At most one login per user, day, status and address (access-store.ts). Null is never a duplicate.
    { unique: { logins_occasion: ['user_id', 'occasion'] }, indexes: { logins_by_user: ['user_id', 'datetime'] } },
  ),
  ssh_keys: numbered({ ...ofUser, ...each(text, 'label', 'ssh_key', 'created') }, { indexes: { ssh_keys_by_user: ['user_id', 'id'] } }),
  security_answers: { columns: { ...ofUser, question_id: integer, response: text }, key: ['user_id', 'question_id'] },
  second_factors: {
    columns: {
      ...ofUser,
      ...each(withDefault(text, ''), 'secret', 'pending', 'pending_expiry', 'scratch_hash', 'failures_since'),
      last_step: withDefault(bigint, 0),
      failures: withDefault(integer, 0),
    },
    key: ['user_id'],
  },
  phone_codes: {
    columns: { ...ofUser, ...each(text, 'phone_number', 'code', 'expiry', 'sent_since'), ...each(integer, 'failures', 'sent') },
    key: ['user_id'],
  },
  preferences: { columns: { ...ofUser, client: text, body: text }, key: ['user_id', 'client'] },
  secret_key: { columns: { id: integer, key_id: text }, key: ['id'] },
}

/** No reference: entries outlive their objects. */
const AUDIT = numbered(
  {
    ...each(text, 'time', 'actor', 'action', 'object'),
    object_id: bigint,
    ...each(optional(bigint), 'account_id', 'token_id'),
    ...each(optional(text), 'username', 'address', 'request_id', 'run_id', 'before', 'after'),
  },
  { indexes: { audit_by_time: ['time'], audit_by_account: ['account_id', 'id'] } },
)

/** All tables. Each follows those that it references, also in backups. */
export const SCHEMA: Readonly<Record<keyof Tables, Table>> = {
  ...FIRST_TABLES,
  accounts: { ...FIRST_TABLES.accounts, columns: { ...FIRST_TABLES.accounts.columns, suspended: optional(text) } },
  audit: AUDIT,
}

/** Creates tables with their indexes. */
async function createTables(db: Kysely<unknown>, dialect: SchemaDialect, tables: Readonly<Record<string, Table>>): Promise<void> {
  for (const [name, { columns, key, unique = {}, indexes = {} }] of Object.entries(tables)) {
    let table: CreateTableBuilder<string, string> = db.schema.createTable(name)
    for (const [column, { type, nullable = false, defaultsTo, references }] of Object.entries(columns)) {
      table = table.addColumn(column, type === 'id' ? dialect.idType : type, (definition) => {
        if (type === 'id') return dialect.idColumn(definition)
        let made = nullable ? definition : definition.notNull()
        if (defaultsTo !== undefined) made = made.defaultTo(defaultsTo)
        return references === undefined ? made : made.references(`${references}.id`).onDelete('cascade')
      })
    }
    if (columns['id']?.type !== 'id') table = table.addPrimaryKeyConstraint(`${name}_key`, [...key])
    for (const [constraint, of] of Object.entries(unique)) table = table.addUniqueConstraint(constraint, [...of])
    await table.execute()
    for (const [index, of] of Object.entries(indexes))
      await db.schema
        .createIndex(index)
        .on(name)
        .columns([...of])
        .execute()
  }
}

async function createFirstTables(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await createTables(db, dialect, FIRST_TABLES)
  await db.schema.createIndex('domains_unsettled').on('domains').column('id').where(sql.ref('settled'), '<', sql.ref('revision')).execute()
  await sql`insert into served_revision (id, revision, rendering) values (1, 0, '')`.execute(db)
  await dialect.announceUpdates(db, 'served_revision')
}

async function addAuditLog(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('suspended', 'text').execute()
  await createTables(db, dialect, { audit: AUDIT })
  await prepareAudit(db)
  for (const table of AUDITED_TABLES) await auditTable(db, table, Object.keys(SCHEMA[table].columns))
}

/** All migrations in order. Never change a released one. One that adds a column to an audited table calls `auditTable` again. */
const MIGRATIONS: Readonly<Record<string, (db: Kysely<unknown>, dialect: SchemaDialect) => Promise<void>>> = {
  '0.1.0-tables': createFirstTables,
  '0.2.0-audit': addAuditLog,
}

/** Whether this version knows a schema, which an earlier one may have made. */
export const isKnownSchema = (schema: string): boolean => Object.hasOwn(MIGRATIONS, schema)

/** The name of the current schema, which is its last migration. */
export const SCHEMA_NAME = Object.keys(MIGRATIONS).at(-1) as string

/** Migrates the database to the current schema, or creates an earlier one. Throws a `RangeError`, and changes nothing, if another version of the program made it. */
export async function migrate<T>(db: Kysely<T>, dialect: SchemaDialect, schema: string = SCHEMA_NAME): Promise<void> {
  const found = await findSchema(db)
  if (found !== null && !isKnownSchema(found)) throw otherSchema(found)
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, up]): [string, Migration] => [name, { up: (connection) => up(connection, dialect) }]),
  )
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateTo(schema)
  if (error !== undefined) throw new Error('the database cannot be migrated to the schema of this version', { cause: error })
}

/** Throws a `RangeError` unless the database has the current schema. The service migrates it at startup. */
export async function requireSchema<T>(db: Kysely<T>): Promise<void> {
  const found = await findSchema(db)
  if (found === null) throw new RangeError('the database of the service does not exist')
  if (found !== SCHEMA_NAME) throw otherSchema(found)
}

const otherSchema = (name: string): RangeError =>
  new RangeError(
    `the database has the schema ${name} of another version of the program, and is unchanged: use that version, or an empty database`,
  )

/** The schema of the database; null if it has no tables of the service. */
export async function findSchema<T>(db: Kysely<T>): Promise<string | null> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return null
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by timestamp, name`.execute(db)
  return rows.at(-1)?.name ?? null
}
