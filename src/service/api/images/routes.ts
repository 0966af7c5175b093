import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import IMAGE from '../../../../schemas/service/image.json' with { type: 'json' }
import IMAGE_CREATE from '../../../../schemas/service/image-create.json' with { type: 'json' }
import IMAGE_UPDATE from '../../../../schemas/service/image-update.json' with { type: 'json' }
import IMAGE_UPLOAD from '../../../../schemas/service/image-upload.json' with { type: 'json' }
import IMAGE_UPLOADING from '../../../../schemas/service/image-uploading.json' with { type: 'json' }
import { findRegion } from '../../catalogue/regions.ts'
import { deleteImage, findImage, findSharedImage, IMAGE_FILTER_FIELDS, listImages, updateImage } from '../../store/image-store.ts'
import { READS_IMAGE, WRITES_IMAGE } from '../grants.ts'
import { offsetOf, pageOrNone, pageSchema } from '../paging.ts'
import { invalid, notFound, RequestError } from '../request-error.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'
import { awaitImage, makeImage } from './new-image.ts'
import { UPLOADS_PATH } from './upload-route.ts'

interface ImageBody {
  readonly label?: string
  readonly description?: string | null
}

const list = defineOpenRoute({
  method: 'GET',
  path: '/images',
  summary: 'List images: public ones, and those of the account',
  scope: 'images:read_only',
  needs: null,
  filter: IMAGE_FILTER_FIELDS,
  response: pageSchema(IMAGE),
  handle: async ({ actor, paging, filter }, { database }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listImages(connection, actor, query))
    return pageOrNone(paging, total, items)
  },
})

const create = defineRoute<ImageBody & { readonly disk_id: number }>({
  method: 'POST',
  path: '/images',
  summary: 'Create an image of a disk',
  scope: ['images:read_write', 'instances:read_only'],
  needs: { global: 'add_images' },
  body: IMAGE_CREATE,
  response: IMAGE,
  handle: async ({ actor, body }, { database, quotas, clock, jobs }) => {
    const image = await database.write((connection) =>
      makeImage(
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
  summary: 'Begin the upload of an image',
  scope: 'images:read_write',
  needs: { global: 'add_images' },
  body: IMAGE_UPLOAD,
  response: IMAGE_UPLOADING,
  valueProblems: async ({ body: { region } }) => (region === undefined || findRegion(region) !== null ? [] : [NO_REGION]),
  handle: async ({ actor, body }, { database, quotas, clock, jobs, uploads, uploadOrigin }) => {
    if (findRegion(body.region) === null) throw invalid(NO_REGION)
    if (!uploads.canReceive) throw new RequestError(503, [{ field: null, reason: 'This service takes no data of images.' }])
    const origin = uploadOrigin()
    if (origin === null) throw new RequestError(503, [NO_PUBLIC_URL])
    const { image, key } = await database.write((connection) =>
      awaitImage(connection, actor, { label: body.label, description: body.description || null }, { quotas, now: clock() }),
    )
    jobs.wake()
    return { image, upload_to: `${origin}${UPLOADS_PATH}${key}` }
  },
})

const get = defineOpenRoute({
  method: 'GET',
  path: '/images/{imageId}',
  texts: ['imageId'],
  rest: 'imageId',
  summary: 'Read an image',
  scope: 'images:read_only',
  needs: READS_IMAGE,
  response: IMAGE,
  handle: async ({ actor, texts }, { database }) => {
    const id = texts['imageId'] as string
    const image = findSharedImage(id)
    if (image !== null) return image
    if (actor === null) throw new RequestError(401, [{ field: null, reason: 'Invalid Token' }])
    return (await database.read((connection) => findImage(connection, actor.accountId, id))) ?? missing()
  },
})

const update = defineRoute<ImageBody>({
  method: 'PUT',
  path: '/images/{imageId}',
  texts: ['imageId'],
  rest: 'imageId',
  summary: 'Update a private image',
  scope: 'images:read_write',
  needs: WRITES_IMAGE,
  body: IMAGE_UPDATE,
  response: IMAGE,
  handle: async ({ actor, texts, ids, body: { label, description } }, { database, now }) => {
    const id = privateOnly(texts['imageId'] as string, ids['imageId'], 'updated')
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
  texts: ['imageId'],
  rest: 'imageId',
  summary: 'Delete a private image',
  scope: 'images:read_write',
  needs: WRITES_IMAGE,
  response: EMPTY,
  handle: async ({ actor, texts, ids }, { database, uploads }) => {
    const id = privateOnly(texts['imageId'] as string, ids['imageId'], 'deleted')
    if (!(await database.write((connection) => deleteImage(connection, actor.accountId, id)))) throw notFound()
    uploads.forget(id)
    return {}
  },
})

/** The Images part of the interface. */
export const IMAGES_PART: readonly Route[] = [list, create, upload, get, update, remove]

const NO_PUBLIC_URL = { field: null, reason: 'This service has no public URL to send the data of images to.' } as const

const NO_REGION = { field: 'region', reason: 'region is not valid' } as const

/** The number of a private image. Throws 400 for a public one, 404 for what is no image at all. */
function privateOnly(id: string, number: number | undefined, done: string): number {
  if (findSharedImage(id) !== null) throw invalid({ field: null, reason: `A public image cannot be ${done}.` })
  return number ?? missing()
}

function missing(): never {
  throw notFound()
}
