/** Converts the DNS providers of a DNSControl config to targets. */
import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { agreeing } from '../../base/english.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { escapeGlob } from '../../files/file-glob.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { isObject } from '../../programs/dnscontrol/json-object.ts'
import type { ImportedZones, ImportRequest } from '../importer.ts'
import { placeConfig, pythonNotices, relocated } from '../octodns/convert-targets.ts'
import { printNewConfig, providerProblem } from '../octodns/converted-config.ts'
import { type ConvertedTarget, convertTarget, freeName, type OctodnsProvider, variableFor } from '../octodns/octodns-provider.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

export interface DnscontrolTargets {
  /** The targets by DNSControl's names. */
  readonly names: ReadonlyMap<string, string>
  /** None if there is a config already, or if no provider is known. */
  readonly newConfig: ImportedZones['newConfig']
  readonly diagnostics: readonly Diagnostic[]
}

/** DNSControl's file with the credentials, beside its script. */
const CREDENTIALS_FILE = 'creds.json'

/**
 * Converts the providers of zones. A native provider, octoDNS's class or dns-lexicon, in this order, takes the place of each; secrets become references to the environment. If there is a
 * config already, its providers with the same names are the targets. `paid` are those whose zones have a paid plan. `program` is the absolute path of a program
 * that stays the definition of all zones.
 */
export async function convertDnscontrolTargets(
  zones: readonly { readonly name: DomainName; readonly providers?: readonly string[] }[],
  types: ReadonlyMap<string, string>,
  request: ImportRequest,
  paid: ReadonlySet<string>,
  program: string | null = null,
): Promise<DnscontrolTargets> {
  const path = resolve(request.cwd, request.options.credentials ?? join(dirname(request.source), CREDENTIALS_FILE))
  const file = displayPath(path, request.cwd)
  const at = { file, line: 1, column: 1 }
  const isGiven = request.options.credentials !== undefined || (await isFile(path))
  const diagnostics: Diagnostic[] = []
  const known = isGiven ? await readFile(path, file, request, diagnostics) : null
  const names = new Map<string, string>()
  const targets: ConvertedTarget[] = []
  const unknown: string[] = []
  for (const name of new Set(zones.flatMap(({ providers = [] }) => providers))) {
    const own = known?.get(name)
    const type = typeOf(name, own?.type, types)
    if (request.config.file !== null) {
      if (request.config.providers.has(name)) names.set(name, name)
      else unknown.push(name)
      continue
    }
    const isPaid = type === 'CLOUDFLAREAPI' && paid.has(name)
    const provider = type === null ? null : { name, type, credentials: { ...own?.credentials, ...(isPaid && { plan_type: 'pro' }) }, at }
    const target = provider && convertProvider(provider, new Set(names.values()), diagnostics)
    const problem = target && providerProblem(target)
    if (target && problem === null) {
      targets.push(target)
      names.set(name, target.name)
    } else unknown.push([name, type && ` (${type})`, problem && `: ${problem}`].filter(Boolean).join(''))
  }
  if (unknown.length > 0)
    diagnostics.push(notImported(unknown, request, { hasCredentials: isGiven, isProgram: program !== null, isOnly: targets.length === 0 }))
  if (targets.length === 0) return { names, newConfig: undefined, diagnostics }
  const { folder, prefix } = placeConfig(program === null ? request : { ...request, options: { out: dirname(program) } })
  // A program names the targets itself, and its zones without one are skipped.
  const isKnown = (name: string): boolean => names.has(name)
  const isIdle = (providers: readonly string[]): boolean => (program === null ? !providers.some(isKnown) : !providers.every(isKnown))
  const idle = zones.filter(({ providers = [] }) => isIdle(providers)).map(({ name }) => name)
  const text = printNewConfig(
    `${isGiven ? file : 'a config'} of DNSControl`,
    targets.map((target) => relocated(target, dirname(path), folder)),
    prefix + (program === null ? '*.yaml' : escapeGlob(basename(program))),
    { idle, ...(program !== null && { reason: 'a provider is missing', after: '' }) },
  )
  return { names, newConfig: { folder, text }, diagnostics: [...diagnostics, ...pythonNotices(targets)] }
}

/** The config that a program would get if its zones had every provider of its credentials, which is as much as is known before it runs; null without any. */
export async function previewDnscontrolConfig(program: string, request: ImportRequest): Promise<string | null> {
  const path = join(dirname(program), CREDENTIALS_FILE)
  const known = (await isFile(path)) ? await readFile(path, CREDENTIALS_FILE, request, []) : null
  const providers = [...(known?.keys() ?? [])]
  const { newConfig } = await convertDnscontrolTargets(
    [{ name: 'invalid.' as DomainName, providers }],
    new Map(),
    request,
    new Set(),
    program,
  )
  return newConfig?.text ?? null
}

/** A type of `-` stands for that of the other file. Only BIND needs no entry. */
function typeOf(name: string, own: string | null | undefined, types: ReadonlyMap<string, string>): string | null {
  const stated = [own, types.get(name)].find((type) => type != null && type !== '-')
  return stated ?? (name === 'bind' ? 'BIND' : null)
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  )

async function readFile(path: string, file: string, { config }: ImportRequest, diagnostics: Diagnostic[]) {
  const text = await readText(path, file, sourcePolicy(config, 'allowed'))
  const credentials = text.ok ? readCredentials(text.text) : null
  if (!text.ok) diagnostics.push({ severity: 'error', ...text.problem })
  else if (credentials === null)
    diagnostics.push({
      severity: 'error',
      code: 'file-format',
      message: `${file} is not the JSON of DNSControl's credentials: an object per provider, with texts as values`,
    })
  return credentials
}

/** BIND's provider writes zone files; every other is converted as the one of octoDNS, or of dns-lexicon if octoDNS has none. */
function convertProvider(provider: DnscontrolProvider, taken: ReadonlySet<string>, diagnostics: Diagnostic[]): ConvertedTarget | null {
  const report = (what: string): void =>
    void diagnostics.push({ severity: 'warning', code: 'import-aside', message: `not imported: ${what}`, at: provider.at })
  if (provider.type === 'BIND') {
    const { directory = 'zones', ...rest } = provider.credentials
    for (const key of Object.keys(rest)) report(`${quoted(key)} of the provider ${provider.name}`)
    const settings = { type: 'zonefile', directory }
    return { name: freeName(provider.name, taken), settings, needsPython: false, safety: {}, skipsUnsupported: false, isDryRun: false }
  }
  const converted = convertCredentials(provider)
  if (converted === null) return lexiconTarget(provider, taken, report)
  for (const key of converted.left) report(`${quoted(key)} of the provider ${provider.name}`)
  if (converted.lacks !== undefined)
    report(`${quoted(converted.lacks)} of the provider ${provider.name}, which DNSControl finds itself: add it to its options`)
  const dropped: UnsupportedFeature[] = []
  const target = convertTarget(converted.provider, dropped, { takenNames: taken })
  for (const { what } of dropped) report(what)
  return target
}

/** Without any provider there is no config for a program, which is an error. */
function notImported(
  names: readonly string[],
  { config, source }: ImportRequest,
  { hasCredentials, isProgram, isOnly }: { readonly hasCredentials: boolean; readonly isProgram: boolean; readonly isOnly: boolean },
): Diagnostic {
  const [provider, is] = [agreeing(names.length, 'DNS provider', 'DNS providers'), agreeing(names.length, 'is', 'are')]
  const message = `DNSControl's ${provider} ${names.map((name) => quoted(name)).join(', ')} ${is} not imported`
  const added = `${agreeing(names.length, 'a provider with this name', 'providers with these names')} to`
  const hint =
    config.file !== null
      ? `add ${added} the config, or name the targets of the zones in its rules`
      : !hasCredentials
        ? `put ${CREDENTIALS_FILE} beside ${basename(source)}, or name it with --credentials of "zonewright import dnscontrol"; types are enough: {"NAME": {"TYPE": "CLOUDFLAREAPI"}}`
        : !isProgram
          ? 'add a provider to zonewright.yaml and name it in the targets of the zones; those without another target are disabled there'
          : isOnly
            ? `add ${added} a new zonewright.yaml, with the rule {files: [dnsconfig.js]}; or write definitions with --convert and -o`
            : `add ${added} zonewright.yaml, which disables the zones that need ${agreeing(names.length, 'it', 'them')}`
  const isError = config.file === null && isProgram && isOnly
  return { severity: isError ? 'error' : 'warning', code: isError ? 'provider-unknown' : 'import-aside', message, hint }
}

// DNSControl's providers: their types and the keys of `creds.json`, as provider classes of octoDNS and their options.

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
interface ConvertedCredentials {
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
  PORKBUN: { className: 'dnscontrol.PORKBUN', options: { api_key: 'api_key', secret_key: 'secret_key' } },
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
  VULTR: { className: 'dnscontrol.VULTR', options: { token: 'token' } },
}

/** Services that octoDNS has no class for, as dns-lexicon calls them, and its setting by DNSControl's key. */
const LEXICON: Readonly<Record<string, readonly [service: string, options: Readonly<Record<string, string>>]>> = {
  ALIDNS: ['aliyun', { access_key_id: 'auth_key_id', access_key_secret: 'auth_secret' }],
  CLOUDNS: ['cloudns', { 'auth-id': 'auth_id', 'sub-auth-id': 'auth_subid', 'auth-password': 'auth_password' }],
  EXOSCALE: ['exoscale', { apikey: 'auth_key', secretkey: 'auth_secret' }],
  HOSTINGDE: ['hostingde', { authToken: 'auth_token' }],
  INFOMANIAK: ['infomaniak', { token: 'auth_token' }],
  INTERNETBS: ['internetbs', { 'api-key': 'auth_key', password: 'auth_password' }],
  INWX: ['inwx', { username: 'auth_username', password: 'auth_password' }],
  LUADNS: ['luadns', { email: 'auth_username', apikey: 'auth_token' }],
  MYTHICBEASTS: ['mythicbeasts', { keyID: 'auth_username', secret: 'auth_password' }],
  NAMECHEAP: ['namecheap', { apiuser: 'auth_username', apikey: 'auth_token' }],
  NAMEDOTCOM: ['namecom', { apiuser: 'auth_username', apikey: 'auth_token' }],
  NETCUP: ['netcup', { 'customer-number': 'auth_customer_id', 'api-key': 'auth_api_key', 'api-password': 'auth_api_password' }],
  SAKURACLOUD: ['sakuracloud', { access_token: 'auth_token', access_token_secret: 'auth_secret' }],
  SOFTLAYER: ['softlayer', { username: 'auth_username', api_key: 'auth_api_key' }],
  VERCEL: ['vercel', { api_token: 'auth_token' }],
}

/** The service of dns-lexicon with the options that it has; null if there is none. All options may be secrets. */
function lexiconTarget(
  { name, type, credentials }: DnscontrolProvider,
  taken: ReadonlySet<string>,
  report: (what: string) => void,
): ConvertedTarget | null {
  const [service, options] = (Object.hasOwn(LEXICON, type) ? LEXICON[type] : undefined) ?? []
  if (service === undefined || options === undefined) return null
  for (const key of Object.keys(credentials)) if (!Object.hasOwn(options, key)) report(`${quoted(key)} of the provider ${name}`)
  const secrets = Object.entries(options).flatMap(([key, option]) => {
    const [kind, variable] = (credentials[key] === undefined ? '' : reference(credentials[key])).split('/')
    return credentials[key] === undefined
      ? []
      : [[option, `env:${kind === 'env' && variable ? variable : variableFor(name, option)}`] as const]
  })
  const settings = { type: 'lexicon', provider: service, options: Object.fromEntries(secrets) }
  return { name: freeName(name, taken), settings, needsPython: true, safety: {}, skipsUnsupported: false, isDryRun: false }
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

/** JSON without the comments and trailing commas that DNSControl accepts. */
const withoutComments = (text: string): string =>
  text
    .replace(/("(?:[^"\\]|\\.)*"?)|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (_, string: string | undefined) => string ?? ' ')
    .replace(/("(?:[^"\\]|\\.)*"?)|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '')

const isScalar = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Reads `creds.json`; null if it is not a JSON object of objects with texts. Its values may be secrets, so they appear in no message. */
function readCredentials(
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
