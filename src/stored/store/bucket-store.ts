/** A store in a bucket of S3. The version of an object is its entity tag, and conditional writes are those of S3 (`If-None-Match`, `If-Match`). */
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { addSecret } from '../../base/secret-guard.ts'
import type { BucketConfig } from '../../config/config.ts'
import { endpointOfBucket, regionOf } from '../../config/journal-place.ts'
import { credentialHosts, environmentKeys } from '../../transport/aws-environment.ts'
import { createHttpClient, type HttpClient, type HttpResponse, TransportError } from '../../transport/http-client.ts'
import { proxyFor } from '../../transport/proxy.ts'
import { DEFAULT_RETRY, parseRetryAfter, retryDelay, sleep } from '../../transport/retry.ts'
import { type Exchange, loadOnce, sdkHandler, whyNoCredentials } from '../../transport/sdk-handler.ts'
import {
  assertStoreName,
  type ExpectedVersion,
  isStoreName,
  type JournalStore,
  type ListedObject,
  MAX_LISTED_OBJECTS,
  MAX_OBJECT_OCTETS,
  type StoredObject,
  type StoreEnvironment,
  StoreError,
  type Written,
} from './journal-store.ts'

/** The text of an object that is being removed. Not every service removes an object on condition, so it is replaced on condition first. */
const REMOVED = 'removed'

/** The status of a write whose condition is not met. */
const CONFLICT = 412
const MISSING = 404

export function bucketStore(bucket: BucketConfig, context: StoreEnvironment): JournalStore {
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
    // An object marked as removed counts as missing.
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

type Sdk = typeof import('@aws-sdk/client-s3')

/** Milliseconds for one attempt, and octets of a response: more than an object, for the XML of a listing. */
const TIMEOUT = 10_000
const MAX_RESPONSE = 96 * 1024 * 1024
const CONNECTIONS = 16

/** Attempts of a request, the first included: some seconds. */
const TRIES = 5

interface BucketResponse extends HttpResponse {
  /** What the SDK read in the response; null for an object, whose text is in `text`, and for an error. */
  readonly output: unknown
  /** Whether an earlier attempt may have been carried out. */
  readonly isRepeated: boolean
}

interface BucketClient {
  /** `https://s3.eu-central-1.amazonaws.com/BUCKET/PREFIX`, for messages. */
  readonly address: string
  /** Attempts so far. */
  readonly requests: number
  /** The time by the clock of the service, as its last response said it; null before the first one. */
  readonly time: number | null
  /** Sends a request, again if the service does not answer. `accepted` are statuses above 299 that are results. Throws `StoreError`. */
  send(what: string, command: (sdk: Sdk) => unknown, accepted?: readonly number[]): Promise<BucketResponse>
  close(): Promise<void>
}

function createBucketClient(bucket: BucketConfig, { env, secrets }: StoreEnvironment): BucketClient {
  const origin = endpointOfBucket(bucket, env)
  const http = createHttpClient({
    baseUrl: origin,
    headers: {},
    connections: CONNECTIONS,
    timeout: TIMEOUT,
    maxResponse: MAX_RESPONSE,
    proxy: proxyFor(origin, env, []),
  })
  const address = [origin.origin, bucket.name, bucket.prefix].filter((part) => part !== '').join('/')
  const fail = (message: string, hint?: string, cause?: unknown): StoreError =>
    new StoreError(`the journal in ${address}: ${message}`, { hint, cause })
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-s3').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
      throw fail('the package @aws-sdk/client-s3 is not installed', 'install it beside Zonewright: npm install @aws-sdk/client-s3', error)
    })
    return { sdk, client: new sdk.S3Client(clientConfig(bucket, origin, http, { env, secrets })) }
  })
  let requests = 0
  let clock: { readonly date: number; readonly at: number } | null = null

  const sendOnce = async (command: (sdk: Sdk) => unknown): Promise<{ response: HttpResponse; output: unknown } | TransportError> => {
    const { sdk, client } = await load()
    const exchange: Exchange = { response: null, failure: null }
    requests += 1
    const output: unknown = await client
      .send(command(sdk) as Parameters<S3Client['send']>[0], { exchange } as object)
      .catch((error: unknown) => error)
    if (exchange.failure !== null) return exchange.failure
    const { response } = exchange
    if (response === null) {
      if (output instanceof StoreError) throw output
      const why = whyNoCredentials(output)
      if (why === null) throw output
      throw fail(why, 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or run where AWS gives out a role', output)
    }
    const date = Date.parse(response.headers['date'] ?? '')
    if (!Number.isNaN(date)) clock = { date, at: performance.now() }
    return { response, output: output instanceof Error ? null : output }
  }

  return {
    address,
    get requests() {
      return requests
    },
    get time() {
      return clock === null ? null : clock.date + (performance.now() - clock.at)
    },
    async send(what, command, accepted = []) {
      let isRepeated = false
      for (let attempt = 1; ; attempt += 1) {
        const result = await sendOnce(command)
        const isFailure = result instanceof TransportError
        if (!isFailure && (result.response.status < 300 || accepted.includes(result.response.status)))
          return { ...result.response, output: result.output, isRepeated }
        const mayRepeat = isFailure ? result.problem !== 'too-large' : isTransient(result.response)
        if (!mayRepeat || attempt === TRIES) {
          if (isFailure) throw fail(`${what}: ${result.message}`, undefined, result)
          throw fail(`${what}: ${describe(result.response)}`, hintOf(result.response))
        }
        isRepeated ||= isFailure ? result.sent : result.response.status >= 500
        const asked = isFailure ? null : parseRetryAfter(result.response.headers['retry-after'], Date.now())
        await sleep(Math.min(TIMEOUT, retryDelay(DEFAULT_RETRY, attempt, asked, Math.random)))
      }
    },
    close: () => http.close(),
  }
}

/** 409: another conditional write of the object is in progress. */
const isTransient = ({ status, text }: HttpResponse): boolean =>
  [408, 429, 500, 502, 503, 504].includes(status) || (status === 409 && /ConditionalRequestConflict|OperationAborted/.test(text))

/** The code and message of an error response. */
function describe({ status, text }: HttpResponse): string {
  const [, code] = /<Code>([A-Za-z]{1,100})<\/Code>/.exec(text) ?? []
  const [, message = ''] = /<Message>([^<]{0,500})<\/Message>/.exec(text) ?? []
  return code === undefined ? `the response has status ${status}` : `${code} (${status})${message === '' ? '' : `: ${message}`}`
}

function hintOf({ status, text }: HttpResponse): string | undefined {
  if (status === 301 || status === 400) return 'check "region" and "endpoint" of the journal'
  if (/NoSuchBucket/.test(text)) return 'create the bucket, or change "url" of the journal'
  if (status === 501 || /NotImplemented/.test(text)) return 'the service has to support conditional writes'
  return status === 401 || status === 403 ? 'docs/tasks/journals.md has a policy with the permissions that are needed' : undefined
}

function clientConfig(
  { region, profile }: BucketConfig,
  origin: URL,
  http: HttpClient,
  { env, secrets }: StoreEnvironment,
): S3ClientConfig {
  const keys = environmentKeys(env, profile)
  if (keys !== null) addSecret(secrets, 'journal.secret_access_key', keys.secretAccessKey)
  return {
    endpoint: origin.href,
    region: regionOf({ region }, env),
    forcePathStyle: true,
    ...(keys !== null && { credentials: keys }),
    ...(profile !== null && { profile }),
    // `send` repeats.
    maxAttempts: 1,
    // Services with the interface of S3 do not know all checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: sdkHandler({
      http,
      onSessionToken: (token) => addSecret(secrets, 'journal.session_token', token),
      checkHost: credentialHosts(env, 'journal', ({ message, hint }) => new StoreError(message, { hint })),
      proxyFor: (url) => proxyFor(url, env, []),
      timeout: TIMEOUT,
    }) as NonNullable<S3ClientConfig['requestHandler']>,
  }
}
