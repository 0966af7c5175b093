/** Every scripted service of the cloud providers, with the zone example.com unless a test wants others, and the entry of `providers` that reaches it. */
import { type AzureOptions, createAzure } from './azure/service.ts'
import { zoneFileLines as linesOfAzure } from './azure/zone-file-lines.ts'
import { type CloudflareOptions, createCloudflare } from './cloudflare/service.ts'
import { zoneFileLine as lineOfCloudflare } from './cloudflare/zone-file-line.ts'
import { createDesec, type DesecOptions } from './desec/service.ts'
import { zoneFileLine as lineOfDigitalOcean } from './digitalocean/records.ts'
import { createDigitalOcean, type DigitalOceanOptions } from './digitalocean/service.ts'
import { createGandi, type GandiOptions } from './gandi/service.ts'
import { createGoogle, type GoogleOptions } from './google/service.ts'
import { createHetzner, type HetznerOptions } from './hetzner/service.ts'
import { defaultRrsets } from './hetzner/zones.ts'
import { createOvh, type OvhOptions } from './ovh/service.ts'
import { plainLine } from './plain-records.ts'
import { createPorkbun, type PorkbunOptions, plainRecord as plainPorkbun } from './porkbun/service.ts'
import { createRoute53, type Route53Options } from './route53/service.ts'
import { zoneFileLines as linesOfRoute53 } from './route53/zone-file-line.ts'
import { createScaleway, type ScalewayOptions } from './scaleway/service.ts'
import type { ScriptedService } from './scripted-server.ts'
import { createVultr, plainRecord as plainVultr, type VultrOptions } from './vultr/service.ts'

export const TOKEN = 'a-token/of+the-tests'
export const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
export const ACCESS_KEY = { id: 'AKIAEXAMPLE', secret: TOKEN }
const NAME = 'example.com'
export const GOOGLE_ZONE = { id: '699036609868956548', name: 'example-com', dnsName: `${NAME}.` }
export const HETZNER_ZONE = { id: 53_091, name: NAME }
export const CLOUDFLARE_ZONE = { id: '1'.repeat(32), name: NAME, plan: { legacy_id: 'pro' } }
export const ROUTE53_ZONE = { id: 'Z0123456789', name: `${NAME}.` }

export interface CloudService<Options = object, Scripted = { readonly service: ScriptedService }> {
  /** Before the paths of its API. */
  readonly path: string
  /** The settings beside `type`, in flow style. */
  readonly settings: (origin: string) => string
  /** The environment variable with the secret. */
  readonly variable: string
  readonly env?: Readonly<Record<string, string>>
  /** Headers that sign in. */
  readonly headers: Readonly<Record<string, string>>
  create(options?: Partial<Options>): Scripted
  /** The records of the zone as lines of a zone file, without its SOA record and those that have no form there. */
  lines(scripted: Scripted): readonly string[]
}

interface Access {
  readonly path?: string
  /** Settings before that of the secret. */
  readonly more?: string
  /** The setting of the secret. */
  readonly key?: string
  readonly variable: string
  readonly headers?: Readonly<Record<string, string>>
}

const service = <Options, Scripted>(
  create: (options: Partial<Options>) => Scripted,
  lines: (scripted: Scripted) => readonly string[],
  { path = '', more = '', key = 'token', variable, headers = { authorization: `Bearer ${TOKEN}` } }: Access,
): CloudService<Options, Scripted> => ({
  path,
  settings: (origin) => `base_url: '${origin}${path}', ${more}${key}: env:${variable}`,
  variable,
  headers,
  create: (options = {}) => create(options),
  lines,
})

export const CLOUD = {
  azure: service(
    (options: Partial<AzureOptions>) =>
      createAzure({ subscription: SUBSCRIPTION, resourceGroup: 'dns', token: TOKEN, zones: [{ name: NAME }], ...options }),
    (azure) => azure.sets(NAME).flatMap((set) => linesOfAzure(set, NAME)),
    { variable: 'AZURE_TOKEN', more: `subscription: ${SUBSCRIPTION}, resource_group: dns, ` },
  ),
  cloudflare: service(
    (options: Partial<CloudflareOptions>) => createCloudflare({ token: TOKEN, zones: [CLOUDFLARE_ZONE], ...options }),
    // An ALIAS has no form in a zone file.
    (cloudflare) =>
      cloudflare
        .records(cloudflare.zones()[0]?.id ?? '')
        .flatMap((record) => (record.type === 'CNAME' && record.name === NAME ? [] : [lineOfCloudflare(record)])),
    { variable: 'CLOUDFLARE_TOKEN', path: '/client/v4' },
  ),
  desec: service(
    (options: Partial<DesecOptions>) => createDesec({ token: TOKEN, domains: [{ name: NAME, minimum_ttl: 60 }], ...options }),
    (desec) =>
      (desec.rrsets(NAME) ?? []).flatMap(({ name, ttl, type, records }) =>
        records.map((content) => `${name} ${ttl} IN ${type} ${content}`),
      ),
    { variable: 'DESEC_TOKEN', path: '/api/v1', headers: { authorization: `Token ${TOKEN}` } },
  ),
  digitalocean: service(
    (options: Partial<DigitalOceanOptions>) => createDigitalOcean({ token: TOKEN, domains: [NAME], ...options }),
    (digitalOcean) =>
      (digitalOcean.records(NAME) ?? []).flatMap((record) => {
        // Texts have no quotes at DigitalOcean.
        const strings = (record.data.match(/.{1,255}/gs) ?? []).map((text) => `"${text.replace(/"/g, '\\"')}"`)
        if (record.type === 'SOA') return []
        return [lineOfDigitalOcean(record.type === 'TXT' ? { ...record, data: strings.join(' ') } : record, NAME)]
      }),
    { variable: 'DIGITALOCEAN_TOKEN', path: '/v2' },
  ),
  gandi: service(
    (options: Partial<GandiOptions>) => createGandi({ token: TOKEN, domains: [NAME], ...options }),
    // An ALIAS has no form in a zone file.
    (gandi) =>
      gandi
        .rrsets(NAME)
        .flatMap(({ rrset_name: name, rrset_ttl: ttl, rrset_type: type, rrset_values: values }) =>
          type === 'ALIAS' ? [] : values.map((value) => `${name} ${ttl} IN ${type} ${value}`),
        ),
    { variable: 'GANDI_TOKEN', path: '/v5/livedns' },
  ),
  google: service(
    (options: Partial<GoogleOptions>) => createGoogle({ project: 'test-project', token: TOKEN, zones: [GOOGLE_ZONE], ...options }),
    // An ALIAS has no form in a zone file.
    (google) =>
      google
        .rrsets(GOOGLE_ZONE.id)
        .flatMap(({ name, type, ttl, rrdatas }) =>
          type === 'ALIAS' || type === 'SOA' ? [] : rrdatas.map((rrdata) => `${name} ${ttl} IN ${type} ${rrdata}`),
        ),
    { variable: 'GOOGLE_TOKEN', more: 'project: test-project, ' },
  ),
  hetzner: service(
    (options: Partial<HetznerOptions>) =>
      createHetzner({ token: TOKEN, zones: [HETZNER_ZONE], rrsets: defaultRrsets(HETZNER_ZONE.id), ...options }),
    (hetzner) =>
      hetzner
        .rrsets(HETZNER_ZONE.id)
        .flatMap(({ name, type, ttl, records }) =>
          type === 'SOA' ? [] : records.map(({ value }) => `${name} ${ttl ?? 86_400} IN ${type} ${value}`),
        ),
    { variable: 'HETZNER_TOKEN', path: '/v1' },
  ),
  ovh: {
    ...service(
      (options: Partial<OvhOptions>) =>
        createOvh({ keys: { application: TOKEN, secret: TOKEN, consumer: TOKEN }, zones: [NAME], ...options }),
      // Structured texts are served as TXT.
      (ovh) =>
        ovh
          .served(NAME)
          .map(
            ({ subDomain, ttl, fieldType, target }) =>
              `${subDomain || '@'} ${ttl || 3600} IN ${/^(?:DKIM|DMARC|SPF)$/.test(fieldType) ? 'TXT' : fieldType} ${/^(?:DKIM|TXT)$/.test(fieldType) && !target.startsWith('"') ? `"${target}"` : target}`,
          ),
      {
        variable: 'OVH_APPLICATION_SECRET',
        path: '/1.0',
        more: 'application_key: env:OVH_APPLICATION_KEY, consumer_key: env:OVH_CONSUMER_KEY, ',
        key: 'application_secret',
        headers: {},
      },
    ),
    env: { OVH_APPLICATION_KEY: TOKEN, OVH_CONSUMER_KEY: TOKEN },
  },
  porkbun: {
    ...service(
      (options: Partial<PorkbunOptions>) => createPorkbun({ keys: { apikey: TOKEN, secretapikey: TOKEN }, domains: [NAME], ...options }),
      // An ALIAS has no form in a zone file, and texts have no quotes at Porkbun.
      (porkbun) =>
        porkbun.records(NAME).flatMap((record) => {
          const plain = plainPorkbun(record, NAME)
          if (plain.type === 'ALIAS' || (plain.type === 'NS' && plain.name === '')) return []
          return [plainLine(plain.type === 'TXT' ? { ...plain, data: `"${plain.data.replace(/["\\]/g, '\\$&')}"` } : plain)]
        }),
      {
        variable: 'PORKBUN_SECRET_API_KEY',
        path: '/api/json/v3',
        more: 'api_key: env:PORKBUN_API_KEY, ',
        key: 'secret_api_key',
        headers: {},
      },
    ),
    env: { PORKBUN_API_KEY: TOKEN },
  },
  route53: {
    ...service(
      (options: Partial<Route53Options>) => createRoute53({ key: ACCESS_KEY, zones: [ROUTE53_ZONE], ...options }),
      (route53) => route53.sets(ROUTE53_ZONE.id).flatMap((set) => (set.type === 'SOA' ? [] : linesOfRoute53(set))),
      { variable: 'AWS_SECRET_ACCESS_KEY', path: '/2013-04-01' },
    ),
    settings: (origin: string) => `endpoint: '${origin}'`,
    env: { AWS_ACCESS_KEY_ID: ACCESS_KEY.id },
  },
  scaleway: service(
    (options: Partial<ScalewayOptions>) => createScaleway({ token: TOKEN, zones: [{ domain: NAME }], ...options }),
    // An ALIAS has no form in a zone file.
    (scaleway) =>
      (scaleway.records(NAME) ?? []).flatMap(({ name, ttl, type, data }) =>
        type === 'ALIAS' || (type === 'NS' && name === '') ? [] : [`${name === '' ? '@' : name} ${ttl} IN ${type} ${data}`],
      ),
    { variable: 'SCW_SECRET_KEY', path: '/domain/v2beta1', key: 'secret_key', headers: { 'x-auth-token': TOKEN } },
  ),
  vultr: service(
    (options: Partial<VultrOptions>) => createVultr({ token: TOKEN, domains: [{ domain: NAME }], ...options }),
    // A backslash is one at Vultr.
    (vultr) =>
      (vultr.records(NAME) ?? []).map((record) => plainLine(plainVultr({ ...record, data: record.data.replaceAll('\\', '\\\\') }))),
    { variable: 'VULTR_API_KEY', path: '/v2', key: 'api_key' },
  ),
} as const

export type CloudType = keyof typeof CLOUD
export const CLOUD_TYPES = Object.keys(CLOUD) as readonly CloudType[]
export type ScriptedCloud<Type extends CloudType> = ReturnType<(typeof CLOUD)[Type]['create']>
export type CloudOptions<Type extends CloudType> = NonNullable<Parameters<(typeof CLOUD)[Type]['create']>[0]>
