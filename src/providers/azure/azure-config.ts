/** Creates a provider for Azure DNS from its settings in the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { accessTokensOf } from '../access-tokens.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, resolveToken } from '../api-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { azureCapabilities } from './capabilities.ts'
import { type Credentials, createSignIn, MACHINE_URL, tokenUrl } from './credentials.ts'
import type { Visibility } from './record-format.ts'

const BASE_URL = 'https://management.azure.com'
const DEFAULT_PARALLELISM = 8
/** The tenant in an address whose tenant is in the environment, which is not known yet. */
const SOME_TENANT = 'organizations'

export const AZURE: ProviderType = {
  capabilities: azureCapabilities('public'),
  capabilitiesFor: (config) => azureCapabilities(visibilityOf(config)),
  checkSettings,
  endpoints,
  create,
  starter: {
    settings: { client_secret: 'env:AZURE_CLIENT_SECRET' },
    variables: ['AZURE_SUBSCRIPTION_ID', 'AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'],
    textKey: 'resource_group',
    neededText: 'RESOURCE_GROUP',
  },
}

const visibilityOf = ({ settings }: ProviderConfig): Visibility => (settings['visibility'] as Visibility | undefined) ?? 'public'

const baseUrlOf = ({ settings }: ProviderConfig): unknown => settings['base_url'] ?? BASE_URL
const isMachine = ({ settings }: ProviderConfig): boolean => settings['credentials'] === 'managed-identity'

const tokenUrlOf = (config: ProviderConfig, tenant: unknown): string =>
  String(config.settings['token_url'] ?? (isMachine(config) ? MACHINE_URL : tokenUrl(String(tenant ?? SOME_TENANT))))

/** The metadata service has no TLS, and is reached without leaving the machine's host. */
const readTokenUrl = (config: ProviderConfig, tenant: unknown, diagnostics: Diagnostic[]): URL | null =>
  tokenUrlOf(config, tenant) === MACHINE_URL
    ? new URL(MACHINE_URL)
    : checkBaseUrl(config, tokenUrlOf(config, tenant), tokenUrl(SOME_TENANT), diagnostics, 'token_url')

/** The settings of which at most one makes sense. */
const PROOFS = ['token', 'client_secret', 'client_assertion', 'credentials'] as const

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  checkBaseUrl(config, baseUrlOf(config), BASE_URL, diagnostics)
  readTokenUrl(config, config.settings['tenant'], diagnostics)
  const [first, second] = PROOFS.filter((key) => config.settings[key] !== undefined)
  if (first !== undefined && second !== undefined)
    diagnostics.push(settingProblem(config, second, `there is ${first} too: remove one of them`))
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  const own = endpointOfBaseUrl(config, 'base_url', baseUrlOf(config))
  return config.settings['token'] === undefined
    ? [...own, ...endpointOfBaseUrl(config, 'token_url', tokenUrlOf(config, config.settings['tenant']))]
    : own
}

/** Creates the provider. The metadata service is asked without a proxy. */
async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const { env } = context.secrets
  const diagnostics: Diagnostic[] = []
  const baseUrl = checkBaseUrl(config, baseUrlOf(config), BASE_URL, diagnostics)
  const subscription = settings['subscription'] ?? (env['AZURE_SUBSCRIPTION_ID'] || undefined)
  if (typeof subscription !== 'string' || !/^[0-9a-fA-F-]{36}$/.test(subscription)) {
    const message = subscription === undefined ? 'AZURE_SUBSCRIPTION_ID is not set' : 'is no identifier of a subscription'
    diagnostics.push(settingProblem(config, 'subscription', message, 'az account show --query id -o tsv prints it'))
  }
  // CI services set variables without a value to an empty text.
  const tenant = settings['tenant'] ?? (env['AZURE_TENANT_ID'] || undefined)
  const endpoint = readTokenUrl(config, tenant, diagnostics)
  const credentials = await readCredentials(config, context, tenant, diagnostics)
  if (baseUrl === null || endpoint === null || credentials === null || diagnostics.some(({ severity }) => severity === 'error'))
    return { provider: null, diagnostics }
  const connection = apiConnection(config, context, { baseUrl, token: '', parallelism: DEFAULT_PARALLELISM }, diagnostics)
  const tokenConnection = apiConnection(config, context, { baseUrl: endpoint, token: '', parallelism: 1 }, diagnostics)
  if (connection === null || tokenConnection === null) return { provider: null, diagnostics }
  const signIn = createSignIn(credentials, credentials.kind === 'machine' ? { ...tokenConnection, proxy: null } : tokenConnection)
  const tokens = accessTokensOf(config, context, signIn)
  const scope = { subscription: String(subscription), resourceGroup: String(settings['resource_group']), visibility: visibilityOf(config) }
  const { createAzureProvider } = await import('./azure-provider.ts')
  return { provider: createAzureProvider(connection, tokens, scope), diagnostics }
}

/** The credentials that the config names, or those in the variables that Azure's own tools use. Null after an error was added to the diagnostics. */
async function readCredentials(
  config: ProviderConfig,
  context: ProviderContext,
  tenant: unknown,
  diagnostics: Diagnostic[],
): Promise<Credentials | null> {
  const { settings } = config
  const { env } = context.secrets
  const clientId = settings['client_id'] ?? (env['AZURE_CLIENT_ID'] || undefined)
  if (settings['token'] !== undefined) {
    const token = await resolveToken(config, 'token', context, diagnostics)
    return token === null ? null : { kind: 'token', token }
  }
  if (isMachine(config)) return { kind: 'machine', clientId: typeof settings['client_id'] === 'string' ? settings['client_id'] : null }
  for (const [key, value] of Object.entries({ tenant, client_id: clientId })) {
    if (typeof value !== 'string')
      diagnostics.push(settingProblem(config, key, `AZURE_${key.toUpperCase()} is not set`, `set it, or the setting ${key}`))
  }
  const variable = env['AZURE_CLIENT_SECRET']
    ? 'env:AZURE_CLIENT_SECRET'
    : env['AZURE_FEDERATED_TOKEN_FILE']
      ? `file:${env['AZURE_FEDERATED_TOKEN_FILE']}`
      : undefined
  const key =
    settings['client_assertion'] !== undefined || (settings['client_secret'] === undefined && variable?.startsWith('file:'))
      ? 'client_assertion'
      : 'client_secret'
  const reference = settings[key] ?? variable ?? 'env:AZURE_CLIENT_SECRET'
  const secrets = { ...context.secrets, anyFile: settings[key] === undefined }
  const value = await resolveToken({ ...config, settings: { ...settings, [key]: reference } }, key, { ...context, secrets }, diagnostics)
  if (value === null || typeof tenant !== 'string' || typeof clientId !== 'string') return null
  return { kind: 'application', clientId, proof: key === 'client_secret' ? { secret: value } : { assertion: value } }
}
