/** Accounts, their users and quotas, and the preferences of users. */
import type { Insertable, Selectable, Updateable } from 'kysely'
import { sql } from 'kysely'
import type { QuotaName, Quotas } from '../quotas.ts'
import type { Connection } from './database.ts'
import type { UsersTable } from './tables.ts'
import { unserveAccount } from './zone-file-store.ts'

export type UserRow = Selectable<UsersTable>

/** The id of the administrator: the first user, created at the first start. Null before that. */
export async function findAdministrator(connection: Connection): Promise<number | null> {
  const row = await connection.selectFrom('users').select('id').orderBy('id').limit(1).executeTakeFirst()
  return row?.id ?? null
}

/** The username of the administrator. */
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

/** The highest account id; 0 if there is none. */
export async function findLastAccount(connection: Connection): Promise<number> {
  const row = await connection
    .selectFrom('accounts')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirst()
  return Number(row?.last ?? 0)
}

/** Inserts a user, whose name must be free. Returns the id. */
export async function insertUser(connection: Connection, user: Insertable<UsersTable>): Promise<number> {
  const { id } = await connection.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Usernames are unique across accounts. */
export async function findUserByName(connection: Connection, username: string): Promise<UserRow | null> {
  return (await connection.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirst()) ?? null
}

export const findUser = (connection: Connection, id: number): Promise<UserRow> =>
  connection.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export async function updateUser(connection: Connection, id: number, changes: Updateable<UsersTable>): Promise<UserRow> {
  if (Object.keys(changes).length === 0) return findUser(connection, id)
  return connection.updateTable('users').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** Whether the account has another unrestricted user. Locks the account, so that this stays true until the transaction ends. */
export async function hasOtherUnrestrictedUser(connection: Connection, accountId: number, userId: number): Promise<boolean> {
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
 * Locks what an account's users and objects share, its tags and administrators, until the transaction ends. A transaction that also locks
 * domains must lock the account first, so that there is no deadlock.
 */
export async function lockAccountRow(connection: Connection, accountId: number): Promise<void> {
  await sql`update accounts set created = created where id = ${accountId}`.execute(connection)
}

/** Lets one transaction at a time do what concerns the whole service: changes by administrators, and the start of its jobs. */
export async function lockAdministration(connection: Connection): Promise<void> {
  await sql`update accounts set created = created where id = (select min(id) from accounts)`.execute(connection)
}

/** Locks a user's own data until the transaction ends. */
export async function lockUserRow(connection: Connection, userId: number): Promise<void> {
  await sql`update users set created = created where id = ${userId}`.execute(connection)
}

/** The account's quota for one kind of object: its own, or the service's. Null for no limit. Locks the account. */
export async function lockQuota(connection: Connection, accountId: number, name: QuotaName, quotas: Quotas): Promise<number | null> {
  const { quotas: own } = await connection
    .updateTable('accounts')
    .set((eb) => ({ created: eb.ref('created') }))
    .where('id', '=', accountId)
    .returning('quotas')
    .executeTakeFirstOrThrow()
  return { ...quotas, ...(JSON.parse(own) as Partial<Quotas>) }[name]
}

/** Replaces an account's own quotas. */
export async function setQuotas(connection: Connection, accountId: number, quotas: Partial<Quotas>): Promise<void> {
  await connection
    .updateTable('accounts')
    .set({ quotas: JSON.stringify(quotas) })
    .where('id', '=', accountId)
    .execute()
}

/** An account as the operator sees it. */
export interface AccountSummary {
  readonly id: number
  readonly created: string
  /** Null if it is not suspended. */
  readonly suspended: string | null
  readonly users: readonly string[]
  readonly quotas: Partial<Quotas>
  readonly domains: number
}

/** The accounts after an id, in order, or the account with the id `only`. */
export async function listAccounts(connection: Connection, after: number, limit: number, only?: number): Promise<AccountSummary[]> {
  const rows = await connection
    .selectFrom('accounts')
    .selectAll()
    .select((eb) =>
      eb.selectFrom('domains').select(eb.fn.countAll<number>().as('total')).whereRef('account_id', '=', 'accounts.id').as('domains'),
    )
    .where('id', '>', after)
    .$if(only !== undefined, (query) => query.where('id', '=', only as number))
    .orderBy('id')
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  const users =
    ids.length === 0
      ? []
      : await connection.selectFrom('users').select(['account_id', 'username']).where('account_id', 'in', ids).orderBy('id').execute()
  return rows.map(({ quotas, domains, ...row }) => ({
    ...row,
    users: users.filter(({ account_id }) => account_id === row.id).map(({ username }) => username),
    quotas: JSON.parse(quotas),
    domains: Number(domains),
  }))
}

/**
 * Suspends an account at a time, or resumes it with null. Returns the ids of its domains, whose zones must be rendered afterwards. The new revisions make
 * renderers of all processes decide again, after this transaction.
 */
export async function setSuspended(connection: Connection, accountId: number, time: string | null): Promise<number[]> {
  await connection.updateTable('accounts').set({ suspended: time }).where('id', '=', accountId).execute()
  const domains = await connection
    .updateTable('domains')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('account_id', '=', accountId)
    .returning('id')
    .execute()
  if (time === null) return domains.map(({ id }) => id)
  // Running uploads lose their claims, and end.
  const uploads = connection.updateTable('images').set({ receiver: '', receiver_until: 0 }).where('account_id', '=', accountId)
  await uploads.where('status', '=', 'pending_upload').execute()
  await unserveAccount(connection, accountId)
  return domains.map(({ id }) => id)
}

/** The suspended ones of these accounts. */
export async function findSuspended(connection: Connection, accountIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (accountIds.length === 0) return new Set()
  const suspended = connection.selectFrom('accounts').select('id').where('suspended', 'is not', null)
  return new Set((await suspended.where('id', 'in', accountIds).execute()).map(({ id }) => id))
}

/** Deletes an account with everything that it has. Its zones must not be served any more. */
export async function deleteAccount(connection: Connection, accountId: number): Promise<void> {
  await connection.deleteFrom('accounts').where('id', '=', accountId).execute()
}

/** The number of an account's objects of one kind. Tokens of apps do not count, because the operator creates them. */
export async function countOwned(connection: Connection, accountId: number, name: Exclude<QuotaName, 'image_octets'>): Promise<number> {
  const ofUsers = sql`user_id in (select id from users where account_id = ${accountId})`
  const owned = name === 'tokens' ? sql`app_id is null and ${ofUsers}` : name === 'ssh_keys' ? ofUsers : sql`account_id = ${accountId}`
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(name)} where ${owned}`.execute(connection)
  return Number(rows[0]?.total ?? 0)
}

/**
 * The size in octets of an account's stored image data and of the reservations of running uploads, without the image `except`. `now` is in
 * milliseconds of the service's clock.
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

/** A user's preferences for a client, as JSON; null if there are none. */
export async function findPreferences(connection: Connection, userId: number, client: string): Promise<string | null> {
  const row = await connection
    .selectFrom('preferences')
    .select('body')
    .where('user_id', '=', userId)
    .where('client', '=', client)
    .executeTakeFirst()
  return row?.body ?? null
}

/** Replaces a user's preferences for a client. */
export async function savePreferences(connection: Connection, userId: number, client: string, body: string): Promise<void> {
  await connection
    .insertInto('preferences')
    .values({ user_id: userId, client, body })
    .onConflict((conflict) => conflict.columns(['user_id', 'client']).doUpdateSet({ body }))
    .execute()
}
