/** A provider that reads and changes the DNS zones of a Scaleway organization. */
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { SCALEWAY_CAPABILITIES } from './capabilities.ts'
import { changeZone, createZone, deleteZone } from './change-zone.ts'
import { readLive } from './live-zone.ts'
import { createScalewayApi } from './scaleway-api.ts'
import { findZones, LISTING, readZones, referenceTo, type Scaleway } from './zones.ts'

/** `project`: the project whose zones are managed; null for all. */
export function createScalewayProvider(connection: ApiConnection, project: string | null): Provider {
  const api = createScalewayApi(connection)
  const scaleway: Scaleway = { api, name: connection.provider, project, live: new Map() }
  // Never without a look-up: for a name without a zone, Scaleway may answer for the zone above it.
  const read = async ({ name }: ZoneReference, options?: ProviderCallOptions) => {
    const live = await readLive(api, name, options)
    scaleway.live.set(name, live)
    return live
  }
  return hostedProvider(connection, {
    type: 'scaleway',
    service: 'Scaleway',
    missing: 'only zones below a domain of the account can be created; add others in the console of Scaleway',
    capabilities: SCALEWAY_CAPABILITIES,
    list: (options) => readZones(scaleway, [], options),
    find: (name, options) => readZones(scaleway, [name], options),
    referenceTo,
    listing: LISTING,
    read,
    create: ({ name }, _, options) => createZone(scaleway, name, options),
    remove: (zone, _, __, options) => deleteZone(scaleway, zone, options),
    change: (zone, { rrsets }, options) => changeZone(scaleway, zone, rrsets, options),
    close: api.close,
    features: { findZones: (names, options) => findZones(scaleway, names, options) },
  })
}
