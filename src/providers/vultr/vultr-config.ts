/** The settings of a Vultr provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { VULTR_CAPABILITIES } from './capabilities.ts'

export const VULTR: ProviderType = tokenProviderType({
  capabilities: VULTR_CAPABILITIES,
  baseUrl: 'https://api.vultr.com/v2',
  secrets: { api_key: 'VULTR_API_KEY' },
  createProvider: async (connection) => (await import('./vultr-provider.ts')).createVultrProvider(connection),
})
