/** The domains of an account, and the minimum TTLs of those that were looked up. */
import type { DomainName } from '../../dns/domain-name.ts'
import { nullIfMissing } from '../api-errors.ts'
import { checkZoneName } from '../json-shape.ts'
import type { NamedReadOptions, ProviderCallOptions, ZoneList, ZoneReference } from '../provider.ts'
import { masterZone, zoneListOf, zonesNamed } from '../zone-lists.ts'
import { MIN_TTL } from './capabilities.ts'
import { type ApiDomain, type DesecApi, domainShape } from './desec-api.ts'
import { domainPath, type LiveZone, readLive } from './live-zone.ts'

/** Domains that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3

export interface Domains {
  readonly api: DesecApi
  /** The provider's name in the config. */
  readonly provider: string
  /** The minimum TTL of a domain in seconds; null if the domain was not looked up. */
  minimumTtl(zone: DomainName): number | null
  find(names: readonly DomainName[], options?: ProviderCallOptions): Promise<ReadonlyMap<DomainName, ZoneReference>>
  list(options?: ProviderCallOptions): Promise<ZoneList>
  read(zone: DomainName, options?: ProviderCallOptions): Promise<LiveZone>
  /** Reads a domain without a look-up, unless a TTL may be below its minimum; null if it does not exist. */
  readNamed(zone: DomainName, options?: NamedReadOptions): Promise<LiveZone | null>
  /** Throws a `ShapeError` if it is another domain. */
  referenceTo(domain: ApiDomain, expected: DomainName): ZoneReference
}

export const referenceOf = (name: DomainName): ZoneReference => masterZone(name, name.slice(0, -1))

export function createDomains(api: DesecApi, provider: string): Domains {
  const minimums = new Map<DomainName, number>()

  const note = ({ minimumTtl }: ApiDomain, name: DomainName): ZoneReference => {
    minimums.set(name, minimumTtl)
    return referenceOf(name)
  }
  const referenceTo = (domain: ApiDomain, expected: DomainName): ZoneReference => {
    checkZoneName(expected, domain.name)
    return note(domain, expected)
  }
  const lookUp = async (name: DomainName, options?: ProviderCallOptions): Promise<ZoneReference | null> => {
    const request = { method: 'GET', path: domainPath(name), what: `looking up ${name}`, ...options } as const
    return (await nullIfMissing(api.request(request, (body) => referenceTo(domainShape(body), name))))?.value ?? null
  }
  const list = async (options?: ProviderCallOptions): Promise<ZoneList> =>
    zoneListOf(await api.list({ method: 'GET', path: '/domains/', what: 'listing domains', ...options }, domainShape), note)
  const read = (name: DomainName, options?: ProviderCallOptions): Promise<LiveZone> => readLive(api, name, options)
  return {
    api,
    provider,
    minimumTtl: (zone) => minimums.get(zone) ?? null,
    async find(names, options) {
      const wanted = new Set(names.filter((name) => name !== '.'))
      const zones =
        wanted.size <= MAX_SINGLE
          ? (await Promise.all([...wanted].map((name) => lookUp(name, options)))).filter((zone) => zone !== null)
          : (await list(options)).zones
      return zonesNamed({ zones }, wanted)
    },
    list,
    read,
    async readNamed(name, { lowestTtl = 0, ...options } = {}) {
      if (name === '.') return null
      if (lowestTtl < MIN_TTL && !minimums.has(name) && (await lookUp(name, options)) === null) return null
      return nullIfMissing(read(name, options))
    },
    referenceTo,
  }
}
