/** The operations on images: public ones, those made from a disk, and uploads. */
import { randomBytes } from 'node:crypto'
import IMAGE from '../../../../schemas/service/image.json' with { type: 'json' }
import IMAGE_CREATE from '../../../../schemas/service/image-create.json' with { type: 'json' }
import IMAGE_UPDATE from '../../../../schemas/service/image-update.json' with { type: 'json' }
import IMAGE_UPLOAD from '../../../../schemas/service/image-upload.json' with { type: 'json' }
import IMAGE_UPLOADING from '../../../../schemas/service/image-uploading.json' with { type: 'json' }
import { findRegion } from '../../catalogue/regions.ts'
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
  numberOfImage,
  type SharedImages,
  updateImage,
} from '../../store/image-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { hashUploadKey, UPLOAD_EXPIRY, UPLOAD_TIMEOUT } from '../../store/upload-store.ts'
import { formatTimestamp } from '../../timestamp.ts'
import type { Actor } from '../authenticate.ts'
import { checkImageOctets, checkQuota } from '../check-quota.ts'
import { forbidden, GRANTED_IMAGE, grantToCreator } from '../grants.ts'
import { instanceBusy } from '../instances/instance-input.ts'
import { badRequest, notFound, orNotFound, RequestError } from '../request-error.ts'
import { pageOf, resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { UPLOADS_PATH } from './upload-route.ts'

interface ImageBody {
  readonly label?: string
  readonly description?: string | null
}

/** Like `pageOf`, but an empty list is page 0 of 0, as clients of the image list expect. */
const imagePageOf: typeof pageOf = (query, slice) =>
  slice.total === 0 ? { data: slice.items, page: 0, pages: 0, results: 0 } : pageOf(query, slice)

const IMAGES = resource({
  path: '/images',
  parameter: 'imageId',
  texts: ['imageId'],
  wildcard: true,
  family: 'images',
  object: GRANTED_IMAGE,
  schema: IMAGE,
  filter: IMAGE_FILTER_FIELDS,
})

/** The Images section of the API. */
export const IMAGE_ROUTES: readonly Route[] = [
  IMAGES.openList(
    'List the public images and those of the account',
    (connection, { actor, query }, { images }) => listImages(connection, actor, query, images),
    { page: imagePageOf },
  ),
  IMAGES.create<ImageBody & { readonly disk_id: number }>(
    'Create an image from a disk',
    IMAGE_CREATE,
    async ({ actor, body: { disk_id, label = null, description } }, { database, quotas, clock, jobs }) => {
      const image = await database.write((connection) =>
        createImageFromDisk(connection, actor, disk_id, { label, description: description || null }, { quotas, now: clock() }),
      )
      jobs.wake()
      return image
    },
    { scope: ['images:read_write', 'instances:read_only'], global: 'add_images' },
  ),
  IMAGES.action<ImageBody & { readonly label: string; readonly region: string }>(
    'POST',
    '/images/upload',
    'Start the upload of an image',
    async ({ actor, body }, { database, quotas, clock, jobs, uploads, uploadOrigin }) => {
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
    {
      body: IMAGE_UPLOAD,
      response: IMAGE_UPLOADING,
      errors: ['503'],
      global: 'add_images',
      valueProblems: async ({ body: { region } }) => (region === undefined || findRegion(region) !== null ? [] : [NO_REGION]),
    },
  ),
  IMAGES.openGet('Read an image', async ({ actor, texts: { imageId: id } }, { database, images }) => {
    const image = images.get(id)
    if (image !== undefined) return image
    if (actor === null) throw id.startsWith('private/') ? new RequestError(401, [{ field: null, reason: 'Invalid Token' }]) : notFound()
    return database.read((connection) => findImage(connection, actor.accountId, id))
  }),
  IMAGES.update<ImageBody>(
    'Update a private image',
    IMAGE_UPDATE,
    async ({ actor, texts, body: { label, description } }, { database, images, now }) => {
      const id = privateNumber(images, texts.imageId, 'updated')
      const changes = {
        ...(label === undefined ? {} : { label }),
        ...(description === undefined ? {} : { description: description || null }),
      }
      return database.write((connection) => updateImage(connection, actor.accountId, id, changes, now()))
    },
  ),
  IMAGES.action(
    'DELETE',
    '/images/{imageId}',
    'Delete a private image',
    async ({ actor, texts }, { database, images, uploads }) => {
      const id = privateNumber(images, texts.imageId, 'deleted')
      if (!(await database.write((connection) => deleteImage(connection, actor.accountId, id)))) throw notFound()
      uploads.deleteData(id)
    },
    { errors: ['400'] },
  ),
]

const NO_PUBLIC_URL = { field: null, reason: 'This service has no public URL for image uploads.' } as const

const NO_REGION = { field: 'region', reason: 'region is not valid' } as const

/** The number of a private image. Throws 400 for a public image, 404 for any other id. */
function privateNumber(images: SharedImages, id: string, action: string): number {
  if (images.has(id)) throw badRequest({ field: null, reason: `A public image cannot be ${action}.` })
  return orNotFound(numberOfImage(id))
}

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
