import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** What belongs to one user alone: apps, devices, logins, keys, the second factor and what leads to it. */
export async function createProfile(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const numbered = (table: string) =>
    db.schema
      .createTable(table)
      .addColumn('id', idType, idColumn)
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
  const ofUser = (table: string) =>
    db.schema.createTable(table).addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))

  await numbered('apps')
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('website', 'text', (column) => column.notNull())
    .addColumn('thumbnail_url', 'text')
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text')
    .addUniqueConstraint('apps_client', ['user_id', 'client'])
    .execute()
  await db.schema
    .alterTable('tokens')
    .addColumn('app_id', 'bigint', (column) => column.references('apps.id').onDelete('cascade'))
    .execute()
  await db.schema.createIndex('tokens_by_app').on('tokens').columns(['app_id']).execute()
  await db.schema
    .alterTable('users')
    .addColumn('ip_whitelist_enabled', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()

  await numbered('trusted_devices')
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text', (column) => column.notNull())
    .addColumn('last_authenticated', 'text', (column) => column.notNull())
    .addColumn('last_remote_addr', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('trusted_devices_by_user').on('trusted_devices').columns(['user_id', 'id']).execute()

  await numbered('logins')
    .addColumn('datetime', 'text', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('restricted', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('occasion', 'text')
    // Those without an occasion are all different, in every dialect.
    .addUniqueConstraint('logins_occasion', ['user_id', 'occasion'])
    .execute()
  await db.schema.createIndex('logins_by_user').on('logins').columns(['user_id', 'datetime']).execute()

  await numbered('ssh_keys')
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('ssh_key', 'text', (column) => column.notNull())
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('ssh_keys_by_user').on('ssh_keys').columns(['user_id', 'id']).execute()

  await ofUser('security_answers')
    .addColumn('question_id', 'integer', (column) => column.notNull())
    .addColumn('response', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('security_answers_key', ['user_id', 'question_id'])
    .execute()

  await ofUser('second_factors')
    .addColumn('secret', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('pending', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('pending_expiry', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('last_step', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('scratch_hash', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('failures_since', 'text', (column) => column.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('second_factors_key', ['user_id'])
    .execute()

  await ofUser('phone_codes')
    .addColumn('phone_number', 'text', (column) => column.notNull())
    .addColumn('code', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('sent', 'integer', (column) => column.notNull())
    .addColumn('sent_since', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('phone_codes_key', ['user_id'])
    .execute()

  await ofUser('preferences')
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('preferences_key', ['user_id', 'client'])
    .execute()
}
