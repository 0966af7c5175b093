/** The provider type `octodns`: a folder of octoDNS's zone files (`directory`), or any provider class of octoDNS (`class`). */
import type { ProviderConfig } from '../../definition/config/config.ts'
import type { ProviderType } from '../provider.ts'
import { OCTODNS_CAPABILITIES } from './capabilities.ts'
import { classCapabilities } from './class-capabilities.ts'
import { changesPerCall, checkClassSettings, createsZones } from './class-settings.ts'
import { createFromFolder } from './octodns-provider.ts'

const hasClass = ({ settings }: ProviderConfig): boolean => settings['class'] !== undefined

export const OCTODNS: ProviderType = {
  capabilities: OCTODNS_CAPABILITIES,
  capabilitiesFor: (config) =>
    hasClass(config)
      ? classCapabilities({ changesPerCall: changesPerCall(config), createsZones: createsZones(config) })
      : OCTODNS_CAPABILITIES,
  checkSettings: (config) => (hasClass(config) ? checkClassSettings(config) : []),
  // A class does not say which hosts it contacts.
  endpoints: () => [],
  async create(config, context) {
    if (!hasClass(config)) return createFromFolder(config, context)
    const { createFromClass } = await import('./class-config.ts')
    return createFromClass(config, context)
  },
}
