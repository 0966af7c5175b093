/** Converts failed requests and invalid responses of the API to `ProviderError`s with hints. */
import type { HttpResponse, TransportError } from '../../transport/http-client.ts'
import { ProviderError } from '../provider.ts'

/** One error of a request, as the API reports it. */
interface ApiProblem {
  readonly field: string | null
  readonly reason: string
}

const CODES = {
  400: 'provider-rejected',
  401: 'provider-unauthorized',
  403: 'provider-forbidden',
  404: 'provider-not-found',
  429: 'provider-rate-limited',
} as const

/** The error of a response with an error status. `what` names the request for messages. */
export function errorOfResponse(provider: string, what: string, response: HttpResponse, mutates: boolean): ProviderError {
  const { status } = response
  const problems = problemsOf(response)
  const lacksScope = problems?.some((problem) => /not authorized to use this endpoint/i.test(problem.reason)) ?? false
  const code = lacksScope
    ? 'provider-forbidden'
    : (CODES[status as keyof typeof CODES] ?? (status < 500 && status >= 400 ? 'provider-rejected' : 'provider-failed'))
  const reasons = problems?.map((problem) => (problem.field === null ? problem.reason : `${problem.field}: ${problem.reason}`)).join('; ')
  const detail = reasons ?? `the response is not from the API (${describeBody(response)})`
  return new ProviderError(code, `${provider}: ${what}: ${status} ${detail}`, {
    status: String(status),
    ambiguous: mutates && (status >= 500 || status === 408),
    // After a gateway's timeout the server behind it may still be working.
    mayCompleteLater: mutates && status === 504,
    hint: hintFor(code, lacksScope, response),
  })
}

/** The error of a request without a usable response. */
export function errorOfTransport(provider: string, what: string, error: TransportError, mutates: boolean): ProviderError {
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
    hint: code === 'provider-unreachable' ? unreachableHint(provider, error) : undefined,
    cause: error,
  })
}

/** The error of a response that does not match the API. `problem` says why. */
export function garbled(provider: string, what: string, problem: string, response: HttpResponse, mutates: boolean): ProviderError {
  return new ProviderError('provider-garbled', `${provider}: ${what}: ${problem} (${describeBody(response)})`, {
    status: String(response.status),
    ambiguous: mutates,
    hint: `check that base_url of ${provider} is the URL of the API with its version, such as https://…/v4`,
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

const unreachableHint = (provider: string, { message }: TransportError): string =>
  (message.includes('no secure connection') && TLS_HINTS.find(([codes]) => codes.test(message))?.[1]) ||
  (/^(?:127\.|localhost\b|\[::1\])/.test(message)
    ? `start the service with "zonewright serve", or check base_url of ${provider}`
    : `check base_url of ${provider} and the network; proxy variables of the environment are ignored`)

/** The problems that an error body lists; null if the body is not an error body of the API. */
function problemsOf(response: HttpResponse): ApiProblem[] | null {
  let body: unknown
  try {
    body = JSON.parse(response.text)
  } catch {
    return null
  }
  const errors = (body as { errors?: unknown } | null)?.errors
  if (!Array.isArray(errors) || errors.length === 0) return null
  return errors.slice(0, 20).map((entry: { field?: unknown; reason?: unknown } | null) => ({
    field: typeof entry?.field === 'string' ? entry.field.slice(0, 100) : null,
    reason: typeof entry?.reason === 'string' ? entry.reason.slice(0, 500) : 'no reason given',
  }))
}

/** Whether the server asks to send the request again later. */
export const isBusy = (response: HttpResponse): boolean =>
  response.status === 400 && (problemsOf(response)?.some((problem) => problem.reason === 'Linode busy.') ?? false)

function describeBody({ headers, text }: HttpResponse): string {
  const type = (headers['content-type'] ?? 'no content type').split(';')[0] as string
  return text === '' ? `${type}, empty` : `${type}, ${text.length} characters`
}

function hintFor(code: string, lacksScope: boolean, response: HttpResponse): string | undefined {
  if (lacksScope) {
    const held = response.headers['x-oauth-scopes']
    const needed = response.headers['x-accepted-oauth-scopes']
    return `the token lacks a scope${needed ? `: this needs ${needed}` : ''}${held ? `, it has ${held}` : ''}`
  }
  if (code === 'provider-unauthorized') return 'the token is wrong, revoked or expired'
  if (code === 'provider-forbidden') return "the token's user is restricted and lacks a grant for this"
  return undefined
}
