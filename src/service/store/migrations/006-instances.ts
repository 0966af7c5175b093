import type { ColumnDataType, CreateTableBuilder, Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

type Table = CreateTableBuilder<string, string>

const columns = (table: Table, type: ColumnDataType, names: readonly string[]): Table =>
  names.reduce((made, name) => made.addColumn(name, type, (column) => column.notNull()), table)

/** Instances and what belongs to them, and the jobs that move them from state to state. */
export async function createInstances(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const numbered = (name: string): Table => db.schema.createTable(name).addColumn('id', idType, idColumn)
  const owned = (name: string): Table =>
    numbered(name).addColumn('instance_id', 'bigint', (column) => column.notNull().references('instances.id').onDelete('cascade'))
  const indexed = (table: string): Promise<void> =>
    db.schema.createIndex(`${table}_by_instance`).on(table).columns(['instance_id', 'id']).execute()

  await columns(columns(numbered('jobs'), 'text', ['kind', 'payload']), 'bigint', ['subject', 'due'])
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('jobs_by_due').on('jobs').columns(['due', 'id']).execute()
  await db.schema.createIndex('jobs_by_subject').on('jobs').columns(['kind', 'subject']).execute()

  const instances = numbered('instances').addColumn('account_id', 'bigint', (column) =>
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

  await columns(owned('disks'), 'text', ['label', 'filesystem', 'status', 'created', 'updated'])
    .addColumn('size', 'integer', (column) => column.notNull())
    .execute()
  const texts = ['label', 'devices', 'helpers', 'interfaces', 'kernel', 'root_device', 'run_level', 'virt_mode', 'created', 'updated']
  await columns(owned('configs'), 'text', texts)
    .addColumn('comments', 'text')
    .addColumn('memory_limit', 'integer', (column) => column.notNull())
    .execute()
  await columns(owned('backups'), 'text', ['type', 'status', 'region', 'content', 'created', 'updated'])
    .addColumn('label', 'text')
    .addColumn('finished', 'text')
    .execute()
  for (const table of ['disks', 'configs', 'backups']) await indexed(table)
}
