/** The clients of others for each cloud service: dns-lexicon, octoDNS's provider and lego's. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from '../support/certificate.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { createTestAccount, PROJECT } from './google/account.ts'
import { type ScriptedService, startScriptedServer } from './scripted-server.ts'
import { ACCESS_KEY, CLOUD, CLOUD_TYPES, type CloudType, SUBSCRIPTION, TOKEN } from './services.ts'

export interface ForeignClients {
  /** The hosts that the clients know. */
  readonly hosts: readonly string[]
  /** The service with the zone example.com. */
  readonly start: () => ScriptedService
  readonly lexicon: Readonly<Record<string, string>>
  /** Absent if octoDNS has no provider for the service. */
  readonly octodns?: readonly [className: string, options: object]
  /** The types that octoDNS's provider supports and reads back as it writes them. */
  readonly types?: string
  /** Lego's name of the service with its variables; absent if lego is not run there. */
  readonly lego?: readonly [name: string, variables: Readonly<Record<string, string>>]
}

const APPLICATION = { tenant: SUBSCRIPTION.replaceAll('1', '2'), clientId: SUBSCRIPTION.replaceAll('1', '3'), clientSecret: TOKEN }

/** The key file of Google, which is made when a test file first needs it. */
let account: (ReturnType<typeof createTestAccount> & { readonly file: string }) | null = null
const googleAccount = () => {
  if (account === null || !existsSync(account.file)) {
    const made = createTestAccount()
    account = { ...made, file: join(temporaryDirectory(), 'key.json') }
    writeFileSync(account.file, made.keyFile)
  }
  return account
}

export const CLIENTS: Readonly<Record<CloudType, ForeignClients>> = {
  azure: {
    hosts: ['login.microsoftonline.com', 'management.azure.com'],
    start: () => CLOUD.azure.create({ application: APPLICATION }).service,
    lexicon: {
      auth_client_id: APPLICATION.clientId,
      auth_client_secret: APPLICATION.clientSecret,
      auth_tenant_id: APPLICATION.tenant,
      auth_subscription_id: SUBSCRIPTION,
      resource_group: 'dns',
    },
    octodns: [
      'octodns_azure.AzureProvider',
      {
        client_id: APPLICATION.clientId,
        key: APPLICATION.clientSecret,
        directory_id: APPLICATION.tenant,
        sub_id: SUBSCRIPTION,
        resource_group: 'dns',
      },
    ],
    types: 'CAA MX A AAAA TXT CNAME NS PTR SRV',
  },
  cloudflare: {
    hosts: ['api.cloudflare.com'],
    start: () => CLOUD.cloudflare.create().service,
    lexicon: { auth_token: TOKEN },
    octodns: ['octodns_cloudflare.CloudflareProvider', { token: TOKEN, pagerules: false, retry_period: 0 }],
    types: 'ALIAS CAA MX A AAAA TXT HTTPS LOC SSHFP CNAME NS DS PTR NAPTR SRV TLSA',
  },
  desec: {
    hosts: ['desec.io'],
    start: () => CLOUD.desec.create().service,
    lexicon: { auth_token: TOKEN, token: TOKEN },
    octodns: ['octodns_desec.DesecProvider', { token: TOKEN, retries: 1, backoff: 0 }],
    types: 'CAA MX A AAAA HTTPS SSHFP CNAME NS DS PTR SRV TLSA OPENPGPKEY',
  },
  digitalocean: {
    hosts: ['api.digitalocean.com'],
    start: () => CLOUD.digitalocean.create().service,
    lexicon: { auth_token: TOKEN },
    octodns: ['octodns_digitalocean.DigitalOceanProvider', { token: TOKEN }],
    types: 'CAA MX A AAAA TXT CNAME NS SRV',
  },
  gandi: {
    hosts: ['api.gandi.net'],
    start: () => CLOUD.gandi.create().service,
    lexicon: { auth_token: TOKEN, api_protocol: 'rest' },
    octodns: ['octodns_gandi.GandiProvider', { token: TOKEN }],
    types: 'ALIAS CAA MX A AAAA TXT SSHFP CNAME DNAME NS PTR SRV TLSA',
    lego: ['gandiv5', { GANDIV5_PERSONAL_ACCESS_TOKEN: TOKEN }],
  },
  google: {
    hosts: ['oauth2.googleapis.com', 'www.googleapis.com', 'content.googleapis.com', 'dns.googleapis.com'],
    start: () => CLOUD.google.create({ account: googleAccount().account }).service,
    get lexicon() {
      return { auth_service_account_info: `base64::${Buffer.from(googleAccount().keyFile).toString('base64')}` }
    },
    get octodns(): readonly [string, object] {
      return ['octodns_googlecloud.GoogleCloudProvider', { project: PROJECT, credentials_file: googleAccount().file }]
    },
    // SPF, which is obsolete, is left out.
    types: 'ALIAS CAA MX A AAAA TXT CNAME NS DS PTR NAPTR SRV',
  },
  hetzner: {
    hosts: ['api.hetzner.cloud'],
    start: () => CLOUD.hetzner.create().service,
    lexicon: { auth_token: TOKEN, retry_wait_time: '1' },
    octodns: ['octodns_hetzner.HetznerProvider', { token: TOKEN, backend: 'hcloud' }],
    types: 'CAA MX A AAAA CNAME NS DS PTR SRV TLSA',
  },
  ovh: {
    hosts: ['eu.api.ovh.com'],
    start: () => CLOUD.ovh.create().service,
    lexicon: {
      auth_entrypoint: 'ovh-eu',
      auth_application_key: TOKEN,
      auth_application_secret: TOKEN,
      auth_consumer_key: TOKEN,
    },
    octodns: ['octodns_ovh.OvhProvider', { endpoint: 'ovh-eu', application_key: TOKEN, application_secret: TOKEN, consumer_key: TOKEN }],
    types: 'CAA MX A AAAA HTTPS SSHFP CNAME NS PTR NAPTR SRV',
    lego: ['ovh', { OVH_ENDPOINT: 'ovh-eu', OVH_APPLICATION_KEY: TOKEN, OVH_APPLICATION_SECRET: TOKEN, OVH_CONSUMER_KEY: TOKEN }],
  },
  porkbun: {
    hosts: ['api.porkbun.com'],
    start: () => CLOUD.porkbun.create().service,
    lexicon: { auth_key: TOKEN, auth_secret: TOKEN },
    lego: ['porkbun', { PORKBUN_API_KEY: TOKEN, PORKBUN_SECRET_API_KEY: TOKEN }],
  },
  route53: {
    hosts: ['route53.amazonaws.com'],
    start: () => CLOUD.route53.create().service,
    lexicon: { auth_access_key: ACCESS_KEY.id, auth_access_secret: ACCESS_KEY.secret },
    octodns: ['octodns_route53.Route53Provider', { access_key_id: ACCESS_KEY.id, secret_access_key: ACCESS_KEY.secret }],
    types: 'CAA MX A AAAA TXT CNAME NS DS PTR NAPTR SRV',
  },
  scaleway: {
    hosts: ['api.scaleway.com'],
    start: () => CLOUD.scaleway.create().service,
    lexicon: { auth_secret_key: TOKEN },
    octodns: ['octodns_scaleway.ScalewayProvider', { token: TOKEN }],
    types: 'ALIAS CAA MX A AAAA SSHFP CNAME NS PTR NAPTR SRV',
  },
  vultr: {
    hosts: ['api.vultr.com'],
    start: () => CLOUD.vultr.create().service,
    lexicon: { auth_token: TOKEN },
    lego: ['vultr', { VULTR_API_KEY: TOKEN }],
  },
}

const typesWith = (key: keyof ForeignClients): readonly CloudType[] => CLOUD_TYPES.filter((type) => CLIENTS[type][key] !== undefined)
export const OCTODNS_TYPES = typesWith('octodns')
export const LEGO_TYPES = typesWith('lego')

/** Starts a service with a certificate for hosts, and the environment in which the programs of `clients/` reach it. */
export async function startForClients(hosts: readonly string[], service: ScriptedService) {
  const tls = selfSigned('test', ['rsa:2048'], hosts.map((host) => `DNS:${host}`).join(','))
  const folder = temporaryDirectory()
  const certificate = join(folder, 'certificate.pem')
  writeFileSync(certificate, tls.cert)
  const server = await startScriptedServer(service, tls)
  const trust = { REQUESTS_CA_BUNDLE: certificate, AWS_CA_BUNDLE: certificate, SSL_CERT_FILE: certificate }
  return { server, env: { ...trust, SERVER: server.origin, HOSTS: hosts.join(','), TLDEXTRACT_CACHE_PATH: folder } }
}
