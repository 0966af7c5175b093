/**
 * Private images in the database, listed together with the public images of the catalogue.
 *
 * The state of image uploads. A process claims an upload before it receives the data.
 */
import { createHash } from 'node:crypto'
import { type Insertable, sql } from 'kysely'
import { PUBLIC_IMAGES, type PublicImage } from '../catalogue/public-images.ts'
import { type FilterFields, filterItems, type ListQuery, type ListSlice, mergeOrdered } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import { cancelJobs } from './job-store.ts'
import { listRows } from './rows.ts'
import type { ImageRow, ImageStatus, ImagesTable } from './tables.ts'

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

/** The account of a pending upload with this key; null for an invalid key. It does not write. */
export async function findAwaitingAccount(connection: Connection, hash: string, now: number): Promise<number | null> {
  const awaited = connection.selectFrom('images').innerJoin('accounts', 'accounts.id', 'account_id').where('suspended', 'is', null)
  const row = await awaited.select('account_id').where('upload_hash', '=', hash).where('upload_until', '>', now).executeTakeFirst()
  return row?.account_id ?? null
}

/** Claims the upload with this key until a moment, in milliseconds of the service's clock; `'busy'` if another receiver has claimed it, null if no upload with this key is pending. */
export async function claimUpload(
  connection: Connection,
  hash: string,
  receiver: string,
  { now, until }: { readonly now: number; readonly until: number },
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

/** An image in the API's form. Its id is `private/123` or `public/debian12`. */
export interface Image extends Omit<PublicImage, 'vendor'> {
  readonly description: string | null
  readonly is_public: boolean
  readonly created_by: string
  readonly expiry: string | null
  readonly status: ImageStatus
  readonly type: ImagesTable['type']
  readonly vendor: string | null
  readonly updated: string
}

export const IMAGE_FILTER_FIELDS = {
  label: { kind: 'text' },
  deprecated: { kind: 'boolean' },
  is_public: { kind: 'boolean' },
  size: { kind: 'number' },
  type: { kind: 'name' },
  vendor: { kind: 'text', nullable: true },
  status: { kind: 'name', unordered: true },
} as const satisfies FilterFields

/** The job that completes the creation of an image. */
export const IMAGE_CREATION = 'image-creation'

/** `created_by` of public images. */
const SERVICE_NAME = 'zonewright'

/** The public images of an installation by id, in the order of the list. They need no query. */
export type SharedImages = ReadonlyMap<string, Image>

/** All public images: those of every installation, and the given ones, which may replace them. */
export const sharedImages = (additional: readonly PublicImage[]): SharedImages =>
  new Map(
    [...PUBLIC_IMAGES, ...additional].map((image): [string, Image] => [
      image.id,
      {
        ...image,
        ...{ description: null, is_public: true, created_by: SERVICE_NAME, expiry: null },
        ...{ status: 'available', type: 'manual', updated: image.created },
      },
    ]),
  )

/**
 * Public images and the account's images that the viewer may see; only public images without a viewer. Public images are not in the database.
 * They are few, so the page is merged in memory from them and slightly more rows than it needs.
 */
export async function listImages(
  connection: Connection,
  viewer: Viewer | null,
  list: ListQuery,
  images: SharedImages,
): Promise<ListSlice<Image>> {
  const { filter, offset, limit } = list
  const shared = filter === null ? [...images.values()] : filterItems([...images.values()], filter, IMAGE_FILTER_FIELDS)
  if (viewer === null) return { items: shared.slice(offset, offset + limit), total: shared.length }
  const selected = connection
    .selectFrom((eb) =>
      eb
        .selectFrom('images')
        .selectAll()
        .select([sql<number>`0`.as('deprecated'), sql<number>`0`.as('is_public'), sql<null>`cast(null as text)`.as('vendor')])
        .as('images'),
    )
    .where(visibleTo(viewer, 'image'))
  // These private images come before the page, regardless of how many public images do.
  const skipped = Math.max(0, offset - shared.length)
  const rows = { filter, offset: skipped, limit: limit + offset - skipped }
  const { items, total } = await listRows<ImageRow>(selected, { fields: IMAGE_FILTER_FIELDS }, rows)
  const merged = mergeOrdered(shared, items.map(imageOf), filter?.order ?? null, IMAGE_FILTER_FIELDS)
  return { items: merged.slice(offset - skipped, offset - skipped + limit), total: total + shared.length }
}

/** An image of the account; null if there is none. */
export async function findImage(connection: Connection, accountId: number, id: string): Promise<Image | null> {
  const number = numberOfImage(id)
  if (number === null) return null
  const row = await selectImage(connection, accountId, number).executeTakeFirst()
  return row === undefined ? null : imageOf(row)
}

/** An `available` image of the account that the user may deploy; null if there is none. Call it in the transaction that deploys the image. */
export async function findDeployableImage(connection: Connection, viewer: Viewer, id: string): Promise<Image | null> {
  const number = numberOfImage(id)
  if (number === null) return null
  const row = await selectImage(connection, viewer.accountId, number)
    .where(visibleTo(viewer, 'image'))
    .where('status', '=', 'available')
    .executeTakeFirst()
  return row === undefined ? null : imageOf(row)
}

const selectImage = (connection: Connection, accountId: number, id: number) =>
  connection.selectFrom('images').selectAll().where('id', '=', id).where('account_id', '=', accountId)

export async function insertImage(
  connection: Connection,
  image: Omit<Insertable<ImagesTable>, 'created' | 'updated'>,
  now: string,
): Promise<{ readonly number: number; readonly image: Image }> {
  const row = await connection
    .insertInto('images')
    .values({ ...image, created: now, updated: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { number: row.id, image: imageOf(row) }
}

/** Updates the given fields of a private image; null if the account has no such image. */
export async function updateImage(
  connection: Connection,
  accountId: number,
  id: number,
  changes: { readonly label?: string; readonly description?: string | null },
  now: string,
): Promise<Image | null> {
  const row = await connection
    .updateTable('images')
    .set({ ...changes, updated: now })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : imageOf(row)
}

/** Deletes a private image. False if there is no such image. */
export async function deleteImage(connection: Connection, accountId: number, id: number): Promise<boolean> {
  const deleted = connection.deleteFrom('images').where('id', '=', id).where('account_id', '=', accountId)
  const { numDeletedRows } = await deleted.executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  await deleteGrants(connection, 'image', id)
  await cancelJobs(connection, IMAGE_CREATION, id)
  await cancelJobs(connection, UPLOAD_EXPIRY, id)
  return true
}

/** Marks an image created from a disk as available. Does nothing if it was deleted. */
export async function finishImage(connection: Connection, id: number, now: string): Promise<void> {
  await connection
    .updateTable('images')
    .set({ status: 'available', updated: now })
    .where('id', '=', id)
    .where('status', '=', 'creating')
    .execute()
}

const imageOf = (row: ImageRow): Image => ({
  id: idOfImage(row.id),
  label: row.label,
  description: row.description,
  is_public: false,
  created_by: row.created_by,
  deprecated: false,
  eol: null,
  expiry: row.expiry,
  size: row.size,
  status: row.status,
  type: row.type,
  vendor: null,
  created: row.created,
  updated: row.updated,
})

/** The number of a private image from its id, `private/123`; null if it is not such an id. */
export function numberOfImage(id: string): number | null {
  const number = /^private\/([1-9][0-9]{0,14})$/.exec(id)?.[1]
  return number === undefined ? null : Number(number)
}

const idOfImage = (number: number): string => `private/${number}`
