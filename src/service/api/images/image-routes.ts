/**
 * The operations on images: public images, images made from a disk, and uploads. The route that receives image data is outside the API: its URL contains
 * a secret key, and it needs no token.
 */
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import IMAGE from '../../../../schemas/service/image.json' with { type: 'json' }
import IMAGE_CREATE from '../../../../schemas/service/image-create.json' with { type: 'json' }
import IMAGE_UPDATE from '../../../../schemas/service/image-update.json' with { type: 'json' }
import IMAGE_UPLOAD from '../../../../schemas/service/image-upload.json' with { type: 'json' }
import IMAGE_UPLOADING from '../../../../schemas/service/image-uploading.json' with { type: 'json' }
import { findRegion } from '../../catalogue/regions.ts'
import { type ImageUploads, UploadProblem, type UploadRefusal } from '../../images/image-uploads.ts'
import type { Quotas } from '../../quotas.ts'
import type { Connection } from '../../store/database.ts'
import { findPermissions } from '../../store/grant-store.ts'
import {
  deleteImage,
  findImage,
  hashUploadKey,
  IMAGE_CREATION,
  IMAGE_FILTER_FIELDS,
  type Image,
  insertImage,
  listImages,
  numberOfImage,
  type SharedImages,
  UPLOAD_EXPIRY,
  UPLOAD_TIMEOUT,
  updateImage,
} from '../../store/image-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { formatTimestamp } from '../../time.ts'
import { type Actor, originOf } from '../authenticate.ts'
import { checkImageOctets, checkQuota } from '../check-quota.ts'
import { forbidden, GRANTED_IMAGE, grantToCreator } from '../grants.ts'
import { instanceBusy } from '../instances/create-instance.ts'
import { addressCaller, type RateLimiter, rateHeaders } from '../rate-limit.ts'
import { badRequest, notFound, orNotFound, RequestError } from '../request-error.ts'
import { pageOf, resource } from '../resource.ts'
import type { Route } from '../route.ts'

/** Clients send image data by PUT to this path, followed by the upload's secret key. */
export const UPLOADS_PATH = '/uploads/'

/** The path without the upload key, for the log. */
export const withoutUploadKey = (path: string): string => path.replace(/^(.*?uploads(?:\/|%2f)).*$/i, '$1(secret)')

/** Sockets that are receiving image data: only the time limit of their upload applies. */
const receiving = new WeakSet<object>()

export const isReceiving = (socket: object): boolean => receiving.has(socket)

/** Milliseconds for which a refused client may continue to send, so that it can read the response. */
const DRAIN_TIME = 10_000

/** Adds `PUT /uploads/KEY`, which receives image data. The key is the only credential. */
export function addUploadRoute(app: FastifyInstance, uploads: ImageUploads, limiter: RateLimiter): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.route({
    method: 'PUT',
    url: `${UPLOADS_PATH}:key`,
    handler: async (request, reply) => {
      const { raw } = request
      receiving.add(raw.socket)
      try {
        reply.headers(rateHeaders(limiter.take(addressCaller(request.ip), 'PUT /uploads')))
        if (mediaTypeOf(request) !== 'application/octet-stream') throw new RequestError(415, [problem(NOT_OCTETS)])
        // A part of an image must not be stored as the whole image (RFC 9110 section 14.5).
        if (request.headers['content-range'] !== undefined) throw new RequestError(400, [problem('The data must be sent as a whole')])
        const announced = request.headers['content-length']
        const { key } = request.params as { readonly key: string }
        const octets = announced === undefined ? null : Number(announced)
        await uploads.receive(key, (request.body ?? []) as Readable, octets, originOf(request))
        return {}
      } catch (error) {
        const isStopping = error instanceof UploadProblem && error.refusal === 'unavailable'
        if (isStopping) reply.header('connection', 'close')
        else if (!raw.complete && !raw.destroyed) drain(raw)
        if (!(error instanceof UploadProblem)) throw error
        if (error.refusal === 'too-many') reply.header('retry-after', 60)
        throw requestErrorOf(error)
      } finally {
        receiving.delete(raw.socket)
      }
    },
  })
}

/** Discards further data for a while: if the connection closed at once, the client would lose the response. */
function drain(stream: Readable): void {
  stream.removeAllListeners('readable')
  stream.on('data', () => undefined).resume()
  const late = setTimeout(() => stream.destroy(), DRAIN_TIME)
  stream.once('close', () => clearTimeout(late))
}

const mediaTypeOf = ({ headers }: FastifyRequest): string => (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const NOT_OCTETS = 'The data must be application/octet-stream'

const RESPONSES: Readonly<Record<Exclude<UploadRefusal, 'unknown' | 'over-quota'>, readonly [status: number, reason: string]>> = {
  busy: [409, 'The data of this image is already being received'],
  'too-large': [413, 'The data is larger than'],
  inflates: [413, 'The data is too large:'],
  'no-gzip': [400, 'The data is not a valid gzip file:'],
  silent: [408, 'The data is incomplete'],
  'no-room': [507, 'There is not enough space for the data'],
  'too-many': [503, 'Too many uploads are running. Try again later.'],
  unavailable: [503, 'This service accepts no image data.'],
}

function requestErrorOf({ refusal, detail }: UploadProblem): RequestError {
  if (refusal === 'unknown') return notFound()
  if (refusal === 'over-quota') return new RequestError(400, [problem(String(detail))])
  const [status, reason] = RESPONSES[refusal]
  const more = detail === null ? '' : typeof detail === 'number' ? ` ${detail} octets` : ` ${detail}`
  return new RequestError(status, [problem(reason + more)])
}

const problem = (reason: string) => ({ field: null, reason })

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

/** Milliseconds of the service's clock after which an image made from a disk is available. */
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
  const { number, image } = await insertWithGrant(connection, actor, content, now)
  await enqueueJob(connection, { kind: IMAGE_CREATION, subject: number, due: now + CREATION_TIME })
  return image
}

/** Creates an image without data, and the key for its upload URL. The database stores only a hash of the key. */
async function createImageForUpload(
  connection: Connection,
  actor: Actor,
  text: Pick<Image, 'label' | 'description'>,
  { quotas, now }: CreateContext,
): Promise<{ readonly image: Image; readonly key: string }> {
  await checkQuota(connection, actor, 'images', quotas)
  await checkImageOctets(connection, actor, quotas, now)
  const key = randomBytes(32).toString('base64url')
  const until = now + UPLOAD_TIMEOUT
  const upload = { upload_hash: hashUploadKey(key), upload_until: until }
  const content = { ...text, ...upload, size: 0, status: 'pending_upload', type: 'manual' } as const
  const { number, image } = await insertWithGrant(connection, actor, content, now)
  await enqueueJob(connection, { kind: UPLOAD_EXPIRY, subject: number, due: until })
  return { image, key }
}

/** Inserts an image and grants its creator access. */
async function insertWithGrant(
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
