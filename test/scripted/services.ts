/** Every scripted service of the cloud providers with the zone example.com, and the entry of `providers` that reaches it. */
import { createAzure } from './azure/service.ts'
import { createCloudflare } from './cloudflare/service.ts'
import { createDesec } from './desec/service.ts'
import { createDigitalOcean } from './digitalocean/service.ts'
import { createGoogle } from './google/service.ts'
import { createHetzner } from './hetzner/service.ts'
import { defaultRrsets } from './hetzner/zones.ts'
import { createRoute53 } from './route53/service.ts'
import { createScaleway } from './scaleway/service.ts'
import type { ScriptedService } from './scripted-server.ts'

export const TOKEN = 'a-token/of+the-tests'
const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
const GOOGLE_ZONE = { id: '699036609868956548', name: 'example-com', dnsName: 'example.com.' }

export interface CloudService {
  readonly type: string
  /** The settings beside `type`, in flow style. */
  readonly settings: (origin: string) => string
  /** The environment variable with the secret. */
  readonly variable: string
  readonly env?: Readonly<Record<string, string>>
  readonly create: () => ScriptedService
}

const withToken = (
  type: string,
  path: string,
  create: CloudService['create'],
  [key, variable] = ['token', `${type.toUpperCase()}_TOKEN`],
): CloudService => ({ type, settings: (origin) => `base_url: '${origin}${path}', ${key}: env:${variable}`, variable, create })

export const CLOUD_SERVICES: readonly CloudService[] = [
  withToken(
    'azure',
    `', subscription: ${SUBSCRIPTION}, resource_group: 'dns`,
    () => createAzure({ subscription: SUBSCRIPTION, resourceGroup: 'dns', token: TOKEN, zones: [{ name: 'example.com' }] }).service,
  ),
  withToken(
    'cloudflare',
    '/client/v4',
    () => createCloudflare({ token: TOKEN, zones: [{ id: '1'.repeat(32), name: 'example.com' }] }).service,
  ),
  withToken('desec', '/api/v1', () => createDesec({ token: TOKEN, domains: [{ name: 'example.com', minimum_ttl: 60 }] }).service),
  withToken('digitalocean', '/v2', () => createDigitalOcean({ token: TOKEN, domains: ['example.com'] }).service),
  withToken(
    'google',
    `', project: 'test-project`,
    () => createGoogle({ project: 'test-project', token: TOKEN, zones: [GOOGLE_ZONE] }).service,
  ),
  withToken(
    'hetzner',
    '/v1',
    () => createHetzner({ token: TOKEN, zones: [{ id: 1, name: 'example.com' }], rrsets: defaultRrsets(1) }).service,
  ),
  {
    type: 'route53',
    settings: (origin) => `endpoint: '${origin}'`,
    variable: 'AWS_SECRET_ACCESS_KEY',
    env: { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE' },
    create: () => createRoute53({ key: { id: 'AKIAEXAMPLE', secret: TOKEN }, zones: [{ id: 'Z1', name: 'example.com.' }] }).service,
  },
  withToken('scaleway', '/domain/v2beta1', () => createScaleway({ token: TOKEN, zones: [{ domain: 'example.com' }] }).service, [
    'secret_key',
    'SCW_SECRET_KEY',
  ]),
]
