import type { Kysely } from 'kysely'

/** Finds the zones below a name; the service fills the column when it starts. */
export async function indexZoneNames(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('reversed_name', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.createIndex('domains_by_reversed_name').on('domains').columns(['reversed_name', 'account_id', 'id']).execute()
}
