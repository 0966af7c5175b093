/** A provider that reads and changes the zones of a project at Hetzner. */
import { rrsetKey } from '../../dns/record.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions } from '../provider.ts'
import { zoneListOf, zonesNamed } from '../zone-lists.ts'
import { HETZNER_CAPABILITIES } from './capabilities.ts'
import { applyCall } from './change-zone.ts'
import { type ApiZone, createHetznerApi, type HetznerApi, zoneShape } from './hetzner-api.ts'
import { readRecords, readRrset, referenceTo } from './live-zone.ts'
import { createZoneActions } from './zone-actions.ts'

/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE_ZONES = 3
/** RRsets that are read one by one. For more, the whole zone is read. */
const MAX_SINGLE_RRSETS = 10
/** How many timeouts of a request an action may take. */
const ACTION_TIMEOUTS = 4

export function createHetznerProvider(connection: ApiConnection): Provider {
  const { provider: name, parallelism } = connection
  const api = createHetznerApi(connection)
  const hetzner = { api, name, actions: createZoneActions(api, name, connection.timeout * ACTION_TIMEOUTS) }
  const provider: Provider = {
    name,
    type: 'hetzner',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: HETZNER_CAPABILITIES,
    parallelism,
    async findZones(names, options) {
      const wanted = new Set(names)
      const filters = wanted.size <= MAX_SINGLE_ZONES ? [...wanted].map((zone) => ({ name: zone.slice(0, -1) })) : [{}]
      const listed = (await Promise.all(filters.map((filter) => readZones(api, filter, options)))).flat()
      return zonesNamed(zoneListOf(listed, referenceTo), wanted)
    },
    listZones: async (options) => zoneListOf(await readZones(api, {}, options), referenceTo),
    async readZone(zone, options) {
      const { records, unplanned } = await readRecords(api, zone, options)
      return { name: zone.name, id: zone.id, settings: zone.settings, records, unplanned, millisecondsSinceLastChange: null }
    },
    readRendered: async () => null,
    async findRecords(zone, like, options) {
      const wanted = [...new Map(like.map((record) => [rrsetKey(record), record])).values()]
      if (wanted.length > MAX_SINGLE_RRSETS) return (await readRecords(api, zone, options)).records
      const found = await Promise.all(wanted.map((record) => readRrset(api, zone, record, options)))
      return found.flatMap((rrset) => rrset?.records ?? [])
    },
    examine: (usage, _, options) => examineZones(provider, usage, { service: 'Hetzner' }, options),
    apply: (zone, call, options) => applyCall(hetzner, zone, call, options),
    close: () => api.close(),
  }
  return provider
}

function readZones(api: HetznerApi, filter: Readonly<Record<string, string>>, options?: ProviderCallOptions): Promise<ApiZone[]> {
  const request = { method: 'GET', path: '/zones', query: filter, what: 'listing zones', ...options } as const
  return api.list(request, 'zones', zoneShape, ({ id }) => id)
}
