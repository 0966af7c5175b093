/** Zones and RRsets of the API in the terms of plans. */
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { nullIfMissing } from '../api-errors.ts'
import { fieldsOf, ShapeError } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { HETZNER_TYPES } from './capabilities.ts'
import { type ApiRrset, type ApiZone, type HetznerApi, rrsetShape } from './hetzner-api.ts'

export interface LiveRrset {
  readonly records: readonly ResourceRecord[]
  /** Comments by the data of their record; only those that are not empty. */
  readonly comments: ReadonlyMap<string, string>
  readonly isProtected: boolean
}

/** The type of the SOA RRset, which Hetzner maintains. */
const SOA = 'SOA'

export const referenceTo = (zone: ApiZone, name: DomainName): ZoneReference => ({
  name,
  id: zone.id,
  settings: {
    type: zone.isSecondary ? 'slave' : 'master',
    ttl_sec: zone.ttl,
    master_ips: zone.primaries.map(({ address }) => String(address)),
  },
  updated: null,
})

const rrsetsPath = ({ id }: ZoneReference): string => `/zones/${id}/rrsets`

export const rrsetPath = (zone: ZoneReference, name: DomainName, type: string): string =>
  `${rrsetsPath(zone)}/${encodeURIComponent(relativeName(name, zone.name)).replace('%40', '@')}/${encodeURIComponent(type)}`

/** The name of an owner at the API. */
export const relativeName = (name: DomainName, zone: DomainName): string => (name === zone ? '@' : name.slice(0, -zone.length - 1))

/** All records of a primary zone without the SOA. Records of types that are not managed are in `unplanned`. */
export async function readRecords(
  api: HetznerApi,
  zone: ZoneReference,
  options?: ProviderCallOptions,
): Promise<{ readonly records: readonly ResourceRecord[]; readonly unplanned: readonly UnplannedRecord[] }> {
  if (zone.settings.type === 'slave') return { records: [], unplanned: [] }
  const request = { method: 'GET', path: rrsetsPath(zone), what: `reading the records of ${zone.name}`, ...options } as const
  const rrsets = await api.list(
    request,
    'rrsets',
    (item) => {
      const rrset = rrsetShape(item)
      return { id: `${rrset.name}/${rrset.type}`, records: liveRrset(rrset, zone.name).records }
    },
    ({ id }) => id,
  )
  const all = rrsets.flatMap(({ records }) => records).filter(({ type }) => type !== SOA)
  return {
    records: all.filter(({ type }) => HETZNER_TYPES.has(type)),
    unplanned: all.flatMap((record) => (HETZNER_TYPES.has(record.type) ? [] : [{ ...record, reason: 'has a type that is not managed' }])),
  }
}

/** Reads one RRset; null if it does not exist. */
export async function readRrset(
  api: HetznerApi,
  zone: ZoneReference,
  { name, type }: { readonly name: DomainName; readonly type: string },
  options?: ProviderCallOptions,
): Promise<LiveRrset | null> {
  const request = { method: 'GET', path: rrsetPath(zone, name, type), what: `reading ${name} ${type}`, ...options } as const
  const read = api.request(request, (body) => {
    const rrset = rrsetShape(fieldsOf(body, 'the response')['rrset'])
    if (rrset.name !== relativeName(name, zone.name) || rrset.type !== type)
      throw new ShapeError(`${name} ${type} was returned as ${rrset.name} ${rrset.type}`)
    return liveRrset(rrset, zone.name)
  })
  return nullIfMissing(read)
}

/** Malformed rdata stays as it is: text that no definition can contain. */
function liveRrset({ name, type, ttl, records, isProtected }: ApiRrset, zone: DomainName): LiveRrset {
  const owner = parseDomainName(name, zone)
  if (!owner.ok || name.endsWith('.')) throw new ShapeError(`a record is named ${JSON.stringify(name.slice(0, 300))}`)
  const live = records.map(({ value, comment }) => {
    const data = parseRdata(type, value, (text) => parseDomainName(text, zone))
    const record = {
      name: owner.value,
      type,
      ttl: ttl === null ? null : (Math.min(ttl, MAX_TTL) as Ttl),
      data: data.ok ? data.value : value,
    }
    return { record, comment }
  })
  return {
    records: live.map(({ record }) => record),
    comments: new Map(live.flatMap(({ record, comment }) => (comment === '' ? [] : [[record.data, comment] as const]))),
    isProtected,
  }
}
