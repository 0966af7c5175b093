/** Zones and RRsets of the API in the terms of plans. */
import type { DomainName } from '../../dns/domain-name.ts'
import { nullIfMissing } from '../api-errors.ts'
import { apiRecord, byType, checkReturned, relativeOwner, relativeRdata, relativeTo } from '../api-records.ts'
import type { LiveZone } from '../hosted-service.ts'
import { fieldsOf } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { HETZNER_TYPES } from './capabilities.ts'
import { type ApiRrset, type ApiZone, type HetznerApi, rrsetShape } from './hetzner-api.ts'

/** RRsets per page: the maximum of the API. */
const PER_PAGE = 100

export const referenceTo = (zone: ApiZone, name: DomainName): ZoneReference => ({
  name,
  id: zone.id,
  settings: {
    type: zone.isSecondary ? 'slave' : 'master',
    ttl_sec: zone.ttl,
    master_ips: zone.primaries.map(({ address }) => String(address)),
  },
})

const rrsetsPath = ({ id }: ZoneReference): string => `/zones/${id}/rrsets`

export const rrsetPath = (zone: ZoneReference, name: DomainName, type: string): string =>
  `${rrsetsPath(zone)}/${encodeURIComponent(relativeTo(name, zone.name)).replace('%40', '@')}/${encodeURIComponent(type)}`

/** All records of a primary zone. */
export async function readRecords(api: HetznerApi, zone: ZoneReference, options?: ProviderCallOptions): Promise<LiveZone> {
  if (zone.settings.type === 'slave') return { records: [], unplanned: [] }
  const rrsets = await api.list(reading(rrsetsPath(zone), `reading the records of ${zone.name}`, options), {
    key: 'rrsets',
    perPage: PER_PAGE,
    shape: (item) => {
      const rrset = rrsetShape(item)
      return { id: `${rrset.name}/${rrset.type}`, records: liveRrset(rrset, zone.name).records }
    },
    idOf: ({ id }) => id,
  })
  return byType(
    rrsets.flatMap(({ records }) => records),
    HETZNER_TYPES,
  )
}

/** Throws a `ShapeError` unless the RRset is the one with the name and type. */
export const checkRrset = (returned: ApiRrset, zone: ZoneReference, { name, type }: { readonly name: DomainName; readonly type: string }) =>
  checkReturned({ name, type }, returned, relativeTo(name, zone.name))

/** Reads one RRset; null if it does not exist. */
export function readRrset(
  api: HetznerApi,
  zone: ZoneReference,
  { name, type }: { readonly name: DomainName; readonly type: string },
  options?: ProviderCallOptions,
): Promise<LiveRrset | null> {
  const read = api.request(reading(rrsetPath(zone, name, type), `reading ${name} ${type}`, options), (body) => {
    const rrset = rrsetShape(fieldsOf(body, 'the response')['rrset'])
    checkRrset(rrset, zone, { name, type })
    return liveRrset(rrset, zone.name)
  })
  return nullIfMissing(read)
}

export type LiveRrset = ReturnType<typeof liveRrset>

function liveRrset({ name, type, ttl, records, isProtected }: ApiRrset, zone: DomainName) {
  const owner = relativeOwner(name, zone)
  const live = records.map(({ value, comment }) => ({
    record: apiRecord(owner, type, ttl, value, relativeRdata(type, value, zone)),
    comment,
  }))
  return {
    records: live.map(({ record }) => record),
    /** Comments by the data of their record; only those that are not empty. */
    comments: new Map(live.flatMap(({ record, comment }) => (comment === '' ? [] : [[record.data, comment] as const]))),
    isProtected,
  }
}
