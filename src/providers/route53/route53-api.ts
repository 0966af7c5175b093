/**
 * A client of Route 53. The official SDK makes, signs and reads the messages; it is loaded with the first request. The requests themselves go through our own
 * HTTP client, which bounds time and size, and are repeated by `sendRequest`, which never sends a change twice that may have been made.
 */
import type { Route53Client, Route53ClientConfig } from '@aws-sdk/client-route-53'
import { createAdaptiveLimit } from '../../transport/adaptive-limit.ts'
import type { Credentials } from '../../transport/aws-environment.ts'
import { createHttpClient, type HttpClient, type HttpResponse } from '../../transport/http-client.ts'
import { createSilenceClock } from '../../transport/read-deadline.ts'
import { type Exchange, loadOnce, sdkHandler, whyNoCredentials } from '../../transport/sdk-handler.ts'
import { type ApiDialect, garbled, publicAddressHint, statusError } from '../api-errors.ts'
import type { ApiConnection } from '../json-api.ts'
import { type Fields, fieldsOf, ShapeError } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'
import { type Sender, sendRequest } from '../send-request.ts'

type Sdk = typeof import('@aws-sdk/client-route-53')
type Command = Parameters<Route53Client['send']>[0]

/** Maximum octets of a response: a page of 300 record sets with 400 values each. */
const MAX_RESPONSE = 32 * 1024 * 1024
const CONNECT_TIMEOUT = 5000

export interface Route53Connection extends Omit<ApiConnection, 'token' | 'proxy'> {
  readonly region: string
  /** Null if the SDK looks for them. */
  readonly credentials: Credentials | null
  /** The profile of the AWS config files. */
  readonly profile: string | null
  /** Receives the session token of a request, so that it never appears anywhere. */
  readonly onSessionToken: (token: string) => void
  /** Throws if a host may not be contacted, such as that of the service that gives out credentials. */
  readonly checkHost: (url: URL) => void
  /** The proxy for a server; null for none. */
  readonly proxyFor: (server: URL) => URL | null
}

export interface Route53Call<T> extends ProviderCallOptions {
  /** The purpose of the request, for messages. */
  readonly what: string
  readonly changes?: boolean
  readonly command: (sdk: Sdk) => unknown
  /** Reads the output of the SDK, which comes from outside. */
  readonly shape: (output: Fields) => T
}

export interface Route53Api {
  /** The name of the provider in the config. */
  readonly provider: string
  /** Throws `ProviderError`. */
  send<T>(call: Route53Call<T>): Promise<T>
  close(): Promise<void>
}

export function createRoute53Api(connection: Route53Connection): Route53Api {
  const { provider, baseUrl, timeout, parallelism, retry } = connection
  const http = createHttpClient({
    baseUrl: new URL(baseUrl.origin),
    headers: {},
    connections: parallelism,
    timeout,
    connectTimeout: Math.min(CONNECT_TIMEOUT, timeout),
    maxResponse: MAX_RESPONSE,
    proxy: connection.proxyFor(baseUrl),
  })
  const sender: Omit<Sender, 'client'> = {
    provider,
    dialect: ROUTE53_DIALECT,
    limit: createAdaptiveLimit(parallelism, { longestPause: retry?.maxRetryAfter, onPause: connection.onThrottled }),
    silence: createSilenceClock(),
    readTimeout: connection.readTimeout ?? timeout,
    readDeadline: connection.readDeadline ?? timeout,
    retry,
    onRequest: connection.onRequest,
  }
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-route-53')
    return { sdk, client: new sdk.Route53Client(clientConfig(connection, http)) }
  })

  return {
    provider,
    async send({ what, changes = false, command, shape, ...options }) {
      const { sdk, client } = await load()
      let output: unknown = null
      const exchanging: HttpClient = {
        ...http,
        request: async (limits) => {
          const exchange: Exchange = { limits, response: null, failure: null }
          output = await client.send(command(sdk) as Command, { exchange } as object).catch((error: unknown) => {
            if (exchange.failure !== null) throw exchange.failure
            if (exchange.response === null) throw notMade(provider, error)
            return error
          })
          return withStatus(exchange.response as unknown as HttpResponse)
        },
      }
      const request = { method: changes ? ('POST' as const) : ('GET' as const), path: '', what, ...options }
      const response = await sendRequest({ ...sender, client: exchanging }, request)
      const fail = (problem: string): ProviderError => {
        // The response may belong to another request on the connection.
        http.reset()
        return garbled(ROUTE53_DIALECT, provider, what, problem, response, changes)
      }
      if (response.status >= 300) throw fail(`the server redirects (${response.status}), which is not followed`)
      if (output instanceof Error) throw fail('the response is malformed XML')
      try {
        return shape(fieldsOf(output, 'the response'))
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error
        throw fail(`the response does not match the API: ${error.message}`)
      }
    },
    close: () => http.close(),
  }
}

function clientConfig(connection: Route53Connection, http: HttpClient): Route53ClientConfig {
  const { baseUrl, region, credentials, profile } = connection
  return {
    endpoint: baseUrl.href,
    region,
    ...(credentials !== null && { credentials }),
    ...(profile !== null && { profile }),
    // `sendRequest` repeats.
    maxAttempts: 1,
    requestHandler: sdkHandler({ ...connection, http }) as NonNullable<Route53ClientConfig['requestHandler']>,
  }
}

/** The SDK made no request, mostly for want of credentials. */
function notMade(provider: string, error: unknown): unknown {
  const why = error instanceof ProviderError ? null : whyNoCredentials(error)
  if (why === null) return error
  return new ProviderError('provider-unauthorized', `${provider}: ${why}`, {
    notSent: true,
    hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or run where AWS gives out a role',
    cause: error,
  })
}

/** `Throttling` as the status that other services send for it. */
const withStatus = (response: HttpResponse): HttpResponse =>
  response.status === 400 && /^(?:Throttling|ThrottlingException|RequestLimitExceeded)$/.test(reasonOf(response).code ?? '')
    ? { ...response, status: 429 }
    : response

const CODES: Readonly<Record<string, ProviderError['code']>> = {
  AccessDenied: 'provider-forbidden',
  AccessDeniedException: 'provider-forbidden',
  NotAuthorizedException: 'provider-forbidden',
  ExpiredToken: 'provider-unauthorized',
  ExpiredTokenException: 'provider-unauthorized',
  IncompleteSignature: 'provider-unauthorized',
  InvalidClientTokenId: 'provider-unauthorized',
  InvalidSignatureException: 'provider-unauthorized',
  MissingAuthenticationToken: 'provider-unauthorized',
  RequestExpired: 'provider-unauthorized',
  SignatureDoesNotMatch: 'provider-unauthorized',
  UnrecognizedClientException: 'provider-unauthorized',
  NoSuchChange: 'provider-not-found',
  NoSuchHostedZone: 'provider-not-found',
  LimitsExceeded: 'limit-exceeded',
  TooManyHostedZones: 'limit-exceeded',
}

const HINTS: Readonly<Record<string, string>> = {
  'provider-unauthorized': 'check the access key, and the clock of this machine',
  'provider-forbidden': 'docs/providers/route53.md has a policy with the permissions that are needed',
}

/** What Route 53 says if a batch expects other record sets than there are. */
const CONFLICT = /\bbut it already exists\b|\bbut it was not found\b|\bdo not match the current values\b/
const LIMIT = /\blimit of [0-9]+ exceeded\b/

const ROUTE53_DIALECT: ApiDialect = {
  errorOfResponse(provider, what, response, mutates) {
    const { code: reason, text } = reasonOf(response)
    const isBatch = reason === 'InvalidChangeBatch'
    const code =
      isBatch && CONFLICT.test(text)
        ? 'provider-conflict'
        : isBatch && LIMIT.test(text)
          ? 'limit-exceeded'
          : reason !== null && Object.hasOwn(CODES, reason)
            ? CODES[reason]
            : undefined
    return statusError(provider, what, response, mutates, {
      text: reason === null ? null : `${reason}: ${text}`,
      code,
      hint: (own) => (own === 'provider-conflict' ? 'plan again to see the change' : HINTS[own]),
    })
  },
  isBusy: (response) => reasonOf(response).code === 'PriorRequestNotComplete',
  addressHint: publicAddressHint("Route 53's is https://route53.amazonaws.com", 'endpoint'),
}

const MAX_REASON = 1000

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", '#34': '"' }

/** The code and message of an error response; the code is null if it does not come from the API. */
function reasonOf(response: HttpResponse): { readonly code: string | null; readonly text: string } {
  // Route 53 documents a refused batch as an element of its own.
  const stated = /<ErrorResponse\b[\s\S]*<Code>([A-Za-z.]{1,100})<\/Code>/.exec(response.text)
  const [, code = null] = stated ?? /<(InvalidChangeBatch) xmlns="https:\/\/route53\.amazonaws\.com\//.exec(response.text) ?? []
  const message = [...response.text.matchAll(/<Message>([^<]*)<\/Message>/g)].map(([, one]) => one).join(', ')
  return { code, text: message.replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity).slice(0, MAX_REASON) }
}
