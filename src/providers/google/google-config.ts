/** Creates a provider for Google Cloud DNS from its settings in the config. */
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { addSecret } from '../../base/secret-guard.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { resolveSecret } from '../../config/resolve-secret.ts'
import { endpointOfUrl, readHostPolicy } from '../../transport/allowed-hosts.ts'
import { accessTokensOf, type SignIn } from '../access-tokens.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, readNames, resolveToken } from '../api-settings.ts'
import type { ApiConnection } from '../json-api.ts'
import { type CreatedProvider, type ProviderContext, type ProviderEndpoint, ProviderError, type ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { googleCapabilities, type Visibility } from './capabilities.ts'
import { type Credentials, createExternalSignIn, createSignIn, METADATA_URL, readCredentials, TOKEN_URL } from './credentials.ts'
import type { ExternalAccount } from './external-account.ts'

const BASE_URL = 'https://dns.googleapis.com'
const DEFAULT_PARALLELISM = 4
/** The setting for the service account of the machine. */
const MACHINE = 'metadata'

export const GOOGLE: ProviderType = {
  capabilities: googleCapabilities('public'),
  capabilitiesFor: (config) => googleCapabilities(visibilityOf(config)),
  checkSettings,
  async readListing(items) {
    const [{ rrsetShape }, { liveZone }] = await Promise.all([import('./google-api.ts'), import('./change-zone.ts')])
    return liveZone(items.map(rrsetShape))
  },
  endpoints,
  starter: { settings: { credentials: 'env:GOOGLE_CREDENTIALS' } },
  create,
}

const visibilityOf = ({ settings }: ProviderConfig): Visibility => (settings['visibility'] as Visibility | undefined) ?? 'public'

const baseUrlOf = ({ settings }: ProviderConfig): unknown => settings['base_url'] ?? BASE_URL

const tokenUrlOf = ({ settings }: ProviderConfig): string =>
  String(settings['token_url'] ?? (settings['credentials'] === MACHINE ? METADATA_URL : TOKEN_URL))

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  checkBaseUrl(config, baseUrlOf(config), BASE_URL, diagnostics)
  readTokenUrl(config, diagnostics)
  readNames(config, 'managed_zones', diagnostics)
  if (config.settings['token'] !== undefined && config.settings['credentials'] !== undefined)
    diagnostics.push(settingProblem(config, 'token', 'there are credentials too: remove one of them'))
  return diagnostics
}

/** The metadata server has no TLS, and is reached without leaving the machine's host. */
const readTokenUrl = (config: ProviderConfig, diagnostics: Diagnostic[]): URL | null =>
  tokenUrlOf(config) === METADATA_URL
    ? new URL(METADATA_URL)
    : checkBaseUrl(config, tokenUrlOf(config), TOKEN_URL, diagnostics, 'token_url')

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  const own = endpointOfBaseUrl(config, 'base_url', baseUrlOf(config))
  return config.settings['token'] === undefined ? [...own, ...endpointOfBaseUrl(config, 'token_url', tokenUrlOf(config))] : own
}

/** Creates the provider. The metadata server is asked without a proxy. */
async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const diagnostics: Diagnostic[] = []
  const baseUrl = checkBaseUrl(config, baseUrlOf(config), BASE_URL, diagnostics)
  const tokenUrl = readTokenUrl(config, diagnostics)
  const managedZones = readNames(config, 'managed_zones', diagnostics)
  const credentials = await findCredentials(config, context, diagnostics)
  if (baseUrl === null || tokenUrl === null || credentials === null) return { provider: null, diagnostics }
  const project =
    settings['project'] ?? ('project' in credentials ? credentials.project : null) ?? (context.secrets.env['GOOGLE_CLOUD_PROJECT'] || null)
  if (typeof project !== 'string') {
    diagnostics.push(settingProblem(config, 'project', 'is missing, and the credentials name none'))
    return { provider: null, diagnostics }
  }
  const connection = apiConnection(config, context, { baseUrl, token: '', parallelism: DEFAULT_PARALLELISM }, diagnostics)
  const signIn = signInOf(credentials, tokenUrl, config, context, diagnostics)
  if (connection === null || signIn === null) return { provider: null, diagnostics }
  const tokens = accessTokensOf(config, context, signIn)
  const { createGoogleProvider } = await import('./google-provider.ts')
  return { provider: createGoogleProvider(connection, tokens, { project, visibility: visibilityOf(config), managedZones }), diagnostics }
}

/** Null after an error was added to the diagnostics. */
function signInOf(
  credentials: Credentials,
  tokenUrl: URL,
  config: ProviderConfig,
  context: ProviderContext,
  diagnostics: Diagnostic[],
): SignIn | null {
  const connect = (baseUrl: URL): ApiConnection | null =>
    apiConnection(config, context, { baseUrl, token: '', parallelism: 1 }, diagnostics)
  if (credentials.kind !== 'external') {
    const connection = connect(tokenUrl)
    const now = (): number => (context.now?.() ?? new Date()).getTime()
    return connection && createSignIn(credentials, credentials.kind === 'machine' ? { ...connection, proxy: null } : connection, now)
  }
  const what = `providers.${config.name}.credentials`
  const { source, impersonation } = credentials.addresses
  const account: ExternalAccount =
    config.settings['token_url'] === undefined ? credentials : { ...credentials, addresses: { source, exchange: tokenUrl, impersonation } }
  // The addresses come from the file, so the config did not show them.
  const policy = readHostPolicy(context.secrets.env)
  const connections = new Map<URL, ApiConnection>()
  for (const url of Object.values(account.addresses)) {
    if (url === null) continue
    const refused = policy.check(what, endpointOfUrl(url), config.placeOf('credentials'))
    const connection = refused === null ? connect(url) : null
    if (refused !== null) diagnostics.push(refused)
    if (connection === null) return null
    connections.set(url, connection)
  }
  const readFile = async (path: string): Promise<string> => {
    const anyFile = !String(config.settings['credentials'] ?? 'env:').startsWith('file:')
    const { value, diagnostic } = await resolveSecret(`file:${path}`, what, config.placeOf('credentials'), { ...context.secrets, anyFile })
    if (diagnostic) throw new ProviderError('secret-missing', diagnostic.message)
    return value
  }
  const onSecret = (secret: string): void => addSecret(context.secrets.loaded, what, secret)
  return createExternalSignIn(account, (url) => connections.get(url) as ApiConnection, readFile, onSecret)
}

/** The credentials that the config names, or those that Google's own tools use. Null after an error was added to the diagnostics. */
async function findCredentials(config: ProviderConfig, context: ProviderContext, diagnostics: Diagnostic[]): Promise<Credentials | null> {
  const { settings, name, placeOf } = config
  if (settings['token'] !== undefined) {
    const token = await resolveToken(config, 'token', context, diagnostics)
    return token === null ? null : { kind: 'token', token }
  }
  if (settings['credentials'] === MACHINE) return { kind: 'machine' }
  const { env } = context.secrets
  const usual =
    env['GOOGLE_APPLICATION_CREDENTIALS'] ||
    join(env['CLOUDSDK_CONFIG'] || join(env['HOME'] ?? '/', '.config', 'gcloud'), 'application_default_credentials.json')
  const reference = String(settings['credentials'] ?? `file:${usual}`)
  const what = `providers.${name}.credentials`
  const secrets = { ...context.secrets, anyFile: settings['credentials'] === undefined }
  const { value, diagnostic } = await resolveSecret(reference, what, placeOf('credentials'), secrets)
  if (diagnostic) {
    const hint = 'set credentials to a key file (file:PATH), to the variable with its content (env:NAME) or to metadata; or set token'
    diagnostics.push(settings['credentials'] === undefined ? { ...diagnostic, hint } : diagnostic)
    return null
  }
  const credentials = readCredentials(value, (secret) => addSecret(context.secrets.loaded, what, secret))
  if (typeof credentials !== 'string') return credentials
  const isVariable = reference.startsWith('env:')
  diagnostics.push({
    severity: 'error',
    code: 'secret-missing',
    message: `${what}: the ${isVariable ? 'content of the variable' : 'file'} ${credentials}`,
    at: placeOf('credentials'),
    hint: isVariable ? 'the variable needs the content of the file, not its path' : undefined,
  })
  return null
}
