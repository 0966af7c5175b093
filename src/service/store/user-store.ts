import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Connection } from './database.ts'
import { lockAccountRow } from './lock-rows.ts'
import type { UsersTable } from './tables.ts'

export type UserRow = Selectable<UsersTable>

/** The first user of the first account: the administrator made at the first start. Null before that. */
export async function findAdministrator(connection: Connection): Promise<number | null> {
  const row = await connection.selectFrom('users').select('id').orderBy('id').limit(1).executeTakeFirst()
  return row?.id ?? null
}

/** The username of the administrator made at the first start. */
export const ADMINISTRATOR = 'admin'

export async function insertAdministrator(connection: Connection, now: string): Promise<number> {
  const accountId = await insertAccount(connection, now)
  return insertUser(connection, {
    account_id: accountId,
    username: ADMINISTRATOR,
    email: 'admin@example.invalid',
    restricted: 0,
    created: now,
  })
}

export async function insertAccount(connection: Connection, now: string): Promise<number> {
  const { id } = await connection.insertInto('accounts').values({ created: now }).returning('id').executeTakeFirstOrThrow()
  return id
}

/** The highest number of an account; 0 before the first. */
export async function findLastAccount(connection: Connection): Promise<number> {
  const row = await connection
    .selectFrom('accounts')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirst()
  return Number(row?.last ?? 0)
}

/** The number of the user, whose name must be free. */
export async function insertUser(connection: Connection, user: Insertable<UsersTable>): Promise<number> {
  const { id } = await connection.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  return id
}

/** User names are unique across accounts. */
export async function findUserByName(connection: Connection, username: string): Promise<UserRow | null> {
  return (await connection.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirst()) ?? null
}

export const findUser = (connection: Connection, id: number): Promise<UserRow> =>
  connection.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export async function updateUser(connection: Connection, id: number, changes: Updateable<UsersTable>): Promise<UserRow> {
  if (Object.keys(changes).length === 0) return findUser(connection, id)
  return connection.updateTable('users').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Whether the account has an unrestricted user besides this one. Keeps others from changing that until the transaction ends. */
export async function hasOtherAdministrator(connection: Connection, accountId: number, userId: number): Promise<boolean> {
  await lockAccountRow(connection, accountId)
  const row = await connection
    .selectFrom('users')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '!=', userId)
    .where('restricted', '=', 0)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
