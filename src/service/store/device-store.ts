import { type Insertable, type SqlBool, sql } from 'kysely'
import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { listOwn } from './own-list.ts'
import type { TrustedDevicesTable } from './tables/profile.ts'

export interface StoredDevice {
  readonly id: number
  readonly created: string
  readonly expiry: string
  readonly last_authenticated: string
  readonly last_remote_addr: string
  readonly user_agent: string
}

/** The devices of a user whose session has not ended. */
const trusted = (userId: number, now: string) => sql<SqlBool>`user_id = ${userId} and expiry > ${now}`

export const listDevices = (connection: Connection, userId: number, now: string, list: ListQuery): Promise<ListSlice<StoredDevice>> =>
  listOwn<StoredDevice>(connection, { table: 'trusted_devices', where: trusted(userId, now), fields: {} }, list)

export async function findDevice(connection: Connection, userId: number, id: number, now: string): Promise<StoredDevice | null> {
  const found = connection.selectFrom('trusted_devices').selectAll().where('id', '=', id).where(trusted(userId, now))
  return (await found.executeTakeFirst()) ?? null
}

export async function insertDevice(connection: Connection, device: Insertable<TrustedDevicesTable>): Promise<void> {
  await connection.insertInto('trusted_devices').values(device).execute()
}

/** Whether there was one. */
export async function deleteDevice(connection: Connection, userId: number, id: number, now: string): Promise<boolean> {
  const deletion = connection.deleteFrom('trusted_devices').where('id', '=', id).where(trusted(userId, now))
  return (await deletion.executeTakeFirstOrThrow()).numDeletedRows > 0n
}

export async function deleteEndedDevices(connection: Connection, now: string): Promise<void> {
  await connection.deleteFrom('trusted_devices').where('expiry', '<=', now).execute()
}
