import { type QuotaName, type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, countOwned, lockQuota } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import type { Actor } from './authenticate.ts'
import { invalid, type RequestError } from './request-error.ts'

type Counted = Exclude<QuotaName, 'image_octets'>

/**
 * Throws 400 unless the acting account may have one more object of a kind. To be called in the transaction that makes it, before any
 * other row is locked: the account's row stays locked until then, so that requests and processes cannot pass the quota together.
 */
export async function checkQuota(connection: Connection, { accountId }: Actor, name: Counted, quotas: Quotas): Promise<void> {
  const limit = await lockQuota(connection, accountId, name, quotas)
  if (limit !== null && (await countOwned(connection, accountId, name)) >= limit) throw overQuota(name, limit)
}

/** Throws 400 if the images of the acting account leave no room for more data. Locks like `checkQuota`. */
export async function checkImageOctets(connection: Connection, { accountId }: Actor, quotas: Quotas, now: number): Promise<void> {
  const limit = await lockQuota(connection, accountId, 'image_octets', quotas)
  if (limit !== null && (await countImageOctets(connection, accountId, now)) >= limit) throw overQuota('image_octets', limit)
}

/**
 * Does work that gives objects these tags, and may make some. Throws 400 if the acting account then has more tags than it may, and more
 * than before. Locks like `checkQuota`.
 */
export async function withinTagQuota<T>(
  connection: Connection,
  { accountId }: Actor,
  quotas: Quotas,
  tags: readonly string[] | null | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (!tags || tags.length === 0) return work()
  const limit = await lockQuota(connection, accountId, 'tags', quotas)
  if (limit === null) return work()
  const before = await countOwned(connection, accountId, 'tags')
  const result = await work()
  const after = await countOwned(connection, accountId, 'tags')
  if (after > limit && after > before) throw overQuota('tags', limit)
  return result
}

const overQuota = (name: QuotaName, limit: number): RequestError => invalid({ field: null, reason: quotaReason(name, limit) })
