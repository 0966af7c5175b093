/**
 * A provider that reads and changes the domains of a DigitalOcean account. A call changes one record, or the domain itself. The API cannot state what it expects
 * to find, so a run calls only soon after it has read the domain. Its answers have the record as DigitalOcean stores it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import { type ExistingRecord, isApexNs, type ResourceRecord, sameRecord } from '../../dns/record.ts'
import { nullIfMissing } from '../api-errors.ts'
import { apiRecord, byType, checkReturned, quoted, relativeOwner, relativeTo, textToRdata, unquoted } from '../api-records.ts'
import { hostedProvider, snapshotOf } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import { checkZoneName, fieldsOf, ShapeError } from '../json-shape.ts'
import {
  type AppliedCall,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  ProviderError,
  type ZoneReference,
} from '../provider.ts'
import { type ApiRequest, reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { DIGITALOCEAN_CAPABILITIES, DIGITALOCEAN_TYPES } from './capabilities.ts'
import { type ApiRecord, createDigitalOceanApi, type DigitalOceanApi, domainShape, PER_PAGE, recordShape } from './digitalocean-api.ts'

/** Owners whose records are read one by one. For more, the whole domain is read. */
const MAX_SINGLE_OWNERS = 10

export function createDigitalOceanProvider(connection: ApiConnection): Provider {
  const api = createDigitalOceanApi(connection)
  const digitalOcean: DigitalOcean = { api, name: connection.provider, created: new Map() }
  const list = { key: 'domains', perPage: PER_PAGE, shape: domainShape, idOf: ({ name }: { name: string }) => name }
  return hostedProvider(connection, {
    type: 'digitalocean',
    service: 'DigitalOcean',
    missing: 'the token needs domain:create for that',
    capabilities: DIGITALOCEAN_CAPABILITIES,
    list: (options) => api.list(reading('/domains', 'listing domains', options), list),
    find: (zone, options) => findDomain(api, zone, options),
    referenceTo: (_, name) => masterZone(name),
    read: (zone, options) => readRecords(api, zone, {}, options),
    create: ({ name }, _, options) => createDomain(digitalOcean, name, options),
    remove: (zone, _, __, options) => deleteDomain(digitalOcean, zone, options),
    change: (zone, call, options) => changeRecord(digitalOcean, zone, call, options),
    close: api.close,
    features: {
      async readNamedZone(name, options) {
        if (name === '.') return null
        const zone = masterZone(name)
        return nullIfMissing(readRecords(api, zone, {}, options).then((live) => snapshotOf(zone, live)))
      },
      async findRecords(zone, like, options) {
        const owners = [...new Set(like.map((record) => record.name))]
        const filters = owners.length > MAX_SINGLE_OWNERS ? [{}] : owners.map((name) => ({ name }))
        return (await Promise.all(filters.map((filter) => readRecords(api, zone, filter, options)))).flatMap(({ records }) => records)
      },
    },
  })
}

interface DigitalOcean {
  readonly api: DigitalOceanApi
  /** The provider's name in the config. */
  readonly name: string
  /** The domains that this run created, each with the deletion of the NS records that DigitalOcean gave it; null before that. */
  readonly created: Map<ZoneReference['id'], Promise<void> | null>
}

/** The NS records of a new domain. */
const GIVEN_NAMESERVER = /^ns[1-3]\.digitalocean\.com\.$/

async function createDomain({ api, created }: DigitalOcean, name: DomainName, options?: ProviderCallOptions): Promise<AppliedCall> {
  const zone = masterZone(name)
  // Also if the answer is lost.
  created.set(zone.id, null)
  const body = { name: zone.id }
  await api.request({ method: 'POST', path: '/domains', body, what: `creating ${name}`, ...options }, (response) => {
    checkZoneName(zone.id, domainShape(fieldsOf(response, 'the response')['domain']).name)
  })
  return { changes: [{ id: zone.id }], zone }
}

async function deleteDomain({ api, name: provider }: DigitalOcean, { name }: ZoneReference, options?: ProviderCallOptions) {
  const request = { method: 'DELETE', path: domainPath(name), what: `deleting ${name}`, ...options } as const
  await remove(api, provider, request, async () => (await findDomain(api, name, options)) === null)
  return {}
}

/** Changes the record of the call, which has one. */
async function changeRecord(
  digitalOcean: DigitalOcean,
  zone: ZoneReference,
  { changes: [change] }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  if (change?.subject !== 'record') return {}
  const { api, name: provider } = digitalOcean
  const { action, desired, name, type } = change
  if (action === 'create' && desired !== null && isApexNs(desired, zone.name)) await removeGivenNameservers(digitalOcean, zone, options)
  const path = `${domainPath(zone.name)}/records`
  if (desired === null) {
    const request = { method: 'DELETE', path: `${path}/${change.id}`, what: `deleting ${name} ${type}`, ...options } as const
    await remove(api, provider, request, async () => {
      const record = reading(request.path, `reading ${name} ${type}`, options)
      return (await nullIfMissing(api.request(record, (response) => recordOf(response, zone)))) === null
    })
    return { changes: [{ id: change.id ?? undefined }], storedRecords: [] }
  }
  const id = action === 'create' ? null : change.id
  const target = id === null ? ({ method: 'POST', path } as const) : ({ method: 'PUT', path: `${path}/${id}` } as const)
  const what = `${id === null ? 'creating' : 'changing'} ${name} ${type}`
  const stored = await api.request({ ...target, body: recordToApi(desired, zone.name), what, ...options }, (response) => {
    const returned = recordOf(response, zone)
    checkReturned(desired, returned)
    if (id !== null && returned.id !== id) throw new ShapeError(`the record ${id} was returned as ${returned.id}`)
    return returned
  })
  return { changes: [sameRecord(stored, desired) ? { id: stored.id } : { id: stored.id, stored }], storedRecords: [stored] }
}

/** Sends a deletion. If the response is not that of the API, `isGone` decides whether it was carried out. */
async function remove(api: DigitalOceanApi, provider: string, request: ApiRequest, isGone: () => Promise<boolean>): Promise<void> {
  const hasNoBody = await api.request(request, (body) => body === undefined)
  if (hasNoBody || (await isGone())) return
  throw new ProviderError('provider-garbled', `${provider}: ${request.what}: the response is not from the API`, { ambiguous: true })
}

const recordOf = (response: unknown, zone: ZoneReference): LiveRecord =>
  liveRecord(recordShape(fieldsOf(response, 'the response')['domain_record']), zone.name)

/** Deletes the NS records that DigitalOcean gave a domain of this run, once, before the first one of the plan is created. */
async function removeGivenNameservers(
  { api, name: provider, created }: DigitalOcean,
  zone: ZoneReference,
  options?: ProviderCallOptions,
): Promise<void> {
  if (!created.has(zone.id)) return
  const removal =
    created.get(zone.id) ??
    (async () => {
      const { records } = await readRecords(api, zone, { name: zone.name, type: 'NS' }, options)
      for (const { id, data } of records.filter((record) => GIVEN_NAMESERVER.test(record.data))) {
        const path = `${domainPath(zone.name)}/records/${id}`
        const what = `deleting NS ${data} of the new domain ${zone.name}`
        await remove(api, provider, { method: 'DELETE', path, what, ...options }, async () => false)
      }
    })()
  // Concurrent calls wait for the same deletions.
  created.set(zone.id, removal)
  await removal
}

type LiveRecord = ExistingRecord & { readonly id: number }

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
  const shape = (item: unknown): LiveRecord => liveRecord(recordShape(item), zone.name)
  const all = await api.list(request, { key: 'domain_records', perPage: PER_PAGE, shape, idOf: ({ id }) => id })
  return byType(all, DIGITALOCEAN_TYPES)
}

function liveRecord(api: ApiRecord, zone: DomainName): LiveRecord {
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
