/** Migrations 5 (users), 6 (instances), 7 (images and scripts) and 8 (data of single users). */
import type { ColumnDataType, CreateTableBuilder, Kysely } from 'kysely'
import type { SchemaDialect } from '../database.ts'

/** Columns for the settings of users, and the grants of restricted users. */
export async function extendUsers(db: Kysely<unknown>): Promise<void> {
  const addUserColumn = (name: string, type: 'text' | 'integer', value: string | number): Promise<void> =>
    db.schema
      .alterTable('users')
      .addColumn(name, type, (definition) => definition.notNull().defaultTo(value))
      .execute()
  await addUserColumn('email_notifications', 'integer', 1)
  await addUserColumn('timezone', 'text', 'UTC')
  await addUserColumn('authentication_type', 'text', 'password')
  await addUserColumn('two_factor_auth', 'integer', 0)
  await addUserColumn('shell_auth_method', 'text', 'password_keys')
  await addUserColumn('authorized_keys', 'text', '[]')
  await addUserColumn('verified_phone_number', 'text', '')
  await addUserColumn('account_access', 'text', '')
  await addUserColumn('global_grants', 'text', '[]')

  await db.schema
    .createTable('grants')
    .addColumn('user_id', 'bigint', (definition) => definition.notNull().references('users.id').onDelete('cascade'))
    .addColumn('kind', 'text', (definition) => definition.notNull())
    .addColumn('entity_id', 'bigint', (definition) => definition.notNull())
    .addColumn('permissions', 'text', (definition) => definition.notNull())
    .addPrimaryKeyConstraint('grants_key', ['user_id', 'kind', 'entity_id'])
    .execute()
  await db.schema.createIndex('grants_by_entity').on('grants').columns(['kind', 'entity_id']).execute()
}

type Table = CreateTableBuilder<string, string>

const columns = (table: Table, type: ColumnDataType, names: readonly string[]): Table =>
  names.reduce((made, name) => made.addColumn(name, type, (column) => column.notNull()), table)

/** Instances with their disks, configuration profiles (`configs`) and backups, and the jobs that change their states. */
export async function createInstances(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const tableWithId = (name: string): Table => db.schema.createTable(name).addColumn('id', idType, idColumn)
  const tableOfInstance = (name: string): Table =>
    tableWithId(name).addColumn('instance_id', 'bigint', (column) => column.notNull().references('instances.id').onDelete('cascade'))
  const indexByInstance = (table: string): Promise<void> =>
    db.schema.createIndex(`${table}_by_instance`).on(table).columns(['instance_id', 'id']).execute()

  await columns(columns(tableWithId('jobs'), 'text', ['kind', 'payload']), 'bigint', ['subject', 'due'])
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('jobs_by_due').on('jobs').columns(['due', 'id']).execute()
  await db.schema.createIndex('jobs_by_subject').on('jobs').columns(['kind', 'subject']).execute()

  const instances = tableWithId('instances').addColumn('account_id', 'bigint', (column) =>
    column.notNull().references('accounts.id').onDelete('cascade'),
  )
  await columns(instances, 'text', ['label', 'group', 'region', 'type', 'host_uuid', 'status', 'alerts', 'created', 'updated'])
    .addColumn('image', 'text')
    .addColumn('ipv6', 'text')
    .addColumn('receiving', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('clones', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('watchdog_enabled', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('backups_enabled', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('backup_day', 'text')
    .addColumn('backup_window', 'text')
    .addColumn('last_booted', 'bigint')
    .addColumn('interfaces', 'text', (column) => column.notNull().defaultTo('[]'))
    .addColumn('script_id', 'bigint')
    .addUniqueConstraint('instances_unique', ['account_id', 'label'])
    .execute()
  await db.schema.createIndex('instances_by_account').on('instances').columns(['account_id', 'id']).execute()
  await db.schema.createIndex('instances_by_script').on('instances').columns(['script_id']).execute()

  await columns(db.schema.createTable('address_pools') as Table, 'text', ['region', 'pool'])
    .addColumn('next', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('address_pools_key', ['region', 'pool'])
    .execute()
  await columns(db.schema.createTable('addresses') as Table, 'text', ['region', 'pool', 'address'])
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addColumn('instance_id', 'bigint', (column) => column.notNull().references('instances.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('addresses_key', ['region', 'pool', 'slot'])
    .execute()
  await db.schema.createIndex('addresses_by_instance').on('addresses').columns(['instance_id']).execute()

  await columns(tableOfInstance('disks'), 'text', ['label', 'filesystem', 'status', 'created', 'updated'])
    .addColumn('size', 'integer', (column) => column.notNull())
    .execute()
  const texts = ['label', 'devices', 'helpers', 'interfaces', 'kernel', 'root_device', 'run_level', 'virt_mode', 'created', 'updated']
  await columns(tableOfInstance('configs'), 'text', texts)
    .addColumn('comments', 'text')
    .addColumn('memory_limit', 'integer', (column) => column.notNull())
    .execute()
  await columns(tableOfInstance('backups'), 'text', ['type', 'status', 'region', 'content', 'created', 'updated'])
    .addColumn('label', 'text')
    .addColumn('finished', 'text')
    .execute()
  for (const table of ['disks', 'configs', 'backups']) await indexByInstance(table)
}

/** Private images and provisioning scripts. */
export async function createImagesAndScripts(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const tableOfAccount = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('id', idType, idColumn)
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))

  let images = tableOfAccount('images')
  for (const text of ['label', 'created_by', 'status', 'type', 'created', 'updated']) {
    images = images.addColumn(text, 'text', (column) => column.notNull())
  }
  await images
    .addColumn('description', 'text')
    .addColumn('expiry', 'text')
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('upload_hash', 'text', (column) => column.unique())
    .addColumn('upload_until', 'bigint')
    .addColumn('receiver', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('receiver_until', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('images_by_account').on('images').columns(['account_id', 'id']).execute()

  let scripts = tableOfAccount('scripts').addColumn('user_id', 'bigint', (column) =>
    column.notNull().references('users.id').onDelete('cascade'),
  )
  for (const text of ['label', 'description', 'images', 'rev_note', 'script', 'created', 'updated']) {
    scripts = scripts.addColumn(text, 'text', (column) => column.notNull())
  }
  await scripts
    .addColumn('is_public', 'integer', (column) => column.notNull())
    .addColumn('deployments_total', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('scripts_by_account').on('scripts').columns(['account_id', 'id']).execute()
  await db.schema.createIndex('scripts_by_access').on('scripts').columns(['is_public', 'id']).execute()
}

/** The data of a single user: apps, devices, logins, SSH keys, security answers, second factor, phone codes and preferences. */
export async function createUserData(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const tableOfUserWithId = (table: string) =>
    db.schema
      .createTable(table)
      .addColumn('id', idType, idColumn)
      .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
  const tableOfUser = (table: string) =>
    db.schema.createTable(table).addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))

  await tableOfUserWithId('apps')
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

  await tableOfUserWithId('trusted_devices')
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text', (column) => column.notNull())
    .addColumn('last_authenticated', 'text', (column) => column.notNull())
    .addColumn('last_remote_addr', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('trusted_devices_by_user').on('trusted_devices').columns(['user_id', 'id']).execute()

  await tableOfUserWithId('logins')
    .addColumn('datetime', 'text', (column) => column.notNull())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('restricted', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('occasion', 'text')
    // At most one login per user, day, status and address (access-store.ts). Null is never a duplicate.
    .addUniqueConstraint('logins_occasion', ['user_id', 'occasion'])
    .execute()
  await db.schema.createIndex('logins_by_user').on('logins').columns(['user_id', 'datetime']).execute()

  await tableOfUserWithId('ssh_keys')
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('ssh_key', 'text', (column) => column.notNull())
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('ssh_keys_by_user').on('ssh_keys').columns(['user_id', 'id']).execute()

  await tableOfUser('security_answers')
    .addColumn('question_id', 'integer', (column) => column.notNull())
    .addColumn('response', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('security_answers_key', ['user_id', 'question_id'])
    .execute()

  await tableOfUser('second_factors')
    .addColumn('secret', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('pending', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('pending_expiry', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('last_step', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('scratch_hash', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('failures_since', 'text', (column) => column.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('second_factors_key', ['user_id'])
    .execute()

  await tableOfUser('phone_codes')
    .addColumn('phone_number', 'text', (column) => column.notNull())
    .addColumn('code', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('sent', 'integer', (column) => column.notNull())
    .addColumn('sent_since', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('phone_codes_key', ['user_id'])
    .execute()

  await tableOfUser('preferences')
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('preferences_key', ['user_id', 'client'])
    .execute()
}
