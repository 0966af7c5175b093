/** The state of image uploads. A process claims an upload before it receives the data. */
import { createHash } from 'node:crypto'
import type { Connection } from './database.ts'
import { deleteGrants } from './grant-store.ts'
import { cancelJobs } from './job-store.ts'

/** The job that deletes an image whose data was not uploaded in time. */
export const UPLOAD_EXPIRY = 'image-upload-expiry'

/** Milliseconds within which the data of an image must be uploaded (API, Images). */
export const UPLOAD_TIMEOUT = 24 * 3_600_000

/** The stored hash of the secret in an upload URL. */
export const hashUploadKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** A receiver's exclusive right to write the data of an image. */
export interface UploadClaim {
  readonly image: number
  readonly account: number
  readonly receiver: string
  /** When the upload must be complete, in milliseconds of the service's clock. */
  readonly deadline: number
}

/** Times in milliseconds of the service's clock. */
interface ClaimPeriod {
  readonly now: number
  readonly until: number
}

/** The account of a pending upload with this key; null for an invalid key. It does not write. */
export async function findAwaitingAccount(connection: Connection, hash: string, now: number): Promise<number | null> {
  const awaited = connection.selectFrom('images').select('account_id').where('upload_hash', '=', hash).where('upload_until', '>', now)
  return (await awaited.executeTakeFirst())?.account_id ?? null
}

/** Claims the upload with this key; `'busy'` if another receiver has claimed it, null if no upload with this key is pending. */
export async function claimUpload(
  connection: Connection,
  hash: string,
  receiver: string,
  { now, until }: ClaimPeriod,
): Promise<UploadClaim | 'busy' | null> {
  const awaited = connection
    .updateTable('images')
    .where('upload_hash', '=', hash)
    .where('status', '=', 'pending_upload')
    .where('upload_until', '>', now)
  const row = await awaited
    .set({ receiver, receiver_until: until })
    .where('receiver_until', '<=', now)
    .returning(['id', 'account_id', 'upload_until'])
    .executeTakeFirst()
  if (row !== undefined) return { image: row.id, account: row.account_id, receiver, deadline: row.upload_until as number }
  const { numUpdatedRows } = await awaited.set((eb) => ({ receiver: eb.ref('receiver') })).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n ? 'busy' : null
}

/** Extends a claim. False if it is lost because it expired or the image was deleted. */
export async function renewUploadClaim(connection: Connection, { image, receiver }: UploadClaim, until: number): Promise<boolean> {
  const claimed = connection.updateTable('images').set({ receiver_until: until }).where('id', '=', image).where('receiver', '=', receiver)
  return (await claimed.where('status', '=', 'pending_upload').executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Sets the number of octets reserved for the data of an image. False if the claim is lost. */
export async function setReservation(connection: Connection, { image, receiver }: UploadClaim, octets: number): Promise<boolean> {
  const claimed = connection.updateTable('images').set({ octets }).where('id', '=', image).where('receiver', '=', receiver)
  return (await claimed.where('status', '=', 'pending_upload').executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Releases a claim, so that the upload can be retried. */
export async function releaseUploadClaim(connection: Connection, { image, receiver }: UploadClaim): Promise<void> {
  await connection.updateTable('images').set({ receiver_until: 0 }).where('id', '=', image).where('receiver', '=', receiver).execute()
}

/** Releases the claims of earlier runs. Only for a database that a single process uses. */
export async function releaseAllUploadClaims(connection: Connection): Promise<void> {
  await connection.updateTable('images').set({ receiver_until: 0 }).where('receiver_until', '>', 0).execute()
}

/** Completes an upload: makes the image available and invalidates the key. False if the claim is lost or the deadline has passed. */
export async function completeUpload(
  connection: Connection,
  { image, receiver }: UploadClaim,
  size: number,
  { now, nowText }: { readonly now: number; readonly nowText: string },
): Promise<boolean> {
  const done = await connection
    .updateTable('images')
    .set({ status: 'available', size, upload_hash: null, upload_until: null, receiver_until: 0, updated: nowText })
    .where('id', '=', image)
    .where('receiver', '=', receiver)
    .where('status', '=', 'pending_upload')
    .where('upload_until', '>', now)
    .executeTakeFirstOrThrow()
  if (done.numUpdatedRows === 0n) return false
  await cancelJobs(connection, UPLOAD_EXPIRY, image)
  return true
}

/** Deletes an image whose upload is not complete. Does nothing if it is complete or the image was deleted. */
export async function expireUpload(connection: Connection, image: number): Promise<void> {
  const deleted = connection.deleteFrom('images').where('id', '=', image).where('status', '=', 'pending_upload')
  if ((await deleted.executeTakeFirstOrThrow()).numDeletedRows > 0n) await deleteGrants(connection, 'image', image)
}

/** The receivers of those images whose data is stored or being received. */
export async function findReceivers(connection: Connection, images: readonly number[], now: number): Promise<ReadonlyMap<number, string>> {
  if (images.length === 0) return new Map()
  const rows = await connection
    .selectFrom('images')
    .select(['id', 'receiver'])
    .where('id', 'in', images)
    .where((eb) => eb.or([eb('status', '=', 'available'), eb('receiver_until', '>', now)]))
    .execute()
  return new Map(rows.map(({ id, receiver }) => [id, receiver]))
}
