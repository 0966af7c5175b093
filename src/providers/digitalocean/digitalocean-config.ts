/** The settings of a DigitalOcean provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { DIGITALOCEAN_CAPABILITIES } from './capabilities.ts'

export const DIGITALOCEAN: ProviderType = tokenProviderType({
  capabilities: DIGITALOCEAN_CAPABILITIES,
  baseUrl: 'https://api.digitalocean.com/v2',
  secrets: { token: 'DIGITALOCEAN_TOKEN' },
  createProvider: async (connection) => (await import('./digitalocean-provider.ts')).createDigitalOceanProvider(connection),
})
