/** Migrations 1 to 4: accounts, domains, served zones and secondaries. */
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { SchemaDialect } from '../database.ts'

/** Accounts, their users and the users' tokens. */
export async function createAccounts(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('id', idType, idColumn)
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('users')
    .addColumn('id', idType, idColumn)
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('username', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('restricted', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('tokens')
    .addColumn('id', idType, idColumn)
    .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text')
    .execute()
  await db.schema.createIndex('tokens_by_user').on('tokens').columns(['user_id', 'id']).execute()
}

/** Domains, their records, tags and rendered zones. */
export async function createDomains(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  let domains = db.schema
    .createTable('domains')
    .addColumn('id', idType, idColumn)
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('domain', 'text', (column) => column.notNull().unique())
  for (const text of ['type', 'status', 'description', 'group', 'soa_email', 'master_ips', 'axfr_ips', 'errors', 'created', 'updated']) {
    domains = domains.addColumn(text, 'text', (column) => column.notNull())
  }
  for (const count of ['expire_sec', 'refresh_sec', 'retry_sec', 'ttl_sec', 'record_count']) {
    domains = domains.addColumn(count, 'integer', (column) => column.notNull())
  }
  await domains.execute()
  await db.schema.createIndex('domains_by_account').on('domains').columns(['account_id', 'id']).execute()

  let records = db.schema
    .createTable('records')
    .addColumn('id', idType, idColumn)
    .addColumn('domain_id', 'bigint', (column) => column.notNull().references('domains.id').onDelete('cascade'))
  for (const text of ['type', 'name', 'target', 'created', 'updated']) {
    records = records.addColumn(text, 'text', (column) => column.notNull())
  }
  for (const number of ['priority', 'weight', 'port', 'ttl_sec']) {
    records = records.addColumn(number, 'integer', (column) => column.notNull())
  }
  for (const text of ['service', 'protocol', 'tag']) records = records.addColumn(text, 'text')
  await records.execute()
  await db.schema.createIndex('records_by_domain').on('records').columns(['domain_id', 'id']).execute()
  await db.schema.createIndex('records_by_name').on('records').columns(['domain_id', 'name', 'type']).execute()

  await db.schema
    .createTable('tags')
    .addColumn('id', idType, idColumn)
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('folded', 'text', (column) => column.notNull())
    .addUniqueConstraint('tags_unique', ['account_id', 'folded'])
    .execute()
  await db.schema
    .createTable('domain_tags')
    .addColumn('domain_id', 'bigint', (column) => column.notNull().references('domains.id').onDelete('cascade'))
    .addColumn('tag_id', 'bigint', (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('domain_tags_key', ['domain_id', 'tag_id'])
    .execute()
  await db.schema.createIndex('domain_tags_by_tag').on('domain_tags').columns(['tag_id', 'domain_id']).execute()

  await db.schema
    .createTable('zone_files')
    .addColumn('domain_id', 'bigint', (column) => column.primaryKey().references('domains.id').onDelete('cascade'))
    .addColumn('serial', 'bigint', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .execute()
}

/** The served zones with their serials, and the order of their changes, for the processes that serve them. */
export async function createServedZones(db: Kysely<unknown>, { announceUpdates }: SchemaDialect): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('revision', 'bigint', (column) => column.notNull().defaultTo(1))
    .execute()
  await db.schema
    .alterTable('domains')
    .addColumn('settled', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('domains_unsettled').on('domains').column('id').where(sql.ref('settled'), '<', sql.ref('revision')).execute()

  // No foreign key: a serial outlives its domain.
  await db.schema
    .createTable('served_zones')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('domain_id', 'bigint', (column) => column.notNull())
    .addColumn('serial', 'bigint')
    .addColumn('served', 'integer', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('served_zones_by_revision').on('served_zones').column('revision').execute()
  await db.schema.createIndex('served_zones_by_domain').on('served_zones').column('domain_id').execute()
  await sql`insert into served_zones (name, domain_id, serial, served, revision)
    select domains.domain, domains.id, zone_files.serial, 0, 0
    from domains inner join zone_files on zone_files.domain_id = domains.id`.execute(db)

  await db.schema
    .createTable('served_revision')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('rendering', 'text', (column) => column.notNull())
    .execute()
  await sql`insert into served_revision (id, revision, rendering) values (1, 0, '')`.execute(db)
  await announceUpdates(db, 'served_revision')
}

/** The state of the zones that are transferred from masters. */
export async function createSecondaries(db: Kysely<unknown>, _dialect: SchemaDialect): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('transfer_errors', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  let secondaries = db.schema
    .createTable('secondaries')
    .addColumn('domain_id', 'bigint', (column) => column.primaryKey().references('domains.id').onDelete('cascade'))
  for (const number of ['refresh_at', 'lease_until', 'requests', 'failures', 'refresh', 'retry', 'expire']) {
    secondaries = secondaries.addColumn(number, 'bigint', (column) => column.notNull().defaultTo(0))
  }
  await secondaries
    .addColumn('expire_at', 'bigint')
    .addColumn('lease', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('notified_by', 'text')
    .execute()
  await db.schema.createIndex('secondaries_by_refresh').on('secondaries').column('refresh_at').execute()
  await db.schema.createIndex('secondaries_by_expiry').on('secondaries').column('expire_at').execute()
  const typed = db as Kysely<{ domains: { id: number; type: string }; secondaries: { domain_id: number } }>
  await typed
    .insertInto('secondaries')
    .columns(['domain_id'])
    .expression((eb) => eb.selectFrom('domains').select('id').where('type', '=', 'slave'))
    .execute()
}
