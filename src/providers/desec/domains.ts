/** The domains of an account, and the minimum TTLs of those that were looked up. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { nullIfMissing } from '../api-errors.ts'
import { checkZoneName } from '../json-shape.ts'
import {
  type NamedReadOptions,
  type ProviderCallOptions,
  ProviderError,
  type UnusableZone,
  type ZoneList,
  type ZoneReference,
} from '../provider.ts'
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

export const referenceOf = (name: DomainName): ZoneReference => ({
  name,
  id: name.slice(0, -1),
  settings: { type: 'master' },
  updated: null,
})

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
    try {
      return (await api.request(request, (body) => referenceTo(domainShape(body), name))).value
    } catch (error) {
      if (error instanceof ProviderError && error.code === 'provider-not-found') return null
      throw error
    }
  }
  const list = async (options?: ProviderCallOptions): Promise<ZoneList> => {
    const domains = await api.list({ method: 'GET', path: '/domains/', what: 'listing domains', ...options }, domainShape)
    const zones = new Map<DomainName, ZoneReference>()
    const unusable: UnusableZone[] = []
    for (const domain of domains) {
      const name = parseAbsoluteName(domain.name)
      if (!name.ok) unusable.push({ name: domain.name, id: domain.name, reason: name.message })
      else if (!zones.has(name.value)) zones.set(name.value, note(domain, name.value))
    }
    return { zones: [...zones.values()], unusable }
  }
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
      return new Map(zones.flatMap((zone) => (wanted.has(zone.name) ? [[zone.name, zone] as const] : [])))
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
