/** Access tokens that expire (OAuth 2.0, RFC 6749): fetched when one is needed, and again shortly before it expires. */
import { addSecret } from '../base/secret-guard.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { HttpResponse } from '../transport/http-client.ts'
import { type ApiDialect, describeBody } from './api-errors.ts'
import { type ApiConnection, createJsonApi } from './json-api.ts'
import { type Fields, fieldsOf, ShapeError, textOf } from './json-shape.ts'
import { type ProviderCallOptions, type ProviderContext, ProviderError } from './provider.ts'
import type { ApiRequest } from './send-request.ts'

export interface AccessToken {
  readonly token: string
  /** Seconds; infinite if it is not known. */
  readonly lifetime: number
}

export interface AccessTokens {
  /** The token that was returned last; empty before the first. */
  readonly current: string
  get(options?: ProviderCallOptions): Promise<string>
  close(): Promise<void>
}

/** Milliseconds before its end at which a token is replaced. */
const MARGIN = 120_000

interface TokenUse extends SignIn {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called with each new token, before it is used. */
  readonly onToken: (token: string) => void
}

export function createAccessTokens({ fetch, now, onToken, close }: TokenUse): AccessTokens {
  let held: { readonly token: string; readonly until: number } | null = null
  let pending: Promise<string> | null = null
  const renew = async (options?: ProviderCallOptions): Promise<string> => {
    const { token, lifetime } = await fetch(options)
    onToken(token)
    held = { token, until: now() + lifetime * 1000 - MARGIN }
    return token
  }
  return {
    get current() {
      return held?.token ?? ''
    },
    async get(options) {
      if (held !== null && now() < held.until) return held.token
      // Requests that need a token at the same time wait for the same one.
      pending ??= renew(options).finally(() => {
        pending = null
      })
      return pending
    },
    close,
  }
}

/** How a provider gets its access tokens. */
export interface SignIn {
  fetch(options?: ProviderCallOptions): Promise<AccessToken>
  close(): Promise<void>
}

/** A token that was obtained elsewhere. */
export const fixedToken = (token: string): SignIn => ({
  fetch: async () => ({ token, lifetime: Number.POSITIVE_INFINITY }),
  close: async () => undefined,
})

/** The tokens of a provider, which appear nowhere. */
export const accessTokensOf = ({ name }: ProviderConfig, { now, secrets }: ProviderContext, signIn: SignIn): AccessTokens =>
  createAccessTokens({
    ...signIn,
    now: () => (now?.() ?? new Date()).getTime(),
    onToken: (token) => addSecret(secrets.loaded, `the access token of ${name}`, token),
  })

/** A client that sends the current token with each request. */
export function createSignedInApi(connection: ApiConnection, tokens: AccessTokens, dialect: ApiDialect) {
  const withToken: ApiConnection = {
    ...connection,
    get token() {
      return tokens.current
    },
  }
  const api = createJsonApi(withToken, {}, dialect)
  return {
    async request<T>(call: ApiRequest, shape: (body: unknown) => T): Promise<T> {
      const headers = { ...call.headers, authorization: `Bearer ${await tokens.get({ signal: call.signal, stop: call.stop })}` }
      return api.request({ ...call, headers }, shape)
    },
    async close(): Promise<void> {
      await Promise.all([api.close(), tokens.close()])
    },
  }
}

/** A request for a token at a token endpoint, with `form` or `json`, or by GET without them. */
export interface TokenRequest {
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Whether the response is any text. */
  readonly plain?: boolean
  /** The purpose, for messages; `signing in` if absent. */
  readonly what?: string
}

export interface TokenEndpoint {
  /** A request whose response is not that of RFC 6749. */
  ask<T>(request: TokenRequest, shape: (body: unknown) => T, options?: ProviderCallOptions): Promise<T>
  request(request: TokenRequest, options?: ProviderCallOptions): Promise<AccessToken>
  close(): Promise<void>
}

/** The most that is used of a token: sane servers send a few thousand characters. */
const MAX_TOKEN = 16_384
const TOKEN = /^[\x21-\x7e]+$/

/** A client of the token endpoint at `connection.baseUrl`. `hint` says what to check if it refuses the credentials. */
export function createTokenEndpoint(connection: ApiConnection, hint: string): TokenEndpoint {
  const { origin, pathname } = connection.baseUrl
  const sent = new Set<string>()
  const api = createJsonApi({ ...connection, baseUrl: new URL(origin), token: connection.token }, {}, tokenDialect(hint, sent))
  const ask: TokenEndpoint['ask'] = async ({ form, json, what = 'signing in', ...rest }, shape, options) => {
    sent.clear()
    for (const [key, value] of Object.entries(form ?? {})) if (SECRET_FIELDS.has(key)) sent.add(value).add(encodeURIComponent(value))
    if (rest.headers?.['authorization'] !== undefined) sent.add(rest.headers['authorization'].replace(/^\S+ /, ''))
    const request = { path: pathname, what, changesNothing: true, ...rest, ...options }
    const isGet = form === undefined && json === undefined
    const body = form === undefined ? { body: json } : { form }
    return api.request(isGet ? { ...request, method: 'GET' } : { ...request, ...body, method: 'POST' }, shape)
  }
  return {
    ask,
    request: (request, options) => ask(request, tokenShape, options),
    close: () => api.close(),
  }
}

/** The response of RFC 6749 section 5.1. */
export function tokenShape(body: unknown): AccessToken {
  const fields: Fields = fieldsOf(body, 'the response')
  const token = textOf(fields, 'access_token', 'the response')
  if (!TOKEN.test(token) || token.length > MAX_TOKEN) throw new ShapeError('the access token has spaces, non-ASCII characters or no end')
  const lifetime = Number(fields['expires_in'])
  return { token, lifetime: Number.isFinite(lifetime) && lifetime > 0 ? lifetime : 0 }
}

/** The fields of a form that are secret (RFC 6749 sections 2.3.1 and 6, RFC 7521 section 4, RFC 8693 section 2.1). */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['client_secret', 'refresh_token', 'assertion', 'client_assertion', 'subject_token'])

/** Maximum characters of a reason in a message. */
const MAX_REASON = 300

/** `sent`: the secrets of the request. They are removed before the reason is shortened, which could leave a part of one. */
const tokenDialect = (hint: string, sent: ReadonlySet<string>): ApiDialect => ({
  errorOfResponse(provider, what, response) {
    const { status } = response
    const code = status === 429 ? 'provider-rate-limited' : status < 500 ? 'provider-unauthorized' : 'provider-failed'
    return new ProviderError(code, `${provider}: ${what}: ${status} ${reasonOf(response, sent)}`, {
      status: String(status),
      hint: code === 'provider-unauthorized' ? hint : undefined,
    })
  },
  addressHint: (provider) => `check the address for signing in of ${provider}`,
})

/** RFC 6749 section 5.2, or an error of Google's other APIs. */
function reasonOf(response: HttpResponse, sent: ReadonlySet<string>): string {
  const clean = (text: string): string => [...sent].reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  try {
    const { error, error_description: text } = JSON.parse(response.text) as Fields
    if (typeof error === 'string')
      return clean(typeof text === 'string' ? `${text} (${error})` : error)
        .replace(/\s+/g, ' ')
        .slice(0, MAX_REASON)
    const { message } = (error ?? {}) as Fields
    if (typeof message === 'string') return clean(message).replace(/\s+/g, ' ').slice(0, MAX_REASON)
  } catch {
    // No JSON: described by its type below.
  }
  return `the response is not that of a token endpoint (${describeBody(response)})`
}
