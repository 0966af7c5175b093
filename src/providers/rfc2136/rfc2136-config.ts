/** Creates a dynamic-update provider from its settings in the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { type DomainName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import { checkNameServer, nameServerEndpoints, readNameServer } from '../name-server-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { RFC2136_CAPABILITIES } from './capabilities.ts'

export const RFC2136: ProviderType = {
  capabilities: RFC2136_CAPABILITIES,
  checkSettings,
  endpoints: nameServerEndpoints,
  create,
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { server, diagnostics } = await readNameServer(config, context)
  const { catalog } = config.settings
  const { createRfc2136Provider } = await import('./rfc2136-provider.ts')
  return { provider: server && createRfc2136Provider(server, catalog === undefined ? null : nameOf(catalog)), diagnostics }
}

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const { catalog } = config.settings
  const problems = checkNameServer(config)
  if (catalog === undefined || nameOf(catalog) !== null) return problems
  return [...problems, settingProblem(config, 'catalog', `${JSON.stringify(catalog)} is not a domain name`)]
}

function nameOf(setting: unknown): DomainName | null {
  const text = String(setting)
  const name = parseAbsoluteName(text.endsWith('.') ? text : `${text}.`)
  return name.ok && name.value !== ROOT ? name.value : null
}
