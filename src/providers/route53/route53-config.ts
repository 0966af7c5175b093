/** Creates a Route 53 provider from its settings in the config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { addSecret } from '../../base/secret-guard.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { type Credentials, credentialHosts, environmentKeys } from '../../transport/aws-environment.ts'
import { proxyFor } from '../../transport/proxy.ts'
import { apiConnection, checkBaseUrl, endpointOfBaseUrl, readNames, resolveToken } from '../api-settings.ts'
import { type CreatedProvider, type ProviderContext, type ProviderEndpoint, ProviderError, type ProviderType } from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { route53Capabilities } from './capabilities.ts'
import type { Route53Connection } from './route53-api.ts'

const ENDPOINT = 'https://route53.amazonaws.com'
const REGION = 'us-east-1'
/** Route 53 answers five requests per second of an account. */
const DEFAULT_PARALLELISM = 2

export const ROUTE53: ProviderType = {
  capabilities: route53Capabilities(new Map(), true),
  capabilitiesFor: (config) => route53Capabilities(readNames(config, 'alias_zones', []), createsZones(config)),
  checkSettings,
  async readListing(items, { name, id }, config) {
    const { liveSet, liveZone, zoneIdOf } = await import('./live-zone.ts')
    const sets = items.map(liveSet)
    return liveZone(sets, name, id || zoneIdOf(sets, name), readNames(config, 'alias_zones', []))
  },
  endpoints,
  create,
  starter: {
    settings: { access_key_id: 'env:AWS_ACCESS_KEY_ID', secret_access_key: 'env:AWS_SECRET_ACCESS_KEY' },
    variables: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    textKey: 'endpoint',
    packages: ['@aws-sdk/client-route-53@3.1169.0'],
  },
}

/** A private zone is created for a VPC. */
const createsZones = ({ settings }: ProviderConfig): boolean => settings['zone_type'] !== 'private' || settings['vpc'] !== undefined

const addressOf = ({ settings }: ProviderConfig): unknown => settings['endpoint'] ?? ENDPOINT

function checkSettings(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  checkBaseUrl(config, addressOf(config), ENDPOINT, diagnostics, 'endpoint')
  readNames(config, 'zone_ids', diagnostics)
  readNames(config, 'alias_zones', diagnostics)
  if (config.settings['delegation_set'] !== undefined && config.settings['zone_type'] === 'private')
    diagnostics.push(settingProblem(config, 'delegation_set', 'private zones have no delegation set'))
  if (config.settings['vpc'] !== undefined && config.settings['zone_type'] !== 'private')
    diagnostics.push(settingProblem(config, 'vpc', 'belongs to private zones: set zone_type: private'))
  return diagnostics
}

function endpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  return endpointOfBaseUrl(config, 'endpoint', addressOf(config))
}

/** Creates the provider. `timeout` is in seconds, for a change or for a read with its retries. */
async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings, name } = config
  const diagnostics: Diagnostic[] = []
  const baseUrl = checkBaseUrl(config, addressOf(config), ENDPOINT, diagnostics, 'endpoint')
  const aliasZones = readNames(config, 'alias_zones', diagnostics)
  const zoneIds = readNames(config, 'zone_ids', diagnostics)
  const credentials = await findCredentials(config, context, diagnostics)
  if (baseUrl === null) return { provider: null, diagnostics }
  const usual = apiConnection(config, context, { baseUrl, token: '', parallelism: DEFAULT_PARALLELISM }, diagnostics)
  if (usual === null) return { provider: null, diagnostics }
  const connection: Route53Connection = {
    ...usual,
    region: String(settings['region'] ?? REGION),
    credentials,
    profile: (settings['profile'] as string | undefined) ?? null,
    onSessionToken: (token) => addSecret(context.secrets.loaded, `providers.${name}.session_token`, token),
    checkHost: credentialHosts(
      context.secrets.env,
      `providers.${name}`,
      ({ code, message, hint }) => new ProviderError(code, message, { notSent: true, hint }),
    ),
    proxyFor: (server) => proxyFor(server, context.secrets.env, []),
  }
  const { createRoute53Provider } = await import('./route53-provider.ts')
  const provider = createRoute53Provider(connection, {
    isPrivate: settings['zone_type'] === 'private',
    zoneIds,
    delegationSet: (settings['delegation_set'] as string | undefined) ?? null,
    vpc: (settings['vpc'] as { readonly id: string; readonly region: string } | undefined) ?? null,
    aliasZones,
    waits: settings['wait'] === true,
  })
  return { provider, diagnostics }
}

/** The keys of the settings, or those of the environment unless a profile is chosen, as the SDK does; null if the SDK looks for others. */
async function findCredentials(config: ProviderConfig, context: ProviderContext, diagnostics: Diagnostic[]): Promise<Credentials | null> {
  const { settings, name } = config
  const { env, loaded } = context.secrets
  const key = async (setting: string): Promise<string> => (await resolveToken(config, setting, context, diagnostics)) ?? ''
  if (settings['access_key_id'] !== undefined) {
    const keys = { accessKeyId: await key('access_key_id'), secretAccessKey: await key('secret_access_key') }
    return settings['session_token'] === undefined ? keys : { ...keys, sessionToken: await key('session_token') }
  }
  const keys = environmentKeys(env, (settings['profile'] as string | undefined) ?? null)
  if (keys === null) return null
  addSecret(loaded, `providers.${name}.secret_access_key`, keys.secretAccessKey)
  if (keys.sessionToken !== undefined) addSecret(loaded, `providers.${name}.session_token`, keys.sessionToken)
  return keys
}
