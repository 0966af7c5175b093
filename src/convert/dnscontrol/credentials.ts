/** DNSControl's providers: their types and the keys of `creds.json`, as provider classes of octoDNS and their options. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { OctodnsProvider } from '../octodns/octodns-provider.ts'

/** A provider of a DNSControl config: what `creds.json` has under its name. */
export interface DnscontrolProvider {
  readonly name: string
  /** Such as `CLOUDFLAREAPI`. */
  readonly type: string
  /** All keys except `TYPE`, as texts. `$NAME` is a variable of the environment. */
  readonly credentials: Readonly<Record<string, string>>
  readonly at: SourcePosition
}

/** A provider of octoDNS with the same options; `left` are keys that it does not have. */
export interface ConvertedCredentials {
  readonly provider: OctodnsProvider
  readonly left: readonly string[]
  /** An option that octoDNS's provider needs and DNSControl's finds itself. */
  readonly lacks?: string | undefined
}

interface Counterpart {
  readonly className: string
  /** octoDNS's option by DNSControl's key. */
  readonly options: Readonly<Record<string, string>>
  readonly fixed?: Readonly<Record<string, string>>
  readonly lacks?: string
}

const AZURE = {
  SubscriptionID: 'sub_id',
  ResourceGroup: 'resource_group',
  TenantID: 'directory_id',
  ClientID: 'client_id',
  ClientSecret: 'key',
}

const COUNTERPARTS: Readonly<Record<string, Counterpart>> = {
  AKAMAIEDGEDNS: {
    className: 'octodns_edgedns.AkamaiProvider',
    options: {
      client_secret: 'client_secret',
      host: 'host',
      access_token: 'access_token',
      client_token: 'client_token',
      contract_id: 'contract_id',
      group_id: 'gid',
    },
  },
  AZURE_DNS: { className: 'octodns_azure.AzureProvider', options: AZURE },
  AZURE_PRIVATE_DNS: { className: 'octodns_azure.AzurePrivateProvider', options: AZURE },
  CLOUDFLAREAPI: {
    className: 'octodns_cloudflare.CloudflareProvider',
    options: { apitoken: 'token', apikey: 'token', apiuser: 'email', accountid: 'account_id', plan_type: 'plan_type' },
  },
  DESEC: { className: 'octodns_desec.DesecProvider', options: { 'auth-token': 'token' } },
  DIGITALOCEAN: { className: 'octodns_digitalocean.DigitalOceanProvider', options: { token: 'token' } },
  DNSIMPLE: { className: 'octodns_dnsimple.DnsimpleProvider', options: { token: 'token' }, lacks: 'account' },
  DNSMADEEASY: {
    className: 'octodns_dnsmadeeasy.DnsMadeEasyProvider',
    options: { api_key: 'api_key', secret_key: 'secret_key', sandbox: 'sandbox' },
  },
  GANDI_V5: { className: 'octodns_gandi.GandiProvider', options: { token: 'token', apikey: 'token' } },
  HETZNER_V2: { className: 'octodns_hetzner.HetznerProvider', options: { api_token: 'token' }, fixed: { backend: 'hcloud' } },
  LINODE: { className: 'octodns_linode.LinodeProvider', options: { token: 'token' } },
  NS1: { className: 'octodns_ns1.Ns1Provider', options: { api_token: 'api_key' } },
  OVH: {
    className: 'octodns_ovh.OvhProvider',
    options: {
      'app-key': 'application_key',
      'app-secret-key': 'application_secret',
      'consumer-key': 'consumer_key',
      endpoint: 'endpoint',
    },
    fixed: { endpoint: 'ovh-eu' },
  },
  ROUTE53: {
    className: 'octodns_route53.Route53Provider',
    options: {
      KeyId: 'access_key_id',
      SecretKey: 'secret_access_key',
      Token: 'session_token',
      DelegationSet: 'delegation_set_id',
      RoleArn: 'role_arn',
    },
  },
  TRANSIP: { className: 'octodns_transip.TransipProvider', options: { AccountName: 'account', PrivateKey: 'key' } },
}

/** The same provider of octoDNS; null if it has none. */
export function convertCredentials(provider: DnscontrolProvider): ConvertedCredentials | null {
  const { name, type, credentials, at } = provider
  if (type === 'POWERDNS') return powerdns(provider)
  if (type === 'AXFRDDNS') return nameServer(provider)
  if (type === 'GCLOUD') return google(provider)
  const counterpart = Object.hasOwn(COUNTERPARTS, type) ? COUNTERPARTS[type] : undefined
  if (counterpart === undefined) return null
  const { className, options, fixed = {}, lacks } = counterpart
  const settings: Record<string, string> = { ...fixed }
  const left: string[] = []
  for (const [key, value] of Object.entries(credentials)) {
    const option = Object.hasOwn(options, key) ? options[key] : undefined
    if (option === undefined) left.push(key)
    else settings[option] = type === 'OVH' && /^(?:eu|ca|us)$/.test(value) ? `ovh-${value}` : reference(value)
  }
  return { provider: { name, className, settings, at }, left, ...(lacks !== undefined && { lacks }) }
}

/** `$NAME` and `${NAME}` are variables of the environment. */
function reference(value: string): string {
  const [, variable] = /^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$/.exec(value) ?? []
  return variable === undefined ? value : `env/${variable}`
}

/** The fields of a key file, all of which but the project are copied into `creds.json`. */
const KEY_FILE =
  /^(?:type|private_key|private_key_id|client_email|client_id|auth_uri|token_uri|auth_provider_x509_cert_url|client_x509_cert_url|universe_domain)$/

/** A key becomes a variable with the content of its file, which has all fields. */
function google({ name, credentials, at }: DnscontrolProvider): ConvertedCredentials {
  const { project_id: project, ...rest } = credentials
  const hasKey = rest['private_key'] !== undefined
  // The key file names the project as well.
  const namesProject = project !== undefined && !(hasKey && project.startsWith('$'))
  const settings = { ...(namesProject && { project: reference(project) }), ...(hasKey && { credentials: 'the content of the key file' }) }
  const left = Object.keys(rest).filter((key) => !hasKey || !KEY_FILE.test(key))
  return { provider: { name, className: 'octodns_googlecloud.GoogleCloudProvider', settings, at }, left }
}

/** Of an address with more than scheme, host and port, the rest is left. One in a variable is taken as it is. */
function powerdns({ name, credentials, at }: DnscontrolProvider): ConvertedCredentials | null {
  const { apiUrl = '', apiKey = '', serverName, ...rest } = credentials
  const keys = { api_key: reference(apiKey), ...(serverName !== undefined && { server_id: serverName }) }
  const className = 'octodns_powerdns.PowerDnsProvider'
  const address = reference(apiUrl)
  if (address !== apiUrl) return { provider: { name, className, settings: { base_url: address, ...keys }, at }, left: Object.keys(rest) }
  if (!URL.canParse(apiUrl)) return null
  const { protocol, hostname, port, origin, href } = new URL(apiUrl)
  const scheme = protocol.slice(0, -1)
  const settings = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (scheme === 'https' ? 443 : 80)),
    scheme,
    ...keys,
  }
  const left = [...(href === `${origin}/` ? [] : ['apiUrl']), ...Object.keys(rest)]
  return { provider: { name, className, settings, at }, left }
}

/** `update-key` and `transfer-key` are `ALGORITHM:NAME:SECRET`. Only one of two is used. */
function nameServer({ name, credentials, at }: DnscontrolProvider): ConvertedCredentials | null {
  const { master = '', 'update-key': updateKey, 'transfer-key': transferKey, ...rest } = credentials
  if (master === '') return null
  // An IPv6 address without brackets has no port.
  const [, host = master, port] = /^([^:]+|\[[^\]]*\]):([0-9]+)$/.exec(master) ?? []
  const used = updateKey === undefined ? 'transfer-key' : 'update-key'
  const key = updateKey ?? transferKey
  const [, algorithm = '', keyName, secret] = /^([^:]+):([^:]+):(.+)$/.exec(key ?? '') ?? []
  const settings = {
    host: reference(host.replace(/^\[(.*)\]$/, '$1')),
    ...(port !== undefined && { port: Number(port) }),
    ...(secret !== undefined && {
      key_name: reference(keyName ?? ''),
      key_algorithm: algorithm.replace(/^(?:hmac-)?/i, 'hmac-'),
      key_secret: reference(secret),
    }),
  }
  const left = [
    ...Object.keys(rest),
    ...(key !== undefined && secret === undefined ? [used] : []),
    ...(updateKey !== undefined && transferKey !== undefined && transferKey !== updateKey ? ['transfer-key'] : []),
  ]
  return { provider: { name, className: 'octodns_bind.Rfc2136Provider', settings, at }, left }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON without the comments and trailing commas that DNSControl accepts. */
const withoutComments = (text: string): string =>
  text
    .replace(/("(?:[^"\\]|\\.)*"?)|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (_, string: string | undefined) => string ?? ' ')
    .replace(/("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '')

const isScalar = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Reads `creds.json`; null if it is not a JSON object of objects with texts. Its values may be secrets, so they appear in no message. */
export function readCredentials(
  text: string,
): ReadonlyMap<string, { readonly type: string | null; readonly credentials: DnscontrolProvider['credentials'] }> | null {
  let root: unknown
  try {
    root = JSON.parse(withoutComments(text))
  } catch {
    return null
  }
  if (!isObject(root) || !Object.values(root).every((entry) => isObject(entry) && Object.values(entry).every(isScalar))) return null
  return new Map(
    Object.entries(root).map(([name, entry]) => {
      const { TYPE: type, ...keys } = entry as Readonly<Record<string, unknown>>
      const credentials = Object.entries(keys).filter(([key]) => !key.startsWith('_') && key !== 'domain')
      return [
        name,
        {
          type: typeof type === 'string' ? type : null,
          credentials: Object.fromEntries(credentials.map(([key, value]) => [key, String(value)])),
        },
      ]
    }),
  )
}
