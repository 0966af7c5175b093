/** The settings of a Gandi provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { GANDI_CAPABILITIES } from './capabilities.ts'

export const GANDI: ProviderType = tokenProviderType({
  capabilities: GANDI_CAPABILITIES,
  baseUrl: 'https://api.gandi.net/v5/livedns',
  secrets: { token: 'GANDI_TOKEN' },
  createProvider: async (connection) => (await import('./gandi-provider.ts')).createGandiProvider(connection),
})
