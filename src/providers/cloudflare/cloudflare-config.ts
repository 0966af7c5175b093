/** The settings of a Cloudflare provider. */
import type { ProviderType } from '../provider.ts'
import { tokenProviderType } from '../token-api.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'
import { createCloudflareProvider } from './cloudflare-provider.ts'

/** The strictest limits hold for every zone. */
const DEFAULT_PLAN: CloudflarePlan = 'free'

export const CLOUDFLARE: ProviderType = tokenProviderType({
  capabilities: cloudflareCapabilities(DEFAULT_PLAN),
  baseUrl: 'https://api.cloudflare.com/client/v4',
  tokenKey: 'token',
  tokenVariable: 'CLOUDFLARE_TOKEN',
  createProvider: (connection, { plan }) => createCloudflareProvider(connection, (plan as CloudflarePlan | undefined) ?? DEFAULT_PLAN),
})
