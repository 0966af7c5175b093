/** The settings of a Porkbun provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { PORKBUN_CAPABILITIES } from './capabilities.ts'

export const PORKBUN: ProviderType = tokenProviderType({
  capabilities: PORKBUN_CAPABILITIES,
  baseUrl: 'https://api.porkbun.com/api/json/v3',
  secrets: { api_key: 'PORKBUN_API_KEY', secret_api_key: 'PORKBUN_SECRET_API_KEY' },
  // It answers about one request in a second.
  parallelism: 1,
  createProvider: async (connection, _, { api_key: apiKey = '' }) =>
    (await import('./porkbun-provider.ts')).createPorkbunProvider(connection, apiKey),
})
