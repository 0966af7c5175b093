/** The settings of a provider that names a provider class of octoDNS, without starting it. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { textsOfOptions } from '../bridge-options.ts'
import { DEFAULT_CHANGES_PER_CALL } from './class-capabilities.ts'

/** Classes that create a missing zone when they apply. octoDNS has no feature that says so. */
const CREATES_ZONES: ReadonlySet<string> = new Set([
  'octodns.provider.yaml.YamlProvider',
  'octodns_cloudflare.CloudflareProvider',
  'octodns_powerdns.PowerDnsProvider',
  'octodns_route53.Route53Provider',
])

export const createsZones = ({ settings }: ProviderConfig): boolean =>
  (settings['creates_zones'] as boolean | undefined) ?? CREATES_ZONES.has(String(settings['class']))

export const changesPerCall = ({ settings }: ProviderConfig): number => Number(settings['changes_per_call'] ?? DEFAULT_CHANGES_PER_CALL)

/** Classes with which nothing can be compared: as targets they read nothing. */
const WRITE_ONLY: Readonly<Record<string, string>> = {
  'octodns_bind.ZoneFileProvider': 'it never reads the files that it writes',
  'octodns_bind.ZoneFileSource': 'it never reads the files that it writes',
}

export function checkClassSettings(config: ProviderConfig): readonly Diagnostic[] {
  const className = String(config.settings['class'])
  const diagnostics: Diagnostic[] = []
  const why = WRITE_ONLY[className]
  if (why !== undefined)
    diagnostics.push({
      severity: 'error',
      code: 'provider-class',
      message: `providers.${config.name}.class: ${className} cannot be a target: ${why}`,
      at: config.placeOf('class'),
      hint: 'use the provider type zonefile',
    })
  for (const { path, text } of textsOfOptions(config.settings['options']))
    if (/^env\/[A-Za-z_]/.test(text))
      diagnostics.push({
        severity: 'error',
        code: 'secret-missing',
        message: `providers.${[config.name, 'options', ...path].join('.')}: the reference has the syntax of octoDNS`,
        at: config.placeOf('options', ...path),
        hint: 'write env:NAME',
      })
  return diagnostics
}
