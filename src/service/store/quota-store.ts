import { sql } from 'kysely'
import type { QuotaName, Quotas } from '../quotas.ts'
import type { Connection } from './database.ts'

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
