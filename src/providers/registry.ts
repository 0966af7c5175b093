/** All types of providers, those of packages included, and how to create a provider from a config entry. The schema of a type's settings is `settings.schema.json` in its folder. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { didYouMean } from '../base/nearest-word.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { type LoadedSecrets, redacted } from '../base/secret-guard.ts'
import { type ProviderConfig, unknownProvider } from '../config/config.ts'
import { resolveSecret, VARIABLE_SETTINGS } from '../config/resolve-secret.ts'
import type { DoctorFinding } from '../dns/doctor-finding.ts'
import type { PathScope } from '../files/allowed-paths.ts'
import { installedPackage } from '../files/installed-package.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { type HostPolicy, readHostPolicy } from '../transport/allowed-hosts.ts'
import { AXFR } from './axfr/axfr-provider.ts'
import { AZURE } from './azure/azure-config.ts'
import { CLOUD, CLOUD_PRESETS } from './cloud/cloud-config.ts'
import { CLOUDFLARE } from './cloudflare/cloudflare-config.ts'
import { DESEC } from './desec/desec-config.ts'
import { DIGITALOCEAN } from './digitalocean/digitalocean-config.ts'
import { GANDI } from './gandi/gandi-config.ts'
import { GOOGLE } from './google/google-config.ts'
import { HETZNER } from './hetzner/hetzner-config.ts'
import { ShapeError } from './json-shape.ts'
import { LEXICON } from './lexicon/lexicon-type.ts'
import type { InMemoryProvider, Memory } from './memory/memory-provider.ts'
import { OCTODNS } from './octodns/octodns-type.ts'
import { OVH } from './ovh/ovh-config.ts'
import type { ProviderPackage } from './package/package-interface.ts'
import { PORKBUN } from './porkbun/porkbun-config.ts'
import { POWERDNS } from './powerdns/powerdns-config.ts'
import type {
  CapabilityFacts,
  CreatedProvider,
  ListedZone,
  ProviderContext,
  ProviderEndpoint,
  ProviderType,
  Starter,
  ZoneListing,
} from './provider.ts'
import { type Provider, ProviderError } from './provider.ts'
import { RFC2136 } from './rfc2136/rfc2136-config.ts'
import { ROUTE53 } from './route53/route53-config.ts'
import { SCALEWAY } from './scaleway/scaleway-config.ts'
import { VULTR } from './vultr/vultr-config.ts'
import { ZONEFILE } from './zonefile/zonefile-config.ts'

/** Every type of provider. */
const TYPES: Readonly<Record<string, ProviderType>> = {
  axfr: AXFR,
  azure: AZURE,
  cloud: CLOUD,
  cloudflare: CLOUDFLARE,
  gandi: GANDI,
  google: GOOGLE,
  desec: DESEC,
  digitalocean: DIGITALOCEAN,
  ovh: OVH,
  porkbun: PORKBUN,
  powerdns: POWERDNS,
  hetzner: HETZNER,
  lexicon: LEXICON,
  octodns: OCTODNS,
  rfc2136: RFC2136,
  route53: ROUTE53,
  scaleway: SCALEWAY,
  vultr: VULTR,
  zonefile: ZONEFILE,
}

/** The types of config entries that do not come from `TYPES`: of packages that were loaded, and of callers. */
const OTHER_TYPES = new WeakMap<ProviderConfig, ProviderType>()

/** Provider types that the caller of a run gives as values, by the names of config entries, instead of the types that the config names. */
export type GivenTypes = ReadonlyMap<string, ProviderType>

/** A provider that a caller gives as a value: what a package with a provider exports, or a provider in memory. */
export type ProviderValue = ProviderPackage | InMemoryProvider

/** The types of values, by the names of config entries. */
export async function typesOfValues(
  values: Readonly<Record<string, ProviderValue>>,
): Promise<{ readonly types: GivenTypes; readonly diagnostics: readonly Diagnostic[] }> {
  const types = new Map<string, ProviderType>()
  const diagnostics: Diagnostic[] = []
  for (const [name, value] of Object.entries(values)) {
    const made = isInMemory(value)
      ? { type: value.providerType }
      : (await import('./package/package-type.ts')).typeOfValue(value, `the value of "providers.${name}"`, name)
    if (made.type !== null) types.set(name, made.type)
    else diagnostics.push({ severity: 'error', code: 'usage', message: made.problem, hint: made.hint })
  }
  return { types, diagnostics }
}

export const isInMemory = (value: unknown): value is Memory => typeof value === 'object' && value !== null && 'providerType' in value

/** Returns an error for each type whose name the config lacks: the run would use another provider than the caller means. */
export function useGivenTypes(configs: ReadonlyMap<string, ProviderConfig>, given: GivenTypes = new Map()): readonly Diagnostic[] {
  return [...given].flatMap(([name, type]) => {
    const config = configs.get(name)
    if (config !== undefined) OTHER_TYPES.set(config, type)
    return config === undefined ? [unknownProvider(name, configs.keys(), undefined)] : []
  })
}

const typeOf = (config: ProviderConfig): ProviderType | null =>
  OTHER_TYPES.get(config) ?? (Object.hasOwn(TYPES, config.type) ? (TYPES[config.type] ?? null) : null)

/**
 * Loads the packages of the entries with a type `npm:NAME`, which runs their code. Returns an error for each that cannot
 * be loaded. Without it, the settings of such entries are not checked.
 */
export async function loadPackages(configs: Iterable<ProviderConfig>, scope: PathScope): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const config of configs) {
    if (!config.type.startsWith('npm:') || OTHER_TYPES.has(config)) continue
    const { loadPackage } = await import('./package/load-package.ts')
    const loaded = await loadPackage(config, scope)
    if (loaded.type === null) diagnostics.push(loaded.diagnostic)
    else OTHER_TYPES.set(config, loaded.type)
  }
  return diagnostics
}

/** The capabilities of a provider; null if its type does not exist. `facts`: those of a provider that was created before. */
export function capabilitiesOf(config: ProviderConfig | undefined, facts?: CapabilityFacts): Capabilities | null {
  const type = config === undefined ? null : typeOf(config)
  return (config && type?.capabilitiesFor?.(config, facts)) ?? type?.capabilities ?? null
}

export const PROVIDER_TYPES: readonly string[] = Object.keys(TYPES)

/** Services with the API of the type `cloud` that a config can name instead of an address. */
export const PRESETS = CLOUD_PRESETS

/** The capabilities of a type of `PROVIDER_TYPES`. */
export const capabilitiesOfType = (type: string): Capabilities => (TYPES[type] as ProviderType).capabilities

/** The settings of a new config entry of a type; null if there is no such type, or if the user has to choose settings. */
export const starterOf = (type: string): Starter | null => (Object.hasOwn(TYPES, type) ? TYPES[type]?.starter : undefined) ?? null

/** The packages that a type needs and that are not installed. */
export const missingPackages = (type: string): readonly string[] =>
  (starterOf(type)?.packages ?? []).map((name) => name.replace(/(?<=.)@.*/, '')).filter((name) => installedPackage(name) === null)

/** The types with such settings. */
export const STARTER_TYPES: readonly string[] = PROVIDER_TYPES.filter((type) => starterOf(type) !== null)

/** The records of a zone in an export, as the API of a provider's type lists them; a failure if an item is malformed. */
export async function readListing(config: ProviderConfig, zone: ListedZone, items: readonly unknown[]): Promise<Result<ZoneListing>> {
  const type = typeOf(config)
  if (!type?.readListing) throw new Error(`${config.type} has no listings`)
  try {
    return ok(await type.readListing(items, zone, config))
  } catch (error) {
    if (error instanceof ShapeError) return failure(error.message)
    throw error
  }
}

/** The errors in the settings of a provider whose form is valid. Needs no secret and no network. */
export const checkSettings = (config: ProviderConfig): readonly Diagnostic[] => typeOf(config)?.checkSettings(config) ?? []

/** Every host that a provider contacts. Needs no secret. */
export const endpointsOf = (config: ProviderConfig): readonly ProviderEndpoint[] => typeOf(config)?.endpoints(config) ?? []

/** Every file and folder that its settings name, secrets aside, relative to the folder of the config. */
export const pathsOf = (config: ProviderConfig) => typeOf(config)?.paths?.(config) ?? []

/** An error for each host of the provider that the policy refuses. */
export const refusedEndpoints = (config: ProviderConfig, policy: HostPolicy): Diagnostic[] => refusedHosts(endpointsOf(config), policy)

const refusedHosts = (endpoints: readonly ProviderEndpoint[], policy: HostPolicy): Diagnostic[] =>
  endpoints.flatMap(({ setting, endpoint, at }) => policy.check(setting, endpoint, at) ?? [])

/** The entry of a type of ours with the values of variables. Adds an error for each that is not set. */
async function withVariables(config: ProviderConfig, { secrets }: ProviderContext, diagnostics: Diagnostic[]): Promise<ProviderConfig> {
  const unset: Diagnostic[] = []
  const read = async (settings: ProviderConfig['settings'], above: readonly string[]): Promise<ProviderConfig['settings']> => {
    const values: Record<string, unknown> = { ...settings }
    for (const [key, value] of Object.entries(settings)) {
      const path = [...above, key]
      if (key === 'tsig') values[key] = await read(value as ProviderConfig['settings'], path)
      if (!String(value).startsWith('env:')) continue
      const isVariable = VARIABLE_SETTINGS.has(path.join('.'))
      const found = secrets.env[String(value).slice('env:'.length)]
      if (found && isVariable) values[key] = found
      // Secrets are read later; an unset one is reported with the other variables.
      if (found) continue
      const { diagnostic } = await resolveSecret(
        String(value),
        `providers.${config.name}.${path.join('.')}`,
        config.placeOf(...path),
        secrets,
      )
      if (diagnostic) (isVariable ? diagnostics : unset).push(diagnostic)
    }
    return values
  }
  const settings = await read(config.settings, [])
  if (diagnostics.length > 0) diagnostics.push(...unset)
  return { ...config, settings }
}

/** Creates the provider of a config entry. Opens no connection, and reads secrets only if all its hosts are allowed. */
export async function createProvider(given: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const missing = [...(await loadPackages([given], context.secrets))]
  const type = typeOf(given)
  for (const name of OTHER_TYPES.has(given) ? [] : missingPackages(given.type)) {
    const message = `providers.${given.name}: the package ${name} is not installed`
    const hint = `install it beside Zonewright: npm install ${name}`
    missing.push({ severity: 'error', code: 'provider-unknown', message, at: given.placeOf('type'), hint })
  }
  const config = OTHER_TYPES.has(given) ? given : await withVariables(given, context, missing)
  // Commands that work offline have not loaded the package, so nothing has checked these.
  if (type !== null && given.type.startsWith('npm:')) missing.push(...type.checkSettings(given))
  if (missing.length > 0) return { provider: null, diagnostics: missing }
  if (type !== null) {
    const refused = refusedHosts(type.endpoints(config), readHostPolicy(context.secrets.env))
    if (refused.length > 0) return { provider: null, diagnostics: refused }
    const created = await type.create(config, context)
    return created.provider === null ? created : { ...created, provider: withoutSecretsInErrors(created.provider, context.secrets.loaded) }
  }
  return { provider: null, diagnostics: [unknownType(config)] }
}

/** The error for a type that does not exist. */
export function unknownType({ name, type, placeOf }: ProviderConfig): Diagnostic {
  const message = `providers.${name}: there is no provider type ${JSON.stringify(type)}`
  const hint = didYouMean(type, PROVIDER_TYPES) ?? `types are ${PROVIDER_TYPES.join(', ')}`
  return { severity: 'error', code: 'provider-unknown', message, at: placeOf('type'), hint }
}

/** Wraps a provider so that its errors and findings contain no secret of the run: a server may echo a token. */
const withoutSecretsInErrors = (provider: Provider, secrets: LoadedSecrets): Provider =>
  new Proxy(provider, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args)
        if (!(result instanceof Promise)) return result
        const clean = result.catch((error: unknown) => rethrow(error, secrets))
        return key === 'examine'
          ? clean.then((findings: readonly DoctorFinding[]) => findings.map((one) => cleanFinding(one, secrets)))
          : clean
      }
    },
  })

const cleanFinding = (finding: DoctorFinding, secrets: LoadedSecrets): DoctorFinding => ({
  ...finding,
  message: redacted(secrets, finding.message),
  hint: finding.hint && redacted(secrets, finding.hint),
})

function rethrow(error: unknown, secrets: LoadedSecrets): never {
  if (!(error instanceof ProviderError)) throw error
  const { message, hint, cause } = error
  const clean = { message: redacted(secrets, message), hint: hint && redacted(secrets, hint) }
  if (clean.message === message && clean.hint === hint) throw error
  throw error.with({ ...clean, cause })
}
