/** A provider that reads and changes the hosted zones of an AWS account. */
import type { Provider } from '../provider.ts'
import { route53Capabilities } from './capabilities.ts'
import { changeRecords } from './change-records.ts'
import { examineRoute53 } from './examine.ts'
import { createZone, deleteZone, findZones, listZones } from './hosted-zones.ts'
import { liveZone, readSets } from './live-zone.ts'
import type { Route53, Route53Options } from './route53.ts'
import { createRoute53Api, type Route53Connection } from './route53-api.ts'

export function createRoute53Provider(connection: Route53Connection, options: Route53Options): Provider {
  const route53: Route53 = { ...options, api: createRoute53Api(connection), memories: new Map() }
  const provider: Provider = {
    name: connection.provider,
    type: 'route53',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: route53Capabilities(options.aliasZones, !options.isPrivate || options.vpc !== null),
    parallelism: connection.parallelism,
    findZones: (names, call) => findZones(route53, names, call),
    listZones: (call) => listZones(route53, call),
    async readZone({ id, name }, call) {
      const sets = await readSets(route53.api, { id, name }, call)
      const { records, unplanned, memory } = liveZone(sets, name, String(id), options.aliasZones)
      route53.memories.set(String(id), memory)
      return { name, id, settings: { type: 'master' }, records, unplanned }
    },
    examine: (usage, _, call) => examineRoute53(provider, route53, usage, call),
    async apply(zone, call, more) {
      const [first] = call.changes
      if (first?.subject === 'domain' && first.action === 'create') return createZone(route53, first.name, call, more)
      if (zone === null) throw new Error('no zone to change')
      if (first?.subject === 'domain') {
        if (first.action === 'delete') return deleteZone(route53, zone, call, more)
        throw new Error('hosted zones have no settings')
      }
      return { problems: await changeRecords(route53, zone, call.rrsets, more) }
    },
    close: () => route53.api.close(),
  }
  return provider
}
