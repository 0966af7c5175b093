/**
 * The domains of an account, and what is known of those that were read. A domain says when it or one of its RRsets was last written, so that one request tells
 * whether a zone with many pages is still as it was read.
 */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { ShapeError } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError, type UnusableZone, type ZoneList, type ZoneReference } from '../provider.ts'
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
  read(zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone>
  /** The zone at this moment: as it was read if it was not written since. */
  readAgain(zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone>
  /** Keeps the last read of a zone from being used again. */
  forget(zone: DomainName): void
  /** Throws a `ShapeError` if it is another domain. */
  referenceTo(domain: ApiDomain, expected: DomainName): ZoneReference
}

interface Known {
  readonly minimumTtl: number
  /** When the domain was last written, before it was read. */
  readonly touched: string | null
  readonly live: LiveZone | null
}

export function createDomains(api: DesecApi, provider: string): Domains {
  const known = new Map<DomainName, Known>()

  const note = ({ minimumTtl, touched }: ApiDomain, name: DomainName): ZoneReference => {
    const before = known.get(name)
    const live = touched !== null && before?.touched === touched ? before.live : null
    known.set(name, { minimumTtl, touched, live })
    return { name, id: name.slice(0, -1), settings: { type: 'master' }, updated: null }
  }
  const referenceTo = (domain: ApiDomain, expected: DomainName): ZoneReference => {
    const name = parseAbsoluteName(domain.name)
    if (!name.ok || name.value !== expected)
      throw new ShapeError(`the domain ${expected} was returned as ${JSON.stringify(domain.name.slice(0, 300))}`)
    return note(domain, expected)
  }
  const lookUp = async (name: DomainName, options?: ProviderCallOptions): Promise<ZoneReference | null> => {
    const request = { method: 'GET', path: domainPath(name), what: `looking up ${name}`, ...options } as const
    try {
      return (await api.request(request, (body) => referenceTo(domainShape(body), name))).value
    } catch (error) {
      if (error instanceof ProviderError && error.status === '404') return null
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
  const read = async ({ name }: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> => {
    const before = known.get(name)
    const live = await readLive(api, name, options)
    // A write since the domain was looked up would not be noticed.
    if (before !== undefined && before.live === null) known.set(name, { ...before, live })
    return live
  }
  const forget = (name: DomainName): void => {
    const before = known.get(name)
    if (before !== undefined) known.set(name, { ...before, touched: null, live: null })
  }
  return {
    api,
    provider,
    minimumTtl: (zone) => known.get(zone)?.minimumTtl ?? null,
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
    async readAgain(zone, options) {
      if ((await lookUp(zone.name, options)) === null)
        throw new ProviderError('provider-not-found', `${provider}: there is no domain ${zone.name}`, { hint: 'plan again' })
      return known.get(zone.name)?.live ?? read(zone, options)
    },
    forget,
    referenceTo,
  }
}
