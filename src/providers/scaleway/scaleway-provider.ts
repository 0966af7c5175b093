/** A provider that reads and changes the DNS zones of a Scaleway organization. */
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider } from '../provider.ts'
import { SCALEWAY_CAPABILITIES } from './capabilities.ts'
import { applyCall } from './change-zone.ts'
import { readLive } from './live-zone.ts'
import { createScalewayApi } from './scaleway-api.ts'
import { findZones, readZones, type Scaleway, zoneList } from './zones.ts'

const MISSING = 'only zones below a domain of the account can be created; add others in the console of Scaleway'

/** `project`: the project whose zones are managed; null for all. */
export function createScalewayProvider(connection: ApiConnection, project: string | null): Provider {
  const { provider: name } = connection
  const api = createScalewayApi(connection)
  const scaleway: Scaleway = { api, name, project }
  const provider: Provider = {
    name,
    type: 'scaleway',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: SCALEWAY_CAPABILITIES,
    parallelism: connection.parallelism,
    findZones: (names, options) => findZones(scaleway, names, options),
    listZones: async (options) => zoneList(await readZones(scaleway, [], options)),
    async readZone(zone, options) {
      const { records, unplanned, ownApexNs } = await readLive(api, zone.name, options)
      return { name: zone.name, id: zone.id, settings: zone.settings, records, unplanned, ownApexNs, millisecondsSinceLastChange: null }
    },
    readRendered: async () => null,
    examine: (usage, _, options) => examineZones(provider, usage, { service: 'Scaleway', missing: MISSING }, options),
    apply: (zone, call, options) => applyCall(scaleway, zone, call, options),
    close: () => api.close(),
  }
  return provider
}
