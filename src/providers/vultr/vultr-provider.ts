/** A provider that reads and changes the DNS domains of a Vultr account by the API v2. A call changes one record, or the domain itself. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { bodyDialect, nullIfMissing, tokenHint } from '../api-errors.ts'
import { apiRecord, byType, priorityApart, rdataWithPriority, relativeOwner, relativeTo } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { checkZoneName, type Fields, fieldsOf, idOf, textOf, wholeNumberOf } from '../json-shape.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { cursorLists } from '../read-pages.ts'
import { reading } from '../send-request.ts'
import { collectionRequests, emptyShape, type StoredRecord, singleRecords } from '../single-records.ts'
import { masterZone } from '../zone-lists.ts'
import { VULTR_CAPABILITIES, VULTR_TYPES } from './capabilities.ts'

/** Items per page: the maximum of the API. */
const PER_PAGE = 500
const GIVEN_NAMESERVER = /^ns[12]\.vultr\.com\.$/

export function createVultrProvider(connection: ApiConnection): Provider {
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIALECT)
  const list = cursorLists(connection.provider, request, ({ meta }) => {
    const fields = fieldsOf(meta, 'meta')
    return { total: wholeNumberOf(fields, 'total', 'meta'), next: textOf(fieldsOf(fields['links'], 'links'), 'next', 'links') || null }
  })
  const read = async ({ name }: Pick<ZoneReference, 'name'>, options?: ProviderCallOptions) => {
    const call = reading(`${domainPath(name)}/records`, `reading the records of ${name}`, options)
    const shape = (item: unknown) => recordShape(item, name)
    return byType(await list(call, { key: 'records', perPage: PER_PAGE, shape, idOf: ({ id }) => id }), VULTR_TYPES)
  }
  const records = singleRecords({
    request,
    requestFor: collectionRequests((zone) => `${domainPath(zone)}/records`, 'PATCH', bodyOf),
    storedIn(response, zone, id) {
      if (id === null) return recordShape(fieldsOf(response, 'the response')['record'], zone)
      emptyShape(response)
      return id
    },
    given: { pattern: GIVEN_NAMESERVER, read: async (zone, options) => (await read(zone, options)).records },
  })
  const domainNamed = (name: DomainName) => (response: unknown) => {
    const domain = domainShape(fieldsOf(response, 'the response')['domain'])
    checkZoneName(name, domain.name)
    return domain
  }
  return hostedProvider(connection, {
    type: 'vultr',
    service: 'Vultr',
    missing: 'the API key needs the right to manage DNS for that',
    capabilities: VULTR_CAPABILITIES,
    list: (options) =>
      list(reading('/domains', 'listing domains', options), {
        ...{ key: 'domains', perPage: PER_PAGE, shape: domainShape },
        idOf: ({ name }) => name,
      }),
    find: (name, options) => nullIfMissing(request(reading(domainPath(name), `looking up ${name}`, options), domainNamed(name))),
    isReadByName: true,
    read,
    async create({ name }, _, options) {
      const zone = masterZone(name)
      records.creating(zone)
      const body = { domain: zone.id }
      await request({ method: 'POST', path: '/domains', body, what: `creating ${name}`, ...options }, domainNamed(name))
      return { changes: [{ id: zone.id }], zone }
    },
    async remove({ name }, _, __, options) {
      await request({ method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options }, emptyShape)
      return {}
    },
    change: records.change,
    close,
  })
}

const DIALECT = bodyDialect(
  "Vultr's is https://api.vultr.com/v2",
  (body) => {
    const { error, status } = body as Fields
    return typeof error === 'string' && typeof status === 'number' ? error : null
  },
  tokenHint('must be allowed for the address of this machine, and for DNS', 'API key'),
)

const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}`

/** The name is without the final dot. */
const domainShape = (value: unknown) => ({ name: textOf(fieldsOf(value, 'a domain'), 'domain', 'a domain') })

/** The name is relative to the domain, empty for the apex; the TTL in seconds; the priority -1 for types without one. */
function recordShape(value: unknown, zone: DomainName): StoredRecord {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  const [name, type, text] = [textOf(fields, 'name', what), textOf(fields, 'type', what), textOf(fields, 'data', what)]
  const data = rdataWithPriority(type, fields['priority'] ?? 0, text)
  const record = apiRecord(relativeOwner(name, zone, ''), type, wholeNumberOf(fields, 'ttl', what), text, data)
  return { ...record, id: idOf(fields, 'id', what, /^[0-9a-f-]{36}$/) }
}

function bodyOf({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Fields {
  const { priority, text } = priorityApart(type, data)
  return { type, name: relativeTo(name, zone, ''), data: text, ttl, priority: priority ?? 0 }
}
