/** The requests of whole runs beside those of octoDNS's provider for the same service, counted at the same scripted server. Sign-ins, one each, are left out. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createAzure } from '../scripted/azure/service.ts'
import { createCloudflare } from '../scripted/cloudflare/service.ts'
import { createDesec } from '../scripted/desec/service.ts'
import { createDigitalOcean } from '../scripted/digitalocean/service.ts'
import { createTestAccount, PROJECT } from '../scripted/google/account.ts'
import { createGoogle } from '../scripted/google/service.ts'
import { createHetzner } from '../scripted/hetzner/service.ts'
import { defaultRrsets } from '../scripted/hetzner/zones.ts'
import { createRoute53 } from '../scripted/route53/service.ts'
import { createScaleway } from '../scripted/scaleway/service.ts'
import { type ScriptedService, startScriptedServer } from '../scripted/scripted-server.ts'
import { selfSigned } from '../support/certificate.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { rounds } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

const python = findForeignClient('cloud-clients')
const PROGRAM = fileURLToPath(new URL('../scripted/clients/octodns_requests.py', import.meta.url))

const TOKEN = 'test-token'
const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
const APPLICATION = { tenant: SUBSCRIPTION.replaceAll('1', '2'), clientId: SUBSCRIPTION.replaceAll('1', '3'), clientSecret: 'secret' }
const GOOGLE = createTestAccount()
const keyFile = join(temporaryDirectory(), 'key.json')
writeFileSync(keyFile, GOOGLE.keyFile)

interface Service {
  readonly name: string
  /** The hosts that octoDNS's provider knows. */
  readonly hosts: readonly string[]
  /** Records that runs create, change and delete. */
  readonly count: number
  start(): ScriptedService
  readonly octodns: readonly [className: string, options: object]
  entry(origin: string): string
  /** Whether it has a batch call that octoDNS's provider does not use, so that half of its requests have to do. */
  readonly hasUnusedBatch?: boolean
}

/** Records at services to which octoDNS's provider sends a request for each; with 20 rounds 1,000. */
const FEW = Math.min(1000, rounds(50))

const SERVICES: readonly Service[] = [
  {
    name: 'azure',
    hosts: ['login.microsoftonline.com', 'management.azure.com'],
    count: FEW,
    start: () =>
      createAzure({
        subscription: SUBSCRIPTION,
        resourceGroup: 'dns',
        token: TOKEN,
        application: APPLICATION,
        zones: [{ name: 'example.com' }],
      }).service,
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
    entry: (origin) => `{type: azure, subscription: ${SUBSCRIPTION}, resource_group: dns, base_url: '${origin}', token: env:TOKEN}`,
  },
  {
    name: 'cloudflare',
    hosts: ['api.cloudflare.com'],
    count: FEW,
    start: () =>
      createCloudflare({ token: TOKEN, zones: [{ id: '1'.repeat(32), name: 'example.com', plan: { legacy_id: 'pro' } }] }).service,
    octodns: ['octodns_cloudflare.CloudflareProvider', { token: TOKEN, pagerules: false, retry_period: 0 }],
    entry: (origin) => `{type: cloudflare, base_url: '${origin}/client/v4', token: env:TOKEN, plan: pro}`,
    hasUnusedBatch: true,
  },
  {
    name: 'desec',
    hosts: ['desec.io'],
    count: 900,
    start: () => createDesec({ token: TOKEN, domains: [{ name: 'example.com' }] }).service,
    octodns: ['octodns_desec.DesecProvider', { token: TOKEN, retries: 1, backoff: 0 }],
    entry: (origin) => `{type: desec, base_url: '${origin}/api/v1', token: env:TOKEN}`,
  },
  {
    name: 'digitalocean',
    hosts: ['api.digitalocean.com'],
    count: FEW,
    start: () => createDigitalOcean({ token: TOKEN, domains: ['example.com'] }).service,
    octodns: ['octodns_digitalocean.DigitalOceanProvider', { token: TOKEN }],
    entry: (origin) => `{type: digitalocean, base_url: '${origin}/v2', token: env:TOKEN}`,
  },
  {
    name: 'google',
    hosts: ['oauth2.googleapis.com', 'www.googleapis.com', 'content.googleapis.com', 'dns.googleapis.com'],
    count: 1000,
    start: () =>
      createGoogle({
        project: PROJECT,
        token: TOKEN,
        account: GOOGLE.account,
        zones: [{ id: '699036609868956548', name: 'example-com', dnsName: 'example.com.' }],
      }).service,
    octodns: ['octodns_googlecloud.GoogleCloudProvider', { project: PROJECT, credentials_file: keyFile }],
    entry: (origin) => `{type: google, base_url: '${origin}', project: ${PROJECT}, token: env:TOKEN}`,
  },
  {
    name: 'hetzner',
    hosts: ['api.hetzner.cloud'],
    count: FEW,
    start: () => createHetzner({ token: TOKEN, zones: [{ id: 53_091, name: 'example.com' }], rrsets: defaultRrsets(53_091) }).service,
    octodns: ['octodns_hetzner.HetznerProvider', { token: TOKEN, backend: 'hcloud' }],
    entry: (origin) => `{type: hetzner, base_url: '${origin}/v1', token: env:TOKEN}`,
  },
  {
    name: 'route53',
    hosts: ['route53.amazonaws.com'],
    // octoDNS's provider sends more values at once than the service accepts if there are many more.
    count: 250,
    start: () => createRoute53({ key: KEY, zones: [{ id: 'Z0123456789', name: 'example.com.' }] }).service,
    octodns: ['octodns_route53.Route53Provider', { access_key_id: KEY.id, secret_access_key: KEY.secret }],
    entry: (origin) => `{type: route53, endpoint: '${origin}'}`,
  },
  {
    name: 'scaleway',
    hosts: ['api.scaleway.com'],
    count: 900,
    start: () => createScaleway({ token: TOKEN, zones: [{ domain: 'example.com' }] }).service,
    octodns: ['octodns_scaleway.ScalewayProvider', { token: TOKEN }],
    entry: (origin) => `{type: scaleway, base_url: '${origin}/domain/v2beta1', secret_key: env:TOKEN}`,
  },
]

/** Requests to create the records, to plan them again, to change and to delete them. */
type Counts = readonly number[]

const isSignIn = (path: string): boolean => /\/token$|\/oauth2\/|\/discovery\/|\.well-known/.test(path)

async function requestsOfOctodns({ hosts, count, start, octodns: [className, options] }: Service): Promise<Counts> {
  const tls = selfSigned('test', ['rsa:2048'], hosts.map((host) => `DNS:${host}`).join(','))
  const certificate = join(temporaryDirectory(), 'certificate.pem')
  writeFileSync(certificate, tls.cert)
  const service = start()
  const marks: number[] = []
  const server = await startScriptedServer((request) => {
    if (request.path !== '/mark') return service(request)
    marks.push(server.requests.filter(({ path }) => path !== '/mark' && !isSignIn(path)).length)
    return { status: 204, headers: {}, body: '' }
  }, tls)
  const env = { SERVER: server.origin, HOSTS: hosts.join(','), REQUESTS_CA_BUNDLE: certificate, AWS_CA_BUNDLE: certificate }
  const args = ['-B', PROGRAM, className, JSON.stringify(options), String(count)]
  const { status, stderr } = await runTool(python, args, { env, timeout: 300_000 })
  expect(status, stderr).toBe(0)
  return marks.map((total, index) => total - (marks[index - 1] ?? 0))
}

async function requestsOfOurs({ count, start, entry }: Service): Promise<Counts> {
  const server = await startScriptedServer(start())
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(join(cwd, 'zonewright.yaml'), `providers:\n  live: ${entry(server.origin)}\n`)
  const env = { TOKEN, AWS_ACCESS_KEY_ID: KEY.id, AWS_SECRET_ACCESS_KEY: KEY.secret }
  const counts: number[] = []
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', null]) {
    const hosts = Array.from({ length: address === null ? 0 : count }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`)
    writeFileSync(
      join(cwd, 'zones/example.com.yaml'),
      `domain: example.com\ndefault_ttl: 1h\nrecords:\n  '': {type: TXT, value: stays}\n${hosts.join('')}`,
    )
    const before = server.requests.length
    const command = ['apply', '--yes', ...['updates', 'deletes'].flatMap((limit) => ['--allow', limit]), '--no-color']
    const { status, stdout, stderr } = await cli(command, { cwd, env })
    expect(status, stdout + stderr).toBe(0)
    counts.push(server.requests.length - before)
  }
  return counts
}

const JOBS = ['created', 'unchanged', 'changed', 'deleted']

describeWithTools([python, 'openssl'], 'requests beside octoDNS', () => {
  test.concurrent.each(SERVICES)('$name', { timeout: 300_000 * Math.max(1, rounds(1) / 4) }, async (service) => {
    const [ours, theirs] = [await requestsOfOurs(service), await requestsOfOctodns(service)]
    const rows = JOBS.map((job, index) => `${job} ${ours[index]} (octoDNS ${theirs[index]})`)
    process.stderr.write(`${service.name}, ${service.count} records: ${rows.join(', ')}\n`)
    const share = (job: string): number => (service.hasUnusedBatch && job !== 'unchanged' ? 0.5 : 1)
    expect(JOBS.filter((job, index) => (ours[index] ?? 0) > share(job) * (theirs[index] ?? 0))).toEqual([])
  })
})
