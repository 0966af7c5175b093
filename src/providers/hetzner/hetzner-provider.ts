/** A provider that reads and changes the zones of a project at Hetzner. */
import { rrsetKey } from '../../dns/record.ts'
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions } from '../provider.ts'
import { reading } from '../send-request.ts'
import { HETZNER_CAPABILITIES } from './capabilities.ts'
import { applyCall, createZone, deleteZone, updateZone } from './change-zone.ts'
import { createHetznerApi, zoneShape } from './hetzner-api.ts'
import { readRecords, readRrset, referenceTo } from './live-zone.ts'
import { createZoneActions } from './zone-actions.ts'

/** RRsets that are read one by one. For more, the whole zone is read. */
const MAX_SINGLE_RRSETS = 10
/** How many timeouts of a request an action may take. */
const ACTION_TIMEOUTS = 4
/** Zones per page: the maximum of the API. */
const ZONES_PER_PAGE = 50

export function createHetznerProvider(connection: ApiConnection): Provider {
  const { provider: name } = connection
  const api = createHetznerApi(connection)
  const hetzner = { api, name, actions: createZoneActions(api, name, connection.timeout * ACTION_TIMEOUTS) }
  const list = { key: 'zones', perPage: ZONES_PER_PAGE, shape: zoneShape, idOf: ({ id }: { id: number }) => id }
  const readZones = (filter: Readonly<Record<string, string>>, options?: ProviderCallOptions) =>
    api.list(reading('/zones', 'listing zones', options, filter), list)
  return hostedProvider(connection, {
    type: 'hetzner',
    service: 'Hetzner',
    capabilities: HETZNER_CAPABILITIES,
    list: (options) => readZones({}, options),
    find: (zone, options) => readZones({ name: zone.slice(0, -1) }, options),
    referenceTo,
    read: (zone, options) => readRecords(api, zone, options),
    create: (change, _, options) => createZone(hetzner, change, options),
    update: (zone, change, options) => updateZone(hetzner, zone, change, options),
    remove: (zone, _, __, options) => deleteZone(hetzner, zone, options),
    change: (zone, call, options) => applyCall(hetzner, zone, call, options),
    close: api.close,
    features: {
      async findRecords(zone, like, options) {
        const wanted = [...new Map(like.map((record) => [rrsetKey(record), record])).values()]
        if (wanted.length > MAX_SINGLE_RRSETS) return (await readRecords(api, zone, options)).records
        const found = await Promise.all(wanted.map((record) => readRrset(api, zone, record, options)))
        return found.flatMap((rrset) => rrset?.records ?? [])
      },
    },
  })
}
