import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** Private images, and provisioning scripts. */
export async function createImagesAndScripts(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  const ofAccount = (name: string) =>
    db.schema
      .createTable(name)
      .addColumn('id', idType, idColumn)
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))

  let images = ofAccount('images')
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

  let scripts = ofAccount('scripts').addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
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
