/** Providers of octoDNS become native ones if these have all their options; everything else runs octoDNS's class. */
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read-config.ts'
import { convertTarget } from '../../../src/convert/octodns/octodns-provider.ts'
import { readOctodnsConfig } from '../../../src/convert/octodns/read-octodns-config.ts'
import { checkSettings } from '../../../src/providers/registry.ts'

type Settings = Readonly<Record<string, unknown>>
const ID = '11111111-1111-4111-8111-111111111111'
const ACCOUNT = '0123456789abcdef0123456789abcdef'

const NATIVE: readonly (readonly [className: string, options: Settings, expected: Settings])[] = [
  ['octodns_linode.LinodeProvider', { token: 'env/T' }, { type: 'cloud', preset: 'linode', token: 'env:T' }],
  ['octodns_gandi.GandiProvider', { token: 'env/T', per_page: 100 }, { type: 'gandi', token: 'env:T' }],
  [
    'octodns_ovh.OvhProvider',
    { endpoint: 'ovh-eu', application_key: 'env/A', application_secret: 'env/S', consumer_key: 'env/C' },
    { type: 'ovh', application_key: 'env:A', application_secret: 'env:S', consumer_key: 'env:C' },
  ],
  ['octodns_scaleway.ScalewayProvider', { token: 'env/T', create_zone: true }, { type: 'scaleway', secret_key: 'env:T' }],
  [
    'octodns_azure.AzureProvider',
    { sub_id: 'env/AZURE_SUBSCRIPTION_ID', resource_group: 'g', directory_id: 't', client_id: 'c', key: 'env/K' },
    { type: 'azure', subscription: 'env:AZURE_SUBSCRIPTION_ID', resource_group: 'g', tenant: 't', client_id: 'c', client_secret: 'env:K' },
  ],
  [
    'octodns_azure.AzureProvider',
    { sub_id: 'env/S', resource_group: 'env/G', directory_id: 'env/T', client_id: 'env/APPLICATION_ID' },
    { type: 'azure', subscription: 'env:S', resource_group: 'env:G', tenant: 'env:T', client_id: 'env:APPLICATION_ID' },
  ],
  ['octodns_route53.Route53Provider', { profile: 'env/PROFILE' }, { type: 'route53', profile: 'env:PROFILE' }],
  ['octodns_googlecloud.GoogleCloudProvider', { project: 'env/P' }, { type: 'google', project: 'env:P' }],
  [
    'octodns_bind.Rfc2136Provider',
    { host: '192.0.2.1', key_name: 'env/N', key_secret: 'env/S' },
    { type: 'rfc2136', server: '192.0.2.1', tsig: { name: 'env:N', secret: 'env:S' } },
  ],
  ['octodns_desec.DesecProvider', { token: 'env/T', retries: 3 }, { type: 'desec', token: 'env:T' }],
  [
    'octodns_cloudflare.CloudflareProvider',
    { token: 'env/T', plan_type: 'pro', pagerules: false, retry_period: 5, account_id: ACCOUNT },
    { type: 'cloudflare', token: 'env:T', account_id: ACCOUNT, plan: 'pro' },
  ],
  [
    'octodns_cloudflare.CloudflareProvider',
    { token: 'env/T', account_id: 'env/A' },
    { type: 'cloudflare', token: 'env:T', account_id: 'env:A' },
  ],
  ['octodns_digitalocean.DigitalOceanProvider', { token: 'env/T' }, { type: 'digitalocean', token: 'env:T' }],
  ['octodns_hetzner.HetznerProvider', { token: 'env/T', backend: 'hcloud' }, { type: 'hetzner', token: 'env:T' }],
  ['octodns_route53.Route53Provider', {}, { type: 'route53' }],
  [
    'octodns_route53.Route53Provider',
    { access_key_id: 'env/ID', secret_access_key: 'env/K', client_max_attempts: 9, private: true, vpc_id: 'vpc-1', vpc_region: 'eu' },
    { type: 'route53', access_key_id: 'env:ID', secret_access_key: 'env:K', zone_type: 'private', vpc: { id: 'vpc-1', region: 'eu' } },
  ],
  [
    'octodns_azure.AzureProvider',
    { sub_id: ID, resource_group: 'dns', directory_id: 'example.com', client_id: 'app', key: 'env/K', top: 500 },
    { type: 'azure', subscription: ID, resource_group: 'dns', tenant: 'example.com', client_id: 'app', client_secret: 'env:K' },
  ],
  [
    'octodns_azure.AzurePrivateProvider',
    { sub_id: ID, resource_group: 'dns' },
    { type: 'azure', subscription: ID, resource_group: 'dns', visibility: 'private' },
  ],
  [
    'octodns_googlecloud.GoogleCloudProvider',
    { project: 'p', credentials_file: 'k.json' },
    { type: 'google', project: 'p', credentials: 'file:k.json' },
  ],
  [
    'octodns_powerdns.PowerDnsProvider',
    { host: 'dns.example', scheme: 'https', port: 443, api_key: 'env/K', nameserver_values: ['ns1.example.'], notify: true },
    { type: 'powerdns', base_url: 'https://dns.example:443', api_key: 'env:K', notify: true, new_zones: { nameservers: ['ns1.example.'] } },
  ],
  [
    'octodns_powerdns.PowerDnsProvider',
    { host: '127.0.0.1', api_key: 'env/K' },
    { type: 'powerdns', base_url: 'http://127.0.0.1:8081', api_key: 'env:K' },
  ],
  [
    'octodns_bind.Rfc2136Provider',
    { host: '2001:db8::1', port: 5300, key_name: 'k', key_secret: 'env/S', key_algorithm: 'hmac-sha512' },
    { type: 'rfc2136', server: '[2001:db8::1]:5300', tsig: { name: 'k', algorithm: 'hmac-sha512', secret: 'env:S' } },
  ],
  ['octodns.provider.yaml.YamlProvider', { directory: './mirror', default_ttl: 300 }, { type: 'octodns', directory: './mirror' }],
]

/** Options that only octoDNS's class has, and the one that the import names. */
const CLASSES: readonly (readonly [className: string, options: Settings, lacks: string | undefined])[] = [
  ['octodns_cloudflare.CloudflareProvider', { email: 'a@example.com', token: 'env/T' }, 'email'],
  ['octodns_cloudflare.CloudflareProvider', { token: 'env/T', cdn: true }, 'cdn'],
  ['octodns_azure.AzureProvider', { resource_group: 'g', client_credential_method: 'managed_identity' }, 'client_credential_method'],
  ['octodns_bind.Rfc2136Provider', { host: 'env/HOST', key_name: 'k', key_secret: 'env/S' }, 'host: env/HOST'],
  ['octodns_route53.Route53Provider', { role_arn: 'arn:aws:iam::1:role/dns' }, 'role_arn'],
  ['octodns_powerdns.PowerDnsProvider', { host: '192.0.2.1', api_key: 'env/K' }, 'scheme, which is not set'],
  ['octodns_powerdns.PowerDnsProvider', { host: 'dns.example', scheme: 'https', ssl_verify: false, api_key: 'env/K' }, 'ssl_verify'],
  ['octodns_desec.DesecProvider', { token: 'env/T', option_of_tomorrow: 1 }, 'option_of_tomorrow'],
  ['octodns_hetzner.HetznerProvider', { token: 'env/T' }, 'backend, which is not set'],
  ['octodns_hetzner.HetznerProvider', { token: 'env/T', backend: 'dnsapi' }, 'backend'],
  ['octodns.provider.yaml.SplitYamlProvider', { directory: './mirror' }, undefined],
  ['octodns_ns1.Ns1Provider', { api_key: 'env/K' }, undefined],
]

const at = { file: 'production.yaml', line: 1, column: 1 }
const convert = (className: string, settings: Settings) => convertTarget({ name: 'target', className, settings, at }, [])

test.each(NATIVE)('%s with %j is native, with valid settings', (className, options, expected) => {
  const converted = convert(className, { ...options, delete_pcent_threshold: 0.5 })
  expect(converted).toMatchObject({ settings: expected, needsPython: false })
  expect(converted?.settings).toEqual(expected)
  expect(problemsOf(expected)).toEqual([])
})

test.each(CLASSES)('%s with %j runs in Python', (className, options, lacks) => {
  const converted = convert(className, options)
  expect(converted).toMatchObject({ settings: { type: 'octodns', class: className }, needsPython: true })
  expect(converted?.lacks).toBe(lacks)
  expect(problemsOf(converted?.settings ?? {})).toEqual([])
})

test.each([
  ['octodns.provider.cloudflare.CloudflareProvider', 'octodns_cloudflare.CloudflareProvider'],
  ['octodns.provider.azuredns.AzureProvider', 'octodns_azure.AzureProvider'],
  ['octodns.provider.fastdns.AkamaiProvider', 'octodns_edgedns.AkamaiProvider'],
  ['octodns.source.axfr.AxfrSource', 'octodns_bind.AxfrSource'],
  ['octodns.provider.yaml.YamlProvider', 'octodns.provider.yaml.YamlProvider'],
])('%s, a path before octoDNS 1, is %s', (former, current) => {
  const { providers } = readOctodnsConfig(`providers: {a: {class: ${former}}}\nzones: {}\n`, 'a.yaml')
  expect(providers.get('a')?.className).toBe(current)
})

test.each<[what: string, options: Settings, expected: Settings]>([
  ['by zone names', { passwords: { 'example.com.': 'plain-1' } }, { passwords: { 'example.com.': 'env:TARGET_PASSWORDS_EXAMPLE_COM_' } }],
  ['of one name', { a: { token: 'p-1' }, b: { token: 'p-2' } }, { a: { token: 'env:TARGET_A_TOKEN' }, b: { token: 'env:TARGET_B_TOKEN' } }],
  ['in a list', { api_keys: ['plain-1', 'plain-2'] }, { api_keys: ['env:TARGET_API_KEYS_1', 'env:TARGET_API_KEYS_2'] }],
  ['in an address', { proxy: 'https://me:plain-1@proxy.test/' }, { proxy: 'env:TARGET_PROXY' }],
  ['without a separator', { apikey: 'plain-1' }, { apikey: 'env:TARGET_APIKEY' }],
  ['of digits', { password: 12345678 }, { password: 'env:TARGET_PASSWORD' }],
])('secrets %s are not copied, and each has a variable', (_, options, expected) => {
  expect(convert('octodns_lab.LabProvider', options)?.settings['options']).toEqual(expected)
})

function problemsOf(settings: Settings): unknown[] {
  const place = { file: 'zonewright.yaml', folder: process.cwd(), cwd: process.cwd() }
  const { config, diagnostics } = readConfig(`providers: {target: ${JSON.stringify(settings)}}\n`, place)
  const problems = [...diagnostics, ...[...(config?.providers.values() ?? [])].flatMap(checkSettings)]
  return problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)
}
