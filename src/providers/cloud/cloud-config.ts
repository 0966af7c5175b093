/** Creates a cloud provider from its settings in the config. */
import type { ProviderConfig } from '../../definition/config/config.ts'
import { resolveSecret } from '../../definition/config/resolve-secret.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { endpointOfUrl, isLoopback } from '../../transport/allowed-hosts.ts'
import type { CreatedProvider, ProviderContext, ProviderEndpoint, ProviderType } from '../provider.ts'
import { CLOUD_CAPABILITIES } from './capabilities.ts'
import { type CloudInstance, createCloudProvider } from './cloud-provider.ts'

/** A known instance of the API. */
interface Preset extends CloudInstance {
  readonly address: string
}

/** Presets by the name that a config may use instead of an address. */
const PRESETS: ReadonlyMap<unknown, Preset> = new Map([
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

const DEFAULT_PARALLELISM = 8
const DEFAULT_TIMEOUT_SECONDS = 30

/** The provider type for the cloud API. */
export const CLOUD: ProviderType = { capabilities: CLOUD_CAPABILITIES, checkSettings, endpoints, create }

const addressOf = ({ settings }: ProviderConfig): unknown => settings['base_url'] ?? PRESETS.get(settings['preset'])?.address

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  readBaseUrl(config, addressOf(config), diagnostics)
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  const key = config.settings['base_url'] === undefined ? 'preset' : 'base_url'
  const url = parseUrl(addressOf(config))
  if (url === null || !isHttp(url)) return []
  return [{ setting: `providers.${config.name}.${key}`, endpoint: endpointOfUrl(url), at: config.placeOf(key) }]
}

/** Creates the provider from its settings: `base_url` or `preset`, `token`, `parallelism`, and `timeout` in seconds, for a change or for a read with its retries. */
async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const diagnostics: Diagnostic[] = []
  const preset = PRESETS.get(settings['preset'])
  const baseUrl = readBaseUrl(config, addressOf(config), diagnostics)
  if (baseUrl === null) return { provider: null, diagnostics }
  const secret = await resolveSecret(
    String(settings['token'] ?? ''),
    `providers.${config.name}.token`,
    config.placeOf('token'),
    context.secrets,
  )
  if (secret.diagnostic) diagnostics.push(secret.diagnostic)
  const token = secret.value ?? ''
  if (/[^\x21-\x7e]/.test(token)) {
    const message = `providers.${config.name}.token: the token has spaces or non-ASCII characters, which no token has`
    diagnostics.push({ severity: 'error', code: 'secret-missing', message, at: config.placeOf('token') })
  }
  if (diagnostics.some((diagnostic) => diagnostic.severity === 'error')) return { provider: null, diagnostics }
  const timeout = Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000
  const provider = createCloudProvider(
    {
      provider: config.name,
      baseUrl,
      token,
      parallelism: context.parallelism ?? Number(settings['parallelism'] ?? DEFAULT_PARALLELISM),
      timeout,
      // One attempt of a read may take half the time, which leaves time for another.
      readTimeout: timeout / 2,
      readDeadline: timeout,
      onThrottled: context.onThrottled && ((milliseconds) => context.onThrottled?.(config.name, milliseconds)),
    },
    preset,
  )
  return { provider, diagnostics }
}

function readBaseUrl(config: ProviderConfig, address: unknown, diagnostics: Diagnostic[]): URL | null {
  const refuse = (code: Diagnostic['code'], problem: string, hint?: string): null => {
    diagnostics.push({
      severity: 'error',
      code,
      message: `providers.${config.name}.base_url: ${problem}`,
      at: config.placeOf('base_url'),
      hint,
    })
    return null
  }
  if (address === undefined)
    return refuse('schema-missing-key', 'is missing', `give base_url, or preset: ${[...PRESETS.keys()].join(' or ')}`)
  const url = parseUrl(address)
  if (url === null) return refuse('schema-value', 'is not a URL', 'such as https://api.example.com/v4')
  if (!isHttp(url)) return refuse('schema-value', `has the scheme ${url.protocol} instead of https:`)
  if (url.username !== '' || url.password !== '') return refuse('schema-value', 'contains a user name or password')
  if (url.search !== '' || url.hash !== '') return refuse('schema-value', 'has a query or fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return refuse(
      'insecure-url',
      `would send the token to ${url.hostname} without TLS`,
      'use https; plain http is for loopback addresses only',
    )
  return url
}

function parseUrl(text: unknown): URL | null {
  try {
    return new URL(String(text ?? ''))
  } catch {
    return null
  }
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'
