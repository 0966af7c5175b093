/** Converts failed requests and invalid responses of an HTTP API to `ProviderError`s with hints. */
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import type { HttpResponse, TransportError } from '../transport/http-client.ts'
import { ProviderError } from './provider.ts'

/** How one API reports errors, and the hints for its users. */
export interface ApiDialect {
  /** The error of a response with an error status. `what` names the request for messages. */
  errorOfResponse(provider: string, what: string, response: HttpResponse, mutates: boolean): ProviderError
  /** Whether the server did nothing and asks for the request again, with a status other than 429. */
  isBusy?(response: HttpResponse): boolean
  /** The hint if a response does not come from the API. */
  addressHint(provider: string): string
  /** The hint if a server on this machine does not answer; `start the server` if absent. */
  readonly startHint?: string
}

/** The address hint for a service with one public address. `address` is a clause: `Cloudflare's is https://…`. */
export const publicAddressHint =
  (address: string, setting = 'base_url') =>
  (provider: string): string =>
    `check ${setting} of ${provider}: ${address}, the default`

/** The usual code of each error status. */
const CODES: Readonly<Record<number, DiagnosticCode>> = {
  401: 'provider-unauthorized',
  403: 'provider-forbidden',
  404: 'provider-not-found',
  409: 'provider-conflict',
  412: 'provider-conflict',
  413: 'limit-exceeded',
  429: 'provider-rate-limited',
}

/** The error that a response states. */
export interface StatedError {
  /** Null if the body is not an error body of the service. */
  readonly text: string | null
  /** Only if it differs from the usual code of the status. */
  readonly code?: DiagnosticCode | undefined
  readonly hint?: string | ((code: DiagnosticCode) => string | undefined) | undefined
}

/**
 * The error of a response with an error status. A response without an error body of the service may come from a proxy or gateway. Then its status says
 * nothing about the request, except the status of a rate limit (RFC 6585 section 4).
 */
export function statusError(
  provider: string,
  what: string,
  response: HttpResponse,
  mutates: boolean,
  { text, code: stated, hint }: StatedError,
): ProviderError {
  const { status } = response
  const isForeign = text === null && status !== 429
  const isRefusal = status < 500 && status !== 408
  const code =
    isForeign && isRefusal ? 'provider-garbled' : (stated ?? CODES[status] ?? (isRefusal ? 'provider-rejected' : 'provider-failed'))
  return new ProviderError(
    code,
    `${provider}: ${what}: ${status} ${text ?? `the response is not from the API (${describeBody(response)})`}`,
    {
      status: String(status),
      ambiguous: mutates && (isForeign || !isRefusal),
      // After a gateway's timeout the server behind it may still be working.
      mayCompleteLater: mutates && status >= 504,
      hint: (isForeign ? undefined : typeof hint === 'function' ? hint(code) : hint) ?? usualHint(code, mutates),
    },
  )
}

/** The hint for a read, if the service states none. Changes have no usual hint: reports show their outcome instead. */
const usualHint = (code: DiagnosticCode, mutates: boolean): string | undefined => (mutates ? undefined : USUAL_HINTS[code])

const USUAL_HINTS: Partial<Record<DiagnosticCode, string>> = {
  'provider-garbled': 'check base_url; if it is right, a proxy or gateway answered instead of the service',
  'provider-failed': 'the server has an internal problem: try again later',
  'provider-not-found': 'check base_url; if it is right, another client may have deleted the zone: plan again',
  'provider-timeout': 'try again later; "timeout" in the settings of the provider allows more time',
  'provider-rate-limited': 'try again later; a lower "parallelism" sends fewer requests at a time',
}

/** A hint for errors about the token. `rights` is a clause about the rights of the token: `needs the scopes …`. */
export const tokenHint =
  (rights: string, what = 'token') =>
  (code: DiagnosticCode): string | undefined =>
    code === 'provider-unauthorized'
      ? `check that the ${what} is complete and has not expired; it ${rights}`
      : code === 'provider-forbidden'
        ? `the ${what} ${rights}`
        : undefined

/** Calls `read` with the JSON of an error response. Returns null if the body is not JSON, or if `read` finds nothing or throws. */
export function readErrorBody<T>({ text }: HttpResponse, read: (body: unknown) => T | null | undefined): T | null {
  try {
    return read(JSON.parse(text)) ?? null
  } catch {
    return null
  }
}

/** The contents of an error body. */
interface ErrorBody extends StatedError {
  /** Whether the service asks for the request again. */
  readonly isBusy?: boolean
}

/** Maximum characters of a reason in a message. */
const MAX_REASON = 600

/** The dialect of a service whose error bodies `read` understands. If `read` returns null or throws, the body does not come from the service. */
export function bodyDialect(
  address: string,
  read: (body: unknown, response: HttpResponse) => ErrorBody | string | null,
  hint?: StatedError['hint'],
): ApiDialect {
  const stated = (response: HttpResponse): ErrorBody => {
    const found = readErrorBody(response, (body) => read(body, response)) ?? ''
    const error = typeof found === 'string' ? { text: found } : found
    return { hint, ...error, text: error.text?.replace(/\s+/g, ' ').slice(0, MAX_REASON) || null }
  }
  return {
    errorOfResponse: (provider, what, response, mutates) => statusError(provider, what, response, mutates, stated(response)),
    isBusy: (response) => stated(response).isBusy === true,
    addressHint: publicAddressHint(address),
  }
}

/** The result of a read; null if the API reports that there is no such object. */
export async function nullIfMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'provider-not-found') return null
    throw error
  }
}

/** The error of a request without a usable response. */
export function errorOfTransport(
  dialect: ApiDialect,
  provider: string,
  what: string,
  error: TransportError,
  mutates: boolean,
): ProviderError {
  const code =
    error.problem === 'unreachable'
      ? 'provider-unreachable'
      : error.problem === 'timeout'
        ? 'provider-timeout'
        : error.problem === 'reset'
          ? 'provider-failed'
          : 'provider-garbled'
  return new ProviderError(code, `${provider}: ${what}: ${error.message}`, {
    ambiguous: mutates && error.sent,
    mayCompleteLater: mutates && error.problem === 'timeout',
    hint:
      code === 'provider-unreachable'
        ? unreachableHint(dialect, provider, error)
        : code === 'provider-garbled'
          ? dialect.addressHint(provider)
          : usualHint(code, mutates),
    cause: error,
  })
}

/** The error of a response that does not match the API. `problem` says why. */
export function garbled(
  dialect: ApiDialect,
  provider: string,
  what: string,
  problem: string,
  response: HttpResponse,
  mutates: boolean,
): ProviderError {
  return new ProviderError('provider-garbled', `${provider}: ${what}: ${problem} (${describeBody(response)})`, {
    status: String(response.status),
    ambiguous: mutates,
    hint: dialect.addressHint(provider),
  })
}

const TLS_HINTS: readonly (readonly [codes: RegExp, hint: string])[] = [
  [
    /WRONG_VERSION|EPROTO|PACKET_LENGTH/,
    'the server does not use TLS at that port: check the port, or use http:// for a service on this machine',
  ],
  [
    /SELF_SIGNED|VERIFY_LEAF|ISSUER/,
    'its certificate is not signed by a known authority: NODE_EXTRA_CA_CERTS can name a file with more authorities',
  ],
  [/EXPIRED/, 'its certificate has expired'],
  [/ALTNAME/, 'its certificate is for another name'],
]

const unreachableHint = ({ startHint = 'start the server' }: ApiDialect, provider: string, { message }: TransportError): string =>
  (message.includes('no secure connection') && TLS_HINTS.find(([codes]) => codes.test(message))?.[1]) ||
  (/^(?:127\.|localhost\b|\[::1\])/.test(message)
    ? `${startHint}, or check base_url of ${provider}`
    : `check base_url of ${provider}, the network, and HTTPS_PROXY and NO_PROXY in the environment`)

/** Content type and size of a body, for messages. */
export function describeBody({ headers, text }: HttpResponse): string {
  const type = (headers['content-type'] ?? 'no content type').split(';')[0] as string
  return text === '' ? `${type}, empty` : `${type}, ${text.length} characters`
}
