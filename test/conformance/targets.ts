/**
 * The real servers that the conformance suites run against, each behind an entry of `providers` as a config has it. A provider joins the
 * suites with a kind here and a file that names it.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { readConfig } from '../../src/config/read-config.ts'
import type { ZoneSettings } from '../../src/dns/zone.ts'
import type { ProviderType } from '../../src/providers/provider.ts'
import { createProvider, useGivenTypes } from '../../src/providers/registry.ts'
import { startService, UNLIMITED } from '../../src/service/index.ts'
import { startDnsFaultProxy } from '../support/dns-fault-proxy.ts'
import { type DnsServer, type DnsServerOptions, startBind, startKnot, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { OCTODNS_PYTHON } from '../support/octodns-python.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { checkZone, transferZone } from '../support/tools.ts'

/** A running server with an empty zone, or one that the provider creates. */
export interface RunningTarget {
  /** The entry of `providers` in flow style, such as `{type: cloud, …}`. */
  readonly entry: string
  /** The type that is used instead of that of the entry. */
  readonly type?: ProviderType | undefined
  /** The values of the environment variables that the entry names. */
  readonly env: Readonly<Record<string, string>>
  /** Settings of the zone, if the provider has settings. */
  readonly settings?: ZoneSettings | undefined
  /** The lines of the zone as `dig` prints a transfer; null if the server does not offer one. */
  readonly transfer: (() => Promise<readonly string[]>) | null
  /** Starts a proxy before the server that injects faults; null if the provider uses no network. */
  readonly startProxy: (() => Promise<ProxiedTarget>) | null
  stop(): Promise<void>
}

export interface ProxiedTarget {
  readonly proxy: Pick<FaultProxy, 'use' | 'count' | 'untilIdle' | 'close'>
  /** The entry of `providers` through the proxy, with short timeouts. */
  readonly entry: string
  /** Variables for the way through the proxy. */
  readonly env?: Readonly<Record<string, string>>
}

export interface TargetKind {
  readonly name: string
  /** The programs that it needs. */
  readonly tools: readonly string[]
  /** Whether it stores the strings of a TXT record in other lengths. */
  readonly rejoinsTexts?: boolean
  /** Steps with more records take minutes on the server, so the long tests leave them out. */
  readonly maxSize?: number
  /** Whether its zones are in this process, so that no other program reads them and no run of them can be killed. */
  readonly isInMemory?: boolean
  /** Whether it has no requests that could be disturbed. */
  readonly usesNoNetwork?: boolean
  /** The groups that fail because of the server, with the failure. */
  readonly defects?: Readonly<Record<string, RegExp>>
  start(): Promise<RunningTarget>
}

export const ZONE = 'example.com'

const ZONE_FILE = [
  '$TTL 3600',
  '@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300',
  '@ NS ns1.example.net.',
  '@ NS ns2.example.net.',
  '',
].join('\n')

export const CLOUD: TargetKind = { name: 'cloud', tools: [], rejoinsTexts: true, start: startCloud }
export const BIND: TargetKind = { name: 'rfc2136 on BIND', tools: ['named'], start: () => startUpdatable(startBind) }
export const KNOT: TargetKind = { name: 'rfc2136 on Knot DNS', tools: ['knotd'], start: () => startUpdatable(startKnot) }
export const POWERDNS: TargetKind = {
  name: 'rfc2136 on PowerDNS',
  tools: ['pdns_server'],
  // For each deleted RRset it reads the whole zone twice (`name like '%.owner'`) to look for names below: 12,000 updates of 12,000 records take four minutes.
  maxSize: 1220,
  defects: {
    // It serves its own DNSKEY records only (`direct-dnskey`), and updates of unknown types fail.
    '52. DNSKEY': /does not exist/,
    'types without a form of their own': /FORMERR/,
  },
  start: () => startUpdatable(startPowerDns),
}

export const POWERDNS_API: TargetKind = { name: 'powerdns', tools: ['pdns_server', 'pdnsutil'], start: startPowerDnsApi }
export const ZONEFILE: TargetKind = { name: 'zonefile', tools: ['named-checkzone', 'nsd-checkzone'], usesNoNetwork: true, start: folderOf }
export const OCTODNS: TargetKind = { name: 'octodns', tools: [], rejoinsTexts: true, start: startOctodnsFolder }

export const OCTODNS_BIND: TargetKind = {
  name: 'octodns_bind on BIND',
  tools: ['named', OCTODNS_PYTHON],
  rejoinsTexts: true,
  defects: {
    // BIND keeps the apex NS records when the class replaces them (RFC 2136 section 3.4.2.4).
    '26. NS only APEX': /apply-drift/,
  },
  start: startBindBehindOctodns,
}

/** BIND behind octoDNS's class for dynamic updates. */
function startBindBehindOctodns(): Promise<RunningTarget> {
  const entry = (address: string, timeout: string): string => {
    const [host, port] = address.split(':')
    const options = `{host: ${host}, port: ${port}, key_name: ${TEST_KEY.name}, key_secret: env:LAB_KEY, key_algorithm: ${TEST_KEY.algorithm}, timeout: 2, update_batch_size: 200}`
    return `{type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options}${timeout}}`
  }
  return startUpdatable(startBind, entry, ', timeout: 4')
}

export const OCTODNS_POWERDNS: TargetKind = {
  name: 'octodns_powerdns',
  tools: ['pdns_server', 'pdnsutil', OCTODNS_PYTHON],
  rejoinsTexts: true,
  defects: {
    // The class does not escape quotes, and writes other locations and names than the server does.
    '27. complex TXT': /HTTPError: 422/,
    '39. LOC': /Not in expected format/,
    'unusual names': /contains unsupported characters/,
  },
  start: startPowerDnsBehindOctodns,
}

/** PowerDNS behind octoDNS's class for its HTTP API. */
async function startPowerDnsBehindOctodns(): Promise<RunningTarget> {
  const server = await startPowerDns({ zones: [{ name: ZONE, text: ZONE_FILE }] })
  const entry = (address: string, more = '', timeout = 5): string => {
    const { hostname, port } = new URL(address)
    const options = `{host: ${hostname}, port: ${port}, api_key: env:PDNS_KEY, enable_dynamic: false, timeout: ${timeout}}`
    return `{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}${more}}`
  }
  const { origin } = new URL(server.api.url)
  return {
    entry: entry(origin),
    env: { PDNS_KEY: server.api.key },
    transfer: () => transferZone({ port: server.port, name: ZONE }),
    async startProxy() {
      const proxy = await startFaultProxy(origin)
      return { proxy, entry: entry(proxy.origin, ', timeout: 4', 1) }
    },
    stop: () => server.stop(),
  }
}

async function startOctodnsFolder(): Promise<RunningTarget> {
  const entry = `{type: octodns, directory: '${temporaryDirectory()}'}`
  return { entry, env: {}, transfer: null, startProxy: null, stop: async () => undefined }
}

/** A folder whose files BIND and NSD must accept, and that BIND reads. */
async function folderOf(): Promise<RunningTarget> {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, `${ZONE}.zone`), ZONE_FILE)
  const check = `[sh, -c, 'named-checkzone -i none -k ignore -n ignore -m ignore "$0" "$1" && nsd-checkzone "$0" "$1"', '{zone}', '{file}']`
  return {
    entry: `{type: zonefile, directory: '${folder}', check: ${check}}`,
    env: { PATH: process.env['PATH'] ?? '' },
    settings: { soa_email: 'hostmaster@example.com' },
    async transfer() {
      const text = readFileSync(join(folder, `${ZONE}.zone`), 'utf8')
      const { stdout } = await checkZone(ZONE, text, ['-q', '-i', 'none', '-k', 'ignore', '-n', 'ignore', '-m', 'ignore'])
      return stdout.split('\n').filter((line) => line.trim() !== '' && !line.startsWith(';'))
    },
    startProxy: null,
    stop: async () => undefined,
  }
}

async function startCloud(): Promise<RunningTarget> {
  const loopback = { host: '127.0.0.1', port: 0 }
  const service = await startService({ ...UNLIMITED, dataFolder: null, listen: loopback, dns: loopback })
  const entry = (baseUrl: string, more = ''): string => `{type: cloud, base_url: '${baseUrl}', token: env:TOKEN${more}}`
  return {
    entry: entry(service.baseUrl, ', parallelism: 16'),
    env: { TOKEN: service.token ?? '' },
    settings: { soa_email: 'hostmaster@example.com', axfr_ips: ['127.0.0.1'] },
    async transfer() {
      await service.flush()
      return transferZone({ port: service.dnsAddress?.port ?? 0, name: ZONE })
    },
    async startProxy() {
      const { origin, pathname } = new URL(service.baseUrl)
      const proxy = await startFaultProxy(origin)
      return { proxy, entry: entry(`${proxy.origin}${pathname}`, ', timeout: 0.5') }
    },
    stop: () => service.stop(),
  }
}

const updateEntry = (address: string, timeout: string): string =>
  `{type: rfc2136, server: '${address}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}${timeout}}`

/** A server that takes dynamic updates; `timeout` is the setting behind the proxy. */
async function startUpdatable(
  start: (options: DnsServerOptions) => Promise<DnsServer>,
  entry = updateEntry,
  timeout = ', timeout: 0.5',
): Promise<RunningTarget> {
  const server = await start({ zones: [{ name: ZONE, text: ZONE_FILE }], key: TEST_KEY })
  return {
    entry: entry(`127.0.0.1:${server.port}`, ''),
    env: { LAB_KEY: TEST_KEY.secret },
    transfer: () => transferZone({ port: server.port, name: ZONE, key: TEST_KEY }),
    async startProxy() {
      const proxy = await startDnsFaultProxy(server.port)
      return { proxy, entry: entry(proxy.origin, timeout) }
    },
    stop: () => server.stop(),
  }
}

async function startPowerDnsApi(): Promise<RunningTarget> {
  const server = await startPowerDns({ zones: [{ name: ZONE, text: ZONE_FILE }] })
  const entry = (origin: string, more = ''): string => `{type: powerdns, base_url: '${origin}', api_key: env:PDNS_KEY${more}}`
  const { origin } = new URL(server.api.url)
  return {
    entry: entry(origin),
    env: { PDNS_KEY: server.api.key },
    transfer: () => transferZone({ port: server.port, name: ZONE }),
    async startProxy() {
      const proxy = await startFaultProxy(origin)
      return { proxy, entry: entry(proxy.origin, ', timeout: 0.5') }
    },
    stop: () => server.stop(),
  }
}

/** PowerDNS behind a provider package, installed in the folder of the config. */
export const PACKAGE: TargetKind = { name: 'a provider package', tools: ['pdns_server'], start: startPackage }

async function startPackage(): Promise<RunningTarget> {
  const server = await startPowerDns({ zones: [{ name: ZONE, text: ZONE_FILE }] })
  const entry = (origin: string, more = ''): string => `{type: npm:pdns-test, url: '${origin}', key: env:PDNS_KEY${more}}`
  const { origin } = new URL(server.api.url)
  const folder = temporaryDirectory()
  const installed = join(folder, 'node_modules/zonewright-provider-pdns-test')
  mkdirSync(installed, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'package/index.js'), join(installed, 'index.js'))
  writeFileSync(join(installed, 'package.json'), '{"type": "module", "exports": "./index.js"}')
  return {
    entry: entry(origin),
    env: { PDNS_KEY: server.api.key, ZONEWRIGHT_PACKAGES_DIR: folder },
    transfer: () => transferZone({ port: server.port, name: ZONE }),
    async startProxy() {
      const proxy = await startFaultProxy(origin)
      return { proxy, entry: entry(proxy.origin, ', milliseconds: 500') }
    },
    stop: () => server.stop(),
  }
}

/** Creates the provider of a config entry, as a run does. Throws if the entry has a problem. */
export async function openProvider({ entry, env, type }: Pick<RunningTarget, 'entry' | 'env' | 'type'>, folder = process.cwd()) {
  const { config, diagnostics } = readConfig(`providers:\n  target: ${entry}\n`, { file: 'zonewright.yaml', folder, cwd: folder })
  const found = config?.providers.get('target')
  if (found === undefined) throw new Error(diagnostics.map(({ message }) => message).join('; '))
  if (type !== undefined) useGivenTypes(new Map([['target', found]]), new Map([['target', type]]))
  const created = await createProvider(found, { secrets: { env, folder, loaded: noSecrets() } })
  if (created.provider === null) throw new Error(created.diagnostics.map(({ message }) => message).join('; '))
  return created.provider
}
