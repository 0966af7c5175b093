/** The zones of a dnsconfig.js as definitions. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import { splitSoa } from '../../dns/soa.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../../dns/zone.ts'
import type { LoadedProgram, ProgramZone } from '../../load/program-loader.ts'
import { removeDuplicateRecords } from '../../load/zone-file-definition.ts'
import type { JsonObject } from '../../programs/dnscontrol/json-object.ts'
import { freeName } from '../octodns/octodns-provider.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { type DnscontrolDomain, readConfiguration } from './read-intermediate.ts'

/**
 * The zones of a checked configuration. The names of its DNS providers are those of targets. What no definition can express stays as it is at the provider,
 * with a warning.
 */
export function programZones(config: JsonObject, file: string): Omit<LoadedProgram, 'files'> {
  const { domains, diagnostics } = readConfiguration(() => config, file)
  // The metadata of providers and registrars is for DNSControl.
  return {
    zones: domains.map((domain) => zoneOf(domain, { file, line: 1, column: 1 })),
    diagnostics: [...diagnostics.filter(({ code }) => code !== 'import-aside'), ...sharedTargets(domains)],
  }
}

/** Errors for different DNS providers that would be one target: zones would be changed at the provider of others. */
function sharedTargets(domains: readonly DnscontrolDomain[]): Diagnostic[] {
  const first = new Map<string, string>()
  return domains.flatMap(({ providers, at }) =>
    providers.flatMap((provider): Diagnostic[] => {
      const target = targetName(provider)
      const other = first.get(target) ?? provider
      first.set(target, other)
      if (other === provider) return []
      const message = `the DNS providers ${quoted(other)} and ${quoted(provider)} would both be ${target} in the config`
      return [{ severity: 'error', code: 'provider-unknown', message, at, hint: 'rename one of them in the program and in creds.json' }]
    }),
  )
}

function zoneOf(domain: DnscontrolDomain, start: SourcePosition): ProgramZone {
  const { name, providers, policy } = domain
  const all = domain.records.map((record) => ({ ...record, at: record.at ?? start }))
  const soa = all.find((record) => record.type === 'SOA' && record.name === name)
  const { records, diagnostics: repeats } = removeDuplicateRecords(all.filter((record) => record !== soa))
  const isIgnored = unmanagedTest(domain.unmanaged, name)
  const zone: DesiredZone = {
    ...DEFAULT_ZONE_OPTIONS,
    name,
    at: domain.at,
    ...(soa ? splitSoa(soa) : { settings: {} }),
    // DNSControl accepts them with DISABLE_IGNORE_SAFETY_CHECK.
    records: domain.disablesIgnoreCheck ? records.filter((record) => !isIgnored(record)) : records,
    unmanaged: domain.unmanaged,
    ...(policy && { policy }),
    targets: providers.map(targetName),
  }
  const invalid = domain.invalidRecords.map(
    ({ record, reason }): Diagnostic => ({
      severity: 'error',
      code: 'value-invalid',
      message: `${record.name} ${record.type} ${record.data}: ${reason}`,
      at: record.at,
    }),
  )
  return { zone, enabled: providers.length > 0, diagnostics: [...repeats, ...invalid, ...domain.dropped.flatMap(unsupported)] }
}

/** The name of a provider in the config: an import replaces characters that it cannot have. */
const targetName = (provider: string): string => freeName(provider, new Set())

/** A warning about what stays as it is at the provider. Metadata of records that only DNSControl's provider reads is left out. */
function unsupported({ zone, name, type, what, at, outcome, keepsRecords }: UnsupportedFeature): Diagnostic[] {
  if (name !== null && keepsRecords) return []
  const subject = [name ?? zone, type].filter((part) => part !== null).join(' ')
  const message = `${subject}: Zonewright cannot express ${what}`
  return [
    {
      severity: 'warning',
      code: keepsRecords ? 'record-extra' : 'type-foreign',
      message,
      at,
      hint: outcome ?? 'it stays as it is at the provider',
    },
  ]
}
