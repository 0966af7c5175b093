/** The providers of a state, as entries of a `zonewright.yaml`. The state has no settings of providers. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { CONFIG_FILE, type ProviderConfig } from '../../config/config.ts'
import { readConfig } from '../../config/read-config.ts'
import { printText } from '../../definition/print/octodns-value.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { capabilitiesOf, capabilitiesOfType } from '../../providers/registry.ts'
import type { ImportedZones, ImportRequest } from '../importer.ts'
import { placeConfig } from '../octodns/convert-targets.ts'
import { printProviders, providerProblem } from '../octodns/converted-config.ts'
import { freeName } from '../octodns/octodns-provider.ts'
import type { ChosenZone } from './import-terraform.ts'
import type { Service } from './resources.ts'

/** Where plans of a zone go. */
export interface StateTarget {
  /** Null if no provider of the config, and no new one, is known. */
  readonly name: string | null
  /** Null for a name server whose address is not known. */
  readonly config: ProviderConfig | null
  readonly capabilities: Capabilities
  /** Whether definitions name it: it is not the only one. */
  readonly isNamed: boolean
}

export interface StateTargets {
  readonly of: (zone: ChosenZone) => StateTarget
  readonly newConfig: ImportedZones['newConfig']
  readonly diagnostics: readonly Diagnostic[]
}

const NAMES: Readonly<Record<Service, string>> = {
  route53: 'route53',
  cloudflare: 'cloudflare',
  google: 'google',
  cloud: 'linode',
  rfc2136: 'dns',
}

type Settings = Readonly<Record<string, unknown>>

/** The targets of zones: the only matching provider of the config, or, without a config, a new one. `all` are the zones that these are chosen from. */
export function createTargets(
  zones: readonly ChosenZone[],
  all: readonly ChosenZone[],
  request: ImportRequest,
  file: string,
): StateTargets {
  const made = new Map<string, { readonly name: string; readonly settings: Settings; readonly problem: string | null }>()
  for (const zone of zones) {
    const key = keyOf(zone)
    if (made.has(key)) continue
    const wish = `${NAMES[zone.service]}${zone.isPrivate ? '-private' : ''}`
    const taken = new Set([...made.values()].map(({ name }) => name))
    const name = freeName(taken.has(wish) && zone.project ? `${wish}-${zone.project}` : wish, taken)
    const settings = settingsOf(
      zone,
      all.filter((one) => keyOf(one) === key),
      request.env,
    )
    made.set(key, { name, settings, problem: settings['server'] === '' ? NO_SERVER : providerProblem({ name, settings }) })
  }
  const isNew = request.config.file === null
  const usable = [...made.values()].filter(({ problem }) => problem === null)
  const printed = readConfig(printProviders(usable), { file: CONFIG_FILE, folder: '/', cwd: '/' }).config?.providers
  const of = (zone: ChosenZone): StateTarget => {
    const own = made.get(keyOf(zone))
    const converted = printed?.get(own?.name ?? '') ?? null
    const known = isNew ? converted : matching(request, own?.settings ?? {})
    const config = known ?? converted
    const capabilities = (config && capabilitiesOf(config)) ?? capabilitiesOfType(zone.service)
    return { name: known?.name ?? null, config, capabilities, isNamed: isNew ? made.size > 1 : request.config.providers.size > 1 }
  }
  const idle = zones.filter((zone) => of(zone).name === null)
  const missing = [...new Map(idle.map((zone) => [keyOf(zone), made.get(keyOf(zone))])).values()]
  const diagnostics = missing.map(
    (one): Diagnostic => ({
      severity: 'warning',
      code: 'import-aside',
      message: isNew
        ? `no provider is written for the zones of ${one?.name}: ${one?.problem}`
        : `the config has not one provider for the zones of ${one?.name}`,
      hint: `write it under "providers" in ${CONFIG_FILE}, such as: ${printProviders([
        { name: one?.name ?? '', settings: exampleOf(one?.settings ?? {}) },
      ])
        .split('\n')[1]
        ?.trim()}`,
    }),
  )
  if (!isNew || usable.length === 0) return { of, newConfig: undefined, diagnostics }
  const { folder, prefix } = placeConfig(request)
  const rule = `  - files: [${printText(`${prefix}*.yaml`)}]\n`
  // A run ends at a zone without a target.
  const names = listed(idle.map(({ name }) => printText(name.slice(0, -1)))).replace(/ and /g, ', ')
  const disabled = idle.length === 0 ? '' : `${rule}    zone: [${names}]\n    enabled: false # no target is known\n`
  const targets = made.size > 1 ? '    targets: []\n' : ''
  const text = `# Converted from ${file.replace(/[^ -~]/g, '?')}, a state of Terraform.\n${printProviders(usable)}zones:\n${disabled}${rule}${targets}`
  return { of, newConfig: { folder, text }, diagnostics }
}

const keyOf = ({ service, isPrivate, project = '' }: ChosenZone): string => `${service} ${isPrivate} ${project}`

const NO_SERVER = 'a state does not have the address of the name server, and DNS_UPDATE_SERVER is not set'

/** Secrets are read from the variables that Terraform's providers read. Credentials of AWS, and those of `gcloud`, are found as they find them. */
function settingsOf({ service, isPrivate, project }: ChosenZone, zones: readonly ChosenZone[], env: ImportRequest['env']): Settings {
  const ambiguous = zones.filter((one) => one.isAmbiguous)
  const ids = Object.fromEntries(ambiguous.map(({ name, id }) => [name.slice(0, -1), id.slice(id.indexOf('/') + 1)]))
  const chosen = (key: string): Settings => (ambiguous.length === 0 ? {} : { [key]: ids })
  switch (service) {
    case 'route53':
      return { type: service, ...(isPrivate && { zone_type: 'private' }), ...chosen('zone_ids') }
    case 'google': {
      const credentials = env['GOOGLE_CREDENTIALS'] === undefined ? {} : { credentials: 'env:GOOGLE_CREDENTIALS' }
      return {
        type: service,
        ...(project && { project }),
        ...credentials,
        ...(isPrivate && { visibility: 'private' }),
        ...chosen('managed_zones'),
      }
    }
    case 'cloudflare':
      return { type: service, token: 'env:CLOUDFLARE_API_TOKEN' }
    case 'cloud':
      return { type: service, preset: 'linode', token: 'env:LINODE_TOKEN' }
    case 'rfc2136': {
      const { DNS_UPDATE_SERVER: host = '', DNS_UPDATE_PORT: port, DNS_UPDATE_KEYNAME: name, DNS_UPDATE_KEYALGORITHM: algorithm } = env
      const server = host === '' || port === undefined ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
      const tsig = { name, ...(algorithm && { algorithm: algorithm.replace(/\.$/, '') }), secret: 'env:DNS_UPDATE_KEYSECRET' }
      return { type: service, server, ...(name && { tsig }) }
    }
  }
}

const exampleOf = (settings: Settings): Settings =>
  settings['server'] === ''
    ? { ...settings, server: '192.0.2.53', tsig: { name: 'update.', secret: 'env:DNS_UPDATE_KEYSECRET' } }
    : settings

/** The only provider of the config that has these zones. */
function matching({ config }: ImportRequest, { type, ...settings }: Settings): ProviderConfig | null {
  const isSame = (key: string, own: ProviderConfig, fallback?: string): boolean =>
    (own.settings[key] ?? fallback) === (settings[key] ?? fallback)
  const found = [...config.providers.values()].filter(
    (own) =>
      own.type === type &&
      isSame('zone_type', own, 'public') &&
      isSame('visibility', own, 'public') &&
      (own.settings['project'] === undefined || isSame('project', own)),
  )
  return found.length === 1 ? (found[0] ?? null) : null
}
