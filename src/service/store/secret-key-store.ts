import type { Connection } from './database.ts'

/** The only row. */
const ROW_ID = 1

export interface SecretKeyState {
  /** The key that secrets are encrypted with; empty for none yet. */
  readonly keyId: string
  /** Whether secrets that were stored in clear have been erased from the files of the database. */
  readonly erased: boolean
}

/** The state, which a database has before its first start too. */
export async function findSecretKey(connection: Connection): Promise<SecretKeyState> {
  const row = await connection.selectFrom('secret_key').select(['key_id', 'erased']).where('id', '=', ROW_ID).executeTakeFirst()
  return { keyId: row?.key_id ?? '', erased: row?.erased === 1 }
}

/** Makes the row unless there is one. A database that has never been used has nothing to erase. */
export async function createSecretKeyRow(connection: Connection): Promise<void> {
  const used = await connection.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
  await connection
    .insertInto('secret_key')
    .values({ id: ROW_ID, key_id: '', erased: used === undefined ? 1 : 0 })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** The id of the key in use, which nobody changes until the transaction ends. Take it after the users that the transaction holds. */
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
