import type { Kysely } from 'kysely'

/** Which key the secrets of the database are encrypted with. */
export async function createSecretKey(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('secret_key')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('erased', 'integer', (column) => column.notNull())
    .execute()
}
