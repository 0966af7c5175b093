/** Creates a dynamic-update provider from its settings in the config. */
import type { ProviderConfig } from '../../definition/config/config.ts'
import { checkNameServer, nameServerEndpoints, readNameServer } from '../name-server-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderType } from '../provider.ts'
import { RFC2136_CAPABILITIES } from './capabilities.ts'
import { createRfc2136Provider } from './rfc2136-provider.ts'

export const RFC2136: ProviderType = {
  capabilities: RFC2136_CAPABILITIES,
  checkSettings: checkNameServer,
  endpoints: nameServerEndpoints,
  create,
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { server, diagnostics } = await readNameServer(config, context)
  return { provider: server && createRfc2136Provider(server), diagnostics }
}
