/** DNSControl's DNS providers become targets, by its `creds.json`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convertCredentials, type DnscontrolProvider } from '../../../src/convert/dnscontrol/convert-targets.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const domain = (name: string, providers: readonly string[], meta: object = {}) => ({
  name,
  registrar: 'none',
  dnsProviders: Object.fromEntries(providers.map((provider) => [provider, -1])),
  records: [{ type: 'A', name: 'www', ttl: 300, target: '192.0.2.1', meta }],
})

const CREDENTIALS = {
  cf: { TYPE: 'CLOUDFLAREAPI', apitoken: '$CF_TOKEN', accountid: '0123456789abcdef0123456789abcdef' },
  aws: { TYPE: 'ROUTE53', KeyId: 'hunter2-id', SecretKey: 'hunter2-key' },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of DNSControl
  'my gandi': { TYPE: 'GANDI_V5', token: '${GANDI}', sharing_id: '7' },
  files: { TYPE: 'BIND', directory: 'served' },
  update: { TYPE: 'AXFRDDNS', master: 'ns1.example.net:5353', 'update-key': 'hmac-sha256:key1:aHVudGVyMg==' },
  vultr: { TYPE: 'VULTR', token: '$VULTR' },
  pork: { TYPE: 'PORKBUN', api_key: '$PORK', secret_key: 'hunter2' },
  ovh: { TYPE: 'OVH', 'app-key': '$A', 'app-secret-key': '$S', 'consumer-key': '$C', endpoint: 'ca' },
  transip: { TYPE: 'TRANSIP', AccountName: 'us', PrivateKey: '$KEY' },
  web: { TYPE: 'INWX', username: '$INWX_USER', password: 'hunter2', spare: 'x' },
  odd: { TYPE: 'PACKETFRAME', token: 'hunter2' },
  unused: { TYPE: 'NS1', api_token: 'hunter2' },
}

function project(domains: readonly object[], credentials: unknown = CREDENTIALS) {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'ir.json'), JSON.stringify({ registrars: [], dns_providers: [{ name: 'named', type: 'DESEC' }], domains }))
  if (credentials !== null) writeFileSync(join(folder, 'creds.json'), JSON.stringify(credentials))
  const run = (...args: string[]) => cli(['import', 'dnscontrol', 'ir.json', '-o', 'out', ...args], { cwd: folder })
  const made = (path: string): string => readFileSync(join(folder, path === 'zonewright.yaml' ? '.' : 'out', path), 'utf8')
  return { folder, run, made }
}

test('every provider of a zone is a target, and no secret is copied', async () => {
  const { folder, run, made } = project([
    domain('example.com', ['cf', 'aws', 'my gandi'], {
      cloudflare_proxy: 'on',
      cloudflare_comment: 'of "us"',
      cloudflare_tags: 'a:b,team:web',
    }),
    domain('example.net', ['files', 'update', 'odd', 'named']),
    domain('example.org', ['vultr', 'pork', 'ovh', 'transip', 'web']),
  ])
  const { stdout, stderr } = expectEnd(await run(), 0)
  const config = made('zonewright.yaml')
  expect(config).toBe(`# Converted from creds.json of DNSControl.
providers:
  cf: {type: cloudflare, token: env:CF_TOKEN, account_id: 0123456789abcdef0123456789abcdef, plan: pro}
  aws: {type: route53, access_key_id: env:AWS_ACCESS_KEY_ID, secret_access_key: env:AWS_SECRET_ACCESS_KEY}
  my-gandi: {type: gandi, token: env:GANDI}
  files: {type: zonefile, directory: served}
  update: {type: rfc2136, server: ns1.example.net:5353, tsig: {name: key1, algorithm: hmac-sha256, secret: env:UPDATE_KEY_SECRET}}
  named: {type: desec, token: env:NAMED_TOKEN}
  vultr: {type: vultr, api_key: env:VULTR}
  pork: {type: porkbun, api_key: env:PORK, secret_api_key: env:PORK_SECRET_KEY}
  ovh: {type: ovh, base_url: 'https://ca.api.ovh.com/1.0', application_key: env:A, application_secret: env:S, consumer_key: env:C}
  transip: {type: octodns, class: octodns_transip.TransipProvider, options: {account: us, key: env:KEY}}
  web: {type: lexicon, provider: inwx, options: {auth_username: env:INWX_USER, auth_password: env:WEB_AUTH_PASSWORD}}
zones:
  - files: ['out/*.yaml']
    targets: []
`)
  expect(config + stdout + stderr).not.toMatch(/hunter2|aHVudGVyMg/)
  expect(stderr).toContain('"odd (PACKETFRAME)" is not imported')
  expect(stderr).toContain('pip install octodns octodns-transip')
  expect(stderr).toContain('"sharing_id" of the provider my gandi')
  expect(stderr).toContain('web runs dns-lexicon in Python, because neither Zonewright nor octoDNS has a provider for inwx')
  expect(stderr).toContain('"spare" of the provider web')
  expect(made('example.com.yaml')).toContain('targets: [cf, aws, my-gandi]')
  expect(made('example.com.yaml')).toContain('cloudflare: {proxied: true, comment: of "us", tags: [a:b, team:web]}')
  expect(made('example.net.yaml')).toContain('targets: [files, update, named]')
  mkdirSync(join(folder, 'served'))
  expect(await cli(['validate'], { cwd: folder })).toMatchObject({ status: 0 })
})

test('a config that exists stays, and its providers are the targets of the same name', async () => {
  const { folder, run, made } = project([domain('example.com', ['cf', 'aws'])])
  writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {cf: {type: cloudflare, token: env:T}}\n')
  expectEnd(await run(), 0, { err: 'DNS provider "aws" is not imported' })
  expect(readFileSync(join(folder, 'zonewright.yaml'), 'utf8')).toBe('providers: {cf: {type: cloudflare, token: env:T}}\n')
  expect(made('example.com.yaml')).toContain('targets: [cf]')
})

test('without credentials, the file is queried', async () => {
  const { run } = project([domain('example.com', ['cf'])], null)
  expectEnd(await run(), 0, {
    err: '(put creds.json beside ir.json, or name it with --credentials of "zonewright import dnscontrol"; types are enough: {',
  })
})

test('keys of Google and Hetzner, a comment, a trailing comma, and the type of the config', async () => {
  const { folder, run, made } = project([domain('example.com', ['gcp', 'hetzner', 'named', 'bind', 'simple'])], null)
  const key = JSON.stringify({ TYPE: 'GCLOUD', type: 'service_account', project_id: 'p', private_key: 'hunter2', client_email: 'a@b' })
  writeFileSync(
    join(folder, 'creds.json'),
    `// The keys\n{"gcp": ${key}, # of "Google"\n"hetzner": {"TYPE": "HETZNER_V2", "api_token": "hunter2//#,}",},
    /* the type is in the config */ "named": {"TYPE": "-", "auth-token": "$D"}, "simple": {"TYPE": "DNSIMPLE", "token": "$S"},}`,
  )
  const { stdout, stderr } = expectEnd(await run(), 0)
  expect(made('zonewright.yaml')).toContain(`providers:
  gcp: {type: google, project: p, credentials: env:GCP_CREDENTIALS}
  hetzner: {type: hetzner, token: env:HETZNER_TOKEN}
  named: {type: desec, token: env:D}
  bind: {type: zonefile, directory: zones}
`)
  expect(stdout + stderr).not.toContain('hunter2')
  expect(stderr).toContain('the credentials of the provider gcp as plain text: set GCP_CREDENTIALS')
  expect(stderr).not.toContain('private_key')
  expect(stderr).toContain('"account" of the provider simple')
})

test('a server whose address is not in the credentials is not imported, unless it is in a variable', async () => {
  const { run, made } = project([domain('example.com', ['own', 'pdns', 'email'])], {
    own: { TYPE: 'AXFRDDNS', 'update-key': '$KEY' },
    pdns: { TYPE: 'POWERDNS', apiUrl: '$URL', apiKey: '$K' },
    email: { TYPE: 'CLOUDFLAREAPI', apikey: '$K', apiuser: '$U' },
  })
  const said = 'email does not become a native provider because of its option email'
  expectEnd(await run(), 0, { err: [`DNSControl's DNS provider "own (AXFRDDNS)" is not imported`, said] })
  expect(made('zonewright.yaml')).toContain('pdns: {type: powerdns, base_url: env:URL, api_key: env:K}')
})

test.each([['text'], [[1]], [{ cf: 'token' }], [{ cf: { TYPE: 'CLOUDFLAREAPI', apitoken: { of: 'hunter2' } } }]])(
  'credentials that are not an object per provider: %j',
  async (credentials) => {
    const { run } = project([domain('example.com', ['cf'])], credentials)
    expectEnd(await run(), 1, { err: 'creds.json is not the JSON of DNSControl' })
  },
)

test('the option is for DNSControl only', async () => {
  const { folder } = project([])
  expectEnd(await cli(['import', 'octodns', 'x', '--credentials', 'creds.json'], { cwd: folder }), 1, {
    err: '--credentials is for imports from DNSControl',
  })
})

const at = { file: 'creds.json', line: 1, column: 1 }

test.each<[string, DnscontrolProvider['credentials'], string, object, string[]]>([
  [
    'AZURE_DNS',
    { SubscriptionID: 's', ResourceGroup: 'g', TenantID: 't', ClientID: 'c', ClientSecret: '$S' },
    'octodns_azure.AzureProvider',
    { sub_id: 's', resource_group: 'g', directory_id: 't', client_id: 'c', key: 'env/S' },
    [],
  ],
  ['CLOUDFLAREAPI', { apikey: '$K', apiuser: 'a@b.c' }, 'octodns_cloudflare.CloudflareProvider', { token: 'env/K', email: 'a@b.c' }, []],
  ['GCLOUD', { project_id: 'p', name_server_set: 'x' }, 'octodns_googlecloud.GoogleCloudProvider', { project: 'p' }, ['name_server_set']],
  ['HETZNER_V2', { api_token: '$T' }, 'octodns_hetzner.HetznerProvider', { token: 'env/T', backend: 'hcloud' }, []],
  [
    'OVH',
    { 'app-key': '$A', 'app-secret-key': '$B', 'consumer-key': '$C', endpoint: 'ca' },
    'octodns_ovh.OvhProvider',
    { endpoint: 'ovh-ca', application_key: 'env/A', application_secret: 'env/B', consumer_key: 'env/C' },
    [],
  ],
  [
    'POWERDNS',
    { apiKey: '$K', apiUrl: 'https://dns.example:8443', serverName: 'localhost' },
    'octodns_powerdns.PowerDnsProvider',
    { host: 'dns.example', port: 8443, scheme: 'https', api_key: 'env/K', server_id: 'localhost' },
    [],
  ],
  [
    'AXFRDDNS',
    { master: '192.0.2.1', 'transfer-key': '$COMPOSITE' },
    'octodns_bind.Rfc2136Provider',
    { host: '192.0.2.1' },
    ['transfer-key'],
  ],
  [
    'AXFRDDNS',
    { master: '2001:db8::1', 'update-key': 'sha256:one:QUJD', 'transfer-key': 'hmac-md5:two:REVG' },
    'octodns_bind.Rfc2136Provider',
    { host: '2001:db8::1', key_name: 'one', key_algorithm: 'hmac-sha256', key_secret: 'QUJD' },
    ['transfer-key'],
  ],
  ['AXFRDDNS', { master: '[2001:db8::1]:5353' }, 'octodns_bind.Rfc2136Provider', { host: '2001:db8::1', port: 5353 }, []],
  [
    'POWERDNS',
    { apiKey: '$K', apiUrl: 'http://user:pass@dns.example/prefix' },
    'octodns_powerdns.PowerDnsProvider',
    { host: 'dns.example', port: 80, scheme: 'http', api_key: 'env/K' },
    ['apiUrl'],
  ],
])('%s %j', (type, credentials, className, settings, left) => {
  expect(convertCredentials({ name: 'one', type, credentials, at })).toEqual({ provider: { name: 'one', className, settings, at }, left })
})
