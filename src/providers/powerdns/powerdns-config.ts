/** Creates a PowerDNS provider from its settings in the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, resolveToken } from '../api-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from '../provider.ts'
import { POWERDNS_CAPABILITIES, powerDnsCapabilities } from './capabilities.ts'
import type { NewZones } from './change-zone.ts'

const DEFAULT_PARALLELISM = 4
const EXAMPLE_URL = 'http://127.0.0.1:8081'

export const POWERDNS: ProviderType = {
  capabilities: POWERDNS_CAPABILITIES,
  capabilitiesFor: (config) => powerDnsCapabilities(readNameservers(config, [])),
  checkSettings,
  endpoints,
  create,
}

/** The settings under `new_zones`, with the names that the API gives them. */
interface NewZoneSettings {
  readonly kind?: NewZones['kind']
  readonly nameservers?: readonly string[]
  readonly soa_edit_api?: string
  readonly account?: string
  readonly master_tsig_key_ids?: readonly string[]
  readonly slave_tsig_key_ids?: readonly string[]
}

const newZoneSettings = ({ settings }: ProviderConfig): NewZoneSettings => (settings['new_zones'] as NewZoneSettings | undefined) ?? {}

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  checkBaseUrl(config, config.settings['base_url'], EXAMPLE_URL, diagnostics)
  readNameservers(config, diagnostics)
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  return endpointOfBaseUrl(config, 'base_url', config.settings['base_url'])
}

function readNameservers(config: ProviderConfig, diagnostics: Diagnostic[]): DomainName[] {
  return (newZoneSettings(config).nameservers ?? []).flatMap((text, index) => {
    const name = parseAbsoluteName(text)
    if (name.ok) return [name.value]
    diagnostics.push({
      severity: 'error',
      code: 'schema-value',
      message: `providers.${config.name}.new_zones.nameservers: ${JSON.stringify(text)} ${name.message}`,
      at: config.placeOf('new_zones', 'nameservers', String(index)),
    })
    return []
  })
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const diagnostics: Diagnostic[] = []
  const baseUrl = checkBaseUrl(config, settings['base_url'], EXAMPLE_URL, diagnostics)
  const nameservers = readNameservers(config, diagnostics)
  const token = await resolveToken(config, 'api_key', context, diagnostics)
  if (baseUrl === null || token === null) return { provider: null, diagnostics }
  // The path of the API is added to the address. With it, the address would be a copy from the documentation of PowerDNS.
  baseUrl.pathname = baseUrl.pathname.replace(/\/(?:api(?:\/v1)?\/?)?$/, '')
  const connection = apiConnection(config, context, { baseUrl, token, parallelism: DEFAULT_PARALLELISM }, diagnostics)
  if (connection === null) return { provider: null, diagnostics }
  const given = newZoneSettings(config)
  const { createPowerDnsProvider } = await import('./powerdns-provider.ts')
  const provider = createPowerDnsProvider(connection, {
    server: String(settings['server'] ?? 'localhost'),
    notifies: settings['notify'] === true,
    nameservers,
    newZones: {
      kind: given.kind ?? 'Master',
      soaEditApi: given.soa_edit_api ?? null,
      account: given.account ?? null,
      primaryKeys: given.master_tsig_key_ids ?? [],
      secondaryKeys: given.slave_tsig_key_ids ?? [],
    },
  })
  return { provider, diagnostics }
}
