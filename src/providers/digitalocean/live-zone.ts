/** Records of the API in the terms of plans, and records of plans as the API takes them. */
import type { DomainName } from '../../dns/domain-name.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import type { ExistingRecord, ResourceRecord } from '../../dns/record.ts'
import { nullIfMissing } from '../api-errors.ts'
import { apiRecord, byType, quoted, relativeOwner, relativeTo, textToRdata, unquoted } from '../api-records.ts'
import { fieldsOf } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { DIGITALOCEAN_TYPES } from './capabilities.ts'
import { type ApiRecord, type DigitalOceanApi, domainShape, PER_PAGE, recordShape } from './digitalocean-api.ts'

export type LiveRecord = ExistingRecord & { readonly id: number }

export const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}`

/** Null if the domain does not exist. */
export const findDomain = (api: DigitalOceanApi, zone: DomainName, options?: ProviderCallOptions) =>
  nullIfMissing(
    api.request(reading(domainPath(zone), `looking up ${zone}`, options), (body) => domainShape(fieldsOf(body, 'the response')['domain'])),
  )

/** Reads the records of a domain, all or those of one owner. */
export async function readRecords(
  api: DigitalOceanApi,
  zone: Pick<ZoneReference, 'name'>,
  { name, type }: { readonly name?: DomainName; readonly type?: string } = {},
  options?: ProviderCallOptions,
) {
  const query = { ...(name && { name: name.slice(0, -1) }), ...(type && { type }) }
  const request = reading(`${domainPath(zone.name)}/records`, `reading the records of ${zone.name}`, options, query)
  const shape = (item: unknown): LiveRecord => liveRecord(recordShape(item), zone.name)
  const all = await api.list(request, { key: 'domain_records', perPage: PER_PAGE, shape, idOf: ({ id }) => id })
  return byType(all, DIGITALOCEAN_TYPES)
}

export function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
  const { id, name, type, ttl, data } = api
  return { ...apiRecord(relativeOwner(name, zone), type, ttl, data, parseRdata(type, presentationOf(api, zone))), id }
}

function presentationOf({ type, data, priority, weight, port, flags, tag }: ApiRecord, zone: DomainName): string {
  const host = data === '@' ? zone : data
  switch (type) {
    case 'CNAME':
    case 'NS':
      return host
    case 'MX':
      return `${priority ?? 0} ${host}`
    case 'SRV':
      return `${priority ?? 0} ${weight ?? 0} ${port ?? 0} ${host}`
    case 'CAA':
      return `${flags ?? 0} ${tag ?? ''} ${quoted(data)}`
    case 'TXT':
      return textToRdata(data)
    default:
      return data
  }
}

/** The body of a request for a record, whose data must be canonical. */
export function recordToApi({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Readonly<Record<string, unknown>> {
  const fields = rdataFields(data)
  const common = { type, name: relativeTo(name, zone), ttl: ttl ?? undefined }
  const [first, second, third, fourth] = fields
  switch (type) {
    case 'MX':
      return { ...common, priority: Number(first), data: second }
    case 'SRV':
      return { ...common, priority: Number(first), weight: Number(second), port: Number(third), data: fourth }
    case 'CAA':
      // The API wants a final dot, which is no part of the value.
      return { ...common, flags: Number(first), tag: second, data: `${unquoted(third ?? '')}.` }
    case 'TXT':
      return { ...common, data: unquoted(data) }
    default:
      return { ...common, data }
  }
}
