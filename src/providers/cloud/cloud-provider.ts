/** The provider for the cloud API: reads and changes zones and records. */
import { relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, sameRecord } from '../../dns/record.ts'
import { isServerAddress } from '../../dns/server-address.ts'
import type { DomainChange, RecordChange } from '../../plan/plan.ts'
import { nullIfMissing } from '../api-errors.ts'
import type { ApiConnection } from '../json-api.ts'
import { ShapeError } from '../json-shape.ts'
import type { AppliedCall, Provider, ProviderCallOptions, ZoneReference, ZoneSnapshot } from '../provider.ts'
import { domainShape, emptyShape, recordShape, regionShape, zoneFileShape } from './api-responses.ts'
import { CLOUD_CAPABILITIES } from './capabilities.ts'
import { type CloudApi, createCloudApi } from './cloud-api.ts'
import { examineCloud } from './examine.ts'
import { API_PATHS, type CloudInstance, readCloudInventory } from './inventory.ts'
import { recordFromApi, recordToApi } from './record-codec.ts'
import { type CloudAccount, cloneCloudZone, findZones, importCloudZone, listZones, MAX_FILTER, timeOf, zoneReference } from './zones.ts'

/** Creates a provider for the cloud API, whose zones are the domains at `{base_url}/domains`. */
export function createCloudProvider(options: ApiConnection, instance: CloudInstance = {}): Provider {
  const { paths = API_PATHS, transferAddresses = [] } = instance
  const api = createCloudApi(options)
  const account: CloudAccount = { api, name: options.provider }
  const address = options.baseUrl.href.replace(/(?<!\/)\/+$/, '')
  return {
    name: options.provider,
    type: 'cloud',
    address,
    capabilities: CLOUD_CAPABILITIES,
    parallelism: options.parallelism,
    findZones: (names, call) => findZones(account, names, call),
    listZones: (call) => listZones(account, call),
    readZone: (zone, call) => readZone(account, zone, call),
    async readRendered(zone, call) {
      const what = `reading the rendered zone file of ${zone.name}`
      return { lines: await api.request({ method: 'GET', path: `/domains/${zone.id}/zone-file`, what, ...call }, zoneFileShape) }
    },
    findRecords: (zone, like, call) => findRecords(account, zone, like, call),
    examine: (usage, now, call) =>
      examineCloud(
        {
          api,
          address,
          token: options.token,
          listsLoadBalancers: paths.loadbalancers !== null,
          listZones: (more) => listZones(account, more),
        },
        usage,
        now,
        call,
      ),
    findResolvers: (region, call) => findRegionResolvers(api, region, call),
    readInventory: (query, call) => readCloudInventory(api, paths, query, call),
    importZone: (name, nameserver, call) =>
      importCloudZone(api, name, nameserver, { addresses: transferAddresses, toZone: zoneReference }, call),
    cloneZone: (source, name, call) => cloneCloudZone(api, source, name, zoneReference, call),
    async apply(zone, { changes }, call) {
      const [change] = changes
      if (change === undefined || changes.length > 1) throw new Error(`the API takes one change per request, not ${changes.length}`)
      return change.subject === 'domain' ? applyDomainChange(account, zone, change, call) : applyRecordChange(account, zone, change, call)
    },
    close: () => api.close(),
  }
}

async function readZone({ api }: CloudAccount, zone: ZoneReference, call?: ProviderCallOptions): Promise<ZoneSnapshot> {
  // The listed records of a slave are a copy from its masters.
  const { name, id, settings, unknownSettings } = zone
  if (settings.type === 'slave') return { name, id, settings, unknownSettings, records: [] }
  const request = {
    method: 'GET',
    path: `/domains/${zone.id}/records`,
    what: `reading the records of ${zone.name}`,
    ...call,
  } as const
  // Each page is converted when it arrives, while others are being read.
  const updated = new Set<string | null>()
  const first: { serverTime: number | null } = { serverTime: null }
  const readRecord = (item: unknown) => {
    const record = recordShape(item)
    updated.add(record.updated)
    return recordFromApi(record, zone.name)
  }
  const records = await api.list(request, readRecord, (head) => {
    first.serverTime = head.serverTime
  })
  const { serverTime } = first
  let lastChange = zone.updated ?? null
  for (const text of updated) {
    const time = timeOf(text)
    if (time !== null && (lastChange === null || time > lastChange)) lastChange = time
  }
  return {
    name,
    id,
    settings,
    unknownSettings,
    records,
    millisecondsSinceLastChange: lastChange === null || serverTime === null ? undefined : Math.max(0, serverTime - lastChange),
  }
}

/** Filters by owner and type. The service composes the owner of SRV records, so all of those are read. */
async function findRecords(
  { api }: CloudAccount,
  zone: ZoneReference,
  like: readonly ResourceRecord[],
  call?: ProviderCallOptions,
): Promise<ExistingRecord[]> {
  const wanted = new Map(like.map(({ name, type }) => [`${type} ${type === 'SRV' ? '' : name}`, { name, type }]))
  const conditions = [...wanted.values()].map(({ name, type }) =>
    type === 'SRV' ? { type } : { type, name: relativeName(name, zone.name) },
  )
  const request = { method: 'GET', path: `/domains/${zone.id}/records`, what: `looking up records of ${zone.name}`, ...call } as const
  const lists = await Promise.all(
    filtersOf(conditions).map((filter) => api.list({ ...request, filter }, (item) => recordFromApi(recordShape(item), zone.name))),
  )
  return lists.flat()
}

/** Filters that together match any of the conditions, each short enough to send. */
function filtersOf(conditions: readonly object[]): object[] {
  const filters: object[][] = []
  let size = MAX_FILTER
  for (const condition of conditions) {
    const octets = Buffer.byteLength(JSON.stringify(condition)) + 1
    size += octets
    if (size > MAX_FILTER - 10) {
      filters.push([])
      size = octets
    }
    filters.at(-1)?.push(condition)
  }
  return filters.map((some) => (some.length === 1 ? (some[0] as object) : { '+or': some }))
}

async function applyDomainChange(
  { api }: CloudAccount,
  zone: ZoneReference | null,
  change: DomainChange,
  call?: ProviderCallOptions,
): Promise<AppliedCall> {
  const shape = (body: unknown): ZoneReference => {
    const domain = domainShape(body)
    const reference = zoneReference(domain)
    if (reference?.name === change.name && (change.id ?? domain.id) === domain.id) return reference
    throw new ShapeError(`the domain ${change.name} was returned as ${JSON.stringify(domain.domain)}, number ${domain.id}`)
  }
  if (change.action === 'create') {
    const body = { domain: change.name.slice(0, -1), ...change.desired }
    const value = await api.request({ method: 'POST', path: '/domains', body, what: `creating ${change.name}`, ...call }, shape)
    return { changes: [{ id: value.id }], zone: value }
  }
  const path = `/domains/${change.id}`
  if (change.action === 'delete') {
    await api.request({ method: 'DELETE', path, what: `deleting ${change.name}`, ...call }, emptyShape)
    return {}
  }
  // The service requires the type to update a slave.
  const body = { type: zone?.settings.type, ...change.desired }
  const value = await api.request({ method: 'PUT', path, body, what: `updating ${change.name}`, ...call }, shape)
  return { changes: [{ id: value.id }], zone: value }
}

async function applyRecordChange(
  { api }: CloudAccount,
  zone: ZoneReference | null,
  change: RecordChange,
  call?: ProviderCallOptions,
): Promise<AppliedCall> {
  if (zone === null) throw new Error(`no zone for ${change.name} ${change.type}`)
  const records = `/domains/${zone.id}/records`
  const { desired } = change
  const subject = `${change.name} ${change.type}`
  if (change.action === 'delete') {
    await api.request({ method: 'DELETE', path: `${records}/${change.id}`, what: `deleting ${subject}`, ...call }, emptyShape)
    return {}
  }
  if (desired === null) throw new Error(`no desired record for ${subject}`)
  const fields = recordToApi(desired, zone.name)
  const request =
    change.action === 'update'
      ? ({ method: 'PUT', path: `${records}/${change.id}`, body: fields, what: `updating ${subject}`, ...call } as const)
      : ({ method: 'POST', path: records, body: { type: change.type, ...fields }, what: `creating ${subject}`, ...call } as const)
  const value = await api.request(request, (body) => returnedRecord(body, change, zone))
  return { changes: [sameRecord(value, desired) ? { id: value.id } : { id: value.id, stored: value }] }
}

/** The record in a response. Throws if its owner, type or number differ: then it is the response to another request. */
function returnedRecord(body: unknown, change: RecordChange, zone: ZoneReference): ExistingRecord & { readonly id: number } {
  const api = recordShape(body)
  const record = { ...recordFromApi(api, zone.name), id: api.id }
  if (record.name === change.name && record.type === change.type && (change.id ?? api.id) === api.id) return record
  throw new ShapeError(`${change.name} ${change.type} was returned as ${record.name} ${record.type}, number ${api.id}`)
}

/** A region is one segment of a path. */
const REGION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** The resolvers of a region, IPv4 before IPv6; null if the region does not exist. */
async function findRegionResolvers(api: CloudApi, region: string, call?: ProviderCallOptions): Promise<readonly string[] | null> {
  if (!REGION.test(region)) return null
  const request = { method: 'GET', path: `/regions/${region}`, what: `reading the region ${region}`, ...call } as const
  return nullIfMissing(api.request(request, resolversOf))
}

function resolversOf(body: unknown): readonly string[] {
  const { ipv4, ipv6 } = regionShape(body)
  const addresses = `${ipv4},${ipv6}`.split(',').map((address) => address.trim())
  const resolvers = addresses.filter((address) => address !== '')
  const invalid = resolvers.find((address) => !isServerAddress(address))
  if (invalid !== undefined) throw new ShapeError(`the resolver ${JSON.stringify(invalid)} of a region is not an address`)
  return resolvers
}
