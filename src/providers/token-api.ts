/** Types of providers whose service has one address and takes a token: the settings `base_url`, `timeout`, `parallelism` and one for the token. */
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
  /** The setting that refers to the token. */
  readonly tokenKey: string
  /** The usual environment variable with the token. */
  readonly tokenVariable: string
  /** Maximum concurrent requests without the setting; 4 if absent. */
  readonly parallelism?: number
  readonly createProvider: (connection: ApiConnection, settings: ProviderConfig['settings']) => Promise<Provider>
}

export function tokenProviderType({
  capabilities,
  capabilitiesFor,
  baseUrl: standard,
  tokenKey,
  tokenVariable,
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
    starter: { settings: { [tokenKey]: `env:${tokenVariable}` } },
    endpoints: (config) => endpointOfBaseUrl(config, 'base_url', addressOf(config)),
    async create(config, context) {
      const diagnostics: Diagnostic[] = []
      const baseUrl = checkBaseUrl(config, addressOf(config), standard, diagnostics)
      const token = await resolveToken(config, tokenKey, context, diagnostics)
      if (baseUrl === null || token === null) return { provider: null, diagnostics }
      const connection = apiConnection(config, context, { baseUrl, token, parallelism }, diagnostics)
      if (connection === null) return { provider: null, diagnostics }
      return { provider: await createProvider(connection, config.settings), diagnostics }
    },
  }
}
