/** The provider type `lexicon`: a service of dns-lexicon. */
import type { ProviderConfig } from '../../config/config.ts'
import type { ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { lexiconCapabilities } from './capabilities.ts'
import { lexiconService } from './services.ts'

const serviceOf = ({ settings }: ProviderConfig) => lexiconService(String(settings['provider']))

export const LEXICON: ProviderType = {
  capabilities: lexiconCapabilities(lexiconService('')),
  capabilitiesFor: (config) => lexiconCapabilities(serviceOf(config)),
  checkSettings: (config) =>
    config.settings['provider'] === 'auto'
      ? [settingProblem(config, 'provider', 'auto guesses the service from answers of name servers', 'name the service', 'provider-class')]
      : [],
  // dns-lexicon does not say which hosts it contacts.
  endpoints: () => [],
  create: async (config, context) => (await import('./lexicon-provider.ts')).createLexicon(config, context),
}
