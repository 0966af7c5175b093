/** The providers of a state, as entries of a `zonewright.yaml`. The state has no settings of providers. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { groupBy } from '../../base/group-by.ts'
import { CONFIG_FILE, type ProviderConfig } from '../../config/config.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { capabilitiesOf, capabilitiesOfType } from '../../providers/registry.ts'
import type { ImportedZones, ImportRequest } from '../importer.ts'
import { placeConfig } from '../octodns/convert-targets.ts'
import { printNewConfig, providerProblem } from '../octodns/converted-config.ts'
import { freeName } from '../octodns/octodns-provider.ts'
import { entryOf } from '../provider-entry.ts'
import type { Service, ZoneOfState } from './resources.ts'

/** Where plans of a zone go. */
export interface StateTarget {
  /** The name of a provider; null if none is known. */
  readonly name: string | null
  /** Null for a name server whose address is not known. */
  readonly config: ProviderConfig | null
  readonly capabilities: Capabilities
  /** The targets that the definition names; absent if there is only this one. */
  readonly targets?: readonly string[] | undefined
}

export interface StateTargets {
  readonly of: (zone: ZoneOfState) => StateTarget
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

/** The targets of zones: the only matching provider of the config, or, without a config, a new one. */
export function createTargets(zones: readonly ZoneOfState[], request: ImportRequest, file: string): StateTargets {
  const isNew = request.config.file === null
  const diagnostics: Diagnostic[] = []
  const made = new Map<string, StateTarget>()
  const names = new Set<string>()
  const written: { readonly name: string; readonly settings: Settings }[] = []
  const groups = groupBy(zones, keyOf)
  const isOnly = (isNew ? groups.size : request.config.providers.size) === 1
  for (const [key, [zone]] of groups) {
    const { service, isPrivate, project } = zone as ZoneOfState
    const wish = `${NAMES[service]}${isPrivate ? '-private' : ''}`
    const name = freeName(names.has(wish) && project ? `${wish}-${project}` : wish, names)
    names.add(name)
    const settings = settingsOf(zone as ZoneOfState, zones, request.env)
    const problem = settings['server'] === '' ? NO_SERVER : providerProblem({ name, settings })
    const known = !isNew ? matching(request, settings) : problem === null ? entryOf(name, settings) : null
    // Records are read in any case. Only the name of a project can be invalid.
    const { project: _, ...plain } = settings
    const config = known ?? (service === 'rfc2136' ? null : entryOf(name, plain))
    const targets = known === null ? (isNew ? undefined : []) : isOnly ? undefined : [known.name]
    const capabilities = (config && capabilitiesOf(config)) ?? capabilitiesOfType(service)
    made.set(key, { name: known?.name ?? null, config, capabilities, targets })
    if (known === null) {
      const message = isNew
        ? `no provider is written for the zones of ${name}: ${problem}`
        : `the config does not have exactly one provider for the zones of ${name}`
      const hint = `write it under "providers" in ${CONFIG_FILE}, and import again`
      diagnostics.push({ severity: 'warning', code: 'import-aside', message, hint })
    } else written.push({ name, settings })
  }
  const of = (zone: ZoneOfState): StateTarget => made.get(keyOf(zone)) as StateTarget
  if (!isNew || written.length === 0) return { of, newConfig: undefined, diagnostics }
  const { folder, prefix } = placeConfig(request)
  const idle = zones.filter((zone) => of(zone).name === null).map(({ name }) => name)
  const options = { idle, ...(isOnly && { after: '' }) }
  const text = printNewConfig(`${file}, a state of Terraform`, written, `${prefix}*.yaml`, options)
  return { of, newConfig: { folder, text }, diagnostics }
}

const keyOf = ({ service, isPrivate, project = '' }: ZoneOfState): string => `${service} ${isPrivate} ${project}`

const NO_SERVER = 'a state does not have the address of the name server, and DNS_UPDATE_SERVER is not set'

/** Secrets come from the variables that Terraform's providers read. Credentials of AWS, and those of `gcloud`, are found as they find them. */
function settingsOf({ service, isPrivate, project }: ZoneOfState, zones: readonly ZoneOfState[], env: ImportRequest['env']): Settings {
  switch (service) {
    case 'route53':
      return { type: service, ...(isPrivate && { zone_type: 'private' }) }
    case 'google': {
      const credentials = env['GOOGLE_CREDENTIALS'] === undefined ? {} : { credentials: 'env:GOOGLE_CREDENTIALS' }
      return { type: service, ...(project && { project }), ...credentials, ...(isPrivate && { visibility: 'private' }) }
    }
    case 'cloudflare': {
      const isPaid = zones.some(({ records }) => records.some(({ resource: { values } }) => needsPaidPlan(values)))
      return { type: service, token: 'env:CLOUDFLARE_API_TOKEN', ...(isPaid && { plan: 'pro' }) }
    }
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

/** Whether Cloudflare's plan `free` would refuse the tags or the comment of a record. */
const needsPaidPlan = ({ tags, comment }: Settings): boolean =>
  (Array.isArray(tags) && tags.length > 0) || (typeof comment === 'string' && comment.length > 100)

/** The only provider of the config that has these zones. */
function matching({ config }: ImportRequest, { type, ...settings }: Settings): ProviderConfig | null {
  const found = [...config.providers.values()].filter(
    (own) =>
      own.type === type &&
      ['zone_type', 'visibility'].every((key) => (own.settings[key] ?? 'public') === (settings[key] ?? 'public')) &&
      (own.settings['project'] ?? settings['project']) === settings['project'],
  )
  return found.length === 1 ? (found[0] ?? null) : null
}
