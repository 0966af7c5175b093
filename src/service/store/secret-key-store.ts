/** The id of the key that encrypts secrets. */
import type { Connection } from './database.ts'

/** The id of the only row. */
const ROW_ID = 1

/** The id of the key that encrypts secrets; empty before the first start. */
export async function findKeyId(connection: Connection): Promise<string> {
  const row = await connection.selectFrom('secret_key').select('key_id').where('id', '=', ROW_ID).executeTakeFirst()
  return row?.key_id ?? ''
}

/** Creates the row if necessary. */
export async function createSecretKeyRow(connection: Connection): Promise<void> {
  await connection
    .insertInto('secret_key')
    .values({ id: ROW_ID, key_id: '' })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** The id of the current key, locked until the transaction ends. Call it after locking users. */
export async function lockKeyId(connection: Connection): Promise<string> {
  const row = await connection
    .updateTable('secret_key')
    .set((eb) => ({ key_id: eb.ref('key_id') }))
    .where('id', '=', ROW_ID)
    .returning('key_id')
    .executeTakeFirstOrThrow()
  return row.key_id
}

export async function setKeyId(connection: Connection, keyId: string): Promise<void> {
  await connection.updateTable('secret_key').set({ key_id: keyId }).where('id', '=', ROW_ID).execute()
}
