/** The settings of a Hetzner provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { HETZNER_CAPABILITIES } from './capabilities.ts'

export const HETZNER: ProviderType = tokenProviderType({
  capabilities: HETZNER_CAPABILITIES,
  baseUrl: 'https://api.hetzner.cloud/v1',
  secrets: { token: 'HETZNER_TOKEN' },
  // Calls wait for their actions most of the time.
  parallelism: 16,
  createProvider: async (connection) => (await import('./hetzner-provider.ts')).createHetznerProvider(connection),
})
