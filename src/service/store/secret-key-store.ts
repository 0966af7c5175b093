/** The id of the key that encrypts secrets. */
import type { Connection } from './database.ts'

/** The id of the only row. */
const ROW_ID = 1

export interface SecretKeyState {
  /** The id of the key that encrypts secrets; empty before the first start. */
  readonly keyId: string
  /** Whether secrets stored in plain text by earlier versions have been erased from the database files. */
  readonly erased: boolean
}

/** The state of the key, with default values before the first start. */
export async function findSecretKey(connection: Connection): Promise<SecretKeyState> {
  const row = await connection.selectFrom('secret_key').select(['key_id', 'erased']).where('id', '=', ROW_ID).executeTakeFirst()
  return { keyId: row?.key_id ?? '', erased: row?.erased === 1 }
}

/** Creates the row if necessary. A new database has nothing to erase. */
export async function createSecretKeyRow(connection: Connection): Promise<void> {
  const used = await connection.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
  await connection
    .insertInto('secret_key')
    .values({ id: ROW_ID, key_id: '', erased: used === undefined ? 1 : 0 })
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

export async function setErased(connection: Connection): Promise<void> {
  await connection.updateTable('secret_key').set({ erased: 1 }).where('id', '=', ROW_ID).execute()
}
