/** Migrations 9 to 13: tagged objects, offered serials, zone names, the secret key and quotas. */
import { type CreateTableBuilder, type Kysely, sql } from 'kysely'
import type { SchemaDialect } from '../database.ts'

/** Volumes, load balancers, and tags for all kinds of objects, including the existing tags of domains. */
export async function createTaggedObjects(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const objects = (table: string, unique: string, texts: readonly string[]): CreateTableBuilder<string, string> => {
    let made: CreateTableBuilder<string, string> = db.schema
      .createTable(table)
      .addColumn('id', idType, idColumn)
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
      .addColumn('label', 'text', (column) => column.notNull())
      .addUniqueConstraint(unique, ['account_id', 'label'])
    for (const text of texts) made = made.addColumn(text, 'text', (column) => column.notNull())
    return made
  }
  await objects('volumes', 'volumes_unique', ['hardware_type', 'region', 'status', 'created', 'updated'])
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('instance_id', 'bigint')
    .execute()
  await db.schema.createIndex('volumes_by_instance').on('volumes').column('instance_id').execute()
  await objects('load_balancers', 'load_balancers_unique', ['hostname', 'ipv4', 'region', 'created'])
    .addColumn('ipv6', 'text')
    .addColumn('client_conn_throttle', 'integer', (column) => column.notNull())
    .addColumn('transfer_in', 'double precision')
    .addColumn('transfer_out', 'double precision')
    .addColumn('transfer_total', 'double precision')
    .execute()

  // No foreign key: the kind determines the table of the object.
  await db.schema
    .createTable('tagged_objects')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('entity_id', 'bigint', (column) => column.notNull())
    .addColumn('tag_id', 'bigint', (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('tagged_objects_key', ['kind', 'entity_id', 'tag_id'])
    .execute()
  await db.schema.createIndex('tagged_objects_by_tag').on('tagged_objects').columns(['tag_id', 'kind', 'entity_id']).execute()
  await sql`insert into tagged_objects (kind, entity_id, tag_id) select 'domain', domain_id, tag_id from domain_tags`.execute(db)
  await db.schema.dropTable('domain_tags').execute()
}

/** Serials that masters announced but have not delivered yet. */
export async function addOfferedSerials(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('secondaries').addColumn('notified_serial', 'bigint').execute()
  await db.schema
    .alterTable('secondaries')
    .addColumn('behind', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}

/** An index for finding the zones below a name. The service fills the column at startup. */
export async function indexZoneNames(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('reversed_name', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.createIndex('domains_by_reversed_name').on('domains').columns(['reversed_name', 'account_id', 'id']).execute()
}

/** The id of the key that encrypts the secrets. */
export async function createSecretKey(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('secret_key')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('erased', 'integer', (column) => column.notNull())
    .execute()
}

/** Quotas of accounts that differ from the service's, and the size of image data. */
export async function addQuotas(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('accounts')
    .addColumn('quotas', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute()
  await db.schema.alterTable('images').addColumn('octets', 'bigint').execute()
}
