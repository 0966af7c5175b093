import type { Insertable, Selectable, Updateable } from 'kysely'
import { sql } from 'kysely'
import type { QuotaName, Quotas } from '../quotas.ts'
import type { Connection } from './database.ts'
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

/** What an account may have of one kind: the service's quota, unless it has its own. Null for no limit. Locks the account's row. */
export async function lockQuota(connection: Connection, accountId: number, name: QuotaName, quotas: Quotas): Promise<number | null> {
  const { quotas: own } = await connection
    .updateTable('accounts')
    .set((eb) => ({ created: eb.ref('created') }))
    .where('id', '=', accountId)
    .returning('quotas')
    .executeTakeFirstOrThrow()
  return { ...quotas, ...(JSON.parse(own) as Partial<Quotas>) }[name]
}

/** Gives an account quotas of its own, in place of those it had. */
export async function setQuotas(connection: Connection, accountId: number, quotas: Partial<Quotas>): Promise<void> {
  await connection
    .updateTable('accounts')
    .set({ quotas: JSON.stringify(quotas) })
    .where('id', '=', accountId)
    .execute()
}

/** How many objects of a kind an account has. Tokens of apps are not counted: the operator makes those. */
export async function countOwned(connection: Connection, accountId: number, name: Exclude<QuotaName, 'image_octets'>): Promise<number> {
  const ofUsers = sql`user_id in (select id from users where account_id = ${accountId})`
  const owned = name === 'tokens' ? sql`app_id is null and ${ofUsers}` : name === 'ssh_keys' ? ofUsers : sql`account_id = ${accountId}`
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(name)} where ${owned}`.execute(connection)
  return Number(rows[0]?.total ?? 0)
}

/**
 * Octets of image data that an account keeps, and those reserved for data that is arriving; `except` is an image that is not counted.
 * `now` is in milliseconds of the service's clock.
 */
export async function countImageOctets(connection: Connection, accountId: number, now: number, except = 0): Promise<number> {
  const { total } = await connection
    .selectFrom('images')
    .select((eb) => eb.fn.sum<number | string | null>('octets').as('total'))
    .where('account_id', '=', accountId)
    .where('id', '!=', except)
    .where((eb) => eb.or([eb('status', '!=', 'pending_upload'), eb('receiver_until', '>', now)]))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

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
