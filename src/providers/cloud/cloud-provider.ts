import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import type { ZoneSettings } from '../../model/zone.ts'
import type { DomainChange, RecordChange } from '../../plan/change.ts'
import {
  type AppliedChange,
  type Provider,
  type ProviderCallOptions,
  ProviderError,
  type ReadZone,
  type ZoneReference,
} from '../provider.ts'
import { type ApiDomain, domainShape, recordShape, zoneFileShape } from './api-shapes.ts'
import { CLOUD_CAPABILITIES } from './capabilities.ts'
import { type CloudApi, type CloudApiOptions, createCloudApi } from './cloud-api.ts'
import { recordFromApi, recordToApi } from './record-codec.ts'

/** Octets of the largest X-Filter that is sent; for more names the whole list is read. */
const MAX_FILTER = 4000

/** The provider for the interface of the cloud service: Domains under `{base_url}/domains`. */
export function createCloudProvider(options: CloudApiOptions): Provider {
  const api = createCloudApi(options)
  const reach: Reach = { api, name: options.provider }
  return {
    name: options.provider,
    type: 'cloud',
    address: options.baseUrl.href.replace(/\/+$/, ''),
    capabilities: CLOUD_CAPABILITIES,
    parallelism: options.parallelism,
    findZones: (names, call) => findZones(reach, names, call),
    listZones: (call) => listZones(reach, undefined, call),
    readZone: (zone, call) => readZone(reach, zone, call),
    async readRendered(zone, call) {
      const what = `reading the rendered zone file of ${zone.name}`
      const { value } = await api.request(
        { method: 'GET', path: `/domains/${zone.id}/zone-file`, what, signal: call?.signal },
        zoneFileShape,
      )
      return { lines: value }
    },
    applyChange: (zone, change, call) =>
      change.subject === 'domain' ? applyDomainChange(reach, zone, change, call) : applyRecordChange(reach, zone, change, call),
    close: () => api.close(),
  }
}

interface Reach {
  readonly api: CloudApi
  readonly name: string
}

/**
 * Few names are asked for by one filtered look-up. What that does not find is looked for in the whole list, since the filter may
 * tell letter case apart and a zone must not be created twice.
 */
async function findZones(
  reach: Reach,
  names: readonly DomainName[],
  call?: ProviderCallOptions,
): Promise<ReadonlyMap<DomainName, ZoneReference>> {
  const found = new Map<DomainName, ZoneReference>()
  const wanted = new Set(names)
  if (wanted.size === 0) return found
  const take = (zones: readonly ZoneReference[]): void => {
    for (const zone of zones) if (wanted.has(zone.name)) found.set(zone.name, zone)
  }
  const alternatives = [...wanted].map((name) => ({ domain: name.slice(0, -1) }))
  const filter = alternatives.length === 1 ? alternatives[0] : { '+or': alternatives }
  if (JSON.stringify(filter).length <= MAX_FILTER) take(await listZones(reach, filter, call))
  if (found.size < wanted.size) take(await listZones(reach, undefined, call))
  return found
}

async function listZones({ api }: Reach, filter: unknown, call?: ProviderCallOptions): Promise<ZoneReference[]> {
  const what = filter === undefined ? 'listing domains' : 'looking up domains'
  const { value } = await api.list({ method: 'GET', path: '/domains', what, filter, signal: call?.signal }, domainShape)
  return value.flatMap((domain) => {
    const reference = zoneReference(domain)
    return reference === null ? [] : [reference]
  })
}

/** A domain as a zone; null where its name is no domain name, so that it cannot be one of ours. */
function zoneReference(domain: ApiDomain): ZoneReference | null {
  const name = parseDomainName(`${domain.domain.replace(/\.$/, '')}.`)
  return name.ok ? { name: name.value, id: domain.id, settings: settingsOf(domain), updated: timeOf(domain.updated) } : null
}

function settingsOf(domain: ApiDomain): ZoneSettings {
  const { type, description, group, tags, soa_email, master_ips, axfr_ips, expire_sec, refresh_sec, retry_sec, ttl_sec } = domain
  const status = domain.status === 'disabled' ? 'disabled' : 'active'
  return { type, status, description, group, tags, soa_email, master_ips, axfr_ips, expire_sec, refresh_sec, retry_sec, ttl_sec }
}

/** Times are UTC without a zone suffix (interface, introduction). */
function timeOf(text: string | null): number | null {
  const time = text === null ? Number.NaN : Date.parse(/[Zz]|[+-][0-9]{2}:?[0-9]{2}$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(time) ? null : time
}

async function readZone({ api }: Reach, zone: ZoneReference, call?: ProviderCallOptions): Promise<ReadZone> {
  const request = {
    method: 'GET',
    path: `/domains/${zone.id}/records`,
    what: `reading the records of ${zone.name}`,
    signal: call?.signal,
  } as const
  const { value, serverTime } = await api.list(request, recordShape)
  let lastChange = zone.updated
  for (const text of new Set(value.map((record) => record.updated))) {
    const time = timeOf(text)
    if (time !== null && (lastChange === null || time > lastChange)) lastChange = time
  }
  return {
    name: zone.name,
    id: zone.id,
    settings: zone.settings,
    records: value.map((record) => recordFromApi(record, zone.name)),
    quietFor: lastChange === null || serverTime === null ? null : Math.max(0, serverTime - lastChange),
  }
}

async function applyDomainChange(
  { api, name: provider }: Reach,
  zone: ZoneReference | null,
  change: DomainChange,
  call?: ProviderCallOptions,
): Promise<AppliedChange> {
  const signal = call?.signal
  const reference = (domain: ApiDomain): ZoneReference => {
    const changed = zoneReference(domain)
    if (changed !== null) return changed
    throw new ProviderError('provider-garbled', `${provider}: the domain ${change.name} came back as ${JSON.stringify(domain.domain)}`)
  }
  if (change.action === 'create') {
    const body = { domain: change.name.slice(0, -1), ...change.desired }
    const { value } = await api.request({ method: 'POST', path: '/domains', body, what: `creating ${change.name}`, signal }, domainShape)
    return { id: value.id, zone: reference(value) }
  }
  const path = `/domains/${change.id}`
  if (change.action === 'delete') {
    await api.request({ method: 'DELETE', path, what: `deleting ${change.name}`, signal }, () => undefined)
    return { id: change.id }
  }
  // The type is repeated: the service asks for it when a slave is updated.
  const body = { type: zone?.settings.type, ...change.desired }
  const { value } = await api.request({ method: 'PUT', path, body, what: `updating ${change.name}`, signal }, domainShape)
  return { id: value.id, zone: reference(value) }
}

async function applyRecordChange(
  { api }: Reach,
  zone: ZoneReference | null,
  change: RecordChange,
  call?: ProviderCallOptions,
): Promise<AppliedChange> {
  if (zone === null) throw new Error(`no zone for ${change.name} ${change.type}`)
  const signal = call?.signal
  const records = `/domains/${zone.id}/records`
  const subject = `${change.name} ${change.type}`
  if (change.action === 'delete') {
    await api.request({ method: 'DELETE', path: `${records}/${change.id}`, what: `deleting ${subject}`, signal }, () => undefined)
    return { id: change.id }
  }
  if (change.desired === null) throw new Error(`no desired record for ${subject}`)
  const fields = recordToApi(change.desired, zone.name)
  if (change.action === 'update') {
    await api.request({ method: 'PUT', path: `${records}/${change.id}`, body: fields, what: `updating ${subject}`, signal }, recordShape)
    return { id: change.id }
  }
  const body = { type: change.type, ...fields }
  const { value } = await api.request({ method: 'POST', path: records, body, what: `creating ${subject}`, signal }, recordShape)
  return { id: value.id }
}
