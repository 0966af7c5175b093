/** The settings of a Cloudflare provider. */
import type { ProviderConfig } from '../../config/config.ts'
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'

/** The strictest limits hold for every zone. */
const DEFAULT_PLAN: CloudflarePlan = 'free'

const planOf = ({ plan }: ProviderConfig['settings']): CloudflarePlan => (plan as CloudflarePlan | undefined) ?? DEFAULT_PLAN
const accountOf = ({ account_id: account }: ProviderConfig['settings']): string | null => (account as string | undefined) ?? null

export const CLOUDFLARE: ProviderType = {
  ...tokenProviderType({
    capabilities: cloudflareCapabilities(DEFAULT_PLAN, false),
    capabilitiesFor: (settings) => cloudflareCapabilities(planOf(settings), accountOf(settings) !== null),
    baseUrl: 'https://api.cloudflare.com/client/v4',
    secrets: { token: 'CLOUDFLARE_TOKEN' },
    async createProvider(connection, settings) {
      const { createCloudflareProvider } = await import('./cloudflare-provider.ts')
      return createCloudflareProvider(connection, planOf(settings), accountOf(settings))
    },
  }),
  async readListing(items, { name }) {
    const [{ recordShape }, { existingRecords, liveRecord }] = await Promise.all([import('./cloudflare-api.ts'), import('./live-zone.ts')])
    return { records: existingRecords(items.map((item) => liveRecord(recordShape(item), name))) }
  },
}
