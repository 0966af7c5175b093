/** A provider that reads and changes the DNS zones of a resource group at Azure. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { AccessTokens } from '../access-tokens.ts'
import { hostedProvider, snapshotOf } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { type Provider, type ProviderCallOptions, ProviderError } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { type ApiZone, type AzureScope, createAzureApi, zoneNamed, zoneShape, zonesPath } from './azure-api.ts'
import { azureCapabilities } from './capabilities.ts'
import { type Azure, changeSet, createZone, deleteZone, findRecords, readZone } from './change-zone.ts'

export function createAzureProvider(connection: ApiConnection, tokens: AccessTokens, scope: AzureScope): Provider {
  const { visibility } = scope
  const api = createAzureApi(connection, scope, tokens)
  const azure: Azure = { api, name: connection.provider, visibility, sets: new Map(), patience: connection.timeout }
  return hostedProvider(connection, {
    type: 'azure',
    service: 'Azure',
    missing: visibility === 'public' ? undefined : 'create the private zones at Azure, or check the resource group',
    path: zonesPath(scope),
    capabilities: azureCapabilities(visibility),
    list: (call) => api.list(reading('', 'listing zones', call), zoneShape),
    find: (zone, call) => findZone(azure, zone, call),
    referenceTo: ({ name: id }, name) => masterZone(name, id.toLowerCase()),
    listing: { problemOf: ({ name }) => (ID.test(name.toLowerCase()) ? null : 'has a name that no path can have') },
    read: (zone, call) => readZone(azure, zone, call),
    create: ({ name }, _, call) => createZone(azure, name, call),
    remove: (zone, _, __, call) => deleteZone(azure, zone, call),
    change: async (zone, { rrsets: [rrset] }, call) =>
      rrset === undefined ? {} : { storedRecords: await changeSet(azure, zone, rrset, call) },
    close: api.close,
    features: {
      async readNamedZone(name, call) {
        const zone = masterZone(name)
        if (!ID.test(zone.id)) return null
        try {
          return snapshotOf(zone, await readZone(azure, zone, call))
        } catch (error) {
          // The look-up says what does not exist: the zone, or what it is in.
          const mayBeMissing = error instanceof ProviderError && error.code === 'provider-not-found'
          if (mayBeMissing && (await findZone(azure, name, call)) === null) return null
          throw error
        }
      },
      findRecords: (zone, like, call) => findRecords(azure, zone, like, call),
    },
  })
}

/** A part of paths. */
const ID = /^[a-z0-9_.-]+$/

async function findZone({ api }: Azure, name: DomainName, call?: ProviderCallOptions): Promise<ApiZone | null> {
  const id = name.slice(0, -1)
  try {
    return await api.request(reading(`/${encodeURIComponent(id)}`, `looking up ${name}`, call), zoneNamed(id))
  } catch (error) {
    // Azure Resource Manager says whether the zone, or what it is in, does not exist.
    if (error instanceof ProviderError && error.status === '404' && error.message.includes('(ResourceNotFound)')) return null
    throw error
  }
}
