/** Creates a cloud provider from its settings in the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, resolveToken } from '../api-settings.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { CLOUD_CAPABILITIES } from './capabilities.ts'
import type { CloudInstance } from './inventory.ts'

/** A known instance of the API. */
interface Preset extends CloudInstance {
  readonly address: string
}

/** Presets by the name that a config may use instead of an address. */
const PRESETS: ReadonlyMap<string, Preset> = new Map([
  [
    'linode',
    {
      address: 'https://api.linode.com/v4',
      paths: { instances: '/linode/instances', loadbalancers: '/nodebalancers' },
      // From its documentation of "Import a domain".
      transferAddresses: ['96.126.114.97', '96.126.114.98', '2600:3c00::5e', '2600:3c00::5f'],
    },
  ],
])

export const CLOUD_PRESETS: readonly string[] = [...PRESETS.keys()]

const DEFAULT_PARALLELISM = 8

/** The provider type for the cloud API. */
export const CLOUD: ProviderType = {
  capabilities: CLOUD_CAPABILITIES,
  checkSettings,
  endpoints,
  create,
  async readListing(items, { name }) {
    const [{ recordShape }, { recordFromApi }] = await Promise.all([import('./api-responses.ts'), import('./record-codec.ts')])
    return { records: items.map((item) => recordFromApi(recordShape(item), name)) }
  },
}

const presetOf = ({ settings }: ProviderConfig): Preset | undefined => PRESETS.get(String(settings['preset']))

const addressOf = (config: ProviderConfig): unknown => config.settings['base_url'] ?? presetOf(config)?.address

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  readBaseUrl(config, addressOf(config), diagnostics)
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  return endpointOfBaseUrl(config, config.settings['base_url'] === undefined ? 'preset' : 'base_url', addressOf(config))
}

/** The checked address; null after an error was added to the diagnostics. */
function readBaseUrl(config: ProviderConfig, address: unknown, diagnostics: Diagnostic[]): URL | null {
  if (address !== undefined) return checkBaseUrl(config, address, 'https://api.example.com/v4', diagnostics)
  const hint = `give base_url, or preset: ${[...PRESETS.keys()].join(' or ')}`
  diagnostics.push(settingProblem(config, 'base_url', 'is missing', hint, 'schema-missing-key'))
  return null
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const diagnostics: Diagnostic[] = []
  const preset = presetOf(config)
  const baseUrl = readBaseUrl(config, addressOf(config), diagnostics)
  if (baseUrl === null) return { provider: null, diagnostics }
  const token = await resolveToken(config, 'token', context, diagnostics)
  if (token === null) return { provider: null, diagnostics }
  const connection = apiConnection(config, context, { baseUrl, token, parallelism: DEFAULT_PARALLELISM }, diagnostics)
  const { createCloudProvider } = await import('./cloud-provider.ts')
  return { provider: connection && createCloudProvider(connection, preset), diagnostics }
}
