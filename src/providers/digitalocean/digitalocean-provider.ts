/**
 * A provider that reads and changes the domains of a DigitalOcean account. A call changes one record, or the domain itself. The API cannot state what it expects
 * to find, so a run calls only soon after it has read the domain. Its answers have the record as DigitalOcean stores it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { nullIfMissing } from '../api-errors.ts'
import { apiRecord, byType, quoted, relativeOwner, relativeTo, textToRdata, unquoted } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { checkZoneName, fieldsOf } from '../json-shape.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { collectionRequests, emptyShape, type StoredRecord, singleRecords } from '../single-records.ts'
import { masterZone } from '../zone-lists.ts'
import { DIGITALOCEAN_CAPABILITIES, DIGITALOCEAN_TYPES } from './capabilities.ts'
import { type ApiRecord, createDigitalOceanApi, type DigitalOceanApi, domainShape, PER_PAGE, recordShape } from './digitalocean-api.ts'

/** Owners whose records are read one by one. For more, the whole domain is read. */
const MAX_SINGLE_OWNERS = 10

export function createDigitalOceanProvider(connection: ApiConnection): Provider {
  const api = createDigitalOceanApi(connection)
  const records = recordsOf(api)
  const list = { key: 'domains', perPage: PER_PAGE, shape: domainShape, idOf: ({ name }: { name: string }) => name }
  return hostedProvider(connection, {
    type: 'digitalocean',
    service: 'DigitalOcean',
    missing: 'the token needs domain:create for that',
    capabilities: DIGITALOCEAN_CAPABILITIES,
    list: (options) => api.list(reading('/domains', 'listing domains', options), list),
    find: (zone, options) => findDomain(api, zone, options),
    isReadByName: true,
    read: (zone, options) => readRecords(api, zone, {}, options),
    async create({ name }, _, options) {
      const zone = masterZone(name)
      records.creating(zone)
      const body = { name: zone.id }
      await api.request({ method: 'POST', path: '/domains', body, what: `creating ${name}`, ...options }, (response) => {
        checkZoneName(zone.id, domainShape(fieldsOf(response, 'the response')['domain']).name)
      })
      return { changes: [{ id: zone.id }], zone }
    },
    async remove({ name }, _, __, options) {
      await api.request({ method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options }, emptyShape)
      return {}
    },
    change: records.change,
    close: api.close,
    features: {
      async findRecords(zone, like, options) {
        const owners = [...new Set(like.map((record) => record.name))]
        const filters = owners.length > MAX_SINGLE_OWNERS ? [{}] : owners.map((name) => ({ name }))
        return (await Promise.all(filters.map((filter) => readRecords(api, zone, filter, options)))).flatMap(({ records }) => records)
      },
    },
  })
}

/** The NS records of a new domain. */
const GIVEN_NAMESERVER = /^ns[1-3]\.digitalocean\.com\.$/

const recordsOf = (api: DigitalOceanApi) =>
  singleRecords({
    request: api.request,
    requestFor: collectionRequests((zone) => `${domainPath(zone)}/records`, 'PUT', recordToApi),
    storedIn: (response, zone) => liveRecord(recordShape(fieldsOf(response, 'the response')['domain_record']), zone),
    given: {
      pattern: GIVEN_NAMESERVER,
      read: async (zone, options) => (await readRecords(api, zone, { name: zone.name, type: 'NS' }, options)).records,
    },
  })

const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}`

/** Null if the domain does not exist. */
const findDomain = (api: DigitalOceanApi, zone: DomainName, options?: ProviderCallOptions) =>
  nullIfMissing(
    api.request(reading(domainPath(zone), `looking up ${zone}`, options), (body) => domainShape(fieldsOf(body, 'the response')['domain'])),
  )

/** Reads the records of a domain, all or those of one owner. */
async function readRecords(
  api: DigitalOceanApi,
  zone: Pick<ZoneReference, 'name'>,
  { name, type }: { readonly name?: DomainName; readonly type?: string } = {},
  options?: ProviderCallOptions,
) {
  const query = { ...(name && { name: name.slice(0, -1) }), ...(type && { type }) }
  const request = reading(`${domainPath(zone.name)}/records`, `reading the records of ${zone.name}`, options, query)
  const shape = (item: unknown): StoredRecord => liveRecord(recordShape(item), zone.name)
  const all = await api.list(request, { key: 'domain_records', perPage: PER_PAGE, shape, idOf: ({ id }) => id })
  return byType(all, DIGITALOCEAN_TYPES)
}

function liveRecord(api: ApiRecord, zone: DomainName): StoredRecord {
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
function recordToApi({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Readonly<Record<string, unknown>> {
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
