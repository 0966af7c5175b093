/** A provider that reads and changes the domains of a deSEC account. */
import type { DomainName } from '../../dns/domain-name.ts'
import { examineZones } from '../examine-zones.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider, ZoneSnapshot } from '../provider.ts'
import { desecCapabilities } from './capabilities.ts'
import { applyCall } from './change-zone.ts'
import { createDesecApi } from './desec-api.ts'
import { createDomains, referenceOf } from './domains.ts'
import type { LiveZone } from './live-zone.ts'

const MISSING = 'the token needs perm_create_domain for that'

const snapshot = (zone: DomainName, { records, unplanned }: LiveZone): ZoneSnapshot => {
  const { name, id, settings } = referenceOf(zone)
  return { name, id, settings, records, unplanned, millisecondsSinceLastChange: null }
}

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
    readZone: async ({ name }, options) => snapshot(name, await domains.read(name, options)),
    async readNamedZone(name, options) {
      const live = await domains.readNamed(name, options)
      return live && snapshot(name, live)
    },
    readRendered: async () => null,
    examine: (usage, _, options) => examineZones(provider, usage, { service: 'deSEC', missing: MISSING }, options),
    apply: (zone, call, options) => applyCall(domains, zone, call, options),
    close: () => domains.api.close(),
  }
  return provider
}
