/** Private images in the database, listed together with the public images of the catalogue. */
import { type Insertable, sql } from 'kysely'
import { PUBLIC_IMAGES, type PublicImage } from '../catalogue/public-images.ts'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import { filterItems, mergeOrdered } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import { cancelJobs } from './job-store.ts'
import { listRows } from './list-sql.ts'
import type { ImageRow, ImageStatus, ImagesTable } from './tables/instances.ts'
import { UPLOAD_EXPIRY } from './upload-store.ts'

/** An image in the API's form. */
export interface Image {
  /** `private/123` or `public/debian12`. */
  readonly id: string
  readonly label: string
  readonly description: string | null
  readonly is_public: boolean
  readonly created_by: string
  readonly deprecated: boolean
  readonly eol: string | null
  readonly expiry: string | null
  /** MB. */
  readonly size: number
  readonly status: ImageStatus
  readonly type: ImagesTable['type']
  readonly vendor: string | null
  readonly created: string
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
