import type { Connection } from './database.ts'
import { lockUserRow } from './lock-rows.ts'
import type { PhoneCodeRow } from './tables/profile.ts'

/** What a code is sealed for. */
export const contextOfPhoneCode = (userId: number): string => `phone ${userId}`

/** The code a user was sent last, which nobody else changes until the transaction ends; null where none is known. */
export async function lockPhoneCode(connection: Connection, userId: number): Promise<PhoneCodeRow | null> {
  await lockUserRow(connection, userId)
  return (await connection.selectFrom('phone_codes').selectAll().where('user_id', '=', userId).executeTakeFirst()) ?? null
}

export async function savePhoneCode(connection: Connection, { user_id, ...code }: PhoneCodeRow): Promise<void> {
  await connection
    .insertInto('phone_codes')
    .values({ user_id, ...code })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(code))
    .execute()
}

/** Forgets codes whose time is over, once their messages do not count any more either. */
export async function deleteStalePhoneCodes(connection: Connection, now: string, sentBefore: string): Promise<void> {
  await connection.deleteFrom('phone_codes').where('expiry', '<=', now).where('sent_since', '<=', sentBefore).execute()
}
