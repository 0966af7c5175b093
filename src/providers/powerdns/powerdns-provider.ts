/** A provider that reads and changes zones by the HTTP API of PowerDNS Authoritative. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { serialOf } from '../../dns/soa.ts'
import type { ApiConnection } from '../json-api.ts'
import {
  type Provider,
  type ProviderCallOptions,
  ProviderError,
  type ZoneList,
  type ZoneReference,
  type ZoneSnapshot,
} from '../provider.ts'
import { zoneListOf, zonesNamed } from '../zone-lists.ts'
import { powerDnsCapabilities } from './capabilities.ts'
import { applyCall, type PowerDns, readLive } from './change-zone.ts'
import { examinePowerDns } from './examine.ts'
import { referenceTo } from './live-zone.ts'
import { type ApiZone, createPowerDnsApi, zonesShape } from './powerdns-api.ts'

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
  const address = `${connection.baseUrl.href.replace(/(?<!\/)\/+$/, '')}${api.path}`
  const provider: Provider = {
    name: connection.provider,
    type: 'powerdns',
    address,
    capabilities: powerDnsCapabilities(nameservers),
    parallelism: connection.parallelism,
    setsSerials: true,
    findZones: (names, call) => findZones(powerDns, names, call),
    listZones: async (call) => zoneList(await readZones(powerDns, '', call)),
    readZone: (zone, call) => readSnapshot(powerDns, zone, call),
    async readNamedZone(name, call) {
      try {
        if (PLAIN_NAME.test(name)) return await readSnapshot(powerDns, { name, id: name, settings: {} }, call)
      } catch (error) {
        // Versions differ in their answers about a missing zone, and so may an address that is not that of the API: the list is clear.
        if (!(error instanceof ProviderError) || !MISSING.has(error.code)) throw error
      }
      const zone = (await findZones(powerDns, [name], call)).get(name)
      return zone === undefined ? null : readSnapshot(powerDns, zone, call)
    },
    examine: (usage, _, call) => examinePowerDns(provider, powerDns, usage, call),
    apply: (zone, call, more) => applyCall(powerDns, zone, call, more),
    close: () => api.close(),
  }
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

/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3

async function findZones(
  powerDns: PowerDns,
  names: readonly DomainName[],
  call?: ProviderCallOptions,
): Promise<ReadonlyMap<DomainName, ZoneReference>> {
  const wanted = new Set(names)
  const queries = wanted.size <= MAX_SINGLE ? [...wanted].map((name) => `&zone=${encodeURIComponent(name)}`) : ['']
  const lists = await Promise.all(queries.map((query) => readZones(powerDns, query, call)))
  return zonesNamed(zoneList(lists.flat()), wanted)
}

/** A warning of rows that the server does not find. */
function capitalWarnings(provider: string, names: readonly string[]): Diagnostic[] {
  if (names.length === 0) return []
  const message = `${provider}: the server does not serve rows whose names have capital letters: ${listed(names.map(quoted), MOST_NAMED)}`
  return [
    {
      severity: 'warning',
      code: 'record-unplanned',
      message,
      hint: 'set the names in its database to lower case; the API cannot change them',
    },
  ]
}

async function readZones({ api }: PowerDns, query: string, call?: ProviderCallOptions): Promise<readonly ApiZone[]> {
  // Without the state of DNSSEC, which takes the server long.
  const path = `${api.path}/zones?dnssec=false${query}`
  return api.request({ method: 'GET', path, what: query === '' ? 'listing zones' : 'looking up zones', ...call }, zonesShape)
}

const zoneList = (listed: readonly ApiZone[]): ZoneList =>
  zoneListOf(listed, referenceTo, { problemOf: (_, name) => (name === '.' ? 'the root cannot be managed as a zone' : null) })
