/** The providers of a config, or every type, with their capabilities. Contacts no server. */
import type { Config } from '../config/config.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { capabilitiesOf, capabilitiesOfType, PROVIDER_TYPES } from '../providers/registry.ts'

export interface ListedProvider {
  /** Its name in the config; null for a type. */
  readonly name: string | null
  readonly type: string
  readonly capabilities: Capabilities
}

/** The providers with these names, or all, in the order of the config. `config` comes from `loadRunConfig`, so every type exists. */
export function configuredProviders({ providers }: Config, names: readonly string[]): readonly ListedProvider[] {
  const wanted = names.length === 0 ? [...providers.keys()] : names
  return wanted.flatMap((name) => {
    const entry = providers.get(name)
    const capabilities = capabilitiesOf(entry)
    return entry === undefined || capabilities === null ? [] : [{ name, type: entry.type, capabilities }]
  })
}

/** The capabilities of a provider of the config, as far as they are known without contact; null if its type comes from a package that is not loaded. */
export const knownCapabilities =
  ({ providers }: Config) =>
  (name: string): Capabilities | null =>
    capabilitiesOf(providers.get(name))

/** Every type of provider except those of packages, sorted. */
export const allProviderTypes = (): readonly ListedProvider[] =>
  [...PROVIDER_TYPES].sort().map((type) => ({ name: null, type, capabilities: capabilitiesOfType(type) }))
