/** Creates a provider from settings that name a provider class of octoDNS. */
import { isError } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { startBridge } from '../bridge-config.ts'
import type { CreatedProvider, ProviderContext } from '../provider.ts'
import { readFeatures } from './class-capabilities.ts'
import { errorOfResponse, problemOfStart } from './class-errors.ts'
import { createClassProvider } from './class-provider.ts'
import { changesPerCall, checkClassSettings, createsZones } from './class-settings.ts'

export async function createFromClass(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings, name } = config
  const className = String(settings['class'])
  const diagnostics = checkClassSettings(config)
  if (diagnostics.some(isError)) return { provider: null, diagnostics }
  const bridge = await startBridge(config, context, {
    subject: className,
    setting: 'class',
    code: className,
    environment: (settings['environment'] as readonly string[] | undefined) ?? [],
    start: { class: className },
    needs: 'octoDNS',
    timeoutHint: 'raise "timeout", or lower "changes_per_call", in the settings of the provider',
    errorOf: errorOfResponse,
    problemOf: (error) => problemOfStart(config, className, error),
  })
  if (!('session' in bridge)) return { provider: null, diagnostics: bridge }
  const { session, timeout, redact, digest } = bridge
  const features = readFeatures(className, bridge.features)
  if (features === null) {
    await session.close()
    const message = `providers.${name}: the class says nothing about itself`
    return { provider: null, diagnostics: [{ severity: 'error', code: 'provider-class', message }] }
  }
  const provider = createClassProvider({
    provider: name,
    className,
    address: `octodns:${className}#${digest}`,
    features,
    session,
    redact,
    timeout,
    changesPerCall: changesPerCall(config),
    createsZones: createsZones(config) && !features.isSource,
  })
  return { provider, diagnostics: [] }
}
