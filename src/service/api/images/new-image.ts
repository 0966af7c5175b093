import { randomBytes } from 'node:crypto'
import { clockText } from '../../clock-text.ts'
import type { Quotas } from '../../quotas.ts'
import type { Connection } from '../../store/database.ts'
import { findPermissions } from '../../store/grant-store.ts'
import { IMAGE_CREATION, type Image, insertImage } from '../../store/image-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { hashUploadKey, UPLOAD_EXPIRY, UPLOAD_TIMEOUT } from '../../store/upload-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkImageOctets, checkQuota } from '../check-quota.ts'
import { grantToCreator, unauthorized } from '../grants.ts'
import { invalid } from '../request-error.ts'

interface Words {
  readonly label: string
  readonly description: string | null
}

/** Milliseconds of the service's clock until an image of a disk is available. */
const CREATION_TIME = 30_000

interface Conditions {
  readonly quotas: Quotas
  /** Milliseconds of the service's clock. */
  readonly now: number
}

/** Begins the image of a disk, which is `available` after a while. Throws 400 unless the disk can be taken. */
export async function makeImage(
  connection: Connection,
  actor: Actor,
  diskId: number,
  { label, description }: { readonly label: string | null; readonly description: string | null },
  { quotas, now }: Conditions,
): Promise<Image> {
  await checkQuota(connection, actor, 'images', quotas)
  const disk = await connection
    .selectFrom('disks')
    .innerJoin('instances', 'instances.id', 'disks.instance_id')
    .select(['disks.label', 'disks.size', 'disks.status', 'disks.instance_id'])
    .where('disks.id', '=', diskId)
    .where('instances.account_id', '=', actor.accountId)
    .executeTakeFirst()
  if (disk === undefined) throw invalid({ field: 'disk_id', reason: 'disk_id is not valid' })
  if (actor.restricted && !(await findPermissions(connection, actor, 'instance', disk.instance_id))) throw unauthorized()
  if (disk.status !== 'ready') throw invalid({ field: null, reason: 'Linode busy.' })
  const content = { label: label ?? disk.label, description, size: disk.size, status: 'creating', type: 'manual' } as const
  const { number, image } = await insert(connection, actor, content, now)
  await enqueueJob(connection, { kind: IMAGE_CREATION, subject: number, due: now + CREATION_TIME })
  return image
}

/** Makes an image whose data is to be sent, and the key of the URL to send it to: that is told once, and kept as a hash. */
export async function awaitImage(
  connection: Connection,
  actor: Actor,
  words: Words,
  { quotas, now }: Conditions,
): Promise<{ readonly image: Image; readonly key: string }> {
  await checkQuota(connection, actor, 'images', quotas)
  await checkImageOctets(connection, actor, quotas, now)
  const key = randomBytes(32).toString('base64url')
  const until = now + UPLOAD_TIMEOUT
  const awaited = { upload_hash: hashUploadKey(key), upload_until: until }
  const { number, image } = await insert(
    connection,
    actor,
    { ...words, ...awaited, size: 0, status: 'pending_upload', type: 'manual' },
    now,
  )
  await enqueueJob(connection, { kind: UPLOAD_EXPIRY, subject: number, due: until })
  return { image, key }
}

async function insert(
  connection: Connection,
  actor: Actor,
  content: Omit<Parameters<typeof insertImage>[1], 'account_id' | 'created_by'>,
  now: number,
): ReturnType<typeof insertImage> {
  const made = await insertImage(connection, { ...content, account_id: actor.accountId, created_by: actor.username }, clockText(now))
  await grantToCreator(connection, actor, 'image', made.number)
  return made
}
