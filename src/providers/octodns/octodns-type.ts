/** The provider type `octodns`: a folder of octoDNS's zone files (`directory`), or any provider class of octoDNS (`class`). */
import type { ProviderConfig } from '../../config/config.ts'
import { pathsOfOptions } from '../bridge-options.ts'
import type { ProviderType, StarterText } from '../provider.ts'
import { OCTODNS_CAPABILITIES } from './capabilities.ts'
import { classCapabilities, featuresOf } from './class-capabilities.ts'
import { changesPerCall, checkClassSettings, createsZones } from './class-settings.ts'

const hasClass = ({ settings }: ProviderConfig): boolean => settings['class'] !== undefined

export const OCTODNS: ProviderType = {
  capabilities: OCTODNS_CAPABILITIES,
  capabilitiesFor: (config, facts) =>
    hasClass(config)
      ? classCapabilities({ changesPerCall: changesPerCall(config), createsZones: createsZones(config) }, featuresOf(facts))
      : OCTODNS_CAPABILITIES,
  checkSettings: (config) => (hasClass(config) ? checkClassSettings(config) : []),
  starter: { settings: {}, neededText: 'CLASS,OPTION=VARIABLE', read: readStarter },
  // A class does not say which hosts it contacts.
  endpoints: () => [],
  paths: (config) => (hasClass(config) ? pathsOfOptions(config) : [{ setting: 'directory', path: String(config.settings['directory']) }]),
  async create(config, context) {
    if (hasClass(config)) return (await import('./class-config.ts')).createFromClass(config, context)
    return (await import('./octodns-provider.ts')).createFromFolder(config, context)
  },
}

/** `CLASS,OPTION=VARIABLE,…`: the class, and the environment variables with its options. */
function readStarter(text: string): StarterText | null {
  const [className = '', ...options] = text.split(',')
  const pairs = options.map((option) => /^([A-Za-z_][A-Za-z0-9_]*)=([A-Za-z_][A-Za-z0-9_]*)$/.exec(option))
  if (!/^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(className) || pairs.includes(null)) return null
  const references = pairs.map((pair) => `${pair?.[1]}: 'env:${pair?.[2]}'`).join(', ')
  return {
    settings: `class: ${className}${references === '' ? '' : `, options: {${references}}`}`,
    variables: pairs.flatMap((pair) => pair?.[2] ?? []),
    allowed: className,
  }
}
