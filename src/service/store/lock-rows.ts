import type { Connection } from './database.ts'

/**
 * Keeps others out of what an account's users and objects share, until the transaction ends: its tags, and who administers it.
 * A transaction that holds domains which others see must hold the account before them, so that no two wait for one another.
 */
export async function lockAccountRow(connection: Connection, accountId: number): Promise<void> {
  await connection
    .updateTable('accounts')
    .set((eb) => ({ created: eb.ref('created') }))
    .where('id', '=', accountId)
    .execute()
}

/** Keeps others from changing what is one user's alone, until the transaction ends. */
export async function lockUserRow(connection: Connection, userId: number): Promise<void> {
  await connection
    .updateTable('users')
    .set((eb) => ({ created: eb.ref('created') }))
    .where('id', '=', userId)
    .execute()
}
