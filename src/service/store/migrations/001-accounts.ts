import type { Kysely } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** Accounts, their users and the users' tokens. */
export async function createAccounts(db: Kysely<unknown>, { idType, idColumn }: SchemaDialect): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('id', idType, idColumn)
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('users')
    .addColumn('id', idType, idColumn)
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id').onDelete('cascade'))
    .addColumn('username', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('restricted', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('tokens')
    .addColumn('id', idType, idColumn)
    .addColumn('user_id', 'bigint', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created', 'text', (column) => column.notNull())
    .addColumn('expiry', 'text')
    .execute()
  await db.schema.createIndex('tokens_by_user').on('tokens').columns(['user_id', 'id']).execute()
}
