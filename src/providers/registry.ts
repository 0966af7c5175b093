import type { ProviderConfig } from '../definitions/config.ts'
import { didYouMean } from '../formats/definition/suggest.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { CLOUD_CAPABILITIES } from './cloud/capabilities.ts'
import { cloudFromConfig } from './cloud/cloud-config.ts'
import type { MadeProvider, ProviderContext, ProviderFactory } from './provider.ts'

/** Every kind of provider, one line each. */
const FACTORIES: Readonly<Record<string, ProviderFactory>> = {
  cloud: cloudFromConfig,
}

const CAPABILITIES: Readonly<Record<string, Capabilities>> = {
  cloud: CLOUD_CAPABILITIES,
}

/** What all providers of a type have in common, without making one, which needs its secrets; null for a type that there is not. */
export const capabilitiesOf = (type: string): Capabilities | null =>
  Object.hasOwn(CAPABILITIES, type) ? (CAPABILITIES[type] ?? null) : null

export const PROVIDER_TYPES: readonly string[] = Object.keys(FACTORIES)

/** Makes the provider that an entry of the config describes. Opens no connection. */
export async function createProvider(config: ProviderConfig, context: ProviderContext): Promise<MadeProvider> {
  const factory = Object.hasOwn(FACTORIES, config.type) ? FACTORIES[config.type] : undefined
  if (factory) return factory(config, context)
  const message = `providers.${config.name}: there is no provider type ${JSON.stringify(config.type)}`
  const hint = didYouMean(config.type, PROVIDER_TYPES) ?? `types are ${PROVIDER_TYPES.join(', ')}`
  return { provider: null, diagnostics: [{ severity: 'error', code: 'provider-unknown', message, at: config.placeOf('type'), hint }] }
}
