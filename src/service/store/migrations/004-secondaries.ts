import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** What the service knows of the zones it transfers in. */
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
