import type { Updateable } from 'kysely'
import type { Connection } from './database.ts'
import { lockUserRow } from './lock-rows.ts'
import type { SecondFactorRow, SecondFactorsTable } from './tables/profile.ts'

/** What secrets of a second factor are sealed for. */
export const contextOfSecondFactor = (userId: number): string => `second factor ${userId}`

/** The user's second factor, which nobody else changes until the transaction ends; null where there was never any. */
export async function lockSecondFactor(connection: Connection, userId: number): Promise<SecondFactorRow | null> {
  await lockUserRow(connection, userId)
  return (await connection.selectFrom('second_factors').selectAll().where('user_id', '=', userId).executeTakeFirst()) ?? null
}

/** Has a secret wait for its confirmation, in place of any other that does. What is confirmed stays, and so does the count of wrong codes. The user is held. */
export async function offerSecret(connection: Connection, userId: number, sealed: string, expiry: string): Promise<void> {
  const pending = { pending: sealed, pending_expiry: expiry }
  await connection
    .insertInto('second_factors')
    .values({ user_id: userId, ...pending })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(pending))
    .execute()
}

export async function updateSecondFactor(connection: Connection, userId: number, changes: Updateable<SecondFactorsTable>): Promise<void> {
  await connection.updateTable('second_factors').set(changes).where('user_id', '=', userId).execute()
}

/** Switches the second factor off and forgets its secrets; wrong codes stay counted. */
export async function removeSecondFactor(connection: Connection, userId: number): Promise<void> {
  await connection.updateTable('users').set({ two_factor_auth: 0 }).where('id', '=', userId).execute()
  await updateSecondFactor(connection, userId, { secret: '', pending: '', pending_expiry: '', last_step: 0, scratch_hash: '' })
}

/** Forgets secrets that nobody confirmed in time. */
export async function forgetStaleSecrets(connection: Connection, now: string): Promise<void> {
  await connection
    .updateTable('second_factors')
    .set({ pending: '', pending_expiry: '' })
    .where('pending', '!=', '')
    .where('pending_expiry', '<=', now)
    .execute()
}
