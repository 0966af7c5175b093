/** The provider type `lexicon`: a service of dns-lexicon. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { pathsOfOptions } from '../bridge-options.ts'
import type { ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { lexiconCapabilities } from './capabilities.ts'
import { lexiconService } from './services.ts'

const serviceOf = ({ settings }: ProviderConfig) => lexiconService(String(settings['provider']))

export const LEXICON: ProviderType = {
  capabilities: lexiconCapabilities(lexiconService('')),
  capabilitiesFor: (config) => lexiconCapabilities(serviceOf(config)),
  checkSettings,
  // dns-lexicon does not say which hosts it contacts.
  endpoints: () => [],
  paths: pathsOfOptions,
  create: async (config, context) => (await import('./lexicon-provider.ts')).createLexicon(config, context),
}

function checkSettings(config: ProviderConfig): Diagnostic[] {
  const { provider, options = {} } = config.settings
  if (provider === 'auto')
    return [
      settingProblem(config, 'provider', 'auto guesses the service from answers of name servers', 'name the service', 'provider-class'),
    ]
  if (serviceOf(config).onlyCreates !== undefined || !Object.hasOwn(options as object, 'zone_id')) return []
  const hint = 'leave it out: dns-lexicon finds the zone by its name'
  return [settingProblem(config, 'options.zone_id', 'names one zone, which dns-lexicon would take for every other', hint, 'provider-class')]
}
