/** Checks the quotas of an account before an object is created. */
import { type QuotaName, type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, countOwned, lockQuota } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import type { Actor } from './authenticate.ts'
import { badRequest, type RequestError } from './request-error.ts'

type Counted = Exclude<QuotaName, 'image_octets'>

/**
 * Throws 400 if the account may not have another object of this kind. Call it in the transaction that creates the object, before any other
 * lock: it locks the account's row until the end, so concurrent requests cannot exceed the quota together.
 */
export async function checkQuota(connection: Connection, { accountId }: Actor, name: Counted, quotas: Quotas): Promise<void> {
  const limit = await lockQuota(connection, accountId, name, quotas)
  if (limit !== null && (await countOwned(connection, accountId, name)) >= limit) throw overQuota(name, limit)
}

/** Throws 400 if the account's image data has reached its quota. Locks like `checkQuota`. */
export async function checkImageOctets(connection: Connection, { accountId }: Actor, quotas: Quotas, now: number): Promise<void> {
  const limit = await lockQuota(connection, accountId, 'image_octets', quotas)
  if (limit !== null && (await countImageOctets(connection, accountId, now)) >= limit) throw overQuota('image_octets', limit)
}

/**
 * Runs work that may create these tags. Throws 400 if the account then has more tags than its quota and more than before. Locks like
 * `checkQuota`.
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

const overQuota = (name: QuotaName, limit: number): RequestError => badRequest({ field: null, reason: quotaReason(name, limit) })
