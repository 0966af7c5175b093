import { type Insertable, type SqlBool, sql } from 'kysely'
import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { listOwn } from './own-list.ts'
import type { LoginsTable } from './tables/profile.ts'

export interface StoredLogin {
  readonly id: number
  readonly datetime: string
  readonly ip: string
  readonly restricted: number
  readonly status: 'successful' | 'failed'
  readonly username: string
}

/** Days for which logins are kept. */
export const LOGIN_DAYS = 90

/** Logins of a user that the service records of one day at most: whoever has many addresses fills no disk. */
const MOST_A_DAY = 200

const after = (userId: number, since: string) => sql<SqlBool>`user_id = ${userId} and datetime > ${since}`

/** Those after a moment. */
export const listLogins = (connection: Connection, userId: number, since: string, list: ListQuery): Promise<ListSlice<StoredLogin>> =>
  listOwn<StoredLogin>(connection, { table: 'logins', where: after(userId, since), fields: {} }, list)

export async function findLogin(connection: Connection, userId: number, id: number, since: string): Promise<StoredLogin | null> {
  const row = await connection.selectFrom('logins').selectAll().where('id', '=', id).where(after(userId, since)).executeTakeFirst()
  return row ?? null
}

export async function insertLogin(connection: Connection, login: Insertable<LoginsTable>): Promise<void> {
  await connection.insertInto('logins').values(login).execute()
}

export interface NoticedLogin {
  readonly userId: number
  readonly username: string
  readonly restricted: boolean
  readonly ip: string
  readonly status: 'successful' | 'failed'
}

/** Records a login unless the day has one from this address with this outcome, or too many from all of them. */
export async function recordLogin(connection: Connection, { userId, ip, status, ...rest }: NoticedLogin, now: string): Promise<void> {
  const day = now.slice(0, 10)
  const { today } = await connection
    .selectFrom('logins')
    .select((eb) => eb.fn.countAll<number>().as('today'))
    .where('user_id', '=', userId)
    .where('datetime', '>=', day)
    .where('occasion', 'is not', null)
    .executeTakeFirstOrThrow()
  if (Number(today) >= MOST_A_DAY) return
  const { username, restricted } = rest
  await connection
    .insertInto('logins')
    .values({ user_id: userId, username, datetime: now, ip, status, restricted: Number(restricted), occasion: `${day} ${status} ${ip}` })
    .onConflict((conflict) => conflict.columns(['user_id', 'occasion']).doNothing())
    .execute()
}

export async function deleteLoginsBefore(connection: Connection, moment: string): Promise<void> {
  await connection.deleteFrom('logins').where('datetime', '<=', moment).execute()
}
