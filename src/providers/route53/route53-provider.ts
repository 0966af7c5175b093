/** A provider that reads and changes the hosted zones of an AWS account. */
import { hostedProvider } from '../hosted-service.ts'
import type { Provider } from '../provider.ts'
import { route53Capabilities } from './capabilities.ts'
import { changeRecords } from './change-records.ts'
import { examineRoute53 } from './examine.ts'
import { createZone, deleteZone, listingOf, readZones, referenceTo } from './hosted-zones.ts'
import { liveZone, readSets } from './live-zone.ts'
import type { Route53, Route53Options } from './route53.ts'
import { createRoute53Api, type Route53Connection } from './route53-api.ts'

export function createRoute53Provider(connection: Route53Connection, options: Route53Options): Provider {
  const route53: Route53 = { ...options, api: createRoute53Api(connection), memories: new Map() }
  const provider: Provider = hostedProvider(connection, {
    type: 'route53',
    service: 'AWS',
    capabilities: route53Capabilities(options.aliasZones, !options.isPrivate || options.vpc !== null),
    list: (call) => readZones(route53, call),
    find: (name, call) => readZones(route53, call, name),
    referenceTo,
    listing: listingOf(options),
    async read({ id, name }, call) {
      const sets = await readSets(route53.api, { id, name }, call)
      const live = liveZone(sets, name, String(id), options.aliasZones)
      route53.memories.set(String(id), live.memory)
      return { ...live, sets }
    },
    create: ({ name }, call, more) => createZone(route53, name, call, more),
    remove: (zone, { sets }, _, more) => deleteZone(route53, zone, sets, more),
    change: async (zone, { rrsets }, more) => ({ problems: await changeRecords(route53, zone, rrsets, more) }),
    close: route53.api.close,
    features: { examine: (usage, _, call) => examineRoute53(provider, route53, usage, call) },
  })
  return provider
}
