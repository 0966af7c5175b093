/** The apps, trusted devices and logins of users. */
import { type Insertable, type SqlBool, sql } from 'kysely'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './list-sql.ts'
import type { AppRow, AppsTable, LoginsTable, TrustedDevicesTable } from './tables/profile.ts'

export const APP_FILTER_FIELDS = {
  created: { kind: 'time' },
  expiry: { kind: 'time', nullable: true },
} as const satisfies FilterFields

/** True for the user's apps whose access has not expired. */
const activeApps = (userId: number, now: string) => sql<SqlBool>`user_id = ${userId} and (expiry is null or expiry > ${now})`

export const listApps = (connection: Connection, userId: number, now: string, list: ListQuery): Promise<ListSlice<AppRow>> =>
  listRows<AppRow>(connection.selectFrom('apps').where(activeApps(userId, now)), { fields: APP_FILTER_FIELDS }, list)

export async function findApp(connection: Connection, userId: number, id: number, now: string): Promise<AppRow | null> {
  const row = await connection.selectFrom('apps').selectAll().where('id', '=', id).where(activeApps(userId, now)).executeTakeFirst()
  return row ?? null
}

/** Returns the app's id; null if the user has already authorised this client. */
export async function insertApp(connection: Connection, app: Insertable<AppsTable>): Promise<number | null> {
  const row = await connection
    .insertInto('apps')
    .values(app)
    .onConflict((conflict) => conflict.columns(['user_id', 'client']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Revokes an app's access and deletes its tokens. False if there is no such app. */
export async function deleteApp(connection: Connection, userId: number, id: number, now: string): Promise<boolean> {
  const { numDeletedRows } = await connection
    .deleteFrom('apps')
    .where('id', '=', id)
    .where(activeApps(userId, now))
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The OAuth client of a token; empty for a personal access token. */
export async function clientOf(connection: Connection, appId: number | null): Promise<string> {
  if (appId === null) return ''
  const row = await connection.selectFrom('apps').select('client').where('id', '=', appId).executeTakeFirst()
  return row?.client ?? ''
}

export async function deleteExpiredApps(connection: Connection, now: string): Promise<void> {
  await connection.deleteFrom('apps').where('expiry', '<=', now).execute()
}

interface StoredDevice {
  readonly id: number
  readonly created: string
  readonly expiry: string
  readonly last_authenticated: string
  readonly last_remote_addr: string
  readonly user_agent: string
}

/** True for the user's devices whose session has not expired. */
const activeDevices = (userId: number, now: string) => sql<SqlBool>`user_id = ${userId} and expiry > ${now}`

export const listDevices = (connection: Connection, userId: number, now: string, list: ListQuery): Promise<ListSlice<StoredDevice>> =>
  listRows<StoredDevice>(connection.selectFrom('trusted_devices').where(activeDevices(userId, now)), { fields: {} }, list)

export async function findDevice(connection: Connection, userId: number, id: number, now: string): Promise<StoredDevice | null> {
  const found = connection.selectFrom('trusted_devices').selectAll().where('id', '=', id).where(activeDevices(userId, now))
  return (await found.executeTakeFirst()) ?? null
}

export async function insertDevice(connection: Connection, device: Insertable<TrustedDevicesTable>): Promise<void> {
  await connection.insertInto('trusted_devices').values(device).execute()
}

/** False if there is no such device. */
export async function deleteDevice(connection: Connection, userId: number, id: number, now: string): Promise<boolean> {
  const deletion = connection.deleteFrom('trusted_devices').where('id', '=', id).where(activeDevices(userId, now))
  return (await deletion.executeTakeFirstOrThrow()).numDeletedRows > 0n
}

export async function deleteExpiredDevices(connection: Connection, now: string): Promise<void> {
  await connection.deleteFrom('trusted_devices').where('expiry', '<=', now).execute()
}

export interface StoredLogin {
  readonly id: number
  readonly datetime: string
  readonly ip: string
  readonly restricted: number
  readonly status: 'successful' | 'failed'
  readonly username: string
}

/** Days until logins are deleted. */
export const LOGIN_DAYS = 90

/** Maximum number of recorded logins per user and day, so that a client with many addresses cannot fill the disk. */
const MAX_LOGINS_PER_DAY = 200

const loginsAfter = (userId: number, since: string) => sql<SqlBool>`user_id = ${userId} and datetime > ${since}`

/** The logins after `since`. */
export const listLogins = (connection: Connection, userId: number, since: string, list: ListQuery): Promise<ListSlice<StoredLogin>> =>
  listRows<StoredLogin>(connection.selectFrom('logins').where(loginsAfter(userId, since)), { fields: {} }, list)

export async function findLogin(connection: Connection, userId: number, id: number, since: string): Promise<StoredLogin | null> {
  const row = await connection.selectFrom('logins').selectAll().where('id', '=', id).where(loginsAfter(userId, since)).executeTakeFirst()
  return row ?? null
}

export async function insertLogin(connection: Connection, login: Insertable<LoginsTable>): Promise<void> {
  await connection.insertInto('logins').values(login).execute()
}

export interface ObservedLogin {
  readonly userId: number
  readonly username: string
  readonly restricted: boolean
  readonly ip: string
  readonly status: 'successful' | 'failed'
}

/** Records a login, unless there is one on this day with the same address and outcome, or the day's limit is reached. */
export async function recordLogin(connection: Connection, { userId, ip, status, ...rest }: ObservedLogin, now: string): Promise<void> {
  const day = now.slice(0, 10)
  const { today } = await connection
    .selectFrom('logins')
    .select((eb) => eb.fn.countAll<number>().as('today'))
    .where('user_id', '=', userId)
    .where('datetime', '>=', day)
    .where('occasion', 'is not', null)
    .executeTakeFirstOrThrow()
  if (Number(today) >= MAX_LOGINS_PER_DAY) return
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
