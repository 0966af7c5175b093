/** A store in a bucket of S3. The version of an object is its entity tag, and conditional writes are those of S3 (`If-None-Match`, `If-Match`). */
import type { BucketConfig } from '../../../definition/config/config.ts'
import { type BucketClient, createBucketClient } from './bucket-client.ts'
import {
  assertStoreName,
  type ExpectedVersion,
  isStoreName,
  type JournalStore,
  type ListedObject,
  MAX_LISTED_OBJECTS,
  MAX_OBJECT_OCTETS,
  type StoredObject,
  StoreError,
  type Written,
} from './journal-store.ts'
import type { StoreContext } from './store-context.ts'

/** The text of an object that is being removed. Not every service removes an object on condition, so it is replaced on condition first. */
const REMOVED = 'removed'

/** The status of a write whose condition is not met. */
const CONFLICT = 412
const MISSING = 404

export function bucketStore(bucket: BucketConfig, context: Pick<StoreContext, 'env' | 'secrets'>): JournalStore {
  const client = createBucketClient(bucket, context)
  const keyOf = (name: string): string => {
    assertStoreName(name.replace(/\/$/, ''))
    return bucket.prefix === '' ? name : `${bucket.prefix}/${name}`
  }
  const read = async (name: string): Promise<StoredObject | null> => {
    const found = await readRaw(client, bucket.name, keyOf(name), name)
    return found?.text === REMOVED ? null : found
  }
  let isChecked = bucket.endpoint === null
  const write = async (name: string, text: string, expected: ExpectedVersion): Promise<Written> => {
    if (Buffer.byteLength(text) > MAX_OBJECT_OCTETS) throw new StoreError(`${name} is too large for the journal in ${client.address}`)
    const written = await put(client, bucket.name, keyOf(name), name, text, expected)
    if (written !== null && expected === null && !isChecked) {
      await assertConditions(client, bucket.name, keyOf(name), text)
      isChecked = true
    }
    if (written !== null) return { state: 'written', version: written }
    if (expected !== null) return { state: 'conflict' }
    // What another run is removing, or could not remove completely, does not exist.
    const rest = await readRaw(client, bucket.name, keyOf(name), name)
    if (rest?.text !== REMOVED) return { state: 'conflict' }
    const again = await put(client, bucket.name, keyOf(name), name, text, rest.version)
    return again === null ? { state: 'conflict' } : { state: 'written', version: again }
  }
  return {
    get address() {
      return client.address
    },
    isShared: true,
    get requests() {
      return client.requests
    },
    read,
    list: (prefix) => list(client, bucket, keyOf(prefix)),
    write,
    async remove(name, expected) {
      if (expected !== 'any' && (await write(name, REMOVED, expected)).state === 'conflict')
        return (await read(name)) === null ? 'removed' : 'conflict'
      await client.send(`removing ${name}`, (sdk) => new sdk.DeleteObjectCommand({ Bucket: bucket.name, Key: keyOf(name) }), [MISSING])
      return 'removed'
    },
    clock: async () => client.time ?? Date.now(),
    close: () => client.close(),
  }
}

async function readRaw(client: BucketClient, bucket: string, key: string, name: string): Promise<StoredObject | null> {
  const response = await client.send(`reading ${name}`, (sdk) => new sdk.GetObjectCommand({ Bucket: bucket, Key: key }), [MISSING])
  // A missing bucket, too, has this status.
  if (response.status === MISSING && !/NoSuchBucket/.test(response.text)) return null
  const version = response.headers['etag']
  if (response.status === MISSING || version === undefined)
    throw new StoreError(`the journal in ${client.address}: reading ${name}: there is no such bucket`, {
      hint: 'create the bucket, or change "url" of the journal',
    })
  return { text: response.text, version, modified: Date.parse(response.headers['last-modified'] ?? '') || 0 }
}

/** The new version; null if the object has not the expected one. After a lost response, the object shows whether it was written. */
async function put(
  client: BucketClient,
  bucket: string,
  key: string,
  name: string,
  text: string,
  expected: ExpectedVersion,
): Promise<string | null> {
  const condition = expected === 'any' ? {} : expected === null ? { IfNoneMatch: '*' } : { IfMatch: expected }
  const response = await client.send(
    `writing ${name}`,
    (sdk) => new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: text, ContentType: 'application/json', ...condition }),
    expected === 'any' ? [] : [CONFLICT, MISSING],
  )
  if (response.status >= 300) {
    if (/NoSuchBucket/.test(response.text))
      throw new StoreError(`the journal in ${client.address}: there is no such bucket`, { hint: 'create the bucket' })
    const now = response.isRepeated ? await readRaw(client, bucket, key, name) : null
    return now?.text === text ? now.version : null
  }
  const version = response.headers['etag']
  if (version === undefined)
    throw new StoreError(`the journal in ${client.address}: writing ${name}: the response has no ETag`, {
      hint: 'the service has to support conditional writes',
    })
  return version
}

/** A version that no object has. */
const NO_VERSION = '"00000000000000000000000000000000"'

/** Throws if a service replaces an object that was just created, whatever the conditions say: two runs could then change a zone at once. */
async function assertConditions(client: BucketClient, bucket: string, key: string, text: string): Promise<void> {
  for (const condition of [{ IfNoneMatch: '*' }, { IfMatch: NO_VERSION }]) {
    const { status } = await client.send(
      'checking the conditions of writes',
      (sdk) => new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: text, ContentType: 'application/json', ...condition }),
      [CONFLICT],
    )
    if (status === CONFLICT) continue
    await client.send('removing what was checked', (sdk) => new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key }), [MISSING])
    throw new StoreError(
      `the journal in ${client.address}: the service ignores the conditions of writes, so two runs could change a zone at once`,
      {
        hint: 'use a service with conditional writes, If-None-Match and If-Match',
      },
    )
  }
}

interface Page {
  readonly Contents?: readonly { readonly Key?: string; readonly ETag?: string; readonly LastModified?: Date }[]
  readonly IsTruncated?: boolean
  readonly NextContinuationToken?: string
}

async function list(client: BucketClient, { name, prefix }: BucketConfig, below: string): Promise<ListedObject[]> {
  const listed: ListedObject[] = []
  let token: string | undefined
  do {
    const { output } = await client.send(
      `listing ${below}`,
      (sdk) => new sdk.ListObjectsV2Command({ Bucket: name, Prefix: below, ContinuationToken: token }),
    )
    const page = (output ?? {}) as Page
    for (const { Key: key = '', ETag: version = '', LastModified: modified } of page.Contents ?? []) {
      const found = prefix === '' ? key : key.slice(prefix.length + 1)
      // Others, such as the empty objects that consoles make of folders, are none of ours.
      if (key.startsWith(below) && isStoreName(found)) listed.push({ name: found, version, modified: modified?.getTime() ?? 0 })
    }
    if (listed.length > MAX_LISTED_OBJECTS)
      throw new StoreError(`the journal in ${client.address} has more than ${MAX_LISTED_OBJECTS} objects below ${below}`)
    const next = page.IsTruncated === true ? page.NextContinuationToken : undefined
    token = next === token ? undefined : next
  } while (token !== undefined)
  return listed.sort((a, b) => (a.name < b.name ? -1 : 1))
}
