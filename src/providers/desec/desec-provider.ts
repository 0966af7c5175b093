/** A provider that reads and changes the domains of a deSEC account. */
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider } from '../provider.ts'
import { desecCapabilities } from './capabilities.ts'
import { applyCall } from './change-zone.ts'
import { createDesecApi } from './desec-api.ts'
import { createDomains } from './domains.ts'

const MISSING = 'the token needs perm_create_domain for that'

export function createDesecProvider(connection: ApiConnection): Provider {
  const domains = createDomains(createDesecApi(connection), connection.provider)
  const provider: Provider = {
    name: connection.provider,
    type: 'desec',
    address: connection.baseUrl.href.replace(/(?<!\/)\/+$/, ''),
    capabilities: desecCapabilities((zone) => domains.minimumTtl(zone)),
    capabilityFacts: (zones) => ({ minimumTtls: Object.fromEntries(zones.map((zone) => [zone, domains.minimumTtl(zone)])) }),
    parallelism: connection.parallelism,
    findZones: (names, options) => domains.find(names, options),
    listZones: (options) => domains.list(options),
    async readZone(zone, options) {
      const { records, unplanned } = await domains.read(zone, options)
      return { name: zone.name, id: zone.id, settings: zone.settings, records, unplanned, millisecondsSinceLastChange: null }
    },
    readRendered: async () => null,
    examine: (usage, _, options) => examineZones(provider, usage, { service: 'deSEC', missing: MISSING }, options),
    apply: (zone, call, options) => applyCall(domains, zone, call, options),
    close: () => domains.api.close(),
  }
  return provider
}
