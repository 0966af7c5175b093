/** Converts a provider of an octoDNS config. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import { isLoopback } from '../../transport/allowed-hosts.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** Limits of a plan in percent of the record sets; absent if octoDNS's config has none. */
export interface ConvertedSafety {
  readonly max_delete_percent?: number
  readonly max_update_percent?: number
}

/** The provider of a `zonewright.yaml` that replaces one of octoDNS. */
export interface ConvertedTarget {
  readonly name: string
  /** The keys in the order to print. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Whether octoDNS's class or dns-lexicon runs in Python, because no native provider has its options. */
  readonly needsPython: boolean
  /** The option because of which the native provider with its class is not used. */
  readonly lacks?: string | undefined
  readonly safety: ConvertedSafety
  /** Whether unsupported records are skipped with a warning instead of refused. */
  readonly skipsUnsupported: boolean
  /** Whether octoDNS only plans for it and never applies. */
  readonly isDryRun: boolean
}

/** Keys that any octoDNS provider may have as a target (its provider/base.py). */
export const TARGET_KEYS = [
  'apply_disabled',
  'update_pcent_threshold',
  'delete_pcent_threshold',
  'strict_supports',
  'root_ns_warnings',
] as const

const COMMON_KEYS: ReadonlySet<string> = new Set(TARGET_KEYS)

export interface TargetOptions {
  /** Names of other providers. */
  readonly takenNames?: ReadonlySet<string> | undefined
  /** Names of secret handlers other than `env`. */
  readonly secretHandlers?: ReadonlySet<string> | undefined
}

/** The name of a Python class with its module. */
const CLASS = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/

/**
 * Converts a provider to a native one, or to one that runs octoDNS's class; null if its class is not the name of one. A secret becomes a reference to an environment
 * variable, never plain text.
 */
export function convertTarget(
  provider: OctodnsProvider,
  dropped: UnsupportedFeature[],
  { takenNames = new Set(), secretHandlers = new Set() }: TargetOptions = {},
): ConvertedTarget | null {
  if (!CLASS.test(provider.className) || provider.className.length > 200) return null
  const drop = (what: string): void => void dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
  const native = nativeSettings(provider, secretHandlers)
  const lacks = typeof native === 'string' ? native : undefined
  const isNative = native !== null && typeof native !== 'string'
  const settings = isNative ? native.settings : classSettings(provider, secretHandlers, drop)
  for (const what of isNative ? native.dropped : []) drop(what)
  const name = freeName(provider.name, takenNames)
  if (name !== provider.name) drop(`the name of the provider ${JSON.stringify(provider.name)}: it becomes ${name}`)
  return { name, settings, needsPython: !isNative, lacks, ...commonSettings(provider, dropped) }
}

/** The settings of a native provider, and what they leave out; the option that it lacks, or null if there is none for the class. */
function nativeSettings(
  provider: OctodnsProvider,
  handlers: ReadonlySet<string>,
): { readonly settings: ConvertedTarget['settings']; readonly dropped: readonly string[] } | string | null {
  const convert = nativeConversion(provider.className)
  if (convert === null) return null
  const dropped: string[] = []
  const left = new Map(Object.entries(provider.settings).filter(([key, value]) => !COMMON_KEYS.has(key) && value !== null))
  let lacks: string | undefined
  const take = (key: string): unknown => {
    const value = left.get(key)
    left.delete(key)
    return value
  }
  const reference = (key: string): string => secretReference(provider, key, String(take(key) ?? ''), handlers, (what) => dropped.push(what))
  const settings = convert({
    secret: (key) => (left.has(key) ? reference(key) : undefined),
    requiredSecret: reference,
    plain(key) {
      const value = take(key)
      if (value === undefined) return undefined
      if (isReference(String(value), handlers)) lacks ??= `${key}: ${String(value)}`
      else if (!['string', 'number', 'boolean'].includes(typeof value)) lacks ??= key
      return String(value)
    },
    text(key) {
      const [, variable] = /^env\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(String(left.get(key))) ?? []
      if (variable === undefined) return this.plain(key)
      left.delete(key)
      return `env:${variable}`
    },
    flag(key) {
      const value = take(key)
      return value === undefined ? undefined : !/^(?:false|no|off|0|)$/i.test(String(value))
    },
    list(key) {
      const value = take(key)
      if (value !== undefined && !Array.isArray(value)) lacks ??= key
      return Array.isArray(value) ? value.map(String) : undefined
    },
    ignore(...keys) {
      for (const key of keys) if (take(key) !== undefined) dropped.push(`${key} of the provider ${provider.name}`)
    },
  })
  if (typeof settings === 'string') return settings in provider.settings ? settings : `${settings}, which is not set`
  if (lacks !== undefined || left.size > 0) return lacks ?? [...left.keys()].join(', ')
  return { settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)), dropped }
}

/** Options that are secrets by their name, with everything below them. */
const SECRET_KEY = /(?:token|secret|password|passwd|passphrase|credential|api_?key|(?:^|[_-])key)s?$/i

/** An address with a password. */
const SECRET_VALUE = /:\/\/[^/?#@\s]*:[^/?#@\s]+@/

/** The settings of a provider that runs octoDNS's class with all its options. */
function classSettings(
  provider: OctodnsProvider,
  handlers: ReadonlySet<string>,
  drop: (what: string) => void,
): ConvertedTarget['settings'] {
  const convert = (path: readonly string[], value: unknown, isSecret: boolean): unknown => {
    const inside = (key: string, below: unknown): unknown => convert([...path, key], below, isSecret || SECRET_KEY.test(key))
    if (Array.isArray(value)) return value.map((item, index) => inside(String(index + 1), item))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inside(name, item)]))
    if (typeof value === 'number' && isSecret) return convert(path, String(value), isSecret)
    if (typeof value !== 'string' || value === '') return value
    // Secrets of one name at several places have a variable each.
    return isReference(value, handlers) || isSecret || SECRET_VALUE.test(value)
      ? secretReference(provider, path.join('_'), value, handlers, drop)
      : value
  }
  const options = Object.entries(provider.settings).filter(([key]) => !COMMON_KEYS.has(key))
  return {
    type: 'octodns',
    class: provider.className,
    ...(options.length > 0 && {
      options: Object.fromEntries(options.map(([key, value]) => [key, convert([key], value, SECRET_KEY.test(key))])),
    }),
  }
}

/** The settings that any target of octoDNS may have. */
function commonSettings(
  { name, settings, at }: OctodnsProvider,
  dropped: UnsupportedFeature[],
): Pick<ConvertedTarget, 'safety' | 'skipsUnsupported' | 'isDryRun'> {
  const drop = (key: string): void => void dropped.push({ zone: null, name: null, type: null, what: `${key} of the provider ${name}`, at })
  const isDryRun = !/^(?:false|no|off|0)$/i.test(String(settings['apply_disabled'] ?? 'false'))
  if (isDryRun)
    dropped.push({ zone: null, name: null, type: null, what: `apply_disabled of the provider ${name}; no rule has it as a target`, at })
  const safety = readSafety(settings, drop)
  return { safety, skipsUnsupported: /^(?:false|no|off|0)$/i.test(String(settings['strict_supports'] ?? 'true')), isDryRun }
}

/** Reads octoDNS's limits, which are fractions. `drop` is called with the key of each invalid one. */
export function readSafety(settings: Readonly<Record<string, unknown>>, drop: (key: string) => void): ConvertedSafety {
  const percent = (key: string): number | undefined => {
    const value = settings[key] ?? undefined
    if (typeof value === 'number' && value >= 0) return Math.min(100, Math.round(value * 10_000) / 100)
    if (value !== undefined) drop(key)
    return undefined
  }
  const [deletes, updates] = [percent('delete_pcent_threshold'), percent('update_pcent_threshold')]
  return {
    ...(deletes !== undefined && { max_delete_percent: deletes }),
    ...(updates !== undefined && { max_update_percent: updates }),
  }
}

/** A valid name for the config (schemas/config.schema.json) that resembles the given one. */
export function freeName(text: string, taken: ReadonlySet<string>): string {
  const name =
    text
      .replace(/[^A-Za-z0-9_.-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 55) || 'target'
  const plain = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text) ? text : name
  if (!taken.has(plain)) return plain
  let count = 2
  while (taken.has(`${name}-${count}`)) count += 1
  return `${name}-${count}`
}

/** The environment variable for a secret of a provider. */
export const variableFor = (provider: string, key: string): string =>
  `${provider}_${key}`
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_')
    .replace(/^(?=[0-9])/, '_')
    .slice(0, 100)

/** Whether a text refers to a variable of the environment or to another secret handler. */
const isReference = (text: string, handlers: ReadonlySet<string>): boolean =>
  text.startsWith('env/') || handlers.has(text.slice(0, Math.max(0, text.indexOf('/'))))

/** A reference to a secret: `env/NAME` keeps its variable; anything else gets a variable that the user must set. */
function secretReference(
  { name }: OctodnsProvider,
  key: string,
  given: string,
  handlers: ReadonlySet<string>,
  drop: (what: string) => void,
): string {
  const [, variable, fallback] = /^env\/([A-Za-z_][A-Za-z0-9_]{0,99})(\/.*)?$/s.exec(given) ?? []
  if (variable !== undefined) {
    if (fallback !== undefined) drop(`the default for the ${key} of the provider ${name} if ${variable} is not set`)
    return `env:${variable}`
  }
  const newVariable = variableFor(name, key)
  const handler = given.slice(0, Math.max(0, given.indexOf('/')))
  if (handlers.has(handler))
    drop(`the ${key} of the provider ${name} from the secret handler ${handler}: set ${newVariable} in the environment`)
  else if (given !== '') drop(`the ${key} of the provider ${name} as plain text: set ${newVariable} in the environment`)
  return `env:${newVariable}`
}

/** One entry of `providers:` or `processors:` in octoDNS's config. */
export interface OctodnsProvider {
  readonly name: string
  /** The Python class, such as `octodns.provider.yaml.YamlProvider`. */
  readonly className: string
  /** All keys except `class`, as JSON values. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
}

// octoDNS's provider classes that have a native provider here, and their options as its settings. Option names are those of the versions named in `scripts/install-octodns.sh` and in the list of Python clients.

type Settings = Readonly<Record<string, unknown>>

/** Reads the options of a provider, each once. */
interface OptionReader {
  /** A reference to the secret; undefined if the option is absent. */
  secret(key: string): string | undefined
  /** The same; a reference to a new variable if the option is absent. */
  requiredSecret(key: string): string
  /** A text, number or boolean that is in the config itself; undefined if it is absent. */
  plain(key: string): string | undefined
  /** The same, or a reference to a variable. */
  text(key: string): string | undefined
  /** Whether the option is true; undefined if it is absent. */
  flag(key: string): boolean | undefined
  list(key: string): readonly string[] | undefined
  /** Options that only affect how octoDNS sends requests. */
  ignore(...keys: readonly string[]): void
}

/** The settings of the native provider, or the option that it lacks. */
type Convert = (options: OptionReader) => Settings | string

const token =
  (settings: Settings, ...ignored: readonly string[]): Convert =>
  (options) => {
    options.ignore(...ignored)
    return { ...settings, token: options.requiredSecret('token') }
  }

const MICROSOFT = 'https://login.microsoftonline.com'

const CONVERSIONS: readonly { readonly pattern: RegExp; readonly convert: Convert }[] = [
  { pattern: /(?:^|\.)LinodeProvider$/, convert: token({ type: 'cloud', preset: 'linode' }, 'page_size') },
  { pattern: /^octodns_desec\.DesecProvider$/, convert: token({ type: 'desec' }, 'retries', 'timeout', 'backoff', 'max_sleep') },
  { pattern: /^octodns_gandi\.GandiProvider$/, convert: token({ type: 'gandi' }, 'per_page') },
  { pattern: /^octodns_ovh\.OvhProvider$/, convert: ovh },
  // Providers of DNSControl that octoDNS has no class for.
  {
    pattern: /^dnscontrol\.PORKBUN$/,
    convert: ({ requiredSecret }) => ({
      type: 'porkbun',
      api_key: requiredSecret('api_key'),
      secret_api_key: requiredSecret('secret_key'),
    }),
  },
  { pattern: /^dnscontrol\.VULTR$/, convert: ({ requiredSecret }) => ({ type: 'vultr', api_key: requiredSecret('token') }) },
  { pattern: /^octodns_scaleway\.ScalewayProvider$/, convert: scaleway },
  { pattern: /^octodns_cloudflare\.CloudflareProvider$/, convert: cloudflare },
  { pattern: /^octodns_route53\.Route53Provider$/, convert: route53 },
  { pattern: /^octodns_digitalocean\.DigitalOceanProvider$/, convert: token({ type: 'digitalocean' }) },
  { pattern: /^octodns_hetzner\.HetznerProvider$/, convert: hetzner },
  { pattern: /^octodns_azure\.AzureProvider$/, convert: azure('public') },
  { pattern: /^octodns_azure\.AzurePrivateProvider$/, convert: azure('private') },
  { pattern: /^octodns_googlecloud\.GoogleCloudProvider$/, convert: google },
  { pattern: /^octodns_powerdns\.PowerDnsProvider$/, convert: powerdns },
  { pattern: /^octodns_bind\.Rfc2136Provider$/, convert: rfc2136 },
  { pattern: /^octodns_bind\.ZoneFile(?:Provider|Source)$/, convert: zoneFiles },
  { pattern: /^octodns\.provider\.yaml\.YamlProvider$/, convert: yaml },
]

/** The conversion for a class; null if it has no native provider. */
const nativeConversion = (className: string): Convert | null => CONVERSIONS.find(({ pattern }) => pattern.test(className))?.convert ?? null

/** Zones are created if a definition has them, as all zones here. */
function scaleway(options: OptionReader): Settings {
  options.flag('create_zone')
  return { type: 'scaleway', secret_key: options.requiredSecret('token') }
}

/** The endpoints of the brands Kimsufi and So you Start exist only in octoDNS. */
function ovh(options: OptionReader): Settings | string {
  const [, region] = /^ovh-(eu|ca|us)$/.exec(options.plain('endpoint') ?? '') ?? []
  if (region === undefined) return 'endpoint'
  return {
    type: 'ovh',
    base_url: region === 'eu' ? undefined : region === 'us' ? 'https://api.us.ovhcloud.com/1.0' : `https://${region}.api.ovh.com/1.0`,
    application_key: options.requiredSecret('application_key'),
    application_secret: options.requiredSecret('application_secret'),
    consumer_key: options.requiredSecret('consumer_key'),
  }
}

/** Mail address and global key, and records for the CDN, exist only in octoDNS. */
function cloudflare(options: OptionReader): Settings | string {
  options.ignore('retry_count', 'retry_period', 'auth_error_retry_count', 'zones_per_page', 'records_per_page', 'min_ttl', 'timeout')
  options.flag('pagerules')
  if (options.flag('cdn') === true) return 'cdn'
  const plan = options.plain('plan_type')
  if (plan !== undefined && !/^(?:free|pro|business|enterprise)$/.test(plan)) return 'plan_type'
  const [base_url, account_id] = [options.text('api_url'), options.text('account_id')]
  return { type: 'cloudflare', base_url, token: options.requiredSecret('token'), account_id, plan }
}

/** The backend of the former DNS Console, octoDNS's default, exists only in octoDNS. */
function hetzner(options: OptionReader): Settings | string {
  return options.plain('backend') === 'hcloud' ? { type: 'hetzner', token: options.secret('token') } : 'backend'
}

function route53(options: OptionReader): Settings | string {
  options.ignore('max_changes', 'client_max_attempts', 'get_zones_by_name')
  const [id, region] = [options.plain('vpc_id'), options.plain('vpc_region')]
  if ((id === undefined) !== (region === undefined)) return 'vpc_id'
  const [keyId, secret] = [options.secret('access_key_id'), options.secret('secret_access_key')]
  if ((keyId === undefined) !== (secret === undefined)) return 'access_key_id'
  const isPrivate = options.flag('private')
  return {
    type: 'route53',
    access_key_id: keyId,
    secret_access_key: secret,
    session_token: options.secret('session_token'),
    profile: options.text('profile'),
    zone_type: isPrivate === undefined ? undefined : isPrivate ? 'private' : 'public',
    delegation_set: options.plain('delegation_set_id'),
    vpc: id === undefined ? undefined : { id, region },
  }
}

/** Signing in with the command line of Azure, and other clouds of Azure, exist only in octoDNS. */
function azure(visibility: string): Convert {
  return (options) => {
    options.ignore('client_total_retries', 'client_status_retries', 'client_retry_policy', 'top')
    if ((options.plain('client_credential_method') ?? 'client_secret') !== 'client_secret') return 'client_credential_method'
    if ((options.plain('authority') ?? MICROSOFT) !== MICROSOFT) return 'authority'
    return {
      type: 'azure',
      base_url: options.text('base_url'),
      subscription: options.text('sub_id'),
      resource_group: options.text('resource_group'),
      tenant: options.text('directory_id'),
      client_id: options.text('client_id'),
      client_secret: options.secret('key'),
      visibility: visibility === 'private' ? visibility : undefined,
    }
  }
}

function google(options: OptionReader): Settings {
  options.ignore('batch_size')
  const file = options.plain('credentials_file')
  const isPrivate = options.flag('private')
  return {
    type: 'google',
    project: options.text('project'),
    // The content of a key, which DNSControl holds.
    credentials: options.secret('credentials') ?? (file === undefined ? undefined : `file:${file}`),
    visibility: isPrivate === undefined ? undefined : isPrivate ? 'private' : 'public',
  }
}

/** The key is sent without TLS only to this machine. */
function powerdns(options: OptionReader): Settings | string {
  options.ignore('timeout', 'enable_dynamic', 'nameserver_ttl', 'mode_of_operation')
  const [host, port, scheme] = [options.plain('host'), options.plain('port') ?? '8081', options.plain('scheme') ?? 'http']
  // The address in one text, which DNSControl has.
  const address = options.text('base_url')
  if (host === undefined && address === undefined) return 'host'
  if (options.flag('ssl_verify') === false) return 'ssl_verify'
  if (host !== undefined && (!/^https?$/.test(scheme) || (scheme === 'http' && !isLoopback(host)))) return 'scheme'
  const soaEditApi = options.plain('soa_edit_api')?.toUpperCase()
  const nameservers = options.list('nameserver_values')
  const newZones = { ...(nameservers && { nameservers }), ...(soaEditApi && soaEditApi !== 'DEFAULT' && { soa_edit_api: soaEditApi }) }
  return {
    type: 'powerdns',
    base_url: address ?? `${scheme}://${host?.includes(':') ? `[${host}]` : host}:${port}`,
    api_key: options.requiredSecret('api_key'),
    server: options.plain('server_id'),
    notify: options.flag('notify'),
    new_zones: Object.keys(newZones).length === 0 ? undefined : newZones,
  }
}

function rfc2136(options: OptionReader): Settings | string {
  options.ignore('timeout', 'ipv6', 'update_batch_size')
  const [host, port] = [options.plain('host'), options.plain('port')]
  const [name, algorithm] = [options.text('key_name'), options.plain('key_algorithm')]
  const secret = options.secret('key_secret')
  if (host === undefined) return 'host'
  return {
    type: 'rfc2136',
    server: port === undefined ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`,
    tsig: name === undefined || secret === undefined ? undefined : { name, algorithm, secret },
  }
}

/** The SOA record is that of the definitions. octoDNS never reads the files that it writes. */
function zoneFiles(options: OptionReader): Settings | string {
  options.ignore('check_origin', 'hostmaster_email', 'default_ttl', 'refresh', 'retry', 'expire', 'nxdomain')
  const [directory, extension] = [options.plain('directory'), options.plain('file_extension') ?? '.']
  return directory === undefined ? 'directory' : { type: 'zonefile', directory, file_name: `{zone}${extension}` }
}

/** A folder of one file per zone; octoDNS's other layouts exist only there. */
function yaml(options: OptionReader): Settings | string {
  options.ignore('default_ttl', 'enforce_order', 'supports_root_ns')
  const directory = options.plain('directory')
  return directory === undefined ? 'directory' : { type: 'octodns', directory }
}
