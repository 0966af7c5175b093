/**
 * Requests to a bucket of S3, or of a service with its interface. The official SDK makes and signs the messages, and finds credentials; it is loaded with the
 * first request. The requests go through our own HTTP client, and are repeated here.
 */
import { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import type { BucketConfig } from '../../../definition/config/config.ts'
import { addSecret } from '../../../definition/config/secret-guard.ts'
import { ALLOWED_HOSTS, endpointOfUrl, readHostPolicy } from '../../../transport/allowed-hosts.ts'
import { createHttpClient, type HttpClient, type HttpResponse, TransportError } from '../../../transport/http-client.ts'
import { proxyFor } from '../../../transport/proxy.ts'
import { DEFAULT_RETRY, parseRetryAfter, retryDelay, sleep } from '../../../transport/retry.ts'
import { httpRequestOf, type SdkRequest, sdkResponseOf, sendElsewhere, whyNoCredentials } from '../../../transport/sdk-handler.ts'
import { endpointOfBucket, regionOf } from './bucket-endpoint.ts'
import { StoreError } from './journal-store.ts'
import type { StoreContext } from './store-context.ts'

const PACKAGE = '@aws-sdk/client-s3'

export type Sdk = typeof import('@aws-sdk/client-s3')

/** Milliseconds for one attempt, and octets of a response: more than an object, for the XML of a listing. */
const TIMEOUT = 10_000
const MAX_RESPONSE = 96 * 1024 * 1024
const CONNECTIONS = 16

/** Attempts of a request, the first included: some seconds. */
const TRIES = 5

export interface BucketResponse extends HttpResponse {
  /** What the SDK read in the response; null for an object, whose text is in `text`, and for an error. */
  readonly output: unknown
  /** Whether an earlier attempt may have been carried out. */
  readonly isRepeated: boolean
}

export interface BucketClient {
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

/** What the handler of the SDK gets with each request of ours. */
interface Exchange {
  response: HttpResponse | null
  failure: TransportError | null
}

export function createBucketClient(bucket: BucketConfig, { env, secrets }: Pick<StoreContext, 'env' | 'secrets'>): BucketClient {
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
  let loaded: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | null = null
  const load = async () => {
    // The SDK warns of the versions of Node.js that its later versions need. The lock file of the user decides which version runs.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
    const sdk = await import('@aws-sdk/client-s3').catch((error: { readonly code?: unknown }) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') throw error
      throw fail(`the package ${PACKAGE} is not installed`, `install it beside Zonewright: npm install ${PACKAGE}`, error)
    })
    return { sdk, client: new sdk.S3Client(clientConfig(bucket, origin, http, { env, secrets })) }
  }
  let requests = 0
  let clock: { readonly date: number; readonly at: number } | null = null

  const sendOnce = async (command: (sdk: Sdk) => unknown): Promise<{ response: HttpResponse; output: unknown } | TransportError> => {
    loaded ??= load()
    const { sdk, client } = await loaded.catch((error: unknown) => {
      loaded = null
      throw error
    })
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
  return status === 401 || status === 403 ? 'docs/journals.md has a policy with the permissions that are needed' : undefined
}

function clientConfig(
  { region, profile }: BucketConfig,
  origin: URL,
  http: HttpClient,
  { env, secrets }: Pick<StoreContext, 'env' | 'secrets'>,
): S3ClientConfig {
  const keys = credentialsOf(profile, env)
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
    requestHandler: {
      handle: async (request: SdkRequest, options: unknown) => {
        const exchange = (options as { readonly exchange?: Exchange } | undefined)?.exchange
        if (exchange === undefined) {
          const other = await sendElsewhere(request, {
            checkHost: hostCheck(env),
            proxyFor: (url) => proxyFor(url, env, []),
            timeout: TIMEOUT,
          })
          return { response: sdkResponseOf(other) }
        }
        const token = request.headers['x-amz-security-token']
        if (token !== undefined) addSecret(secrets, 'journal.session_token', token)
        const { expect: _, ...headers } = request.headers
        try {
          exchange.response = await http.request(httpRequestOf({ ...request, headers }))
        } catch (error) {
          if (error instanceof TransportError) exchange.failure = error
          throw error
        }
        const response = sdkResponseOf(exchange.response)
        return { response: { ...response, body: Readable.from([Buffer.from(response.body)]) } }
      },
    } as NonNullable<S3ClientConfig['requestHandler']>,
  }
}

/** The keys of the environment, unless a profile is chosen, as the SDK does; null if the SDK looks for others. */
function credentialsOf(
  profile: string | null,
  { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token, AWS_PROFILE: other }: StoreContext['env'],
) {
  if (profile !== null || other || !id || !secret) return null
  return { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) }
}

/** The SDK asks other hosts for credentials. If hosts are listed, these must be among them. */
function hostCheck(env: StoreContext['env']): (url: URL) => void {
  if (env[ALLOWED_HOSTS] === undefined) return () => undefined
  const policy = readHostPolicy(env)
  return (url) => {
    const refused = policy.check('journal: credentials', endpointOfUrl(url))
    if (refused !== null) throw new StoreError(refused.message, { hint: refused.hint })
  }
}
