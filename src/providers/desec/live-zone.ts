/** Domains as the API returns them, in the terms of plans. */
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import { type ExistingRecord, groupRrsets, type ResourceRecord } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { ShapeError } from '../json-shape.ts'
import type { ProviderCallOptions } from '../provider.ts'
import { isManagedType } from './capabilities.ts'
import { type ApiRrset, type DesecApi, rrsetShape } from './desec-api.ts'

export interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  /** By `rrsetKey`. */
  readonly rrsets: ReadonlyMap<string, readonly ResourceRecord[]>
}

export const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}/`

/** Reads all RRsets of a domain. */
export async function readLive(api: DesecApi, zone: DomainName, options?: ProviderCallOptions): Promise<LiveZone> {
  const request = { method: 'GET', path: `${domainPath(zone)}rrsets/`, what: `reading the records of ${zone}`, ...options } as const
  const rrsets = await api.list(request, (item) => recordsOf(rrsetShape(item), zone))
  const all = rrsets.flat()
  const records = all.filter(({ type }) => isManagedType(type))
  const unplanned = all.flatMap((record) => (isManagedType(record.type) ? [] : [{ ...record, reason: 'has a type that is not managed' }]))
  return { records, unplanned, rrsets: groupRrsets(records) }
}

/** Malformed rdata stays as it is: text that no definition can contain. */
export function recordsOf({ name, type, ttl, records }: ApiRrset, zone: DomainName): ResourceRecord[] {
  const owner = parseAbsoluteName(name)
  if (!owner.ok || !isAtOrBelow(owner.value, zone)) {
    const why = owner.ok ? `is outside ${zone}` : owner.message
    throw new ShapeError(`a record is named ${JSON.stringify(name.slice(0, 300))}: ${why}`)
  }
  return records.map((content) => {
    const data = parseRdata(type, content)
    return { name: owner.value, type, ttl: Math.min(ttl, MAX_TTL) as Ttl, data: data.ok ? data.value : content }
  })
}
