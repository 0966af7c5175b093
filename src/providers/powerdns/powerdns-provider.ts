/** A provider that reads and changes zones by the HTTP API of PowerDNS Authoritative. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { quoted } from '../../base/text.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { serialOf } from '../../dns/soa.ts'
import { createFindings, existingZones } from '../examine-zones.ts'
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference, type ZoneSnapshot } from '../provider.ts'
import { reading } from '../send-request.ts'
import { powerDnsCapabilities } from './capabilities.ts'
import { changeRecords, createZone, deleteZone, missingKeys, type PowerDns, readLive, updateZone } from './change-zone.ts'
import { referenceTo } from './live-zone.ts'
import { createPowerDnsApi, serverShape, zonesShape } from './powerdns-api.ts'

/** Names in one warning. */
const MOST_NAMED = 5

export interface PowerDnsOptions extends Omit<PowerDns, 'api' | 'name' | 'live'> {
  /** The identifier of the server at the API: `localhost` for PowerDNS itself. */
  readonly server: string
  /** The apex NS records of new zones whose definitions have none. */
  readonly nameservers: readonly DomainName[]
}

export function createPowerDnsProvider(connection: ApiConnection, options: PowerDnsOptions): Provider {
  const { server, nameservers, ...settings } = options
  const api = createPowerDnsApi(connection, server)
  const powerDns: PowerDns = { ...settings, api, name: connection.provider, live: new Map() }
  const readZone = (zone: ZoneReference, call?: ProviderCallOptions) => readSnapshot(powerDns, zone, call)
  // Without the state of DNSSEC, which takes the server long.
  const readZones = (what: string, query: { readonly zone?: DomainName }, call?: ProviderCallOptions) =>
    api.request(reading(`${api.path}/zones`, what, call, { dnssec: 'false', ...query }), zonesShape)
  const provider: Provider = hostedProvider(connection, {
    type: 'powerdns',
    service: 'PowerDNS',
    capabilities: powerDnsCapabilities(nameservers),
    path: api.path,
    list: (call) => readZones('listing zones', {}, call),
    find: (zone, call) => readZones('looking up zones', { zone }, call),
    referenceTo,
    listing: { problemOf: (_, name) => (name === '.' ? 'the root cannot be managed as a zone' : null) },
    read: (zone, call) => readLive(powerDns, zone, call),
    create: (change, call, more) => createZone(powerDns, change, call, more),
    update: (zone, change, more) => updateZone(powerDns, zone, change, more),
    remove: (_, live, __, more) => deleteZone(powerDns, live, more),
    change: (zone, { rrsets }, more) => changeRecords(powerDns, zone, rrsets, more),
    close: () => api.close(),
    features: {
      readZone,
      async readNamedZone(name, call) {
        try {
          if (PLAIN_NAME.test(name)) return await readZone({ name, id: name, settings: {} }, call)
        } catch (error) {
          // Versions differ in their answers about a missing zone, and so may an address that is not that of the API: the list is clear.
          if (!(error instanceof ProviderError) || !MISSING.has(error.code)) throw error
        }
        const zone = (await provider.findZones([name], call)).get(name)
        return zone === undefined ? null : readZone(zone, call)
      },
      examine: (usage, _, call) => examinePowerDns(provider, powerDns, usage, call),
    },
  })
  return provider
}

/** Names that are their own identifiers: the server escapes other characters. */
const PLAIN_NAME = /^(?:[a-z0-9_-]+\.)+$/
const MISSING: ReadonlySet<string> = new Set(['provider-not-found', 'provider-rejected'])

async function readSnapshot(powerDns: PowerDns, zone: ZoneReference, call?: ProviderCallOptions): Promise<ZoneSnapshot> {
  const { settings, records, unplanned, signerRecords, capitalNames, soa, ...live } = await readLive(powerDns, zone, call)
  return {
    name: zone.name,
    id: live.zone.id,
    settings,
    records,
    unplanned,
    signerRecords,
    ...(soa && { serial: serialOf(soa) }),
    warnings: capitalWarnings(powerDns.name, capitalNames),
  }
}

/** A warning of rows that the server does not find. */
function capitalWarnings(provider: string, names: readonly string[]): Diagnostic[] {
  if (names.length === 0) return []
  const message = `${provider}: the server does not serve rows whose names have capital letters: ${listed(names.map(quoted), MOST_NAMED)}`
  const hint = 'set the names in its database to lower case; the API cannot change them'
  return [{ severity: 'warning', code: 'record-unplanned', message, hint }]
}

async function examinePowerDns(
  provider: Provider,
  powerDns: PowerDns,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  const { address } = provider
  await attempt(async () => {
    const { program, version } = await powerDns.api.request(reading(powerDns.api.path, 'reading the server', call), serverShape)
    if (program !== 'authoritative') {
      add(
        'error',
        'connection',
        `${address} is PowerDNS ${program}, which has no zones to manage`,
        'set base_url to PowerDNS Authoritative',
      )
      return
    }
    add('ok', 'connection', `${address} responds: PowerDNS Authoritative ${version}`)
    add('ok', 'token', 'the server accepts the key, which may change every zone')
    for (const key of await missingKeys(powerDns, call)) {
      const message = `the server has no TSIG key ${JSON.stringify(key)}, so it can create no zone`
      add('error', 'config', message, 'create it with "pdnsutil import-tsig-key", or remove it from new_zones')
    }
    const found = await provider.findZones(zones, call)
    if (zones.length > 0) add('ok', 'zones', existingZones(zones, found))
  })
  return findings
}
