/** The settings of an OVHcloud provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { OVH_CAPABILITIES } from './capabilities.ts'

export const OVH: ProviderType = tokenProviderType({
  capabilities: OVH_CAPABILITIES,
  baseUrl: 'https://eu.api.ovh.com/1.0',
  secrets: { application_key: 'OVH_APPLICATION_KEY', consumer_key: 'OVH_CONSUMER_KEY', application_secret: 'OVH_APPLICATION_SECRET' },
  createProvider: async (connection, _, secrets) => (await import('./ovh-provider.ts')).createOvhProvider(connection, secrets),
})
