/** A provider that reads and changes the domains of a deSEC account. */
import type { DomainName } from '../../dns/domain-name.ts'
import { nullIfMissing } from '../api-errors.ts'
import { hostedProvider, snapshotOf } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { anyShape, checkZoneName } from '../json-shape.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { desecCapabilities, MIN_TTL } from './capabilities.ts'
import { replaceRrsets } from './change-zone.ts'
import { createDesecApi, domainShape } from './desec-api.ts'
import { domainPath, readLive } from './live-zone.ts'

export function createDesecProvider(connection: ApiConnection): Provider {
  const api = createDesecApi(connection)
  /** The minimum TTLs in seconds of the domains that were looked up. */
  const minimums = new Map<DomainName, number>()
  const minimumTtl = (zone: DomainName): number | null => minimums.get(zone) ?? null
  const referenceTo = ({ minimumTtl }: ReturnType<typeof domainShape>, name: DomainName): ZoneReference => {
    minimums.set(name, minimumTtl)
    return masterZone(name)
  }
  const domainNamed = (name: DomainName) => (response: unknown) => {
    const domain = domainShape(response)
    checkZoneName(name, domain.name)
    referenceTo(domain, name)
    return domain
  }
  const find = async (name: DomainName, options?: ProviderCallOptions) =>
    name === '.' ? null : nullIfMissing(api.request(reading(domainPath(name), `looking up ${name}`, options), domainNamed(name)))
  return hostedProvider(connection, {
    type: 'desec',
    service: 'deSEC',
    missing: 'the token needs perm_create_domain for that',
    capabilities: desecCapabilities(minimumTtl),
    list: (options) => api.list(reading('/domains/', 'listing domains', options), domainShape),
    find,
    referenceTo,
    read: ({ name }, options) => readLive(api, name, options),
    async create({ name }, _, options) {
      const zone = masterZone(name)
      const body = { name: zone.id }
      await api.request({ method: 'POST', path: '/domains/', body, what: `creating ${name}`, ...options }, domainNamed(name))
      return { changes: [{ id: zone.id }], zone }
    },
    async remove({ name }, _, __, options) {
      await api.request({ method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options }, anyShape)
      return {}
    },
    change: async (zone, { rrsets }, options) => ({ storedRecords: await replaceRrsets(api, zone, rrsets, options) }),
    close: api.close,
    features: {
      capabilityFacts: (zones) => ({ minimumTtls: Object.fromEntries(zones.map((zone) => [zone, minimumTtl(zone)])) }),
      /** Without a look-up, unless a TTL may be below the minimum of the domain. */
      async readNamedZone(name, { lowestTtl = 0, ...options } = {}) {
        if (name === '.') return null
        if (lowestTtl < MIN_TTL && !minimums.has(name) && (await find(name, options)) === null) return null
        return nullIfMissing(readLive(api, name, options).then((live) => snapshotOf(masterZone(name), live)))
      },
    },
  })
}
