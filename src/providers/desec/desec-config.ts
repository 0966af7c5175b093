/** The settings of a deSEC provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { desecCapabilities, minimumTtlsOf } from './capabilities.ts'
import { createDesecProvider } from './desec-provider.ts'

export const DESEC: ProviderType = tokenProviderType({
  capabilities: desecCapabilities(() => null),
  capabilitiesFor: (_, facts) => desecCapabilities(minimumTtlsOf(facts)),
  baseUrl: 'https://desec.io/api/v1',
  tokenKey: 'token',
  tokenVariable: 'DESEC_TOKEN',
  createProvider: (connection) => createDesecProvider(connection),
})
