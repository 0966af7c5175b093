import { type Insertable, type SqlBool, sql } from 'kysely'
import type { FilterFields } from '../filter/filter.ts'
import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { listOwn } from './own-list.ts'
import type { AppRow, AppsTable } from './tables/profile.ts'

export const APP_FILTER_FIELDS = {
  created: { kind: 'time' },
  expiry: { kind: 'time', nullable: true },
} as const satisfies FilterFields

/** The apps of a user whose access has not ended. */
const standing = (userId: number, now: string) => sql<SqlBool>`user_id = ${userId} and (expiry is null or expiry > ${now})`

export const listApps = (connection: Connection, userId: number, now: string, list: ListQuery): Promise<ListSlice<AppRow>> =>
  listOwn<AppRow>(connection, { table: 'apps', where: standing(userId, now), fields: APP_FILTER_FIELDS }, list)

export async function findApp(connection: Connection, userId: number, id: number, now: string): Promise<AppRow | null> {
  const row = await connection.selectFrom('apps').selectAll().where('id', '=', id).where(standing(userId, now)).executeTakeFirst()
  return row ?? null
}

/** The number of the app; null where the user has authorised this client already. */
export async function insertApp(connection: Connection, app: Insertable<AppsTable>): Promise<number | null> {
  const row = await connection
    .insertInto('apps')
    .values(app)
    .onConflict((conflict) => conflict.columns(['user_id', 'client']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Takes away an app's access, and its tokens with it; whether it had any. */
export async function deleteApp(connection: Connection, userId: number, id: number, now: string): Promise<boolean> {
  const { numDeletedRows } = await connection.deleteFrom('apps').where('id', '=', id).where(standing(userId, now)).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The client that a token was issued to; empty for a personal access token. */
export async function clientOf(connection: Connection, appId: number | null): Promise<string> {
  if (appId === null) return ''
  const row = await connection.selectFrom('apps').select('client').where('id', '=', appId).executeTakeFirst()
  return row?.client ?? ''
}

export async function deleteEndedApps(connection: Connection, now: string): Promise<void> {
  await connection.deleteFrom('apps').where('expiry', '<=', now).execute()
}
