/**
 * Signing in without a key of Google, as CI services do (workload identity federation, `external_account` files; https://google.aip.dev/auth/4117): a token of another
 * identity provider is exchanged at Google (RFC 8693), and the result for a token of a service account if the file names one.
 */
import { isLoopback } from '../../transport/allowed-hosts.ts'
import { type AccessToken, type TokenEndpoint, tokenShape } from '../access-tokens.ts'
import { type Fields, fieldsOf, ShapeError, textOf } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'

export interface ExternalAccount {
  readonly kind: 'external'
  readonly audience: string
  readonly subjectTokenType: string
  readonly source: SubjectSource
  /** The field of the JSON text that is the token; null if the whole text is. */
  readonly tokenField: string | null
  readonly addresses: ExternalAddresses
  /** Seconds that a token of the service account lasts. */
  readonly lifetime: number
  /** The file names none. */
  readonly project: null
}

/** `source` is null if the token is in a file; `impersonation` if there is no service account. */
export interface ExternalAddresses {
  readonly source: URL | null
  readonly exchange: URL
  readonly impersonation: URL | null
}

type SubjectSource = { readonly file: string } | { readonly headers: Readonly<Record<string, string>> }

/** The least scope of a token that is exchanged for one of a service account. */
const IAM_SCOPE = 'https://www.googleapis.com/auth/iam'
const EXCHANGE_URL = 'https://sts.googleapis.com/v1/token'
/** The metadata service of machines at Azure and AWS has no TLS, and is reached without leaving the machine's host. */
const METADATA_ADDRESS = '169.254.169.254'
/** Seconds. */
const DEFAULT_LIFETIME = 3600
const MAX_LIFETIME = 43_200
/** Maximum headers of a request for the subject token. */
const MAX_HEADERS = 20

/** Reads a file of the type `external_account`. Returns what is wrong with it as a text that follows "the file". */
export function readExternalAccount(fields: Fields, onSecret: (secret: string) => void): ExternalAccount | string {
  try {
    const source = fieldsOf(fields['credential_source'], 'credential_source')
    const foreign = ['executable', 'environment_id', 'certificate'].find((key) => source[key] !== undefined)
    if (foreign === 'executable')
      return 'has a credential_source that runs a program, which Zonewright does not do: obtain an access token with it, and set token instead'
    if (foreign !== undefined)
      return `has a credential_source with ${foreign}, which is not supported: obtain an access token elsewhere, and set token instead`
    if (fields['workforce_pool_user_project'] !== undefined || fields['client_id'] !== undefined)
      return 'is of a workforce pool, which is not supported: obtain an access token elsewhere, and set token instead'
    const impersonation = fields['service_account_impersonation_url']
    const url = source['url'] === undefined ? null : urlOf(source, 'url', true)
    return {
      kind: 'external',
      audience: textOf(fields, 'audience', 'it'),
      subjectTokenType: textOf(fields, 'subject_token_type', 'it'),
      source: url === null ? { file: textOf(source, 'file', 'credential_source') } : { headers: headersOf(source['headers'], onSecret) },
      tokenField: formatOf(source['format']),
      addresses: {
        source: url,
        exchange: fields['token_url'] === undefined ? new URL(EXCHANGE_URL) : urlOf(fields, 'token_url', false),
        impersonation: impersonation === undefined ? null : urlOf(fields, 'service_account_impersonation_url', false),
      },
      lifetime: lifetimeOf(fields['service_account_impersonation']),
      project: null,
    }
  } catch (error) {
    if (error instanceof ShapeError) return `is no external_account file: ${error.message}`
    throw error
  }
}

function urlOf(fields: Fields, key: string, mayBeMetadata: boolean): URL {
  const text = textOf(fields, key, 'it')
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url?.protocol === 'http:' && (isLoopback(url.hostname) || (mayBeMetadata && url.hostname === METADATA_ADDRESS))
  if (url === null || !(url.protocol === 'https:' || isPlain) || url.username !== '' || url.password !== '')
    throw new ShapeError(`${key} is no https: address without user name`)
  return url
}

function headersOf(value: unknown, onSecret: (secret: string) => void): Record<string, string> {
  const headers = Object.entries(value === undefined ? {} : fieldsOf(value, 'headers'))
  if (headers.length > MAX_HEADERS) throw new ShapeError(`it has more than ${MAX_HEADERS} headers`)
  return Object.fromEntries(
    headers.map(([name, text]) => {
      if (!/^[A-Za-z0-9-]{1,100}$/.test(name) || typeof text !== 'string' || !/^[\x20-\x7e]{0,16384}$/.test(text))
        throw new ShapeError('it has a malformed header')
      // Without the scheme, such as Bearer. Others, such as "accept", say nothing secret.
      if (/authorization|cookie|key|secret|token/i.test(name)) onSecret(text.replace(/^\S+ /, ''))
      return [name.toLowerCase(), text]
    }),
  )
}

function formatOf(value: unknown): string | null {
  if (value === undefined) return null
  const format = fieldsOf(value, 'format')
  return format['type'] === 'json' ? textOf(format, 'subject_token_field_name', 'format') : null
}

function lifetimeOf(value: unknown): number {
  const seconds = value === undefined ? undefined : fieldsOf(value, 'service_account_impersonation')['token_lifetime_seconds']
  return Number.isInteger(seconds) ? Math.min(Math.max(Number(seconds), 1), MAX_LIFETIME) : DEFAULT_LIFETIME
}

export interface ExternalEndpoints {
  readonly source: TokenEndpoint | null
  readonly exchange: TokenEndpoint
  readonly impersonation: TokenEndpoint | null
  /** Reads the file with the subject token, which may be another one each time. */
  readonly readFile: (path: string) => Promise<string>
  /** Called with each token before it is sent. */
  readonly onSecret: (secret: string) => void
}

/** Obtains an access token with the `scope`. Throws `ProviderError`. */
export async function signInExternally(
  account: ExternalAccount,
  { source, exchange, impersonation, readFile, onSecret }: ExternalEndpoints,
  scope: string,
  options?: ProviderCallOptions,
): Promise<AccessToken> {
  const subjectToken = tokenIn(await readSubject(account, source, readFile, options), account)
  onSecret(subjectToken)
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: account.audience,
    scope: impersonation === null ? scope : IAM_SCOPE,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: subjectToken,
    subject_token_type: account.subjectTokenType,
  }
  const federated = await exchange.request({ form }, options)
  if (impersonation === null) return federated
  onSecret(federated.token)
  const request = {
    what: 'signing in as the service account',
    json: { scope: [scope], lifetime: `${account.lifetime}s` },
    headers: { authorization: `Bearer ${federated.token}` },
  }
  const { token } = await impersonation.ask(
    request,
    (body) => tokenShape({ access_token: fieldsOf(body, 'the response')['accessToken'] }),
    options,
  )
  return { token, lifetime: account.lifetime }
}

function readSubject(
  { source, addresses }: ExternalAccount,
  endpoint: TokenEndpoint | null,
  readFile: ExternalEndpoints['readFile'],
  options?: ProviderCallOptions,
): Promise<string> {
  if ('file' in source || endpoint === null || addresses.source === null) return readFile('file' in source ? source.file : '')
  const request = {
    what: 'reading the token of the other identity provider',
    headers: source.headers,
    query: Object.fromEntries(addresses.source.searchParams),
    plain: true,
  }
  return endpoint.ask(request, String, options)
}

function tokenIn(text: string, { tokenField }: ExternalAccount): string {
  const value = tokenField === null ? text.trim() : fieldOf(text, tokenField)
  if (typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/.test(value)) return value
  const what = tokenField === null ? 'is no token' : `is no JSON with a token under ${JSON.stringify(tokenField.slice(0, 100))}`
  throw new ProviderError('provider-unauthorized', `signing in: the answer or file of credential_source ${what}`)
}

function fieldOf(text: string, field: string): unknown {
  try {
    const fields: unknown = JSON.parse(text)
    return typeof fields === 'object' && fields !== null && Object.hasOwn(fields, field) ? (fields as Fields)[field] : null
  } catch {
    return null
  }
}
