/** A provider that reads and changes the managed zones of a project at Google Cloud DNS. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { AccessTokens } from '../access-tokens.ts'
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ProviderCallOptions } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { googleCapabilities, type Visibility } from './capabilities.ts'
import { changeRrsets, createZone, deleteZone, type Google, readZone } from './change-zone.ts'
import { createGoogleApi, zoneShape } from './google-api.ts'

export interface GoogleOptions {
  readonly project: string
  readonly visibility: Visibility
  /** The names at the service of zones whose DNS name several have. By DNS name. */
  readonly managedZones: ReadonlyMap<DomainName, string>
}

export function createGoogleProvider(connection: ApiConnection, tokens: AccessTokens, options: GoogleOptions): Provider {
  const { project, visibility, managedZones } = options
  const api = createGoogleApi(connection, project, tokens)
  const google: Google = { api, name: connection.provider, texts: new Map(), patience: connection.timeout }
  const readZones = (filter: Readonly<Record<string, string>>, call?: ProviderCallOptions) =>
    api.list(reading('/managedZones', 'listing zones', call, filter), 'managedZones', zoneShape)
  return hostedProvider(connection, {
    type: 'google',
    service: 'Google',
    missing: visibility === 'public' ? undefined : 'create the private zones at Google, or check the project',
    path: `/dns/v1/projects/${project}`,
    capabilities: googleCapabilities(visibility),
    list: (call) => readZones({}, call),
    find: (dnsName, call) => readZones({ dnsName }, call),
    referenceTo: ({ id }, name) => masterZone(name, id),
    // Several zones may have one DNS name; then the config has to name one.
    listing: {
      isShown: (zone, name) =>
        zone.visibility === visibility &&
        (zone.source !== null || name === null || (managedZones.get(name) ?? zone.ownName) === zone.ownName),
      problemOf: ({ source }) => source,
      ambiguous: ({ ownName }) => `is also the DNS name of other zones (this one is ${ownName}); name one of them under managed_zones`,
    },
    read: (zone, call) => readZone(google, zone, call),
    create: ({ name }, _, call) => createZone(google, name, call),
    remove: (zone, { texts }, rrsets, call) => deleteZone(google, zone, rrsets, texts, call),
    change: (zone, { rrsets }, call) => changeRrsets(google, zone, rrsets, call),
    close: api.close,
  })
}
