import type { ProviderConfig } from '../definition/config/config.ts'
import { didYouMean } from '../definition/parse/suggest.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { type HostPolicy, readHostPolicy } from '../transport/allowed-hosts.ts'
import { CLOUD } from './cloud/cloud-config.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from './provider.ts'
import { withoutSecretsInErrors } from './without-secrets.ts'

/** Every type of provider, one line each. */
const TYPES: Readonly<Record<string, ProviderType>> = {
  cloud: CLOUD,
}

const typeOf = (name: string): ProviderType | null => (Object.hasOwn(TYPES, name) ? (TYPES[name] ?? null) : null)

/** What all providers of a type have in common, without making one, which needs its secrets; null for a type that there is not. */
export const capabilitiesOf = (type: string): Capabilities | null => typeOf(type)?.capabilities ?? null

export const PROVIDER_TYPES: readonly string[] = Object.keys(TYPES)

/** Every host that the provider contacts. Needs no secret. */
export const endpointsOf = (config: ProviderConfig): readonly ProviderEndpoint[] => typeOf(config.type)?.endpoints(config) ?? []

/** An error for each host of the provider that the policy refuses. */
export const refusedEndpoints = (config: ProviderConfig, policy: HostPolicy): Diagnostic[] =>
  endpointsOf(config).flatMap(({ setting, endpoint, at }) => policy.check(setting, endpoint, at) ?? [])

/** Makes the provider that an entry of the config describes. Opens no connection; reads a secret only if every host may be contacted. */
export async function createProvider(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const type = typeOf(config.type)
  if (type !== null) {
    const refused = refusedEndpoints(config, readHostPolicy(context.secrets.env))
    if (refused.length > 0) return { provider: null, diagnostics: refused }
    const made = await type.create(config, context)
    return made.provider === null ? made : { ...made, provider: withoutSecretsInErrors(made.provider, context.secrets.loaded) }
  }
  const message = `providers.${config.name}: there is no provider type ${JSON.stringify(config.type)}`
  const hint = didYouMean(config.type, PROVIDER_TYPES) ?? `types are ${PROVIDER_TYPES.join(', ')}`
  return { provider: null, diagnostics: [{ severity: 'error', code: 'provider-unknown', message, at: config.placeOf('type'), hint }] }
}
