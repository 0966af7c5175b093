/** octoDNS's provider classes that have a native provider here, and their options as its settings. Option names are those of the versions named in `scripts/install-octodns.sh` and in the list of Python clients. */
import { isLoopback } from '../../transport/allowed-hosts.ts'

type Settings = Readonly<Record<string, unknown>>

/** Reads the options of a provider, each once. */
export interface OptionReader {
  /** A reference to the secret; undefined if the option is absent. */
  secret(key: string): string | undefined
  /** The same; a reference to a new variable if the option is absent. */
  requiredSecret(key: string): string
  /** A text, number or boolean that is in the config itself; undefined if it is absent. */
  plain(key: string): string | undefined
  /** The same, or a reference to a variable; undefined also for `own`, the variable that the native provider reads itself. */
  text(key: string, own?: string): string | undefined
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
export const nativeConversion = (className: string): Convert | null =>
  CONVERSIONS.find(({ pattern }) => pattern.test(className))?.convert ?? null

/** Zones are created if a definition has them, as all zones here. */
function scaleway(options: OptionReader): Settings {
  options.flag('create_zone')
  return { type: 'scaleway', secret_key: options.requiredSecret('token') }
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
      subscription: options.text('sub_id', 'AZURE_SUBSCRIPTION_ID'),
      resource_group: options.text('resource_group'),
      tenant: options.text('directory_id', 'AZURE_TENANT_ID'),
      client_id: options.text('client_id', 'AZURE_CLIENT_ID'),
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
