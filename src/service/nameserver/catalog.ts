/** The catalog zone (RFC 9432) of the name server: secondaries learn from it which zones there are, and drop those that cease to be. */
import { catalogRecords } from '../../dns/catalog-zone.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { NameServer } from './name-server.ts'
import type { ServedRecord } from './zone-data.ts'

export interface Catalog {
  add(zone: DomainName): void
  remove(zone: DomainName): void
  /** Call it when all changes up to a revision of the served zones are known. */
  published(revision: number): void
  close(): void
}

/** Minimum wait after a rebuild, as a multiple of its duration: a catalog of a million zones takes seconds. */
const REST_FACTOR = 10

/**
 * Creates the catalog zone. Its serial is the revision of the served zones at its last change, or at the start: processes that share a database have equal
 * serials for equal members, and a restart never goes back.
 */
export function createCatalog(name: DomainName, server: Pick<NameServer, 'setZone'>): Catalog {
  const members = new Set<DomainName>()
  let isChanged = true
  let pending: { readonly serial: number; readonly zones: readonly DomainName[] } | null = null
  let timer: NodeJS.Timeout | null = null
  let restUntil = 0

  const rebuild = (): void => {
    timer = null
    if (pending === null) return
    const started = performance.now()
    const { serial, zones } = pending
    pending = null
    server.setZone({ name, serial, records: recordsOf(name, serial, zones) })
    restUntil = performance.now() + REST_FACTOR * (performance.now() - started)
  }
  return {
    add: (zone) => {
      if (members.size !== members.add(zone).size) isChanged = true
    },
    remove: (zone) => {
      if (members.delete(zone)) isChanged = true
    },
    published: (revision) => {
      if (!isChanged) return
      isChanged = false
      // Serials are 32 bits long, and BIND takes none of 0.
      pending = { serial: revision % 2 ** 32 || 1, zones: [...members] }
      const wait = restUntil - performance.now()
      if (wait <= 0) rebuild()
      else timer ??= setTimeout(rebuild, wait)
    },
    close: () => {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** The names in the SOA record have no meaning. Consumers refresh hourly without a NOTIFY. */
const recordsOf = (name: DomainName, serial: number, zones: readonly DomainName[]): ServedRecord[] => [
  { name, type: 'SOA', ttl: 0 as Ttl, data: `invalid. invalid. ${serial} 3600 600 2147483646 0` },
  ...catalogRecords(name, zones).map((record) => ({ ...record, ttl: 0 as Ttl })),
]
