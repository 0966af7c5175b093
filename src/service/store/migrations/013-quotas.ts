import type { Kysely } from 'kysely'

/** Quotas that an account has instead of the service's, and the octets that the data of an image takes. */
export async function addQuotas(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('accounts')
    .addColumn('quotas', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute()
  await db.schema.alterTable('images').addColumn('octets', 'bigint').execute()
}
