/**
 * Repositories of octoDNS and DNSControl arrive: from a clone to a green `ci plan` with two commands and a commit, and no edit by hand. The servers of the providers are
 * filled by octoDNS itself, or from what DNSControl made of a program. Everything runs at the hosts that the repositories name: a proxy leads there.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startForClients } from '../scripted/clients.ts'
import { createScriptedGithub } from '../scripted/code-sites/github.ts'
import { createTestAccount } from '../scripted/google/account.ts'
import { createGoogle } from '../scripted/google/service.ts'
import { createRoute53 } from '../scripted/route53/service.ts'
import type { ScriptedService } from '../scripted/scripted-server.ts'
import { ACCESS_KEY, CLOUD, SUBSCRIPTION, TOKEN } from '../scripted/services.ts'
import { afterThisFile } from '../support/after-file.ts'
import { startProgram } from '../support/built-program.ts'
import { startPowerDns } from '../support/dns-servers.ts'
import { type IntermediateDomain, linesOf, zoneFileOf } from '../support/dnscontrol-records.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { POWERDNS_API_KEY } from '../support/server-recipes/powerdns.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { git, type RunnerScene, runWorkflowJob } from '../support/workflow-runner.ts'

const CORPORA = fileURLToPath(new URL('../corpora/', import.meta.url))
const WALK = fileURLToPath(new URL('../scripted/clients/direct_to.py', import.meta.url))
const python = findForeignClient('cloud-clients')

interface Setting {
  /** The variables of the run, with the names that the new config has. */
  readonly env: Readonly<Record<string, string>>
  readonly hosts?: readonly string[]
  readonly service?: ScriptedService
}

interface Arrival extends Setting {
  readonly name: string
  readonly lay: (clone: string) => void
  /** The folder in the clone that has the files. */
  readonly below?: string
  /** The config that octoDNS fills the servers with. */
  readonly octodns?: string
  /** The zones that octoDNS fills; all if absent. */
  readonly zones?: (clone: string) => readonly string[]
  /** Variables that only octoDNS reads, for providers that no zone uses. */
  readonly octodnsEnv?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
  /** What the job of the workflow shows, and why it is not green. */
  readonly result: string
  readonly reason?: string
}

const copy = (from: string, to: string): void => cpSync(join(CORPORA, from), to, { recursive: true })

const AZURE_APPLICATION = { tenant: SUBSCRIPTION.replaceAll('1', '2'), clientId: SUBSCRIPTION.replaceAll('1', '3'), clientSecret: TOKEN }

interface Case {
  readonly case: string
  readonly variables?: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  readonly expected: { readonly domains: readonly IntermediateDomain[] }
}

const cases = readFileSync(join(CORPORA, 'dnscontrol-js/cases.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line): Case => JSON.parse(line))
const company = (number: number): Case => cases.find((one) => one.case.startsWith(`${number}-`)) as Case

const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** A program with its credentials, and the zone files that DNSControl's provider BIND has written. */
function program(
  number: number,
  creds: object,
  setting: Setting & {
    readonly result: string
    readonly reason?: string
    readonly below?: string
    readonly served?: Readonly<Record<string, string>>
  },
): Arrival {
  const { case: name, files, expected, variables } = company(number)
  const zones = Object.entries(setting.served ?? {}).flatMap(([provider, folder]) =>
    expected.domains
      .filter(({ dnsProviders = {} }) => provider in dnsProviders)
      .map((one): [string, string] => [`${folder}/${one.name.replaceAll('/', '_')}${one.tag ? `!${one.tag}` : ''}.zone`, zoneFileOf(one)]),
  )
  return {
    ...setting,
    name,
    ...(variables && { variables }),
    lay: (clone) => write(clone, { ...files, 'creds.json': JSON.stringify(creds), ...Object.fromEntries(zones) }),
  }
}

function route53Of({ expected }: Case): ScriptedService {
  const zones = expected.domains.map(({ name }, index) => ({ id: `Z${index}`, name: `${name}.` }))
  const route53 = createRoute53({ key: ACCESS_KEY, zones })
  for (const [index, domain] of expected.domains.entries()) {
    const sets = new Map<string, ReturnType<typeof linesOf>>()
    for (const line of linesOf(domain)) {
      const key = `${line.name} ${line.type}`
      sets.set(key, [...(sets.get(key) ?? []), line])
    }
    for (const [first, ...others] of sets.values())
      if (first)
        route53.put(`Z${index}`, {
          name: first.name,
          type: first.type,
          ttl: first.ttl,
          values: [first, ...others].map(({ data }) => data),
          alias: null,
          others: [],
          setIdentifier: null,
        })
  }
  return route53.service
}

const account = createTestAccount()

function googleOf({ expected }: Case): ScriptedService {
  const zones = expected.domains.map(({ name }, index) => ({ id: String(index + 1), name: `zone-${index}`, dnsName: `${name}.` }))
  const rrsets = expected.domains.map((domain, index) => {
    const sets = new Map<string, { kind: 'dns#resourceRecordSet'; name: string; type: string; ttl: number; rrdatas: string[] }>()
    const apex = `${domain.name}.`
    for (const { name, type, ttl, data } of [
      {
        name: apex,
        type: 'SOA',
        ttl: 21_600,
        data: 'ns-cloud-a1.googledomains.com. cloud-dns-hostmaster.google.com. 1 21600 3600 259200 300',
      },
      ...['1', '2', '3', '4'].map((n) => ({ name: apex, type: 'NS', ttl: 21_600, data: `ns-cloud-a${n}.googledomains.com.` })),
      ...linesOf(domain),
      ...domain.records.flatMap((one) =>
        one.type === 'ALIAS' ? [{ name: apex, type: 'ALIAS', ttl: Number(one['ttl']), data: String(one['target']) }] : [],
      ),
    ]) {
      const set = sets.get(`${name} ${type}`) ?? { kind: 'dns#resourceRecordSet' as const, name, type, ttl, rrdatas: [] }
      set.rrdatas.push(data)
      sets.set(`${name} ${type}`, set)
    }
    return [String(index + 1), [...sets.values()]] as const
  })
  return createGoogle({ project: 'acme', token: TOKEN, account: account.account, zones, rrsets: new Map(rrsets) }).service
}

const bind = (...names: readonly (readonly [string, string])[]) =>
  Object.fromEntries(names.map(([name, directory]) => [name, { TYPE: 'BIND', directory }]))
const POWERDNS = { TYPE: 'POWERDNS', apiUrl: 'http://127.0.0.1:8081', apiKey: 'not-a-real-key', serverName: 'localhost' }

const ARRIVALS: readonly Arrival[] = [
  {
    name: 'mapletree-moe/dns',
    lay: (clone) => copy('repositories/mapletree-moe_dns', clone),
    octodns: 'config/octodns.yaml',
    octodnsEnv: { CLOUDFLARE_TOKEN: 'none' },
    hosts: ['desec.io'],
    service: CLOUD.desec.create({ domains: [] }).service,
    env: { DESEC_TOKEN: TOKEN },
    result: 'green: No changes. 2 zones match.',
  },
  {
    name: 'solvahol/dns',
    lay: (clone) => copy('repositories/solvahol_dns', clone),
    octodns: 'public.yaml',
    hosts: ['login.microsoftonline.com', 'management.azure.com'],
    service: CLOUD.azure.create({ application: AZURE_APPLICATION, resourceGroup: 'solvahol.org', zones: [] }).service,
    env: {
      AZURE_APPLICATION_ID: AZURE_APPLICATION.clientId,
      AZURE_AUTHENTICATION_KEY: TOKEN,
      AZURE_DIRECTORY_ID: AZURE_APPLICATION.tenant,
      AZURE_SUBSCRIPTION_ID: SUBSCRIPTION,
    },
    result: 'green: No changes. 1 zone matches.',
  },
  {
    name: 'ministryofjustice/dns',
    lay: (clone) => {
      copy('octodns/moj', join(clone, 'hostedzones'))
      write(clone, { 'config.yaml': readFileSync(join(clone, 'hostedzones/_config.yaml.txt'), 'utf8') })
    },
    octodns: 'config.yaml',
    // One of its texts has a quote in the middle, and Route 53 refuses how octoDNS writes it.
    zones: (clone) =>
      readdirSync(join(clone, 'hostedzones'))
        .filter((file) => file.endsWith('.yaml'))
        .flatMap((file) => (readFileSync(join(clone, 'hostedzones', file), 'utf8').includes('\\"\\"') ? [] : `${file.slice(0, -4)}`)),
    hosts: ['route53.amazonaws.com'],
    service: createRoute53({ key: ACCESS_KEY, zones: [] }).service,
    env: { AWS_ACCESS_KEY_ID: ACCESS_KEY.id, AWS_SECRET_ACCESS_KEY: ACCESS_KEY.secret },
    result: 'green: Plan: 676 to create, 1 to update, 0 to delete in 2 zones (3 requests)',
    reason: 'octoDNS cannot write justice.gov.uk., so it is new; it splits a long text of dutysolicitors.org. in another place',
  },
  {
    name: 'python-discord/infra',
    lay: (clone) => {
      copy('octodns/pydis', join(clone, 'dns/zones'))
      write(clone, { 'dns/production.yaml': readFileSync(join(clone, 'dns/zones/_production.yaml.txt'), 'utf8') })
    },
    octodns: 'dns/production.yaml',
    hosts: ['api.cloudflare.com'],
    service: CLOUD.cloudflare.create({ zones: [], account: 'a'.repeat(32) }).service,
    env: { CLOUDFLARE_TOKEN: TOKEN, CLOUDFLARE_ACCOUNT_ID: 'a'.repeat(32) },
    result: 'green: No changes. 2 zones match.',
  },
  program(
    401,
    { none: { TYPE: 'NONE' }, ...bind(['bind-main', 'zones/main'], ['bind-backup', 'zones/backup']) },
    { env: {}, served: { 'bind-main': 'zones/main', 'bind-backup': 'zones/backup' }, result: 'green: No changes. 10 zones match.' },
  ),
  program(
    403,
    { none: { TYPE: 'NONE' }, ...bind(['inside', 'inside'], ['outside', 'outside']) },
    {
      env: {},
      served: { inside: 'inside', outside: 'outside' },
      result: 'red: 2 errors, nothing will be applied. Plan: 66 to create, 0 to update, 0 to delete in 2 zones (2 requests)',
      reason: 'the names of its zone files have tags, which file_name cannot express',
    },
  ),
  program(
    404,
    { none: { TYPE: 'NONE' }, 'cloud-dns': { TYPE: 'ROUTE53', KeyId: 'not-a-real-key', SecretKey: 'not-a-real-secret' } },
    {
      hosts: ['route53.amazonaws.com'],
      service: route53Of(company(404)),
      env: { CLOUD_DNS_ACCESS_KEY_ID: ACCESS_KEY.id, CLOUD_DNS_SECRET_ACCESS_KEY: ACCESS_KEY.secret },
      result: 'red: 3 errors, nothing will be applied. No changes were planned.',
      reason: 'three aliases to hosted zones of others, whose ids only R53_ALIAS has',
    },
  ),
  program(
    405,
    { 'own-registrar': { TYPE: 'NONE' }, 'customer-registrar': { TYPE: 'NONE' }, 'pdns-cluster': POWERDNS },
    { env: { PDNS_CLUSTER_API_KEY: POWERDNS_API_KEY }, result: 'green: No changes. 6 zones match.' },
  ),
  program(
    407,
    { names: { TYPE: 'NONE' }, anycast: { TYPE: 'FORTIGATE', host: 'http://127.0.0.1', token: 'not-a-real-token' } },
    { env: {}, result: 'nothing was written', reason: 'nothing here writes to FortiGate' },
  ),
  program(
    408,
    { none: { TYPE: 'NONE' }, nsd: { TYPE: 'BIND' } },
    { env: {}, below: 'infra/dns', served: { nsd: 'zones' }, result: 'green: No changes. 7 zones match.' },
  ),
  program(
    410,
    { none: { TYPE: 'NONE' }, managed: { TYPE: 'GCLOUD', project_id: 'acme' } },
    {
      hosts: ['oauth2.googleapis.com', 'dns.googleapis.com'],
      service: googleOf(company(410)),
      env: {},
      result: 'green: No changes. 1 zone matches.',
    },
  ),
  program(
    412,
    {
      none: { TYPE: 'NONE' },
      pdns: POWERDNS,
      router: { TYPE: 'MIKROTIK', host: 'http://127.0.0.1', username: 'nobody', password: 'not-a-real-password' },
    },
    {
      env: { PDNS_API_KEY: POWERDNS_API_KEY },
      result: 'green: No changes. 4 zones match.',
      reason: 'the zones of the router (MIKROTIK) are disabled',
    },
  ),
]

/** A proxy whose tunnels all lead to the server at `port`. */
async function startTunnels(port: number): Promise<string> {
  const proxy = createServer().on('connect', (_, client) => {
    client.on('error', () => client.destroy())
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  afterThisFile(async () => void proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** The environment in which the program and octoDNS reach the scripted service as the hosts that they know. */
async function networkOf({ hosts, service }: Setting) {
  if (hosts === undefined || service === undefined) return { node: {}, python: {} }
  const { server, env } = await startForClients(hosts, service)
  const folder = temporaryDirectory()
  // Python runs this file when it starts.
  writeFileSync(join(folder, 'sitecustomize.py'), readFileSync(WALK, 'utf8'))
  // A module of octoDNS that a config names and no zone uses.
  writeFileSync(
    join(folder, 'octodns_spf.py'),
    'import logging\nfrom octodns.source.base import BaseSource\nclass SpfSource(BaseSource):\n    SUPPORTS = set()\n    log = logging.getLogger("spf")\n    SUPPORTS_GEO = False\n    def __init__(self, id, **options): super().__init__(id)\n',
  )
  const proxy = await startTunnels(Number(new URL(server.origin).port))
  return { node: { HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: env.REQUESTS_CA_BUNDLE }, python: { ...env, PYTHONPATH: folder } }
}

const run: NonNullable<RunnerScene['program']> = async (args, setting) => {
  const started = await startProgram(args, setting)
  const { status } = await started.ended
  return { status: status ?? -1, stdout: started.stdout(), stderr: started.stderr() }
}

/** A PowerDNS with the zones of a program, and its address in the credentials. */
async function fillPowerDns({ expected }: Case, clone: string): Promise<void> {
  const domains = expected.domains.filter(({ dnsProviders = {} }) => Object.keys(dnsProviders).some((name) => name.startsWith('pdns')))
  const { api } = await startPowerDns({ zones: domains.map((one) => ({ name: one.name, text: zoneFileOf(one) })) })
  const file = join(clone, 'creds.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace(POWERDNS.apiUrl, new URL(api.url).origin))
}

const rows: (readonly string[])[] = []
afterAll(() => {
  process.stderr.write(rows.map((row) => `${row.join(' | ')}\n`).join(''))
})

describeWithTools(['git', 'openssl', 'pdns_server', 'pdnsutil', python], 'a repository', () => {
  test.each(ARRIVALS.map((one) => [one.name, one] as const))('%s', { timeout: 300_000 }, async (name, arrival) => {
    const { lay, below = '', octodns, zones, octodnsEnv = {}, variables = {}, env, result, reason = '' } = arrival
    const clone = temporaryDirectory()
    const bare = temporaryDirectory()
    git(bare, 'init', '-q', '--bare', '.')
    git(clone, 'clone', '-q', bare, '.')
    git(clone, 'checkout', '-q', '-b', 'main')
    const folder = join(clone, below)
    lay(folder)
    if (/^(?:405|412)/.test(name)) await fillPowerDns(company(Number(name.slice(0, 3))), clone)
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'as it is')
    const network = await networkOf(arrival)
    if (octodns !== undefined) {
      const sync = join(dirname(python), 'octodns-sync')
      const { status, stderr } = await runTool(
        sync,
        ['--config-file', octodns, '--doit', '--force', '--quiet', ...(zones?.(clone) ?? [])],
        {
          cwd: clone,
          env: { ...env, ...octodnsEnv, ...network.python },
          timeout: 280_000,
        },
      )
      expect(status, stderr.slice(-3000)).toBe(0)
    }
    const words = ['init', '--yes', ...Object.entries(variables).flatMap(([key, value]) => ['--var', `${key}=${value}`])]
    const key = join(temporaryDirectory(), 'key.json')
    writeFileSync(key, account.keyFile)
    const ambient = { ...network.node, GOOGLE_APPLICATION_CREDENTIALS: key }
    const started = await run(words, { cwd: folder, env: { ...ambient, ...env } })
    const report = (outcome: string, said: string): void => {
      const left = said.match(/error\[[a-z-]+\]|(?<=::error .*title=)[a-z-]+|type-foreign/g) ?? []
      rows.push([name, `zonewright ${words.join(' ')}; git commit; git push`, outcome, [...new Set(left)].join(', '), reason])
      expect(outcome, said.slice(-4000)).toBe(result)
    }
    if (!readdirSync(folder).includes('zonewright.yaml')) return report('nothing was written', started.stderr)
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'Manage DNS with Zonewright')
    git(clone, 'push', '-q', 'origin', 'main')
    const sha = git(clone, 'rev-parse', 'main')
    const github = createScriptedGithub('team/dns', {})
    github.branches.set('main', [sha])
    const secrets = Object.fromEntries(Object.entries(env).map(([one, value]) => [`${one}_READ_ONLY`, value]))
    const scene: RunnerScene = {
      bare,
      github,
      origin: 'https://api.github.com',
      env: ambient,
      vars: {},
      secrets: { 'dns-read': { ...secrets, ZONEWRIGHT_PLAN_KEY: '0f'.repeat(32) } },
      stored: new Map(),
      program: run,
    }
    const path = '.github/workflows/dns.yml'
    const job = { path, text: readFileSync(join(clone, path), 'utf8'), job: 'plan-main' }
    const { status, output } = await runWorkflowJob(scene, job, {
      name: 'workflow_dispatch',
      payload: {},
      sha,
      headSha: sha,
      refName: 'main',
    })
    report(
      `${status === 0 ? 'green' : 'red'}: ${/(?:\d+ errors?, nothing will be applied\. )?(?:No changes\b|Plan:).*/.exec(output)?.[0]}`,
      started.stderr + output,
    )
  })
})
