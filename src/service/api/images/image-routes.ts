/** The operations on images: public ones, those made from a disk, and uploads. */
import { randomBytes } from 'node:crypto'
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import IMAGE from '../../../../schemas/service/image.json' with { type: 'json' }
import IMAGE_CREATE from '../../../../schemas/service/image-create.json' with { type: 'json' }
import IMAGE_UPDATE from '../../../../schemas/service/image-update.json' with { type: 'json' }
import IMAGE_UPLOAD from '../../../../schemas/service/image-upload.json' with { type: 'json' }
import IMAGE_UPLOADING from '../../../../schemas/service/image-uploading.json' with { type: 'json' }
import { findRegion } from '../../catalogue/regions.ts'
import type { ListQuery, ListSlice } from '../../filter/filter.ts'
import type { Quotas } from '../../quotas.ts'
import type { Connection } from '../../store/database.ts'
import { findPermissions } from '../../store/grant-store.ts'
import {
  deleteImage,
  findImage,
  IMAGE_CREATION,
  IMAGE_FILTER_FIELDS,
  type Image,
  insertImage,
  listImages,
  type SharedImages,
  updateImage,
} from '../../store/image-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { hashUploadKey, UPLOAD_EXPIRY, UPLOAD_TIMEOUT } from '../../store/upload-store.ts'
import { formatTimestamp } from '../../timestamp.ts'
import type { Actor } from '../authenticate.ts'
import { checkImageOctets, checkQuota } from '../check-quota.ts'
import { forbidden, grantToCreator, READ_IMAGE, WRITE_IMAGE } from '../grants.ts'
import { instanceBusy } from '../instances/instance-input.ts'
import { type Page, pageOf, pageSchema } from '../paging.ts'
import { badRequest, notFound, RequestError } from '../request-error.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'
import { UPLOADS_PATH } from './upload-route.ts'

interface ImageBody {
  readonly label?: string
  readonly description?: string | null
}

const list = defineOpenRoute({
  method: 'GET',
  path: '/images',
  summary: 'List the public images and those of the account',
  scope: 'images:read_only',
  grants: null,
  filter: IMAGE_FILTER_FIELDS,
  response: pageSchema(IMAGE),
  handle: async ({ actor, query }, { database, images }) =>
    imagePageOf(query, await database.read((connection) => listImages(connection, actor, query, images))),
})

const create = defineRoute<ImageBody & { readonly disk_id: number }>({
  method: 'POST',
  path: '/images',
  summary: 'Create an image from a disk',
  scope: ['images:read_write', 'instances:read_only'],
  grants: { global: 'add_images' },
  body: IMAGE_CREATE,
  response: IMAGE,
  handle: async ({ actor, body }, { database, quotas, clock, jobs }) => {
    const image = await database.write((connection) =>
      createImageFromDisk(
        connection,
        actor,
        body.disk_id,
        { label: body.label ?? null, description: body.description || null },
        { quotas, now: clock() },
      ),
    )
    jobs.wake()
    return image
  },
})

const upload = defineRoute<ImageBody & { readonly label: string; readonly region: string }>({
  method: 'POST',
  path: '/images/upload',
  summary: 'Start the upload of an image',
  errors: ['503'],
  scope: 'images:read_write',
  grants: { global: 'add_images' },
  body: IMAGE_UPLOAD,
  response: IMAGE_UPLOADING,
  valueProblems: async ({ body: { region } }) => (region === undefined || findRegion(region) !== null ? [] : [NO_REGION]),
  handle: async ({ actor, body }, { database, quotas, clock, jobs, uploads, uploadOrigin }) => {
    if (findRegion(body.region) === null) throw badRequest(NO_REGION)
    if (!uploads.canReceive) throw new RequestError(503, [{ field: null, reason: 'This service accepts no image data.' }])
    const origin = uploadOrigin()
    if (origin === null) throw new RequestError(503, [NO_PUBLIC_URL])
    const { image, key } = await database.write((connection) =>
      createImageForUpload(connection, actor, { label: body.label, description: body.description || null }, { quotas, now: clock() }),
    )
    jobs.wake()
    return { image, upload_to: `${origin}${UPLOADS_PATH}${key}` }
  },
})

const get = defineOpenRoute({
  method: 'GET',
  path: '/images/{imageId}',
  textParameters: ['imageId'],
  wildcard: 'imageId',
  summary: 'Read an image',
  scope: 'images:read_only',
  grants: READ_IMAGE,
  response: IMAGE,
  handle: async ({ actor, texts }, { database, images }) => {
    const id = texts['imageId'] as string
    const image = images.get(id)
    if (image !== undefined) return image
    if (actor === null) throw id.startsWith('private/') ? new RequestError(401, [{ field: null, reason: 'Invalid Token' }]) : notFound()
    return (await database.read((connection) => findImage(connection, actor.accountId, id))) ?? missing()
  },
})

const update = defineRoute<ImageBody>({
  method: 'PUT',
  path: '/images/{imageId}',
  textParameters: ['imageId'],
  wildcard: 'imageId',
  summary: 'Update a private image',
  scope: 'images:read_write',
  grants: WRITE_IMAGE,
  body: IMAGE_UPDATE,
  response: IMAGE,
  handle: async ({ actor, texts, ids, body: { label, description } }, { database, images, now }) => {
    const id = privateNumber(images, texts['imageId'] as string, ids['imageId'], 'updated')
    const changes = {
      ...(label === undefined ? {} : { label }),
      ...(description === undefined ? {} : { description: description || null }),
    }
    return (await database.write((connection) => updateImage(connection, actor.accountId, id, changes, now()))) ?? missing()
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/images/{imageId}',
  textParameters: ['imageId'],
  wildcard: 'imageId',
  summary: 'Delete a private image',
  errors: ['400'],
  scope: 'images:read_write',
  grants: WRITE_IMAGE,
  response: EMPTY,
  handle: async ({ actor, texts, ids }, { database, images, uploads }) => {
    const id = privateNumber(images, texts['imageId'] as string, ids['imageId'], 'deleted')
    if (!(await database.write((connection) => deleteImage(connection, actor.accountId, id)))) throw notFound()
    uploads.deleteData(id)
    return {}
  },
})

/** The Images section of the API. */
export const IMAGE_ROUTES: readonly Route[] = [list, create, upload, get, update, remove]

const NO_PUBLIC_URL = { field: null, reason: 'This service has no public URL for image uploads.' } as const

const NO_REGION = { field: 'region', reason: 'region is not valid' } as const

/** The number of a private image. Throws 400 for a public image, 404 for any other id. */
function privateNumber(images: SharedImages, id: string, number: number | undefined, action: string): number {
  if (images.has(id)) throw badRequest({ field: null, reason: `A public image cannot be ${action}.` })
  return number ?? missing()
}

function missing(): never {
  throw notFound()
}

/** Like `pageOf`, but an empty list is page 0 of 0, as clients of the image list expect. */
const imagePageOf = <T>(query: ListQuery, slice: ListSlice<T>): Page<T> =>
  slice.total === 0 ? { data: slice.items, page: 0, pages: 0, results: 0 } : pageOf(query, slice)

interface ImageText {
  readonly label: string
  readonly description: string | null
}

/** Milliseconds of the service's clock until an image made from a disk is available. */
const CREATION_TIME = 30_000

interface CreateContext {
  readonly quotas: Quotas
  /** Milliseconds of the service's clock. */
  readonly now: number
}

/** Creates an image from a disk; a job makes it `available` later. Throws 400 if the disk cannot be used. */
async function createImageFromDisk(
  connection: Connection,
  actor: Actor,
  diskId: number,
  { label, description }: { readonly label: string | null; readonly description: string | null },
  { quotas, now }: CreateContext,
): Promise<Image> {
  await checkQuota(connection, actor, 'images', quotas)
  const disk = await connection
    .selectFrom('disks')
    .innerJoin('instances', 'instances.id', 'disks.instance_id')
    .select(['disks.label', 'disks.size', 'disks.status', 'disks.instance_id'])
    .where('disks.id', '=', diskId)
    .where('instances.account_id', '=', actor.accountId)
    .executeTakeFirst()
  if (disk === undefined) throw badRequest({ field: 'disk_id', reason: 'disk_id is not valid' })
  if (actor.restricted && !(await findPermissions(connection, actor, 'instance', disk.instance_id))) throw forbidden()
  if (disk.status !== 'ready') throw instanceBusy()
  const content = { label: label ?? disk.label, description, size: disk.size, status: 'creating', type: 'manual' } as const
  const { number, image } = await insert(connection, actor, content, now)
  await enqueueJob(connection, { kind: IMAGE_CREATION, subject: number, due: now + CREATION_TIME })
  return image
}

/** Creates an image that waits for its data, and the key of the upload URL. Only a hash of the key is stored. */
async function createImageForUpload(
  connection: Connection,
  actor: Actor,
  text: ImageText,
  { quotas, now }: CreateContext,
): Promise<{ readonly image: Image; readonly key: string }> {
  await checkQuota(connection, actor, 'images', quotas)
  await checkImageOctets(connection, actor, quotas, now)
  const key = randomBytes(32).toString('base64url')
  const until = now + UPLOAD_TIMEOUT
  const upload = { upload_hash: hashUploadKey(key), upload_until: until }
  const { number, image } = await insert(connection, actor, { ...text, ...upload, size: 0, status: 'pending_upload', type: 'manual' }, now)
  await enqueueJob(connection, { kind: UPLOAD_EXPIRY, subject: number, due: until })
  return { image, key }
}

async function insert(
  connection: Connection,
  actor: Actor,
  content: Omit<Parameters<typeof insertImage>[1], 'account_id' | 'created_by'>,
  now: number,
): ReturnType<typeof insertImage> {
  const inserted = await insertImage(
    connection,
    { ...content, account_id: actor.accountId, created_by: actor.username },
    formatTimestamp(now),
  )
  await grantToCreator(connection, actor, 'image', inserted.number)
  return inserted
}
