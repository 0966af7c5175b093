/**
 * A provider that reads and changes the DNS domains of a Vultr account by the API v2. A call changes one RRset record by record, or the domain itself: Vultr refuses
 * records of one RRset with different TTLs.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { bodyDialect, nullIfMissing, tokenHint } from '../api-errors.ts'
import { apiRecord, byType, checkReturned, priorityApart, rdataWithPriority, relativeOwner, relativeTo } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type ApiConnection, createJsonApi } from '../json-api.ts'
import { checkZoneName, type Fields, fieldsOf, idOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { type AppliedCall, type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { cursorLists } from '../read-pages.ts'
import { reading } from '../send-request.ts'
import { collectionRequests, emptyShape, type StoredRecord, stepsOf } from '../single-records.ts'
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
  /** The records of each zone as they were read last, by RRset. */
  const known = new Map<DomainName, ReadonlyMap<string, readonly StoredRecord[]>>()
  const read = async ({ name }: Pick<ZoneReference, 'name'>, options?: ProviderCallOptions) => {
    const call = reading(`${domainPath(name)}/records`, `reading the records of ${name}`, options)
    const shape = (item: unknown) => recordShape(item, name)
    const zone = byType(await list(call, { key: 'records', perPage: PER_PAGE, shape, idOf: ({ id }) => id }), VULTR_TYPES)
    known.set(name, groupRrsets(zone.records))
    return zone
  }
  const heldIn = async (zone: ZoneReference, rrset: RrsetChange, options?: ProviderCallOptions): Promise<readonly StoredRecord[]> => {
    const { name, type, existing } = rrset
    // A new domain is given NS records, which no plan can expect.
    const isGiven = existing === null && type === 'NS' && name === zone.name
    if (existing === null && !isGiven) return []
    if (!known.has(zone.name)) await read(zone, options)
    const held = known.get(zone.name)?.get(rrsetKey(rrset)) ?? []
    return isGiven ? held.filter(({ data }) => GIVEN_NAMESERVER.test(data)) : held
  }
  const change = async (zone: ZoneReference, rrset: RrsetChange, options?: ProviderCallOptions): Promise<AppliedCall> => {
    const { name, type, desired } = rrset
    const steps = stepsOf(await heldIn(zone, rrset, options), desired)
    for (const [at, { id, data }] of steps.entries()) {
      const record = data === null ? null : { name, type, data, ttl: desired?.ttl as Ttl }
      const what = `${data === null ? 'deleting' : id === null ? 'creating' : 'changing'} ${name} ${type}`
      // A call that has begun is completed, unless the run is aborted.
      const call = { ...requestFor(zone.name, id, record), what, ...(at === 0 ? options : { signal: options?.signal }) }
      const sent = request(
        call,
        id === null && record !== null ? (body) => checkReturned(record, createdShape(body, zone.name)) : emptyShape,
      )
      await (record === null ? nullIfMissing(sent) : sent).catch((error: unknown) => {
        if (at === 0 || !(error instanceof ProviderError)) throw error
        throw error.with({ message: `${error.message}; only a part of the record set is changed`, ambiguous: true })
      })
    }
    return {}
  }
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
      known.delete(name)
      const body = { domain: zone.id }
      await request({ method: 'POST', path: '/domains', body, what: `creating ${name}`, ...options }, domainNamed(name))
      return { changes: [{ id: zone.id }], zone }
    },
    async remove({ name }, _, __, options) {
      await request({ method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options }, emptyShape)
      return {}
    },
    change: (zone, { rrsets: [rrset] }, options) => change(zone, rrset as RrsetChange, options),
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

const createdShape = (body: unknown, zone: DomainName): StoredRecord => recordShape(fieldsOf(body, 'the response')['record'], zone)

const requestFor = collectionRequests((zone) => `${domainPath(zone)}/records`, 'PATCH', bodyOf)

function bodyOf({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Fields {
  const { priority, text } = priorityApart(type, data)
  return { type, name: relativeTo(name, zone, ''), data: text, ttl, priority: priority ?? 0 }
}
