/** The settings of a Scaleway provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { SCALEWAY_CAPABILITIES } from './capabilities.ts'

export const SCALEWAY: ProviderType = tokenProviderType({
  capabilities: SCALEWAY_CAPABILITIES,
  baseUrl: 'https://api.scaleway.com/domain/v2beta1',
  secrets: { secret_key: 'SCW_SECRET_KEY' },
  async createProvider(connection, { project_id: project }) {
    const { createScalewayProvider } = await import('./scaleway-provider.ts')
    return createScalewayProvider(connection, project === undefined ? null : String(project))
  },
})
