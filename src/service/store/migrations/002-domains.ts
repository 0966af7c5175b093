import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

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
