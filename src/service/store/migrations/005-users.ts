import type { Kysely } from 'kysely'

/** What users decide about themselves, and what restricted users are granted. */
export async function extendUsers(db: Kysely<unknown>): Promise<void> {
  const column = (name: string, type: 'text' | 'integer', value: string | number): Promise<void> =>
    db.schema
      .alterTable('users')
      .addColumn(name, type, (definition) => definition.notNull().defaultTo(value))
      .execute()
  await column('email_notifications', 'integer', 1)
  await column('timezone', 'text', 'UTC')
  await column('authentication_type', 'text', 'password')
  await column('two_factor_auth', 'integer', 0)
  await column('shell_auth_method', 'text', 'password_keys')
  await column('authorized_keys', 'text', '[]')
  await column('verified_phone_number', 'text', '')
  await column('account_access', 'text', '')
  await column('global_grants', 'text', '[]')

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
