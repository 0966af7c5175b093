/** Signing in at Google: a key of a service account (RFC 7523), a refresh token of a person, or the metadata server of a machine at Google. */
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto'
import { type AccessToken, createTokenEndpoint, fixedToken, type SignIn, type TokenEndpoint } from '../access-tokens.ts'
import type { ApiConnection } from '../json-api.ts'
import type { ProviderCallOptions } from '../provider.ts'
import { type ExternalAccount, readExternalAccount, signInExternally } from './external-account.ts'

export type Credentials =
  | {
      readonly kind: 'service-account'
      readonly email: string
      readonly keyId: string
      readonly key: KeyObject
      readonly project: string | null
    }
  | {
      readonly kind: 'person'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
      readonly project: string | null
    }
  | ExternalAccount
  | { readonly kind: 'machine' }
  /** A token that was obtained elsewhere. */
  | { readonly kind: 'token'; readonly token: string }

/** The least scope that changes zones. */
const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite'
export const TOKEN_URL = 'https://oauth2.googleapis.com/token'
export const METADATA_URL = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'
/** Seconds: the longest that Google accepts. */
const LIFETIME = 3600

/**
 * Reads a file with credentials: the key of a service account, what `gcloud auth application-default login` writes, or a file of workload identity federation.
 * Returns what is wrong with it as a text.
 * `onSecret` is called with each secret in it.
 */
export function readCredentials(text: string, onSecret: (secret: string) => void): Credentials | string {
  let fields: Readonly<Record<string, unknown>>
  try {
    fields = JSON.parse(text) as typeof fields
  } catch {
    return 'is no JSON file with credentials of Google'
  }
  if (typeof fields !== 'object' || fields === null) return 'is no JSON file with credentials of Google'
  const textOf = (name: string): string => (typeof fields[name] === 'string' ? (fields[name] as string) : '')
  for (const name of ['private_key', 'client_secret', 'refresh_token']) if (textOf(name) !== '') onSecret(textOf(name))
  const missing = (...names: readonly string[]): string | null => {
    const absent = names.find((name) => textOf(name) === '')
    return absent === undefined ? null : `has no ${JSON.stringify(absent)}`
  }
  if (fields['type'] === 'service_account') {
    const problem = missing('client_email', 'private_key')
    if (problem !== null) return problem
    const project = textOf('project_id') || null
    try {
      const key = createPrivateKey(textOf('private_key'))
      if (key.asymmetricKeyType !== 'rsa') return 'has a private key that is no RSA key'
      return { kind: 'service-account', email: textOf('client_email'), keyId: textOf('private_key_id'), key, project }
    } catch {
      return 'has a private key that cannot be read'
    }
  }
  if (fields['type'] === 'authorized_user') {
    const problem = missing('client_id', 'client_secret', 'refresh_token')
    if (problem !== null) return problem
    const [clientId, clientSecret, refreshToken] = ['client_id', 'client_secret', 'refresh_token'].map(textOf) as [string, string, string]
    return { kind: 'person', clientId, clientSecret, refreshToken, project: textOf('quota_project_id') || null }
  }
  if (fields['type'] === 'external_account') return readExternalAccount(fields, onSecret)
  return 'has credentials of a type that is not supported: obtain an access token elsewhere, and set token instead'
}

/** Signs in with a token of another identity provider. `connect` makes the connection to an address. */
export function createExternalSignIn(
  account: ExternalAccount,
  connect: (url: URL) => ApiConnection,
  readFile: (path: string) => Promise<string>,
  onSecret: (secret: string) => void,
): SignIn {
  const endpointAt = (url: URL): TokenEndpoint => createTokenEndpoint(connect(url), HINTS.external)
  const { source, exchange, impersonation } = account.addresses
  const endpoints = {
    source: source && endpointAt(source),
    exchange: endpointAt(exchange),
    impersonation: impersonation && endpointAt(impersonation),
  }
  return {
    fetch: (options) => signInExternally(account, { ...endpoints, readFile, onSecret }, SCOPE, options),
    close: async () => void (await Promise.all(Object.values(endpoints).map((endpoint) => endpoint?.close()))),
  }
}

/** Signs in with credentials at `connection.baseUrl`, which is `TOKEN_URL` or `METADATA_URL` unless the config says otherwise. */
export function createSignIn(credentials: Exclude<Credentials, ExternalAccount>, connection: ApiConnection, now: () => number): SignIn {
  if (credentials.kind === 'token') return fixedToken(credentials.token)
  const endpoint = createTokenEndpoint(connection, HINTS[credentials.kind])
  return { fetch: (options) => signIn(endpoint, credentials, connection.baseUrl, now(), options), close: () => endpoint.close() }
}

const HINTS = {
  'service-account': 'check that the key in the file of credentials still exists, and the clock of this machine',
  person: 'sign in again: gcloud auth application-default login',
  external: 'check the provider and its conditions in the workload identity pool, and who may act as the service account',
  machine: 'check that the machine has a service account with access to Cloud DNS',
} as const

function signIn(
  endpoint: TokenEndpoint,
  credentials: Exclude<Credentials, ExternalAccount | { kind: 'token' }>,
  url: URL,
  now: number,
  options?: ProviderCallOptions,
): Promise<AccessToken> {
  switch (credentials.kind) {
    case 'machine':
      return endpoint.request({ headers: { 'metadata-flavor': 'Google' }, query: { scopes: SCOPE } }, options)
    case 'person': {
      const { clientId: client_id, clientSecret: client_secret, refreshToken: refresh_token } = credentials
      return endpoint.request({ form: { grant_type: 'refresh_token', client_id, client_secret, refresh_token } }, options)
    }
    case 'service-account': {
      const issued = Math.floor(now / 1000)
      const claims = { iss: credentials.email, scope: SCOPE, aud: url.href, iat: issued, exp: issued + LIFETIME }
      const assertion = signed({ alg: 'RS256', typ: 'JWT', kid: credentials.keyId }, claims, credentials.key)
      return endpoint.request({ form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion } }, options)
    }
  }
}

/** A JSON Web Token (RFC 7515). */
function signed(header: object, claims: object, key: KeyObject): string {
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`
}
