/** The settings of a deSEC provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { desecCapabilities, minimumTtlsOf } from './capabilities.ts'

export const DESEC: ProviderType = tokenProviderType({
  capabilities: desecCapabilities(() => null),
  capabilitiesFor: (_, facts) => desecCapabilities(minimumTtlsOf(facts)),
  baseUrl: 'https://desec.io/api/v1',
  secrets: { token: 'DESEC_TOKEN' },
  createProvider: async (connection) => (await import('./desec-provider.ts')).createDesecProvider(connection),
})
