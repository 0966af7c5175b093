/** A provider that reads and changes the DNS zones of a resource group at Azure. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { AccessTokens } from '../access-tokens.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import {
  type Provider,
  type ProviderCallOptions,
  ProviderError,
  type ZoneList,
  type ZoneReference,
  type ZoneSnapshot,
} from '../provider.ts'
import { masterZone, zoneListOf, zonesNamed } from '../zone-lists.ts'
import { type ApiZone, type AzureScope, createAzureApi, zoneNamed, zoneShape, zonesPath } from './azure-api.ts'
import { azureCapabilities } from './capabilities.ts'
import { type Azure, applyCall, findRecords, readZone } from './change-zone.ts'

/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3

export function createAzureProvider(connection: ApiConnection, tokens: AccessTokens, scope: AzureScope): Provider {
  const { visibility } = scope
  const { provider: name } = connection
  const azure: Azure = { api: createAzureApi(connection, scope, tokens), name, visibility, sets: new Map(), patience: connection.timeout }
  const missing = visibility === 'public' ? undefined : 'create the private zones at Azure, or check the resource group'
  const provider: Provider = {
    name,
    type: 'azure',
    address: `${connection.baseUrl.href.replace(/(?<!\/)\/+$/, '')}${zonesPath(scope)}`,
    capabilities: azureCapabilities(visibility),
    parallelism: connection.parallelism,
    async findZones(names, call) {
      const wanted = new Set(names)
      const listed =
        wanted.size <= MAX_SINGLE
          ? (await Promise.all([...wanted].map((zone) => findZone(azure, zone, call)))).flat()
          : await listZones(azure, call)
      return zonesNamed(zoneList(listed), wanted)
    },
    listZones: async (call) => zoneList(await listZones(azure, call)),
    readZone: (zone, call) => readSnapshot(azure, zone, call),
    async readNamedZone(zone, call) {
      const id = zone.slice(0, -1)
      if (!ID.test(id)) return null
      try {
        return await readSnapshot(azure, masterZone(zone, id), call)
      } catch (error) {
        // The look-up says what does not exist: the zone, or what it is in.
        const mayBeMissing = error instanceof ProviderError && error.code === 'provider-not-found'
        if (mayBeMissing && (await findZone(azure, zone, call)).length === 0) return null
        throw error
      }
    },
    findRecords: (zone, like, call) => findRecords(azure, zone, like, call),
    examine: (usage, _, call) => examineZones(provider, usage, { service: 'Azure', missing }, call),
    apply: (zone, call, more) => applyCall(azure, zone, call, more),
    close: () => azure.api.close(),
  }
  return provider
}

async function readSnapshot(azure: Azure, zone: ZoneReference, call?: ProviderCallOptions): Promise<ZoneSnapshot> {
  const { records, unplanned } = await readZone(azure, zone, call)
  return { name: zone.name, id: zone.id, settings: zone.settings, records, unplanned }
}

const listZones = ({ api }: Azure, call?: ProviderCallOptions): Promise<ApiZone[]> =>
  api.list({ method: 'GET', path: '', what: 'listing zones', ...call }, zoneShape)

async function findZone({ api }: Azure, name: DomainName, call?: ProviderCallOptions): Promise<ApiZone[]> {
  try {
    return [
      await api.request(
        { method: 'GET', path: `/${encodeURIComponent(name.slice(0, -1))}`, what: `looking up ${name}`, ...call },
        zoneNamed(name.slice(0, -1)),
      ),
    ]
  } catch (error) {
    // Azure Resource Manager says whether the zone, or what it is in, does not exist.
    if (error instanceof ProviderError && error.status === '404' && error.message.includes('(ResourceNotFound)')) return []
    throw error
  }
}

/** A part of paths. */
const ID = /^[a-z0-9_.-]+$/

const zoneList = (listed: readonly ApiZone[]): ZoneList =>
  zoneListOf(listed, ({ name: id }, name) => masterZone(name, id.toLowerCase()), {
    problemOf: ({ name }) => (ID.test(name.toLowerCase()) ? null : 'has a name that no path can have'),
  })
