/** The apps, trusted devices and logins of users. */
import { type Insertable, type Selectable, sql } from 'kysely'
import type { FilterFields } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { ownRows } from './rows.ts'
import type { AppRow, AppsTable, LoginsTable, TrustedDevicesTable } from './tables.ts'

export const APP_FILTER_FIELDS = {
  created: { kind: 'time' },
  expiry: { kind: 'time', nullable: true },
} as const satisfies FilterFields

/** The user's apps whose access has not expired. Deleting one deletes its tokens. */
export const APPS = ownRows<AppRow, [userId: number, now: string]>(
  'apps',
  { fields: APP_FILTER_FIELDS },
  (userId, now) => sql`user_id = ${userId} and (expiry is null or expiry > ${now})`,
)

/** Adds an app and returns its id. Adds none and returns null if the user has already authorised this client. */
export async function insertApp(connection: Connection, app: Insertable<AppsTable>): Promise<number | null> {
  const row = await connection
    .insertInto('apps')
    .values(app)
    .onConflict((conflict) => conflict.columns(['user_id', 'client']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
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

/** The user's devices whose session has not expired. */
export const DEVICES = ownRows<Selectable<TrustedDevicesTable>, [userId: number, now: string]>(
  'trusted_devices',
  { fields: {} },
  (userId, now) => sql`user_id = ${userId} and expiry > ${now}`,
)

export async function insertDevice(connection: Connection, device: Insertable<TrustedDevicesTable>): Promise<void> {
  await connection.insertInto('trusted_devices').values(device).execute()
}

export async function deleteExpiredDevices(connection: Connection, now: string): Promise<void> {
  await connection.deleteFrom('trusted_devices').where('expiry', '<=', now).execute()
}

/** Days after which a recorded login is deleted. */
export const LOGIN_DAYS = 90

/** Maximum recorded logins per user and day: a client with many addresses must not fill the disk. */
const MAX_LOGINS_PER_DAY = 200

/** The user's logins after the time `since`. */
export const LOGINS = ownRows<Selectable<LoginsTable>, [userId: number, since: string]>(
  'logins',
  { fields: {} },
  (userId, since) => sql`user_id = ${userId} and datetime > ${since}`,
)

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

/** Records a login, unless the user's limit for the day is reached, or the day has a login with the same address and outcome. */
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
