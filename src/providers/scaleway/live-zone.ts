/** Records of the API in the terms of plans. */
import { append } from '../../base/group-by.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, isApexNs, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { apiRecord, lenientRdata, relativeOwner } from '../api-records.ts'
import type { ProviderCallOptions } from '../provider.ts'
import { reading } from '../send-request.ts'
import { SCALEWAY_TYPES } from './capabilities.ts'
import { type ApiRecord, recordShape, type ScalewayApi } from './scaleway-api.ts'

export interface LiveRecord {
  readonly record: ExistingRecord
  readonly api: ApiRecord
}

export interface LiveZone {
  /** The plain records, by `rrsetKey`. */
  readonly rrsets: Map<string, readonly LiveRecord[]>
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  /** The NS records of the apex, which belong to Scaleway. */
  readonly ownApexNs: readonly DomainName[]
}

/** Records per page. */
const PAGE_SIZE = 1000

export const zonePath = (name: DomainName): string => `/dns-zones/${encodeURIComponent(name.slice(0, -1))}`

/** Reads all records of a zone. The NS records at its apex belong to Scaleway. A record set with a dynamic record is left to it. */
export async function readLive(api: ScalewayApi, zone: DomainName, options?: ProviderCallOptions): Promise<LiveZone> {
  const request = reading(`${zonePath(zone)}/records`, `reading the records of ${zone}`, options)
  const all = await api.list(request, {
    key: 'records',
    perPage: PAGE_SIZE,
    shape: (item) => liveRecord(recordShape(item), zone),
    idOf: ({ api: { id } }) => id,
  })
  const own = all.filter(({ record }) => !isApexNs(record, zone))
  const dynamic = new Set(own.flatMap(({ record, api: { config } }) => (config === null ? [] : [rrsetKey(record)])))
  const rrsets = new Map<string, LiveRecord[]>()
  const unplanned: UnplannedRecord[] = []
  for (const live of own) {
    const { record, api: raw } = live
    const key = rrsetKey(record)
    if (dynamic.has(key)) {
      const reason = raw.config === null ? 'is beside a dynamic record' : `is a dynamic record (${raw.config})`
      unplanned.push({ ...record, reason, holdsRrset: true })
    } else if (SCALEWAY_TYPES.has(record.type)) append(rrsets, key, live)
    else unplanned.push({ ...record, reason: 'has a type that is not managed' })
  }
  const ownApexNs = all.flatMap(({ record }) => (isApexNs(record, zone) ? [record.data as DomainName] : [])).sort()
  return { rrsets, records: [...rrsets.values()].flat().map(({ record }) => record), unplanned, ownApexNs }
}

export function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
  const { name, type, ttl, data } = api
  return { record: apiRecord(relativeOwner(name, zone, ''), type, ttl, data, lenientRdata(type, data)), api }
}
