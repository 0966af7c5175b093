/** A provider that reads and changes the domains of a DigitalOcean account. */
import type { DomainName } from '../../dns/domain-name.ts'
import { nullIfMissing } from '../api-errors.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, ZoneList, ZoneSnapshot } from '../provider.ts'
import { zoneListOf, zonesNamed } from '../zone-lists.ts'
import { DIGITALOCEAN_CAPABILITIES } from './capabilities.ts'
import { applyCall, type DigitalOcean } from './change-record.ts'
import { createDigitalOceanApi, type DigitalOceanApi, domainShape } from './digitalocean-api.ts'
import { findDomain, readRecords, referenceTo } from './live-zone.ts'

/** Domains that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE_ZONES = 3
/** Owners whose records are read one by one. For more, the whole domain is read. */
const MAX_SINGLE_OWNERS = 10

export function createDigitalOceanProvider(connection: ApiConnection): Provider {
  const { provider: name, parallelism } = connection
  const api = createDigitalOceanApi(connection)
  const digitalOcean: DigitalOcean = { api, name, created: new Map() }
  const provider: Provider = {
    name,
    type: 'digitalocean',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: DIGITALOCEAN_CAPABILITIES,
    parallelism,
    async findZones(names, options) {
      const wanted = new Set(names)
      const found = zoneList(
        wanted.size <= MAX_SINGLE_ZONES
          ? (await Promise.all([...wanted].map((zone) => findDomain(api, zone, options)))).filter((found) => found !== null)
          : await listDomains(api, options),
      )
      return zonesNamed(found, wanted)
    },
    listZones: async (options) => zoneList(await listDomains(api, options)),
    readZone: ({ name: zone }, options) => readSnapshot(api, zone, options),
    readNamedZone: async (zone, options) => (zone === '.' ? null : nullIfMissing(readSnapshot(api, zone, options))),
    readRendered: async () => null,
    async findRecords(zone, like, options) {
      const owners = [...new Set(like.map((record) => record.name))]
      if (owners.length > MAX_SINGLE_OWNERS) return (await readRecords(api, zone, {}, options)).records
      return (await Promise.all(owners.map((owner) => readRecords(api, zone, { name: owner }, options)))).flatMap(({ records }) => records)
    },
    examine: (usage, _, options) =>
      examineZones(provider, usage, { service: 'DigitalOcean', missing: 'the token needs domain:create for that' }, options),
    apply: (zone, call, options) => applyCall(digitalOcean, zone, call, options),
    close: () => api.close(),
  }
  return provider
}

async function readSnapshot(api: DigitalOceanApi, zone: DomainName, options?: ProviderCallOptions): Promise<ZoneSnapshot> {
  const reference = referenceTo(zone)
  const { records, unplanned } = await readRecords(api, reference, {}, options)
  return { name: zone, id: reference.id, settings: reference.settings, records, unplanned, millisecondsSinceLastChange: null }
}

const listDomains = (api: DigitalOceanApi, options?: ProviderCallOptions): Promise<string[]> =>
  api.list({ method: 'GET', path: '/domains', what: 'listing domains', ...options }, 'domains', domainShape, (name) => name)

const zoneList = (listed: readonly string[]): ZoneList =>
  zoneListOf(
    listed.map((name) => ({ name })),
    (_, name) => referenceTo(name),
  )
