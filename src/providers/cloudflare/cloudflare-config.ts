/** Creates a Cloudflare provider from its settings in the config. */
import type { ProviderConfig } from '../../definition/config/config.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, resolveToken } from '../api-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from '../provider.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'
import { createCloudflareProvider } from './cloudflare-provider.ts'

const BASE_URL = 'https://api.cloudflare.com/client/v4'
const DEFAULT_PARALLELISM = 4
/** The strictest limits hold for every zone. */
const DEFAULT_PLAN: CloudflarePlan = 'free'

export const CLOUDFLARE: ProviderType = { capabilities: cloudflareCapabilities(DEFAULT_PLAN), checkSettings, endpoints, create }

const addressOf = ({ settings }: ProviderConfig): unknown => settings['base_url'] ?? BASE_URL

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  checkBaseUrl(config, addressOf(config), BASE_URL, diagnostics)
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  return endpointOfBaseUrl(config, 'base_url', addressOf(config))
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const diagnostics: Diagnostic[] = []
  const baseUrl = checkBaseUrl(config, addressOf(config), BASE_URL, diagnostics)
  const token = await resolveToken(config, 'token', context, diagnostics)
  if (baseUrl === null || token === null) return { provider: null, diagnostics }
  const connection = apiConnection(config, context, { baseUrl, token, parallelism: DEFAULT_PARALLELISM }, diagnostics)
  if (connection === null) return { provider: null, diagnostics }
  return { provider: createCloudflareProvider(connection, (settings['plan'] as CloudflarePlan | undefined) ?? DEFAULT_PLAN), diagnostics }
}
