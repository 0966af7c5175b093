/** A provider that reads and changes the DNS zones of a Scaleway organization. */
import type { DomainName } from '../../dns/domain-name.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, ZoneSnapshot } from '../provider.ts'
import { SCALEWAY_CAPABILITIES } from './capabilities.ts'
import { applyCall } from './change-zone.ts'
import { readLive } from './live-zone.ts'
import { createScalewayApi } from './scaleway-api.ts'
import { findZones, readZones, referenceTo, type Scaleway, zoneList } from './zones.ts'

const MISSING = 'only zones below a domain of the account can be created; add others in the console of Scaleway'

async function readSnapshot(scaleway: Scaleway, zone: DomainName, options?: ProviderCallOptions): Promise<ZoneSnapshot> {
  const live = await readLive(scaleway.api, zone, options)
  scaleway.live.set(zone, live)
  const { name, id, settings } = referenceTo({ name: zone.slice(0, -1) }, zone)
  const { records, unplanned, ownApexNs } = live
  return { name, id, settings, records, unplanned, ownApexNs, millisecondsSinceLastChange: null }
}

/** `project`: the project whose zones are managed; null for all. */
export function createScalewayProvider(connection: ApiConnection, project: string | null): Provider {
  const { provider: name } = connection
  const api = createScalewayApi(connection)
  const scaleway: Scaleway = { api, name, project, live: new Map() }
  const provider: Provider = {
    name,
    type: 'scaleway',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: SCALEWAY_CAPABILITIES,
    parallelism: connection.parallelism,
    findZones: (names, options) => findZones(scaleway, names, options),
    listZones: async (options) => zoneList(await readZones(scaleway, [], options)),
    // Never without a look-up: for a name without a zone, Scaleway may answer for the zone above it.
    readZone: ({ name: zone }, options) => readSnapshot(scaleway, zone, options),
    readRendered: async () => null,
    examine: (usage, _, options) => examineZones(provider, usage, { service: 'Scaleway', missing: MISSING }, options),
    apply: (zone, call, options) => applyCall(scaleway, zone, call, options),
    close: () => api.close(),
  }
  return provider
}
