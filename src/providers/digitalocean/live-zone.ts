/** Records of the API in the terms of plans, and records of plans as the API takes them. */
import { octetsToTxtRdata, quoteString, txtRdataToOctets } from '../../dns/character-string.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import type { ExistingRecord, ResourceRecord } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { nullIfMissing } from '../api-errors.ts'
import { fieldsOf, ShapeError } from '../json-shape.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { masterZone } from '../zone-lists.ts'
import { DIGITALOCEAN_TYPES } from './capabilities.ts'
import { type ApiRecord, type DigitalOceanApi, domainShape, recordShape } from './digitalocean-api.ts'

export type LiveRecord = ExistingRecord & { readonly id: number }

/** No domain gets its records from another server. */
export const referenceTo = (name: DomainName): ZoneReference => masterZone(name, name.slice(0, -1))

export const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}`

/** The name of the domain as DigitalOcean writes it; null if it does not exist. */
export async function findDomain(api: DigitalOceanApi, zone: DomainName, options?: ProviderCallOptions): Promise<string | null> {
  const request = { method: 'GET', path: domainPath(zone), what: `looking up ${zone}`, ...options } as const
  return nullIfMissing(api.request(request, (body) => domainShape(fieldsOf(body, 'the response')['domain'])))
}

/** Reads the records of a domain, all or those of one owner, without the SOA. Records of types that are not managed are in `unplanned`. */
export async function readRecords(
  api: DigitalOceanApi,
  zone: ZoneReference,
  filter: { readonly name?: DomainName; readonly type?: string } = {},
  options?: ProviderCallOptions,
): Promise<{ readonly records: readonly LiveRecord[]; readonly unplanned: readonly UnplannedRecord[] }> {
  const query = { ...(filter.name && { name: filter.name.slice(0, -1) }), ...(filter.type && { type: filter.type }) }
  const request = {
    method: 'GET',
    path: `${domainPath(zone.name)}/records`,
    query,
    what: `reading the records of ${zone.name}`,
    ...options,
  } as const
  const all = await api.list(
    request,
    'domain_records',
    (item) => liveRecord(recordShape(item), zone.name),
    ({ id }) => id,
  )
  const others = all.filter(({ type }) => type !== 'SOA' && !DIGITALOCEAN_TYPES.has(type))
  return {
    records: all.filter(({ type }) => DIGITALOCEAN_TYPES.has(type)),
    unplanned: others.map((record) => ({ ...record, reason: 'has a type that is not managed' })),
  }
}

/** Malformed rdata stays as it is: text that no definition can contain. */
export function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
  const name = parseDomainName(api.name, zone)
  if (!name.ok || api.name.endsWith('.')) throw new ShapeError(`a record is named ${JSON.stringify(api.name.slice(0, 300))}`)
  const data = parseRdata(api.type, presentationOf(api, zone))
  return { id: api.id, name: name.value, type: api.type, ttl: Math.min(api.ttl, MAX_TTL) as Ttl, data: data.ok ? data.value : api.data }
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
      return `${flags ?? 0} ${tag ?? ''} ${quoteString(Buffer.from(data, 'utf8'))}`
    case 'TXT':
      return octetsToTxtRdata(Buffer.from(data, 'utf8'))
    default:
      return data
  }
}

/** The body of a request for a record, whose data must be canonical. */
export function recordToApi({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Readonly<Record<string, unknown>> {
  const fields = rdataFields(data)
  const common = { type, name: name === zone ? '@' : name.slice(0, -zone.length - 1), ttl: ttl ?? undefined }
  const [first, second, third, fourth] = fields
  switch (type) {
    case 'MX':
      return { ...common, priority: Number(first), data: second }
    case 'SRV':
      return { ...common, priority: Number(first), weight: Number(second), port: Number(third), data: fourth }
    case 'CAA':
      // The API wants a final dot, which is no part of the value.
      return { ...common, flags: Number(first), tag: second, data: `${textOf(third ?? '')}.` }
    case 'TXT':
      return { ...common, data: textOf(data) }
    default:
      return { ...common, data }
  }
}

/** The text of quoted strings. Rules allow printable ASCII only. */
const textOf = (strings: string): string => Buffer.from(txtRdataToOctets(strings)).toString('latin1')
