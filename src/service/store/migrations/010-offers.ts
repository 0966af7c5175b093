import type { Kysely } from 'kysely'

/** What masters have told of zones that could not be had yet. */
export async function noteOffers(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('secondaries').addColumn('notified_serial', 'bigint').execute()
  await db.schema
    .alterTable('secondaries')
    .addColumn('behind', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}
