/** A provider that reads and changes the managed zones of a project at Google Cloud DNS. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { AccessTokens } from '../access-tokens.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions, UnusableZone, ZoneList, ZoneReference } from '../provider.ts'
import { masterZone, refuseUnusable, zonesNamed } from '../zone-lists.ts'
import { googleCapabilities, type Visibility } from './capabilities.ts'
import { applyCall, type Google, readZone } from './change-zone.ts'
import { type ApiZone, createGoogleApi, type GoogleApi, zoneShape } from './google-api.ts'

export interface GoogleOptions {
  readonly project: string
  readonly visibility: Visibility
  /** The names at the service of zones whose DNS name several have. By DNS name. */
  readonly managedZones: ReadonlyMap<DomainName, string>
}

/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3

export function createGoogleProvider(connection: ApiConnection, tokens: AccessTokens, options: GoogleOptions): Provider {
  const { project, visibility } = options
  const api = createGoogleApi(connection, project, tokens)
  const { provider: name } = connection
  const missing = visibility === 'public' ? undefined : 'create the private zones at Google, or check the project'
  const google: Google = { api, name, texts: new Map(), patience: connection.timeout }
  const provider: Provider = {
    name,
    type: 'google',
    address: `${connection.baseUrl.href.replace(/(?<!\/)\/+$/, '')}/dns/v1/projects/${project}`,
    capabilities: googleCapabilities(visibility),
    parallelism: connection.parallelism,
    async findZones(names, call) {
      const wanted = new Set(names)
      const filters = wanted.size <= MAX_SINGLE ? [...wanted].map((dnsName) => ({ dnsName })) : [{}]
      const found = zoneList((await Promise.all(filters.map((filter) => readZones(api, filter, call)))).flat(), options)
      refuseUnusable(name, wanted, found)
      return zonesNamed(found, wanted)
    },
    listZones: async (call) => zoneList(await readZones(api, {}, call), options),
    async readZone(zone, call) {
      const { records, unplanned } = await readZone(google, zone, call)
      return { name: zone.name, id: zone.id, settings: zone.settings, records, unplanned }
    },
    examine: (usage, _, call) => examineZones(provider, usage, { service: 'Google', missing }, call),
    apply: (zone, call, more) => applyCall(google, zone, call, more),
    close: () => api.close(),
  }
  return provider
}

function readZones(api: GoogleApi, filter: Readonly<Record<string, string>>, call?: ProviderCallOptions): Promise<ApiZone[]> {
  return api.list({ method: 'GET', path: '/managedZones', query: filter, what: 'listing zones', ...call }, 'managedZones', zoneShape)
}

/** The zones with the visibility of the provider. Several zones may have one DNS name; then the config has to name one. */
function zoneList(listed: readonly ApiZone[], { visibility, managedZones }: GoogleOptions): ZoneList {
  const usable = new Map<DomainName, ApiZone[]>()
  const unusable: UnusableZone[] = []
  for (const zone of listed) {
    if (zone.visibility !== visibility) continue
    const { id, dnsName } = zone
    const name = parseAbsoluteName(dnsName)
    if (!name.ok) unusable.push({ name: dnsName, id, reason: name.message })
    else if (zone.source !== null) unusable.push({ name: dnsName, id, reason: zone.source })
    else if ((managedZones.get(name.value) ?? zone.name) === zone.name) usable.set(name.value, [...(usable.get(name.value) ?? []), zone])
  }
  const zones: ZoneReference[] = []
  for (const [name, [first, ...others]] of usable) {
    if (first !== undefined && others.length === 0) zones.push(masterZone(name, first.id))
    else
      for (const { id, name: own } of [first as ApiZone, ...others])
        unusable.push({
          name,
          id,
          reason: `is also the DNS name of other zones (this one is ${own}); name one of them under managed_zones`,
        })
  }
  return { zones, unusable }
}
