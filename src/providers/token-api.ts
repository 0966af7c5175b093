/** Types of providers whose service has one address and takes a token or a few keys: the settings `base_url`, `timeout`, `parallelism` and one for each of these. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, resolveToken } from './api-settings.ts'
import type { ApiConnection } from './json-api.ts'
import type { CapabilityFacts, Provider, ProviderType } from './provider.ts'

const DEFAULT_PARALLELISM = 4

export interface TokenApi {
  readonly capabilities: Capabilities
  /** The capabilities with these settings; absent if they do not depend on them. */
  readonly capabilitiesFor?: (settings: ProviderConfig['settings'], facts?: CapabilityFacts) => Capabilities
  /** The address of the service, for configs without `base_url`. */
  readonly baseUrl: string
  /** The settings that refer to secrets, each with its usual environment variable. The last one is the token of the connection. */
  readonly secrets: Readonly<Record<string, string>>
  /** Maximum concurrent requests without the setting; 4 if absent. */
  readonly parallelism?: number
  /** `secrets`: their values by setting. */
  readonly createProvider: (
    connection: ApiConnection,
    settings: ProviderConfig['settings'],
    secrets: Readonly<Record<string, string>>,
  ) => Promise<Provider>
}

export function tokenProviderType({
  capabilities,
  capabilitiesFor,
  baseUrl: standard,
  secrets: variables,
  parallelism = DEFAULT_PARALLELISM,
  createProvider,
}: TokenApi): ProviderType {
  const addressOf = ({ settings }: ProviderConfig): unknown => settings['base_url'] ?? standard
  return {
    capabilities,
    ...(capabilitiesFor && { capabilitiesFor: ({ settings }, facts) => capabilitiesFor(settings, facts) }),
    checkSettings(config) {
      const diagnostics: Diagnostic[] = []
      checkBaseUrl(config, addressOf(config), standard, diagnostics)
      return diagnostics
    },
    starter: { settings: Object.fromEntries(Object.entries(variables).map(([key, variable]) => [key, `env:${variable}`])) },
    endpoints: (config) => endpointOfBaseUrl(config, 'base_url', addressOf(config)),
    async create(config, context) {
      const diagnostics: Diagnostic[] = []
      const baseUrl = checkBaseUrl(config, addressOf(config), standard, diagnostics)
      const secrets: Record<string, string> = {}
      let token: string | null = null
      for (const key of Object.keys(variables)) {
        token = await resolveToken(config, key, context, diagnostics)
        if (token !== null) secrets[key] = token
      }
      if (baseUrl === null || token === null) return { provider: null, diagnostics }
      const connection = apiConnection(config, context, { baseUrl, token, parallelism }, diagnostics)
      if (connection === null) return { provider: null, diagnostics }
      return { provider: await createProvider(connection, config.settings, secrets), diagnostics }
    },
  }
}
