import type { Connection } from './database.ts'

/** What the user keeps for a client, as JSON; null where it keeps nothing. */
export async function findPreferences(connection: Connection, userId: number, client: string): Promise<string | null> {
  const row = await connection
    .selectFrom('preferences')
    .select('body')
    .where('user_id', '=', userId)
    .where('client', '=', client)
    .executeTakeFirst()
  return row?.body ?? null
}

/** Replaces all of it. */
export async function savePreferences(connection: Connection, userId: number, client: string, body: string): Promise<void> {
  await connection
    .insertInto('preferences')
    .values({ user_id: userId, client, body })
    .onConflict((conflict) => conflict.columns(['user_id', 'client']).doUpdateSet({ body }))
    .execute()
}
