/** A provider that reads and changes the zones of a Cloudflare account. */

import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, UnusableZone, ZoneList, ZoneReference } from '../provider.ts'
import { type CloudflarePlan, cloudflareCapabilities } from './capabilities.ts'
import { changeRecords } from './change-records.ts'
import { type ApiZone, type CloudflareApi, createCloudflareApi, zoneShape } from './cloudflare-api.ts'
import { existingRecords, readRecords } from './live-zone.ts'

/** Zones per page: the maximum of the API. */
const ZONES_PER_PAGE = 50
/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3
const MISSING = 'add them in the dashboard of Cloudflare, or include them in the token'

export function createCloudflareProvider(connection: ApiConnection, plan: CloudflarePlan): Provider {
  const api = createCloudflareApi(connection)
  const { provider: name } = connection
  const provider: Provider = {
    name,
    type: 'cloudflare',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: cloudflareCapabilities(plan),
    parallelism: connection.parallelism,
    async findZones(names, call) {
      const wanted = new Set(names)
      const filters = wanted.size <= MAX_SINGLE ? [...wanted].map((zone) => ({ name: zone.slice(0, -1) })) : [{}]
      const { zones } = zoneList((await Promise.all(filters.map((filter) => readZones(api, filter, call)))).flat())
      return new Map(zones.flatMap((zone) => (wanted.has(zone.name) ? [[zone.name, zone] as const] : [])))
    },
    listZones: async (call) => zoneList(await readZones(api, {}, call)),
    async readZone(zone, call) {
      const live = await readRecords(api, zone, call)
      const { name, id, ownApexNs } = zone
      return { name, id, ownApexNs, settings: {}, records: existingRecords(live), millisecondsSinceLastChange: null }
    },
    readRendered: async () => null,
    examine: (usage, _, call) => examineZones(provider, usage, { service: 'Cloudflare', missing: MISSING }, call),
    async apply(zone, call, options) {
      if (zone === null) throw new Error('Cloudflare zones are not created')
      return changeRecords(api, name, zone, call, options)
    },
    close: () => api.close(),
  }
  return provider
}

/** The names of its servers, if it names any, and no other text. */
function apexNsOf(names: readonly string[]): Pick<ZoneReference, 'ownApexNs'> {
  const parsed = names.map((name) => parseAbsoluteName(name))
  const valid = parsed.flatMap((name) => (name.ok ? [name.value] : []))
  return valid.length === 0 || valid.length < names.length ? {} : { ownApexNs: valid.sort() }
}

function readZones(api: CloudflareApi, filter: Readonly<Record<string, string>>, call?: ProviderCallOptions): Promise<ApiZone[]> {
  return api.list({ method: 'GET', path: '/zones', query: filter, what: 'listing zones', ...call }, ZONES_PER_PAGE, zoneShape)
}

function zoneList(zones: readonly ApiZone[]): ZoneList {
  const usable = new Map<DomainName, ZoneReference>()
  const unusable: UnusableZone[] = []
  for (const { id, name, type, nameServers } of zones) {
    const parsed = parseAbsoluteName(name)
    const reason = !parsed.ok ? parsed.message : type === 'secondary' ? 'gets its records from its primary' : null
    if (reason !== null || !parsed.ok) unusable.push({ name, id, reason: reason ?? '' })
    else if (usable.has(parsed.value)) unusable.push({ name, id, reason: 'exists twice' })
    else usable.set(parsed.value, { name: parsed.value, id, settings: {}, updated: null, ...apexNsOf(nameServers) })
  }
  return { zones: [...usable.values()], unusable }
}
